"""From a picture of the table to beliefs: for every site, how likely each face lies there.

Each site is cut out and compared with the looks of everything that may lie there. What light does
(how bright a site is) counts little, what print does (shape and colour) counts much: a cut and a
look are compared by the angle between them, which no gain can change.
"""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import EMPTY, Face, Plan, Site

from .looks import BORDER_PX, PATCH_PX, Looks, Patch
from .observation import Observation
from .rectify import TableImage

Floats = NDArray[np.float32]

RADIUS = 0.42
"""Of the disc that is looked at, in pitches: beyond it neighbours lean in."""

CHROMA = 2.0
"""How much a difference of colour counts against one of brightness."""

EVEN = 0.5
"""How much the mean brightness of a site counts against its structure: shadow and haze change it."""

SHIFTS_PX = (-4, -2, 0, 2, 4)
"""Where a piece is looked for around its place, in pixels of a patch (a twentieth of the pitch)."""

SOFTNESS_PX = 0.6
"""Blur of a common lens, in pixels of a patch."""

SHARPNESS = 6.0
FINEST = 0.004
WORST = 0.12
"""Belief falls with the misfit m (squared sine of the angle) as (FINEST + m) ** -SHARPNESS: ratios
count, so that in a blurred or noisy picture, where nothing fits well, nothing is believed much.
At WORST, 'none of these' is as likely as the face."""

UNREADABLE = 0.5
"""A site is left out when 'none of these' is believed more than this."""


