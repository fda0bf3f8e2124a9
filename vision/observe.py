"""From a picture of the table to beliefs: for every site, how likely each face lies there.

Each site is cut out and compared with the looks of everything that may lie there. What light does
(how bright a site is) counts little, what print does (shape and colour) counts much: a cut and a
look are compared by the angle between them, which no gain can change.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import EMPTY, Face, Plan, Site

from .frame import Pixels
from .looks import BORDER_PX, PATCH_PX, SPAN_PX, Looks, Patch
from .observation import Observation
from .rectify import TableImage

Floats: TypeAlias = NDArray[np.float32]

RADIUS = 0.4
"""Of the disc that is looked at, in pitches: beyond it neighbours lean in and throw shadows."""

CHROMA = 2.0
"""How much a difference of colour counts against one of brightness."""

PLAIN_EVENNESS = 0.3
PRINTED_EVENNESS = 0.1
"""How much the mean brightness of a site counts against its structure. On bare sites and plain
pieces there is little else. Printed pieces are known by their print; the haze of a reflection
brightens them."""

PRINTED = 0.05
"""A face is printed if this share of its light is structure."""

SLOPE = 0.2
"""How much it counts that one side of a site is brighter: light falls off, shadows come in."""

BLOWN = 250
"""A pixel with a channel this bright is blown out. White may be, a colour changes its hue by it
(orange turns yellow), so that it says nothing about colour."""

SOFTNESS_PX = 0.6
"""Blur of a common lens, in pixels of a patch."""

NEAR_PX = 1.5
FAR_PX = 4.5
"""How far beside its place a piece is looked for, in pixels of a patch (a twentieth of the pitch):
first near and, where nothing fits well, far."""

TURNS_DEG = (-8.0, 0.0, 8.0)
"""How a piece may be turned where it is looked for far."""

WELL = 0.06
"""A site with a misfit below this needs no second look."""

SHARPNESS = 65.0
"""Belief falls with the misfit as exp(-SHARPNESS * misfit). On 40 virtual tables, with foreign
things laid on some sites, 75 made the truth likeliest, and held on 60 other tables; a power law of
the misfit, with one number more, did no better. A little less is taken, for cameras unlike that."""

WORST = 0.18
"""At this misfit 'none of these' is as likely as the face; fitted together with SHARPNESS."""

UNREADABLE = 0.5
"""A site is left out when 'none of these' is believed more than this."""


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
        half = cv2.resize(image.bgr, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        beliefs: dict[Site, dict[Face, float]] = {}
        for group in self._groups:
            beliefs |= group.believe(group.misfits(image, half.astype(np.uint8, copy=False)))
        return Observation(beliefs)


class _Group:
    """All sites of one pitch."""

    def __init__(self, plan: Plan, looks: Looks, pitch_mm: float) -> None:
        places = [p for p in plan.places.values() if p.pitch_mm == pitch_mm]
        self.sites = tuple(p.site for p in places)
        self._places_mm = np.array([(p.x_mm, p.y_mm) for p in places])
        self._pitch_mm = pitch_mm
        bare = looks.bare()
        discs = np.stack([disc_of(_soften(bare[s]), 0, 0) for s in self.sites])
        self._bare = features(discs, PLAIN_EVENNESS)
        faces = looks.faces(pitch_mm)
        self.faces = (EMPTY, *faces)
        self._possible = np.array([[f in p.faces for f in self.faces] for p in places])
        columns: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
        for column, (face, patches) in enumerate(faces.items(), 1):
            columns[plan.piece_of[face].thickness_mm, _evenness(patches)].append(column)
        self._banks = [
            _Bank.of(height_mm, evenness, found, [faces[self.faces[c]] for c in found])
            for (height_mm, evenness), found in columns.items()
        ]

    def misfits(self, image: TableImage, half: Pixels) -> Floats:
        """For each site and face, from 0 (the same) to 1 (nothing in common)."""
        found = np.full(self._possible.shape, np.inf, np.float32)
        cuts, known = self._cut(image, half, 0.0, PLAIN_EVENNESS)
        found[:, 0] = _misfit(
            np.einsum("sf,sf->s", cuts, self._bare),
            np.einsum("sf,sf->s", known, self._bare**2),
        )
        tops = [self._cut(image, half, bank.height_mm, bank.evenness) for bank in self._banks]
        for bank, (cuts, known) in zip(self._banks, tops, strict=True):
            found[:, bank.columns] = bank.near.misfits(cuts, known)
        found[~self._possible] = np.inf
        doubtful = np.flatnonzero(found.min(axis=1) > WELL)
        if not doubtful.size:
            return found
        for bank, (cuts, known) in zip(self._banks, tops, strict=True):
            far = bank.far.misfits(cuts[doubtful], known[doubtful])
            here = (doubtful[:, None], bank.columns)
            found[here] = np.minimum(found[here], far)
        found[~self._possible] = np.inf
        return found

    def believe(self, misfits: Floats) -> dict[Site, dict[Face, float]]:
        """Beliefs from misfits; what 'none of these' gets is shared out among all faces."""
        weights = np.exp(-SHARPNESS * misfits)
        none = np.exp(-SHARPNESS * WORST)
        total = weights.sum(axis=1, keepdims=True) + none
        shared = none / total / self._possible.sum(axis=1, keepdims=True)
        beliefs = np.where(self._possible, weights / total + shared, 0.0)
        readable = none / total[:, 0] <= UNREADABLE
        return {
            site: {f: p for f, p in zip(self.faces, row, strict=True) if p > 0}
            for site, row, ok in zip(self.sites, beliefs.tolist(), readable.tolist(), strict=True)
            if ok
        }

    def _cut(
        self, image: TableImage, half: Pixels, height_mm: float, evenness: float
    ) -> tuple[Floats, Floats]:
        """The features of all sites, seen at this height above the table, and which are known."""
        leans = [image.shift_per_mm_height(x, y) for x, y in self._places_mm.tolist()]
        middles_mm = self._places_mm + height_mm * np.array(leans)
        # In the halved picture, whole numbers are again the middles of pixels.
        origin = (np.array(image.to_px(0.0, 0.0)) - 0.5) / 2
        middles_px = origin + middles_mm * (image.px_per_mm / 2)
        step = self._pitch_mm * image.px_per_mm / 2 / PATCH_PX
        columns = middles_px[:, :1] + (_COLUMNS - _MIDDLE) * step
        rows = middles_px[:, 1:] + (_ROWS - _MIDDLE) * step
        colours = cv2.remap(
            half,
            columns.astype(np.float32),
            rows.astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        blue, green, red = cv2.split(colours)
        darkest, brightest = cv2.min(cv2.min(blue, green), red), cv2.max(cv2.max(blue, green), red)
        coloured = (brightest < BLOWN) | (darkest >= BLOWN)
        known = np.concatenate([np.ones_like(coloured), coloured, coloured], axis=1)
        found = features((colours / image.white_bgr).astype(np.float32), evenness)
        return _unit(found * known), known.astype(np.float32)


class _Prototypes:
    """Looks as rows of features, face after face."""

    def __init__(self, faces: Sequence[Sequence[Patch]], reach_px: float, evenness: float) -> None:
        shifts = [
            (dx, dy)
            for dx in range(-BORDER_PX, BORDER_PX + 1)
            for dy in range(-BORDER_PX, BORDER_PX + 1)
            if dx * dx + dy * dy <= reach_px * reach_px
        ]
        rows = [[disc_of(p, dx, dy) for p in patches for dx, dy in shifts] for patches in faces]
        self._starts = np.cumsum([0, *map(len, rows)])[:-1]
        self._looks = features(np.concatenate([np.stack(r) for r in rows]), evenness)
        self._squares = self._looks**2

    def misfits(self, cuts: Floats, known: Floats) -> Floats:
        """For each cut, the misfit of the best fitting look of every face."""
        all_looks = _misfit(_products(cuts, self._looks), _products(known, self._squares))
        found: Floats = np.minimum.reduceat(all_looks, self._starts, axis=1)
        return found


@dataclass(frozen=True, eq=False)
class _Bank:
    """Faces of pieces of one thickness that are compared in one way."""

    height_mm: float
    evenness: float
    columns: list[int]
    """Which columns of the misfits are theirs."""
    near: _Prototypes
    far: _Prototypes

    @classmethod
    def of(
        cls,
        height_mm: float,
        evenness: float,
        columns: list[int],
        faces: Sequence[Sequence[Patch]],
    ) -> "_Bank":
        soft = [[_soften(p) for p in patches] for patches in faces]
        turned = [[_turn(p, deg) for p in patches for deg in TURNS_DEG] for patches in soft]
        near = _Prototypes(soft, NEAR_PX, evenness)
        return cls(height_mm, evenness, columns, near, _Prototypes(turned, FAR_PX, evenness))


def _evenness(patches: Sequence[Patch]) -> float:
    """How the looks of a face are to be compared: by their print, if they have one."""
    light = np.stack([disc_of(p, 0, 0).sum(axis=1) for p in patches])
    printed = light.var() > PRINTED * (light**2).mean()
    return PRINTED_EVENNESS if printed else PLAIN_EVENNESS


def features(colours: Floats, evenness: float) -> Floats:
    """Rows of colours, relative to white paper, as unit vectors: brightness, and two differences
    of colour that are 0 for everything grey."""
    blue, green, red = cv2.split(colours)
    light = (blue + green + red) * np.float32(3**-0.5)
    keep = np.array([evenness, SLOPE, SLOPE], np.float32)
    smooth = _products(light, _SMOOTH) * (1 - keep)
    light -= _products(smooth, _SMOOTH_COLUMNS)
    warm = (red - green) * np.float32(CHROMA * 2**-0.5)
    cold = (blue + blue - red - green) * np.float32(CHROMA * 6**-0.5)
    return _unit(np.concatenate([light, warm, cold], axis=1))


def _products(left: Floats, right: Floats) -> Floats:
    """The products of all rows, worked out on this thread alone: numpy shares even small ones out
    among threads and, on a busy machine, waits for them. Reading took 50 ms instead of 4."""
    nothing = np.empty((0, 0), np.float32)
    found = cv2.gemm(left, right, 1.0, nothing, 0.0, flags=cv2.GEMM_2_T)
    return found.astype(np.float32, copy=False)


def _unit(rows: Floats) -> Floats:
    found: Floats = rows / (np.linalg.norm(rows, axis=1, keepdims=True) + np.float32(1e-6))
    return found


def _misfit(products: Floats, shares: Floats) -> Floats:
    """The squared sine of the angle between a cut and the known share of a look."""
    found: Floats = 1 - np.maximum(products, 0) ** 2 / (shares + np.float32(1e-6))
    return found


def _soften(patch: Patch) -> Patch:
    return cv2.GaussianBlur(patch, (0, 0), SOFTNESS_PX).astype(np.float32, copy=False)


def _turn(patch: Patch, deg: float) -> Patch:
    middle = (SPAN_PX - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), deg, 1.0)
    turned = cv2.warpAffine(patch, matrix, (SPAN_PX, SPAN_PX), borderMode=cv2.BORDER_REPLICATE)
    return turned.astype(np.float32, copy=False)


def _disc() -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the pixels that are looked at."""
    rows, columns = np.mgrid[0:PATCH_PX, 0:PATCH_PX]
    inside = np.hypot(rows - _MIDDLE, columns - _MIDDLE) <= RADIUS * PATCH_PX
    return rows[inside], columns[inside]


def _smooth() -> Floats:
    """Even brightness and the two slopes across the disc, as three unit vectors."""
    columns, rows = _COLUMNS - _MIDDLE, _ROWS - _MIDDLE
    return _unit(np.stack([np.ones_like(columns), columns, rows]).astype(np.float32))


_MIDDLE = (PATCH_PX - 1) / 2
_ROWS, _COLUMNS = _disc()
_SMOOTH = _smooth()
_SMOOTH_COLUMNS = np.ascontiguousarray(_SMOOTH.T)


def disc_of(patch: Patch, dx_px: int, dy_px: int) -> Patch:
    """The colours of the disc when the piece lies ``dx_px``, ``dy_px`` beside its place."""
    return patch[_ROWS + BORDER_PX - dy_px, _COLUMNS + BORDER_PX - dx_px]
