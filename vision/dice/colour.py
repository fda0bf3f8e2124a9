"""Names the body colour of a die among those a game has, whatever the light."""

from collections.abc import Mapping

import numpy as np

from ..frame import Numbers

Bgr = tuple[float, float, float]

WHITE: Bgr = (255.0, 255.0, 255.0)
DARK = 30.0
"""Added to every channel: ratios of nearly black channels are noise."""
LIGHTNESS_SHARE = 0.4
"""How much lightness counts beside the ratios of the channels: lamps change it most."""
SPREAD = 0.28
"""How far a body may be from its colour, as a logarithm; twice that is rare."""


def name_colour(bgr: Bgr, palette: Mapping[str, Bgr], white_bgr: Bgr = WHITE) -> tuple[str, float]:
    """The nearest colour of the palette and the belief in it.

    ``white_bgr`` is what white paper looks like under the same light, as far as that is known.
    """
    if not palette:
        raise ValueError("expected a palette with at least one colour, got none")
    seen = _describe(bgr, white_bgr)
    names = list(palette)
    far = np.array([np.sum((seen - _describe(palette[name], WHITE)) ** 2) for name in names])
    shares = np.exp(-(far - far.min()) / (2 * SPREAD**2))
    best = int(far.argmin())
    return names[best], float(1 / shares.sum())


def _describe(bgr: Bgr, white_bgr: Bgr) -> Numbers:
    """Ratios of the channels and, counting less, their level; all as logarithms."""
    plain = np.asarray(bgr, np.float64) / np.maximum(white_bgr, 1) * 255
    blue, green, red = np.log(np.clip(plain, 0, 255) + DARK)
    level = (blue + green + red) / 3
    return np.array([blue - green, red - green, LIGHTNESS_SHARE * level])
