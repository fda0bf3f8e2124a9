"""Photographs as a coarser camera, another exposure or a warm lamp would have given them."""

import cv2
import numpy as np

from ..frame import Pixels

COARSER = {"half": 0.5}
"""How large the picture becomes."""

LIT = {
    "dark": (0.5, 0.5, 0.5),
    "bright": (2.0, 2.0, 2.0),
    "warm": (0.34, 0.66, 1.0),
}
"""Factors of blue, green and red; warm is a lamp of 2700 K to a camera balanced for daylight."""

CHANGES = (*COARSER, *LIT)


def change_picture(bgr: Pixels, change: str | None) -> tuple[Pixels, float]:
    """The changed picture, and by how much every place in it has to be multiplied."""
    if change in COARSER:
        scale = COARSER[change]
        small = cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return small.astype(np.uint8, copy=False), scale
    if change in LIT:
        lit = np.multiply(bgr, np.array(LIT[change], np.float32))
        return np.rint(lit).clip(0, 255).astype(np.uint8), 1.0
    return bgr, 1.0
