"""Light and sensor of the virtual camera: colour, gradient, shadow, glare, noise.

Light multiplies, and for a gamma curve that is a pure power it may do so after the curve: all
factors here are already raised to one over gamma.
"""

from collections.abc import Iterator
from functools import lru_cache
from math import cos, exp, radians, sin

import cv2
import numpy as np
from numpy.typing import NDArray

from ..frame import Pixels
from .misbehaviour import Misbehaviour

GAMMA = 2.2
NEUTRAL_K = 5000.0
EXPOSURE = 0.75
"""White paper is not quite white in a picture, so that coloured light does not blind a channel."""
SEEN_BRIGHTNESS = np.array([0.11, 0.59, 0.30])
"""Of blue, green and red: the exposure of a camera keeps their sum."""
COARSE = 4
"""Light changes slowly from place to place: it is worked out for every fourth pixel."""
BAND_PX = 128
NOISE_SHARE = 32.0
"""How many steps of the stored noise are one standard deviation."""


def light_of(misbehaviour: Misbehaviour, size: tuple[int, int]) -> NDArray[np.float32]:
    """How strongly each colour is lit, for every ``COARSE``-th pixel."""
    m = misbehaviour
    x, y = _across(size)
    level = np.full(x.shape, EXPOSURE * 2.0**m.exposure_ev, np.float32)
    towards = radians(m.gradient_towards_deg)
    level *= 1 + m.gradient * 0.5 * (x * np.float32(cos(towards)) + y * np.float32(sin(towards)))
    level *= 1 - m.vignette * 0.5 * (x * x + y * y)
    if m.big_shadow:
        rng = np.random.default_rng((m.seed, 1))
        angle, edge = rng.uniform(0, 2 * np.pi), rng.uniform(-0.3, 0.5)
        bend = 0.15 * np.sin(rng.uniform(2, 5) * (y * np.cos(angle) - x * np.sin(angle)))
        depth = (x * np.cos(angle) + y * np.sin(angle) + bend - edge) / rng.uniform(0.08, 0.3)
        level *= 1 - m.big_shadow / (1 + np.exp(-4 * depth))
    curve = np.power(level, 1 / GAMMA)
    colour = light_colour(m.light_k) / light_colour(NEUTRAL_K)
    cast = np.power(colour, (1 - m.white_balance) / GAMMA)
    cast /= cast @ SEEN_BRIGHTNESS
    lit: NDArray[np.float32] = curve[:, :, None] * cast.astype(np.float32)
    return lit


def shine(bgr: Pixels, light: NDArray[np.float32]) -> Pixels:
    """The scene in this light."""
    height, width = bgr.shape[:2]
    lit = np.empty_like(bgr)
    for rows in bands(height):
        # The strip and a little more, so that neighbouring strips meet without a seam.
        first, last = max(rows.start // COARSE - 1, 0), -(-min(rows.stop, height) // COARSE) + 1
        coarse = light[first:last]
        fine = _enlarge(coarse, (width, len(coarse) * COARSE))
        start = rows.start - first * COARSE
        strip = bgr[rows]
        cv2.multiply(strip, fine[start : start + len(strip)], dst=lit[rows], dtype=cv2.CV_8U)
    return lit


def light_colour(kelvin: float) -> NDArray[np.float64]:
    """Blue, green, red of a glowing body, green being 1.

    >>> light_colour(2700)[2] > 1 > light_colour(2700)[0]
    np.True_
    """

    def strength(wavelength_nm: float) -> float:
        return wavelength_nm**-5 / (exp(1.4388e7 / (wavelength_nm * kelvin)) - 1)

    bgr = np.array([strength(nm) for nm in (460.0, 545.0, 605.0)])
    scaled: NDArray[np.float64] = bgr / bgr[1]
    return scaled


def glare_of(misbehaviour: Misbehaviour, size: tuple[int, int]) -> Pixels | None:
    """The reflection of a lamp, to be added; None without one."""
    if not misbehaviour.glare:
        return None
    rng = np.random.default_rng((misbehaviour.seed, 2))
    x, y = _across(size)
    centre_x, centre_y = rng.uniform(-0.4, 0.4, 2)
    radius = rng.uniform(0.06, 0.16)
    distance = ((x - centre_x) ** 2 + (y - centre_y) ** 2) / radius**2
    spot = _enlarge(255 * misbehaviour.glare * np.exp(-distance), size).astype(np.uint8)
    return cv2.cvtColor(spot, cv2.COLOR_GRAY2BGR).astype(np.uint8, copy=False)


def add_noise(bgr: Pixels, misbehaviour: Misbehaviour, tick: int) -> Pixels:
    """Photon and read-out noise of the frame with this number."""
    if not misbehaviour.noise:
        return bgr.copy()
    height, width = bgr.shape[:2]
    stored = _stored_noise(width, height)
    rng = np.random.default_rng((misbehaviour.seed, 3, tick))
    top, left = rng.integers(0, _ROOM_PX, 2)
    noise = stored[top : top + height, left : left + width]
    table = _sigma_table(misbehaviour.noise)
    noisy = np.empty_like(bgr)
    for rows in bands(height):
        sigma = cv2.LUT(bgr[rows], table)
        steps = cv2.multiply(noise[rows], sigma, scale=1 / (8 * NOISE_SHARE), dtype=cv2.CV_16S)
        cv2.add(bgr[rows], steps, dst=noisy[rows], dtype=cv2.CV_8U)
    return noisy


def bands(height: int) -> Iterator[slice]:
    """A frame in a few strips: whole frames of 16 or 32 bits would take a lot of memory."""
    return (slice(row, row + BAND_PX) for row in range(0, height, BAND_PX))


_ROOM_PX = 128
"""By how much the stored noise is larger than a frame, so that no two frames need be alike."""


@lru_cache(maxsize=2)
def _stored_noise(width: int, height: int) -> NDArray[np.int8]:
    rng = np.random.default_rng(4)
    stored = np.empty((height + _ROOM_PX, width + _ROOM_PX, 3), np.int8)
    for rows in bands(len(stored)):
        noise = rng.standard_normal(stored[rows].shape, np.float32)
        # The colour filter of a sensor lets neighbouring pixels share their noise.
        shared = cv2.GaussianBlur(noise, (0, 0), 0.6)
        stored[rows] = np.clip(shared * (NOISE_SHARE / shared.std()), -127, 127)
    return stored


@lru_cache(maxsize=8)
def _sigma_table(strength: float) -> NDArray[np.int16]:
    """Eight times the standard deviation of each 8-bit value."""
    light = (np.maximum(np.arange(256), 4) / 255) ** GAMMA
    deviation = np.sqrt(4e-4 * light + 2e-5) * light ** (1 / GAMMA - 1) / GAMMA * 255
    return np.rint(8 * strength * np.minimum(deviation, 6)).astype(np.int16)


def _across(size: tuple[int, int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How far from the middle each place of a coarse picture is; 1 is half the width."""
    width, height = size
    columns, rows = -(-width // COARSE), -(-height // COARSE)
    x = (np.arange(columns) + 0.5) / columns * 2 - 1
    y = ((np.arange(rows) + 0.5) / rows * 2 - 1) * height / width
    across, down = np.meshgrid(x, y)
    return across.astype(np.float32), down.astype(np.float32)


def _enlarge(coarse: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    return cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR).astype(np.float32, copy=False)
