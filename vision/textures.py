"""Surfaces for drawn tables: pixels of SVG drawings, the printed cards, wood and cloth."""

from functools import lru_cache
from typing import Literal

import cv2
import numpy as np
import resvg_py
from numpy.typing import NDArray

from rules import drawing
from rules.table import Face, Plan

from .cards import BORDER_MM, CARD_MM, DICTIONARY, MARKER_MM
from .frame import Pixels

Surface = Literal["wood", "cloth", "plain"]

PAPER = 242
INK = 28
"""Printed black is never as black as a hole."""
LIGHTNESS = 200.0
"""Steps of lightness in a surface."""


def face_texture(plan: Plan, face: Face, px_per_mm: float) -> Pixels:
    """The top of a piece with this face, BGRA, its middle in the middle of the picture."""
    half = plan.piece_of[face].width_mm * 0.65
    content = drawing.symbols(plan) + f'<use href="#face-{face}"/>'
    return _pixels(content, (-half, -half, 2 * half, 2 * half), px_per_mm)


def board_texture(plan: Plan, px_per_mm: float) -> Pixels:
    """The bare board, BGRA, exactly as large as the table."""
    content = drawing.symbols(plan) + drawing.ground(plan)
    return _pixels(content, (0, 0, *plan.size_mm), px_per_mm)


def card_texture(number: int, px_per_mm: float) -> Pixels:
    """A printed corner card, BGRA."""
    cells = 6
    marker = cv2.aruco.generateImageMarker(
        cv2.aruco.getPredefinedDictionary(DICTIONARY), number, cells
    )
    side = round(CARD_MM * px_per_mm)
    border = round(BORDER_MM * px_per_mm)
    inside = round(MARKER_MM * px_per_mm)
    card = np.full((side, side, 4), PAPER, np.uint8)
    card[:, :, 3] = 255
    large = cv2.resize(marker, (inside, inside), interpolation=cv2.INTER_NEAREST)
    large = np.where(large > 127, PAPER, INK).astype(np.uint8)
    card[border : border + inside, border : border + inside, :3] = large[:, :, None]
    return card


def surface_texture(surface: Surface, height: int, width: int, seed: int) -> Pixels:
    """A table top of wood, cloth or plain paint, BGR."""
    rng = np.random.default_rng(seed)
    tone = rng.uniform(0.7, 1.6)
    shape = height, width
    if surface == "wood":
        rings = _waves(rng, shape, (12, 2)) * 3 + _waves(rng, shape, (60, 3))
        lightness = 0.75 + 0.10 * np.sin(rings * 7) + 0.045 * _waves(rng, shape, (height // 2, 12))
        base = np.array([62, 104, 150])
    elif surface == "cloth":
        rows, columns = (0.06 * np.sin(np.arange(n, dtype=np.float32) * 2.1) for n in shape)
        lightness = 0.8 + rows[:, None] + columns + 0.05 * _waves(rng, shape, (9, 15))
        base = rng.uniform(50, 150, 3)
    else:
        lightness = 0.85 + 0.04 * _waves(rng, shape, (4, 6))
        base = np.array([150, 155, 160]) * rng.uniform(0.5, 1.2)
    gray = cv2.convertScaleAbs(lightness, alpha=LIGHTNESS)
    colours = np.clip(np.arange(256)[:, None] / LIGHTNESS * base * tone, 0, 255)
    bgr = cv2.LUT(cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR), colours.astype(np.uint8)[None])
    return np.asarray(bgr, np.uint8)


def _waves(
    rng: np.random.Generator, shape: tuple[int, int], knots: tuple[int, int]
) -> NDArray[np.float32]:
    """Smooth random hills of about unit height, with so many knots down and across."""
    coarse = rng.normal(size=knots).astype(np.float32)
    height, width = shape
    hills = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    return hills.astype(np.float32, copy=False)


@lru_cache(maxsize=64)
def _pixels(content: str, box: tuple[float, float, float, float], px_per_mm: float) -> Pixels:
    """A drawing as pixels, its colours multiplied by their opacity so that they may be blended."""
    left, top, width, height = box
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:g} {top:g} {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}">{content}</svg>'
    )
    png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=round(width * px_per_mm)))
    bgra = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    assert bgra is not None
    opacity = bgra[:, :, 3:].astype(np.float32) / 255
    bgra[:, :, :3] = np.rint(bgra[:, :, :3] * opacity)
    return bgra.astype(np.uint8, copy=False)
