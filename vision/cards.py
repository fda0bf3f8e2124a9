"""The four printed corner cards: their geometry on the table, and finding them in a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    return {i: square + (lefts[i], tops[i]) for i in IDS}


def marker_corners_mm(size_mm: tuple[float, float]) -> dict[int, Numbers]:
    """Where the corners of each marker lie on the table, clockwise from its top left corner.

    >>> marker_corners_mm((400, 300))[2][0]
    array([408., 308.])
    """
    inwards = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * BORDER_MM
    return {i: corners + inwards for i, corners in card_corners_mm(size_mm).items()}


def find_cards(bgr: Pixels) -> Cards:
    """The corner cards in a frame; a card that is partly covered is not found."""
    gray = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    corners, ids, _ = _detector(gray.shape[0]).detectMarkers(gray)
    if ids is None:
        return Cards()
    found: dict[int, Numbers] = {}
    seen_twice = set()
    for quad, number in zip(corners, map(int, ids.ravel()), strict=True):
        if number in found:
            seen_twice.add(number)
        if number in IDS:
            found[number] = quad.reshape(4, 2).astype(np.float64)
    return Cards({i: c for i, c in sorted(found.items()) if i not in seen_twice})


def _detector(height_px: int) -> cv2.aruco.ArucoDetector:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY), parameters)
