"""From a picture of the table to beliefs: for every site, how likely each face lies there.

Each site is cut out and compared with the looks of everything that may lie there. What light does
(how bright a site is) counts little, what print does (shape and colour) counts much: a cut and a
look are compared by the angle between them, which no gain can change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import EMPTY, Face, Place, Plan, Site

from .looks import BORDER_PX, PATCH_PX, SPAN_PX, Looks, Patch
from .observation import Observation
from .rectify import TableImage

Floats = NDArray[np.float32]

RADIUS = 0.42
"""Of the disc that is looked at, in pitches: beyond it neighbours lean in."""

CHROMA = 2.0
"""How much a difference of colour counts against one of brightness."""

EVEN = 0.5
"""How much the even brightness of a site counts against its structure: shadow and haze change it."""

SHIFTS_PX = (-4, -2, 0, 2, 4)
"""Where a piece is looked for around its place, in pixels of a patch (a twentieth of the pitch)."""

SHARPNESS = 6.0
"""How fast belief falls with the misfit: see ``_believe``."""

FINEST = 0.004
"""Misfits below this are noise."""

WORST = 0.12
"""Misfit at which 'none of these' is as likely as the face that fits."""

UNREADABLE = 0.5
"""A site is left out when 'none of these' is believed more than this."""


def reading_scale(plan: Plan) -> float:
    """Pixels per millimetre at which a table should be rectified for reading: two for each pixel
    of a patch, on the sites that lie closest."""
    return 2 * PATCH_PX / min(area.pitch_mm for area in plan.areas.values())


@dataclass(frozen=True)
class _Group:
    """Sites on which the same faces may lie."""

    sites: NDArray[np.intp]
    faces: tuple[Face, ...]
    heights_mm: tuple[float, ...]
    """Different thicknesses of its pieces."""
    prototypes: Floats
    """Features of all looks of all faces in all shifts, one a row."""
    starts: NDArray[np.intp]
    """First row of every face."""
    height_of: NDArray[np.intp]
    """For each face, which of ``heights_mm`` it has."""


class Observer:
    """Reads the tables of one plan."""

    def __init__(self, plan: Plan, looks: Looks) -> None:
        self._places = tuple(plan.places.values())
        ...
