"""Where the board lies between the corner cards: told by taps, or found by a picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import atan2, cos, degrees, hypot, radians, sin, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import Plan
from rules.teaching import tap_sites

from .errors import BoardUnclear
from .frame import Numbers, Pixels
from .pose import project
from .textures import board_texture

if TYPE_CHECKING:  # a table is rectified where its board lies
    from .rectify import TableImage

Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """How the board lies: from millimetres of the plan to millimetres between the cards."""

    x_mm: float = 0.0
    y_mm: float = 0.0
    """Where the plan's top left corner is."""
    turn_deg: float = 0.0
    scale: float = 1.0
    """A printed board may be a little larger or smaller than its plan says."""

    @classmethod
    def pushed(
        cls, size_mm: tuple[float, float], by_mm: tuple[float, float], turn_deg: float
    ) -> BoardPlace:
        """A board that lay as planned and was pushed, and turned about its middle."""
        x, y = (side / 2 for side in size_mm)
        c, s = cos(radians(turn_deg)), sin(radians(turn_deg))
        return cls(x + by_mm[0] - c * x + s * y, y + by_mm[1] - s * x - c * y, turn_deg)

    @classmethod
    def of_matrix(cls, matrix: Numbers) -> BoardPlace:
        (a, _, x), (b, _, y) = matrix[:2].tolist()
        return cls(x, y, degrees(atan2(b, a)), hypot(a, b))

    def matrix(self) -> Numbers:
        c, s = (self.scale * f(radians(self.turn_deg)) for f in (cos, sin))
        return np.array([[c, -s, self.x_mm], [s, c, self.y_mm], [0, 0, 1.0]])

    def apart_mm(self, other: BoardPlace, size_mm: tuple[float, float]) -> float:
        """How far a board in the other place is from this one, at its worst corner."""
        width, height = size_mm
        corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
        gap = project(self.matrix(), corners) - project(other.matrix(), corners)
        return float(np.hypot(*gap.T).max())


AS_PLANNED = BoardPlace()


TAP_MM = 6.0
"""Taps may miss by this much on average; a finger on a phone misses by two or three."""
SIZES = (0.93, 1.07)
"""That a printed board may have, as shares of its plan's."""


def place_by_taps(plan: Plan, taps_mm: Sequence[tuple[float, float]]) -> BoardPlace:
    """Where the board lies if these places on the table are the middles of ``tap_sites``.

    ``BoardUnclear`` when no board of about the planned size fits them.
    """
    sites = tap_sites(plan)
    where = f"the middles of {', '.join(sites)}"
    if len(taps_mm) != len(sites):
        raise BoardUnclear(f"taps: expected {where}, got {len(taps_mm)} taps")
    planned = np.array([(plan.places[s].x_mm, plan.places[s].y_mm) for s in sites])
    place = fit_place(planned, np.array(taps_mm, np.float64))
    miss_mm = float(np.hypot(*(project(place.matrix(), planned) - taps_mm).T).mean())
    if miss_mm > TAP_MM or not SIZES[0] <= place.scale <= SIZES[1]:
        got = f"a board of {place.scale:.2f} times the size, {miss_mm:.0f} mm off"
        raise BoardUnclear(f"taps: expected {where}, got {got}")
    return place


def fit_place(planned_mm: Numbers, found_mm: Numbers) -> BoardPlace:
    """The place that brings points (n, 2) of the plan nearest to where they were found."""
    middle, found_middle = planned_mm.mean(axis=0), found_mm.mean(axis=0)
    planned = (planned_mm - middle) @ (1, 1j)
    turned = np.vdot(planned, (found_mm - found_middle) @ (1, 1j)) / np.vdot(planned, planned)
    c, s = float(turned.real), float(turned.imag)
    x, y = found_middle - np.array([[c, -s], [s, c]]) @ middle
    return BoardPlace(float(x), float(y), degrees(atan2(s, c)), hypot(c, s))


PX_PER_MM = 0.5
SMOOTH_PX = 21
STEEPEST = 0.4
"""Of a relief, in natural logarithms: no edge of a black piece shall outweigh the print."""

