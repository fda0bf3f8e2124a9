"""The four printed corner cards: their geometry on the table, and finding them in a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import cv2
import numpy as np

from .frame import Numbers, Pixels

DICTIONARY = cv2.aruco.DICT_4X4_50
MARKER_MM = 30.0
BORDER_MM = 8.0
"""White paper around the marker: the marker needs it, and it is the reference for white."""
CARD_MM = MARKER_MM + 2 * BORDER_MM
"""A card is a square that touches the table with its inner corner, outside of it."""

IDS = (0, 1, 2, 3)
"""Top left, top right, bottom right, bottom left."""


@dataclass(frozen=True)
class Cards:
    """The cards in view: id -> its marker's corners in pixels, clockwise from its top left."""

    corners_px: Mapping[int, Numbers] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.corners_px)


def card_corners_mm(size_mm: tuple[float, float]) -> dict[int, Numbers]:
    """Where the paper of each card lies on the table, clockwise from its top left corner."""
    width, height = size_mm
    lefts = (-CARD_MM, width, width, -CARD_MM)
    tops = (-CARD_MM, -CARD_MM, height, height)
    square = np.array([(0, 0), (CARD_MM, 0), (CARD_MM, CARD_MM), (0, CARD_MM)])
    return {i: square + np.array([lefts[i], tops[i]]) for i in IDS}


def marker_corners_mm(size_mm: tuple[float, float]) -> dict[int, Numbers]:
    """Where the corners of each marker lie on the table, clockwise from its top left corner.

    >>> marker_corners_mm((400, 300))[2][0]
    array([408., 308.])
    """
    inwards = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * BORDER_MM
    return {i: corners + inwards for i, corners in card_corners_mm(size_mm).items()}


def find_cards(bgr: Pixels, first: int = 0) -> Cards:
    """The corner cards in a frame; a card that is partly covered is not found.

    ``first`` is the number of the first of the four markers; other sheets have others.
    """
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False)
    corners, ids, _ = _detector(gray.shape[0]).detectMarkers(gray)
    if ids is None:
        return Cards()
    numbers = [int(number) - first for number in ids.ravel()]
    found: dict[int, Numbers] = {}
    for number, quad in sorted(zip(numbers, corners, strict=True), key=lambda c: c[0]):
        # Two of the same number are no card but a copy of one.
        if number in IDS and numbers.count(number) == 1:
            refined = _refine(gray, quad.reshape(4, 2).astype(np.float64))
            if refined is not None:
                found[number] = refined
    return Cards(found)


@cache
def _detector(height_px: int) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    # One window, nearly as large as a marker, finds more in blur and shadow than the three small
    # ones that are usual, in half the time.
    window_px = height_px // 44 * 2 + 1
    parameters.adaptiveThreshWinSizeMin = parameters.adaptiveThreshWinSizeMax = max(window_px, 5)
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)


ALONG = np.linspace(0.12, 0.88, 24)
"""Where the edges of a marker are measured, away from its corners, which blur rounds off."""
ACROSS_PX = np.arange(-3.0, 3.01, 0.5)


def _refine(gray: Pixels, corners: Numbers, again: bool = True) -> Numbers | None:
    """The corners again, as intersections of lines through the edges: to a few hundredths.

    None where there is no clear edge: what was found there is not the outside of a marker.
    """
    along = np.roll(corners, -1, axis=0) - corners
    outwards = np.column_stack([along[:, 1], -along[:, 0]]) / np.hypot(*along.T)[:, None]
    points = corners[:, None] + ALONG[:, None] * along[:, None]
    places = points[:, :, None] + ACROSS_PX[:, None] * outwards[:, None, None]
    x, y = places.reshape(4 * len(ALONG), -1, 2).astype(np.float32).transpose(2, 0, 1)
    levels = cv2.remap(gray, x, y, cv2.INTER_LINEAR).astype(np.float64)
    # Outwards it gets brighter: the edge is where the brightness rises, on average.
    rise = np.maximum(np.diff(levels.reshape(4, len(ALONG), -1)), 0) ** 2
    weight = rise.sum(axis=2)
    offset = rise @ ((ACROSS_PX[1:] + ACROSS_PX[:-1]) / 2) / np.maximum(weight, 1e-9)
    clear = (weight > 0.2 * np.median(weight)) & (np.abs(offset - np.median(offset)) < 2)
    if (clear.sum(axis=1) < len(ALONG) / 2).any():
        return None
    edges = points + offset[:, :, None] * outwards[:, None]
    lines = [_line(edge[known]) for edge, known in zip(edges, clear, strict=True)]
    crossings = np.cross(np.roll(lines, 1, axis=0), lines)
    refined: Numbers = crossings[:, :2] / crossings[:, 2:]
    return _refine(gray, refined, again=False) if again else refined


def _line(points: Numbers) -> Numbers:
    """The line a x + b y + c = 0 nearest to some points."""
    middle = points.mean(axis=0)
    normal = np.linalg.svd(points - middle, full_matrices=False)[2][1]
    return np.array([*normal, -normal @ middle])
