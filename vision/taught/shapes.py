"""How well the shapes of cut-outs agree with taught ones, wherever within a small shift and turn.

First all examples are looked at in half-size pictures, then the best faces closely.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from .patches import (
    RADIUS_PX,
    SPAN_PX,
    WINDOW_PX,
    Flags,
    Floats,
    Rows,
    draw_window,
    halve,
    turn_picture,
)

REACH_HALF_PX = 3
"""How far is searched in the half-size pictures."""

REACH_PX = 2
"""How far is searched closely around the best place found there."""

TILTS_DEG = (-8.0, 0.0, 8.0)

FLAT = 0.05
"""Contrast (standard deviation) below which a cut-out has no shape to speak of."""

CONTRAST = 1.6
"""Haze and blur change the contrast so much, and it is the same shape."""

BEST_FACES = 6
"""So many faces are looked at closely."""

CLOSELY = 3
"""So many examples of each of them."""

SPOT_PX = 5
UNSEEN_SPOT = 2.0
"""The worst spot of an example that was not looked at closely."""

NOISE = 0.02
"""Contrast below which there is nothing but noise."""

AT_ONCE = 64
"""Cut-outs whose windows are held in memory together."""


@dataclass(frozen=True, eq=False)
class _Scale:
    """Shapes at one size: what is needed to compare them with windows of a picture."""

    window: Flags
    shapes: Floats
    """One column each, 0 outside of the window and on average."""
    power: Floats

    @classmethod
    def of(cls, pictures: Sequence[Floats], window: Flags) -> "_Scale":
        side = len(window)
        start = (pictures[0].shape[0] - side) // 2
        flat = np.stack([p[start : start + side, start : start + side] for p in pictures])
        inside = window.ravel()
        flat = flat.reshape(len(flat), -1)
        flat = (flat - flat[:, inside].mean(axis=1, keepdims=True)) * inside
        return cls(window, np.ascontiguousarray(flat.T, np.float32), (flat**2).sum(axis=1))

    def misfit(self, windows: Floats, columns: Rows | slice) -> Floats:
        """Of windows (rows of pixels) and some shapes."""
        inside = self.window.ravel().astype(np.float32)
        total = inside.sum()
        power = (windows**2) @ inside - (windows @ inside) ** 2 / total
        power = power.clip(min=0)[:, None]
        products = windows @ self.shapes[:, columns]
        return measure_misfit(products, power, self.power[columns], float(total))


def measure_misfit(products: Floats, power_a: Floats, power_b: Floats, pixels: float) -> Floats:
    """From 0 (same shape) to 2 (opposite), by the products and powers without their means.

    A moderate change of contrast is light, and not another shape.
    """
    gain = np.sqrt((power_a + 1e-6) / (power_b + 1e-6)).clip(1 / CONTRAST, CONTRAST)
    both = power_a + gain**2 * power_b
    misfit: Floats = (both - 2 * gain * products) / (both + 2 * pixels * FLAT**2)
    return misfit


@dataclass(frozen=True, eq=False)
class Shapes:
    """Taught grey pictures, each possibly in several turns."""

    half: _Scale
    """One shape an example and turn."""
    full: _Scale
    """One shape an example, turn and tilt."""
    face_of: Rows
    """Of each example, the number of its face."""
    turns: int

    @classmethod
    def of(cls, gray: Floats, face_of: Rows, turns: int) -> "Shapes":
        """From the grey pictures of examples and the numbers of their faces."""
        angles = [360 / turns * k for k in range(turns)]
        small = [turn_picture(p, a) for p in halve(gray) for a in angles]
        large = [turn_picture(p, a + t) for p in gray for a in angles for t in TILTS_DEG]
        return cls(
            _Scale.of(small, draw_window(WINDOW_PX // 2, RADIUS_PX / 2)),
            _Scale.of(large, draw_window(WINDOW_PX, RADIUS_PX)),
            face_of,
            turns,
        )

    def compare(self, gray: Floats, allowed: Flags) -> "Likeness":
        """Each cut-out with each allowed example."""
        found = self.search(gray, allowed)
        self.look_closely(gray, found, np.arange(len(gray)))
        return found

    def search(self, gray: Floats, allowed: Flags) -> "Likeness":
        """The same at half size only: cheap, and the misfits are a little too small."""
        found = Likeness.of(allowed.shape)
        for k in range(0, len(gray), AT_ONCE):
            some = slice(k, k + AT_ONCE)
            found.misfit[some], found.turn[some], found.start[some] = self._search(
                halve(gray[some]), allowed[some]
            )
        return found

    def look_closely(self, gray: Floats, found: "Likeness", rows: Rows) -> None:
        """Compares some of the cut-outs at full size with the best of what was found."""
        for row in rows.tolist():
            self._look_closely(gray[row], found, row)

    def _search(self, half: Floats, allowed: Flags) -> tuple[Floats, Rows, Rows]:
        """At half size: the misfit and turn of each example, and where the best of them lies."""
        side = len(self.half.window)
        views = np.lib.stride_tricks.sliding_window_view(half, (side, side), axis=(1, 2))
        start = (half.shape[1] - side) // 2 - REACH_HALF_PX
        reach = 2 * REACH_HALF_PX + 1
        near = views[:, start : start + reach, start : start + reach]
        misfit = self.half.misfit(near.reshape(-1, side * side), slice(None))
        misfit = misfit.reshape(len(half), reach * reach, -1, self.turns)
        turned = misfit.min(axis=1)
        best = np.where(allowed, turned.min(axis=2), np.inf)
        mine = best.argmin(axis=1)
        turns = turned.argmin(axis=2)
        rows = np.arange(len(half))
        places = misfit[rows, :, mine, turns[rows, mine]].argmin(axis=1)
        return best, turns, places

    def _look_closely(self, picture: Floats, found: "Likeness", row: int) -> None:
        """Replaces the misfits of the best faces of one cut-out by those at full size.

        All others are taken to lose at least as much by a closer look as these did.
        """
        misfits = found.misfit[row]
        looked = self._choose(misfits)
        if not len(looked):
            return
        tilts = len(TILTS_DEG)
        first = (looked * self.turns + found.turn[row, looked]) * tilts
        columns = (first[:, None] + np.arange(tilts)).ravel()
        side = len(self.full.window)
        reach = 2 * REACH_PX + 1
        middle = (SPAN_PX - side) // 2
        y, x = (
            middle + 2 * (k - REACH_HALF_PX) - REACH_PX
            for k in divmod(int(found.start[row]), 2 * REACH_HALF_PX + 1)
        )
        y, x = (min(max(k, 0), SPAN_PX - side - reach + 1) for k in (y, x))
        views = np.lib.stride_tricks.sliding_window_view(picture, (side, side))
        near = views[y : y + reach, x : x + reach].reshape(-1, side * side)
        # One row an example; places vary slowest in it, tilts fastest.
        by_place = self.full.misfit(near, columns).reshape(-1, len(looked), tilts)
        closely = by_place.transpose(1, 0, 2).reshape(len(looked), -1)
        where, tilt = np.divmod(closely.argmin(axis=1), tilts)
        dy, dx = np.divmod(where, reach)
        least = closely.min(axis=1)
        lost = max(float((least - misfits[looked]).max()), 0.0)
        misfits += np.float32(lost)
        misfits[looked] = least
        found.column[row, looked] = first + tilt
        found.place[row, looked] = (y + dy) * SPAN_PX + x + dx

    def _choose(self, misfits: Floats) -> Rows:
        """The nearest few examples of the nearest faces."""
        order = np.argsort(misfits, kind="stable")
        order = order[np.isfinite(misfits[order])]
        chosen: dict[int, list[int]] = {}
        for example, face in zip(order.tolist(), self.face_of[order].tolist(), strict=True):
            mine = chosen.get(face)
            if mine is None:
                if len(chosen) < BEST_FACES:
                    chosen[face] = [example]
            elif len(mine) < CLOSELY:
                mine.append(example)
        return np.array([e for mine in chosen.values() for e in mine], np.intp)

    def compare_without_light(self, gray: Floats, allowed: Flags) -> "Likeness":
        """The same in an unknown light: each cut-out gets the contrast that examples have."""
        side = len(self.full.window)
        start = (SPAN_PX - side) // 2
        middle = gray[:, start : start + side, start : start + side][:, self.full.window]
        usual = np.sqrt(np.median(self.full.power) / self.full.window.sum())
        gain = usual / np.maximum(middle.std(axis=1), NOISE)
        return self.compare(np.asarray(gray * gain[:, None, None], np.float32), allowed)

    def find_spots(self, gray: Floats, found: "Likeness", examples: Rows) -> Floats:
        """How much each cut-out differs from an example in its worst spot, against its contrast.

        A dot more or less hardly changes the misfit as a whole, but it is a spot.
        """
        side = len(self.full.window)
        spots = np.full(len(gray), UNSEEN_SPOT, np.float32)
        for i, (picture, example) in enumerate(zip(gray, examples.tolist(), strict=True)):
            column = found.column[i, example]
            if column < 0:
                continue
            y, x = divmod(int(found.place[i, example]), SPAN_PX)
            seen = picture[y : y + side, x : x + side]
            seen = (seen - seen[self.full.window].mean()) * self.full.window
            shape = self.full.shapes[:, column].reshape(side, side)
            power, mine = float((seen**2).sum()), float(self.full.power[column])
            gain = np.sqrt((power + 1e-6) / (mine + 1e-6)).clip(1 / CONTRAST, CONTRAST)
            contrast = np.sqrt(power / self.full.window.sum()) + FLAT
            rest = cv2.blur(seen - np.float32(gain) * shape, (SPOT_PX, SPOT_PX))
            spots[i] = np.abs(rest).max() / contrast
        return spots


@dataclass(frozen=True, eq=False)
class Likeness:
    """How cut-outs (rows) and examples (columns) agree."""

    misfit: Floats
    """From 0 (same shape) to 2 (opposite)."""
    column: Rows
    """Which of the full-size shapes fits best; -1 if it was not looked at closely."""
    place: Rows
    """Where the window then begins."""
    turn: Rows
    """In which turn it fits best at half size."""
    start: Rows
    """Of each cut-out, where the best example lies at half size."""

    def pick(self, rows: Rows) -> "Likeness":
        """Some of the cut-outs."""
        return Likeness(
            self.misfit[rows],
            self.column[rows],
            self.place[rows],
            self.turn[rows],
            self.start[rows],
        )

    @classmethod
    def of(cls, size: tuple[int, ...]) -> "Likeness":
        """Nothing found yet."""
        none = np.zeros(size, np.intp)
        start = np.zeros(size[0], np.intp)
        return cls(np.zeros(size, np.float32), none - 1, none.copy(), none.copy(), start)


def correlate_middles(gray: Floats) -> Floats:
    """How alike pictures are to each other as they lie: 1 if same, 0 if unrelated or flat."""
    scale = _Scale.of(list(gray), draw_window(WINDOW_PX, RADIUS_PX))
    flat = 2 * scale.window.sum() * FLAT**2
    products = scale.shapes.T @ scale.shapes
    alike: Floats = (2 * products + flat) / (scale.power[:, None] + scale.power + flat)
    return alike