def _disc() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the pixels of a patch that are looked at."""
    middle = (PATCH_PX - 1) / 2
    rows, columns = np.mgrid[0:PATCH_PX, 0:PATCH_PX]
    inside = np.hypot(rows - middle, columns - middle) <= RADIUS * PATCH_PX
    return rows[inside], columns[inside]


_ROWS, _COLUMNS = _disc()


def reading_scale(plan: Plan) -> float:
    """Pixels per millimetre at which a table is to be rectified for reading: two for each pixel
    of a patch, on the sites that lie closest together."""
    return 2 * PATCH_PX / min(area.pitch_mm for area in plan.areas.values())


class Observer:
    """Reads the tables of one plan; what stays the same between pictures is worked out once."""

    def __init__(self, plan: Plan, looks: Looks) -> None:
        pitches = sorted({place.pitch_mm for place in plan.places.values()})
        self._groups = [_Group(plan, looks, pitch_mm) for pitch_mm in pitches]

    def observe(self, image: TableImage) -> Observation:
        """What lies on every site that can be read in this picture."""
        small = cv2.resize(image.bgr, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        beliefs: dict[Site, dict[Face, float]] = {}
        for group in self._groups:
            beliefs |= group.believe(group.misfits(image, small))
        return Observation(beliefs)


class _Group:
    """All sites of one pitch."""

    def __init__(self, plan: Plan, looks: Looks, pitch_mm: float) -> None:
        places = [p for p in plan.places.values() if p.pitch_mm == pitch_mm]
        self.sites = [p.site for p in places]
        self._x_mm = np.array([p.x_mm for p in places])
        self._y_mm = np.array([p.y_mm for p in places])
        self._pitch_mm = pitch_mm
        bare = looks.bare()
        self._bare = features(np.stack([_cut(bare[s], 0, 0) for s in self.sites]))
        faces = looks.faces(pitch_mm)
        heights = sorted({plan.piece_of[face].thickness_mm for face in faces})
        self._banks = [
            _Bank(h, {f: look for f, look in faces.items() if plan.piece_of[f].thickness_mm == h})
            for h in heights
        ]
        self.faces = (EMPTY, *(face for bank in self._banks for face in bank.faces))
        self._possible = np.array([[f in p.faces for f in self.faces] for p in places])

    def misfits(self, image: TableImage, small: NDArray[np.generic]) -> Floats:
        """For each site and face, from 0 (fits) to 1 (nothing in common)."""
        cosines = [np.einsum("sf,sf->s", self.cut(image, small, 0.0), self._bare)[:, None]]
        cosines += [bank.fit(self.cut(image, small, bank.height_mm)) for bank in self._banks]
        cosine = np.maximum(np.concatenate(cosines, axis=1), 0.0)
        found: Floats = np.where(self._possible, 1.0 - cosine**2, np.inf)
        return found

    def believe(self, misfits: Floats) -> dict[Site, dict[Face, float]]:
        logs = -SHARPNESS * np.log(FINEST + misfits)
        none = -SHARPNESS * np.log(FINEST + WORST)
        weights = np.exp(logs - np.maximum(logs.max(axis=1, keepdims=True), none))
        nothing = np.exp(none - np.maximum(logs.max(axis=1), none))
        total = weights.sum(axis=1) + nothing
        shared = (nothing / total / self._possible.sum(axis=1))[:, None]
        beliefs = np.where(self._possible, weights / total[:, None] + shared, 0.0)
        readable = nothing / total <= UNREADABLE
        return {
            site: {f: p for f, p in zip(self.faces, row, strict=True) if p > 0}
            for site, row, ok in zip(self.sites, beliefs.tolist(), readable.tolist(), strict=True)
            if ok
        }

    def cut(self, image: TableImage, small: NDArray[np.generic], height_mm: float) -> Floats:
        """The features of all sites, seen at this height above the table."""
        shifts = [
            image.shift_per_mm_height(x, y)
            for x, y in zip(self._x_mm.tolist(), self._y_mm.tolist(), strict=True)
        ]
        shift_mm = np.array(shifts) * height_mm
        x_px, y_px = image.to_px(self._x_mm + shift_mm[:, 0], self._y_mm + shift_mm[:, 1])
        step = self._pitch_mm * image.px_per_mm / PATCH_PX
        middle = (PATCH_PX - 1) / 2
        columns = x_px[:, None] + (_COLUMNS - middle) * step
        rows = y_px[:, None] + (_ROWS - middle) * step
        colours = cv2.remap(
            small,
            ((columns - 0.5) / 2).astype(np.float32),
            ((rows - 0.5) / 2).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        return features(colours / image.white_bgr)


class _Bank:
    """The looks of all faces of one thickness in all shifts, as rows of features."""

    def __init__(self, height_mm: float, looks: Mapping[Face, Sequence[Patch]]) -> None:
        self.height_mm = height_mm
        self.faces = tuple(looks)
        cuts = [
            [_cut(patch, dx, dy) for patch in patches for dx in SHIFTS_PX for dy in SHIFTS_PX]
            for patches in looks.values()
        ]
        self._starts = np.cumsum([0, *map(len, cuts)])[:-1]
        self._rows = features(np.concatenate([np.stack(c) for c in cuts]))

    def fit(self, cuts: Floats) -> Floats:
        """For each cut, the cosine of its angle to the best fitting look of every face."""
        found: Floats = np.maximum.reduceat(cuts @ self._rows.T, self._starts, axis=1)
        return found


def _cut(patch: Patch, dx_px: int, dy_px: int) -> Patch:
    """The colours of the disc when the piece lies ``dx_px``, ``dy_px`` beside its place."""
    soft = cv2.GaussianBlur(patch, (0, 0), SOFTNESS_PX)
    return soft[_ROWS + BORDER_PX - dy_px, _COLUMNS + BORDER_PX - dx_px].astype(np.float32)


def features(colours: NDArray[np.floating]) -> Floats:
    """Rows of colours (relative to white paper) as unit vectors: brightness, and two differences
    of colour that are 0 for everything grey."""
    blue, green, red = np.moveaxis(colours.astype(np.float32, copy=False), -1, 0)
    light = (blue + green + red) / np.float32(np.sqrt(3))
    light -= (1 - EVEN) * light.mean(axis=-1, keepdims=True)
    warm = CHROMA * (red - green) / np.float32(np.sqrt(2))
    cold = CHROMA * (2 * blue - red - green) / np.float32(np.sqrt(6))
    rows = np.concatenate([light, warm, cold], axis=-1)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True) + np.float32(1e-6)
    return rows