REACH_MM = 45.0
NUDGE_DEG = 12.0
"""How far a board may have been pushed and turned to be found again."""
STEP_DEG, FINE_DEG = 1.0, 0.25
OTHER_PX = 5
"""So far from the best place is another place."""
LEAST_LIKENESS = 0.18
LEAST_LEAD = 1.2
"""How well a board must correlate where it is found, and how much better than elsewhere. Pushed
boards of two games in 150 virtual rooms reached 0.2 and more, and of those with this lead none was
found in a wrong place; in pictures of other boards, wood and cloth it was 0.14 at most."""
LEAST_BY_CHANCE = 24.0
"""Divided by the root of the number of pixels: small boards are sooner like anything."""

BLOCKS = 4
"""Across and along, that are compared one by one in a glance."""
GLANCE_PX = 3
WITNESS = 0.6
"""A block that correlates so well has been found again."""
FEWEST_WITNESSES = 6
AGREE_MM = 1.0


class BoardPicture:
    """How a board looks, drawn or photographed, by which it is found again.

    All of it is correlated at once, over all places and turns. Keypoints (SIFT, ORB and AKAZE with
    RANSAC) lost: they found a bare virtual board in 12, 15 and 6 of 15 rooms and in none with 40
    pieces on it, since fields that look alike match everywhere. Correlation found it in all, with
    120 pieces on 169 fields too.
    """

    def __init__(self, relief: Floats) -> None:
        self._relief = relief

    @classmethod
    def drawn(cls, plan: Plan) -> BoardPicture:
        """The bare board as the plan draws it."""
        px_per_mm = 4 * PX_PER_MM
        return cls.kept(board_texture(plan, px_per_mm)[:, :, :3], px_per_mm, plan)

    @classmethod
    def kept(cls, bgr: Pixels, px_per_mm: float, plan: Plan) -> BoardPicture:
        """The board in a picture of it alone, seen from straight above."""
        return cls(_cut(_relief(bgr, px_per_mm), 0.0, plan.size_mm))

    @classmethod
    def taught(cls, image: TableImage, plan: Plan) -> BoardPicture:
        """The board in a picture that was rectified where it lies."""
        return cls(_cut(_relief(image.bgr, image.px_per_mm), image.margin_mm, plan.size_mm))

    def find(self, image: TableImage, reach_deg: float = NUDGE_DEG) -> BoardPlace | None:
        """Where the board lies in a picture, or None when that is not clear.

        It may be turned by ``reach_deg`` against where the picture takes it to lie.
        """
        seen = _Seen(_relief(image.bgr, image.px_per_mm), image.margin_mm, self._relief.shape)
        turns = np.arange(-reach_deg, reach_deg + STEP_DEG / 2, STEP_DEG)
        surfaces = [seen.correlate(self._turned(deg)) for deg in turns]
        peaks = [float(s.max()) for s in surfaces]
        best = int(np.argmax(peaks))
        row, column = _highest(surfaces[best])
        near = np.s_[
            max(row - OTHER_PX, 0) : row + OTHER_PX + 1,
            max(column - OTHER_PX, 0) : column + OTHER_PX + 1,
        ]
        here = seen.at_rest(surfaces[len(surfaces) // 2])
        for surface in surfaces:
            surface[near] = -1
        elsewhere = max(float(s.max()) for s in surfaces)
        least = max(LEAST_LIKENESS, LEAST_BY_CHANCE / sqrt(self._relief.size))
        if peaks[best] < max(least, LEAST_LEAD * elsewhere):
            return None
        if peaks[best] < LEAST_LEAD * here:
            return image.place  # pieces that lie askew or lean away make a few millimetres of it
        if best in (0, len(turns) - 1) or {0, 2 * seen.reach_px} & {row, column}:
            return None  # it goes on rising out of reach
        fine = np.arange(-STEP_DEG, STEP_DEG + FINE_DEG / 2, FINE_DEG) + turns[best]
        surfaces = [seen.correlate(self._turned(deg)) for deg in fine]
        peaks = [float(s.max()) for s in surfaces]
        best = int(np.argmax(peaks))
        turn_deg = float(fine[best]) + FINE_DEG * _summit(peaks, best)
        motion = BoardPlace.pushed(self._size_mm, seen.shift_mm(surfaces[best]), turn_deg)
        return BoardPlace.of_matrix(image.place.matrix() @ motion.matrix())

    def glance(self, image: TableImage) -> BoardPlace | None:
        """The same, at once, for a board that lies within a few millimetres of its place.

        None when too little of it can be compared, or when it is not so near.
        """
        around = _cut(
            _relief(image.bgr, image.px_per_mm), image.margin_mm, self._size_mm, GLANCE_PX
        )
        rows, columns = (side // BLOCKS for side in self._relief.shape)
        planned, found = [], []
        for top, left in product(
            range(0, BLOCKS * rows, rows), range(0, BLOCKS * columns, columns)
        ):
            block = self._relief[top : top + rows, left : left + columns]
            room = around[top:, left:][: rows + 2 * GLANCE_PX, : columns + 2 * GLANCE_PX]
            likeness = _floats(cv2.matchTemplate(room, block, cv2.TM_CCOEFF_NORMED))
            y, x = _highest(likeness)
            if likeness[y, x] < WITNESS or {0, 2 * GLANCE_PX} & {x, y}:
                continue
            shift = np.array([x + _summit(likeness[y], x), y + _summit(likeness[:, x], y)])
            middle = np.array([left + columns / 2, top + rows / 2])
            planned.append(middle / PX_PER_MM)
            found.append((middle + shift - GLANCE_PX) / PX_PER_MM)
        return self._agree(image, np.array(planned), np.array(found))

    def _agree(self, image: TableImage, planned: Numbers, found: Numbers) -> BoardPlace | None:
        """The place that most of the blocks found again agree on."""
        while len(planned) >= FEWEST_WITNESSES:
            motion = fit_place(planned, found)
            misses = np.hypot(*(project(motion.matrix(), planned) - found).T)
            if misses.max() <= AGREE_MM:
                return BoardPlace.of_matrix(image.place.matrix() @ motion.matrix())
            keep = misses < misses.max()
            planned, found = planned[keep], found[keep]
        return None

    @property
    def _size_mm(self) -> tuple[float, float]:
        rows, columns = self._relief.shape
        return columns / PX_PER_MM, rows / PX_PER_MM

    def _turned(self, deg: float) -> Floats:
        rows, columns = self._relief.shape
        matrix = cv2.getRotationMatrix2D(((columns - 1) / 2, (rows - 1) / 2), -deg, 1.0)
        # A linear one would make it softer than it is unturned, and so more like anything.
        flags = cv2.INTER_CUBIC
        return _floats(cv2.warpAffine(self._relief, matrix, (columns, rows), flags=flags))


STILL_MM = 1.2
"""A board that a glance finds within this of its place has not moved."""
FOUND_MM = 2.0
"""The same for one that had to be searched for: under many pieces that is right to 1.5 mm."""


class BoardWatch:
    """Keeps an eye on where the board lies, from picture to picture.

    The drawing of the plan serves as well as a taught picture, if the board is printed from it.
    Where none of them is found at first, the board is taken to lie where it was told to lie, and
    from then on it is compared with itself.
    """

    def __init__(
        self,
        plan: Plan,
        place: BoardPlace = AS_PLANNED,
        pictures: Sequence[BoardPicture] | None = None,
    ) -> None:
        self.place = place
        self._plan = plan
        self._pictures = [BoardPicture.drawn(plan)] if pictures is None else pictures
        self._last: BoardPicture | None = None
        self._fits = False
        """Whether the last picture still does."""
        self._recognised = False

    def look(self, image: TableImage) -> BoardPlace | None:
        """Where the board lies in a picture rectified at ``place``; None when it is lost."""
        found = self._last.glance(image) if self._last else None
        self._fits = found is not None
        if found is None:
            found = self._search(image)
        if found is None:
            return None if self._last or self._recognised else self.place
        still_mm = STILL_MM if self._fits else FOUND_MM
        return self.place if found.apart_mm(self.place, self._plan.size_mm) < still_mm else found

    def _search(self, image: TableImage) -> BoardPlace | None:
        # The last picture shows the pieces too, and so it knows best.
        found = self._last.find(image) if self._last else None
        if found:
            return found
        for picture in self._pictures:
            found = picture.find(image)
            if found:
                self._recognised = True
                return found
        return None

    def remember(self, image: TableImage) -> None:
        """Nothing is over the table in this picture: know the board again by it.

        An old picture is kept while it will do, so that a board that creeps is noticed.
        """
        if not self._fits or image.place != self.place:
            self._last = BoardPicture.taught(image, self._plan)
        self.place = image.place

    def forget(self) -> None:
        """Somebody says that what lies there is right, and so where: begin anew."""
        self._last = None
        self._recognised = False


class _Seen:
    """The relief of a picture, ready to be correlated with many others."""

    def __init__(self, relief: Floats, margin_mm: float, shape: tuple[int, ...]) -> None:
        self.reach_px = round(REACH_MM * PX_PER_MM)
        self._first = margin_mm * PX_PER_MM - self.reach_px
        whole = [max(a, b) + 2 * self.reach_px for a, b in zip(relief.shape, shape, strict=True)]
        self._rows, self._columns = (cv2.getOptimalDFTSize(side) for side in whole)
        self._spectrum = cv2.dft(self._pad(relief))
        self._strength = float(np.linalg.norm(relief))

    def correlate(self, other: Floats) -> Floats:
        """How alike the two are, for each shift within reach."""
        both = cv2.mulSpectrums(self._spectrum, cv2.dft(self._pad(other)), 0, conjB=True)
        whole = cv2.idft(both, flags=cv2.DFT_SCALE | cv2.DFT_REAL_OUTPUT)
        first = int(np.floor(self._first))
        side = range(first, first + 2 * self.reach_px + 1)
        near = np.take(np.take(whole, side, axis=0, mode="wrap"), side, axis=1, mode="wrap")
        norm = self._strength * float(np.linalg.norm(other)) + 1e-9
        return _floats(near / norm)

    def at_rest(self, surface: Floats) -> float:
        """How alike the two are with next to no shift."""
        middle = self.reach_px
        return float(surface[middle - 1 : middle + 3, middle - 1 : middle + 3].max())

    def shift_mm(self, surface: Floats) -> tuple[float, float]:
        """By how much the other one is shifted where it is most alike."""
        y, x = _highest(surface)
        first = np.floor(self._first) - self._first - self.reach_px
        along, across = y + _summit(surface[:, x], y), x + _summit(surface[y], x)
        return float(across + first) / PX_PER_MM, float(along + first) / PX_PER_MM

    def _pad(self, relief: Floats) -> Floats:
        rows, columns = relief.shape
        below, beside = self._rows - rows, self._columns - columns
        return _floats(cv2.copyMakeBorder(relief, 0, below, 0, beside, cv2.BORDER_CONSTANT))


def _relief(bgr: Pixels, px_per_mm: float) -> Floats:
    """Where a picture is brighter or darker than around, whatever light falls on it."""
    # Whole factors first: area averaging is several times slower with others.
    factor = max(int(px_per_mm / PX_PER_MM), 1)
    size = bgr.shape[1] // factor, bgr.shape[0] // factor
    whole = bgr[: size[1] * factor, : size[0] * factor]
    small = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    scale = PX_PER_MM * factor / px_per_mm
    if scale != 1:
        gray = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
    light = cv2.LUT(gray, _LOGARITHMS)
    return _floats(np.clip(light - cv2.blur(light, (SMOOTH_PX, SMOOTH_PX)), -STEEPEST, STEEPEST))


_LOGARITHMS = np.log(np.arange(256) + 12.0).astype(np.float32)
"""The offset keeps the noise of dark places small."""


def _cut(
    relief: Floats, margin_mm: float, size_mm: tuple[float, float], around_px: int = 0
) -> Floats:
    """The part of a relief that shows a board of this size, and so many pixels around it."""
    columns, rows = (round(side * PX_PER_MM) + 2 * around_px for side in size_mm)
    shift = margin_mm * PX_PER_MM - around_px
    matrix = np.array([[1, 0, shift], [0, 1, shift]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return _floats(cv2.warpAffine(relief, matrix, (columns, rows), flags=flags))


def _floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float32, copy=False)


def _highest(values: Floats) -> tuple[int, int]:
    """Row and column of the highest value."""
    row, column = np.unravel_index(int(values.argmax()), values.shape)
    return int(row), int(column)


def _summit(values: Sequence[float] | Floats, at: int) -> float:
    """How far from the highest of some values a parabola through its neighbours is highest."""
    if not 0 < at < len(values) - 1:
        return 0.0
    before, top, after = (float(values[i]) for i in (at - 1, at, at + 1))
    bend = before - 2 * top + after
    return (before - after) / (2 * bend) if bend < 0 else 0.0
