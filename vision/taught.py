"""Faces learnt from a few photographs, and read in others with beliefs that admit "none of these".

A cut-out is compared with every taught one twice: by its shape (the grey picture, wherever it lies
within a small shift and turn) and by its colours (how they are spread, wherever they lie). How much
colour counts, and whether pieces lie in any of four turns, is decided on the taught cut-outs
themselves, each read as if its own site had never been taught; so is what a likeness is worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import EMPTY, Face, Site

from .errors import NothingTaught
from .observation import Observation

Floats: TypeAlias = NDArray[np.floating[Any]]
Patch: TypeAlias = NDArray[np.float32]
"""A picture of ``SPAN_PX`` squared around the middle of a site, BGR from 0 to 1."""

PITCH_PX = 32
"""Pixels along one pitch."""

BORDER_PX = 8
"""So much more on each side, to find pieces that lie beside the middle of their site."""

SPAN_PX = PITCH_PX + 2 * BORDER_PX

WINDOW_PX = 26
"""Side of the square that is compared: a piece without its rim, where neighbours lean in."""

COARSE_PX = 3
FINE_PX = 2
"""How far is searched: first in steps of two pixels, then around the best place in steps of one."""

TILTS_DEG = (-8.0, 0.0, 8.0)

FLAT = 0.05
"""Contrast (standard deviation) below which a cut-out has no shape to speak of."""

CONTRAST = 1.6
"""Haze and blur change the contrast so much, and it is the same shape."""

NEAR = 0.02
"""Distances below this are as good as none."""

UNTAUGHT = 0.2
"""How much rarer an untaught face is than a taught one."""

RIDGE = 0.1
"""Keeps trust from being boundless where all trials were right."""

BEST_FACES = 12
"""So many faces are looked at closely."""

CLOSELY = 3
"""So many templates of each of them."""

LEVELS = np.linspace(0.06, 0.94, 9)
"""Of the quantiles by which the colours of a cut-out are described."""

COLOUR_WEIGHTS = (1.0, 3.0, 10.0, 30.0)
TURNS = (1, 4)
MOST_TRIALS = 300
"""Taught cut-outs read on trial to choose between them; more would only take longer."""

SAME = 0.04
"""Cut-outs of one face on one site that differ by less on average are one example."""

STARTS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
CASTS = ((1.0, 1.0, 1.0), (0.6, 0.85, 1.1), (1.2, 1.0, 0.85))
"""Gains tried before the light is fitted: how bright, and how blue, green and red."""

LIGHT_ROUNDS = 6
FEWEST_BARE = 8
"""So many bare sites are enough to fit the light to them alone."""

WELL_LIT = 0.03
"""Levels nearer than this to the taught ones count fully, others less the further they are."""

ALIKE = 0.5
"""Pieces that correlate so well with their common mean have a body to be centred by."""

CENTRE_PX = 3

UNREADABLE = 0.9
"""A site is left out when 'none of these' is believed more than this."""


_GRAY = np.array([0.114, 0.587, 0.299], np.float32)


@dataclass(frozen=True, eq=False)
class Example:
    """One cut-out with its truth."""

    site: Site
    face: Face
    patch: Patch


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Cut-outs in the forms in which they are compared."""

    fine: Floats
    coarse: Floats
    colours: Floats

    @classmethod
    def of(cls, patches: Floats) -> "_Cuts":
        gray = patches @ _GRAY
        half = np.stack(
            [cv2.resize(g, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for g in gray]
        )
        return cls(gray, half, _colours(patches))

    def __getitem__(self, rows: NDArray[np.intp]) -> "_Cuts":
        return _Cuts(self.fine[rows], self.coarse[rows], self.colours[rows])


class TaughtReader:
    """Reads cut-outs by the examples it was taught."""

    def __init__(self, examples: Sequence[Example], turns: int | None = None) -> None:
        kept = _distinct(examples)
        self.faces = tuple(sorted({e.face for e in kept}))
        self.pieces = tuple(f for f in self.faces if f != EMPTY)
        if len(self.pieces) < 2:
            raise NothingTaught(f"expected examples of two faces or more, got {len(self.pieces)}")
        self._sites = [e.site for e in kept]
        self._empty = np.array([e.face == EMPTY for e in kept])
        numbers = {EMPTY: -1} | {f: i for i, f in enumerate(self.pieces)}
        self._face_of = np.array([numbers[e.face] for e in kept])
        patches = np.stack([e.patch for e in kept])
        patches[~self._empty] = _centred(patches[~self._empty])
        self._cuts = _Cuts.of(patches)
        self._choose((turns,) if turns else TURNS)

    def observe(self, cuts: Mapping[Site, Patch]) -> Observation:
        """What lies on every site of one photograph that can be read."""
        sites = tuple(cuts)
        patches = np.stack([cuts[s] for s in sites])
        gain, black = self._light(sites, patches)
        seen = _Cuts.of((patches * gain + black).astype(np.float32))
        allowed = self._allowed(sites)
        shape = self._templates.compare(seen, allowed, self._face_of)
        colour = _spread(seen.colours, self._cuts.colours)
        taken = self._taken(shape, colour, allowed)
        by_face = self._by_face(shape + self._weight * colour, allowed)
        return Observation(self._believe(sites, taken, by_face))

    def _allowed(self, sites: Sequence[Site]) -> NDArray[np.bool_]:
        """Which examples say something about which site: a bare site is known by its own look."""
        own = np.array([[s == mine for mine in self._sites] for s in sites]) & self._empty
        return np.where(self._empty, own | ~own.any(axis=1, keepdims=True), True)

    def _taken(self, shape: Floats, colour: Floats, allowed: NDArray[np.bool_]) -> Floats:
        """How likely something lies on each site."""
        if not self._empty.any():
            return np.ones(len(shape), np.float32)
        return _sigmoid(self._nearness(shape, colour, allowed, self._bare_weight) @ self._bare)

    def _nearness(
        self, shape: Floats, colour: Floats, allowed: NDArray[np.bool_], weight: float
    ) -> Floats:
        """How much nearer a site is to the taught pieces than to the bare board, as a feature."""
        distances = np.where(allowed, shape + np.float32(weight) * colour, np.inf)
        bare = distances[:, self._empty].min(axis=1).clip(max=100)
        piece = distances[:, ~self._empty].min(axis=1).clip(max=100)
        ratio = np.log(bare + NEAR) - np.log(piece + NEAR)
        return np.stack([np.ones_like(ratio), ratio], axis=1)

    def _believe(
        self, sites: Sequence[Site], taken: Floats, by_face: Floats
    ) -> dict[Site, dict[Face, float]]:
        trust = _sigmoid(_features(by_face) @ self._trust)
        best = by_face.argmin(axis=1)
        beliefs = {}
        for site, occupied, row, mine, p in zip(sites, taken, by_face, best, trust, strict=True):
            likely = ((row[mine] + NEAR) / (row + NEAR)) ** 4
            likely *= (1 - p) / likely.sum()
            likely[mine] += p
            belief = dict(zip(self.pieces, (likely * occupied).tolist(), strict=True))
            if EMPTY in self.faces:
                belief[EMPTY] = float(1 - occupied)
            if max(belief.values()) >= 1 - UNREADABLE:
                beliefs[site] = belief
        return beliefs

    def _by_face(self, distances: Floats, allowed: NDArray[np.bool_]) -> Floats:
        possible = np.where(allowed, distances, np.inf)
        found = [possible[:, self._face_of == f].min(axis=1) for f in range(len(self.pieces))]
        return np.stack(found, axis=1).astype(np.float32)

    def _choose(self, turns: Sequence[int]) -> None:
        """Weights of colour, turns and trust, by reading the taught cut-outs on trial."""
        trials = self._trials()
        seen, truth = self._cuts[trials], self._face_of[trials]
        own = np.array([[self._sites[i] == s for s in self._sites] for i in trials])
        same_face = truth[:, None] == self._face_of
        allowed = ~(own & same_face)
        pieces = truth >= 0
        known = pieces & (allowed & same_face).any(axis=1)
        colour = _spread(seen.colours, self._cuts.colours)
        self.figure = self.bare_figure = -np.inf
        for turn in turns:
            templates = _Templates.of(self._cuts, self._empty, turn)
            shape = templates.compare(seen, allowed, self._face_of)
            for weight in COLOUR_WEIGHTS:
                distances = shape + np.float32(weight) * colour
                by_face = self._by_face(distances, allowed)
                figure = _margin(by_face[known], truth[known])
                if figure > self.figure:
                    self.figure, self.turns, self._weight = figure, turn, np.float32(weight)
                    self._templates, best_shape = templates, shape
                    without = self._by_face(distances, allowed & ~same_face)[pieces]
                    self._trust = _trust(by_face[known], truth[known], without)
        if not self._empty.any():
            return
        for weight in COLOUR_WEIGHTS:
            features = self._nearness(best_shape, colour, allowed, weight)
            figure = float(np.clip(np.where(pieces, 1, -1) * features[:, 1], -1, 1).mean())
            if figure > self.bare_figure:
                self.bare_figure, self._bare_weight = figure, weight
                self._bare = _logistic(features, pieces, np.ones(len(pieces)))

    def _trials(self) -> NDArray[np.intp]:
        """Some examples of every face, of rare ones all, and as many bare sites as pieces."""
        rng = np.random.default_rng(1)
        rank = np.zeros(len(self._sites), np.intp)
        for face in range(-1, len(self.pieces)):
            mine = np.flatnonzero(self._face_of == face)
            rank[rng.permutation(mine)] = np.arange(len(mine))
        rank[self._empty] //= len(self.pieces)
        return np.sort(np.lexsort((self._face_of, rank))[:MOST_TRIALS])

    def _light(self, sites: Sequence[Site], patches: Floats) -> tuple[Floats, Floats]:
        """Gain and black level per channel that make this photograph look like the taught ones."""
        own = self._allowed(sites)
        taught = _channel_levels(self._cuts.colours)
        levels = _channel_levels(_colours(patches))
        starts = [np.float32(s) * np.array(c, np.float32) for s in STARTS for c in CASTS]
        costs = [self._nearest(levels * g, taught, own)[0].clip(max=0.15).mean() for g in starts]
        gain = starts[int(np.argmin(costs))]
        black = np.zeros(3, np.float32)
        for _ in range(LIGHT_ROUNDS):
            now = levels * gain + black
            distance, nearest = self._nearest(now, taught, own)
            # The board is the same board everywhere; only a table without it is fitted to faces.
            board = self._empty[nearest]
            used = board if board.sum() >= FEWEST_BARE else distance < np.inf
            x, y = levels[used], taught[nearest[used]]
            misfit = np.maximum(np.abs(now[used] - y), WELL_LIT)
            for channel in range(3):
                gain[channel], black[channel] = _fit_line(
                    x[:, :, channel], y[:, :, channel], 1 / misfit[:, :, channel]
                )
        return gain, black

    def _nearest(
        self, levels: Floats, taught: Floats, allowed: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.intp]]:
        flat = [a.reshape(len(a), -1) for a in (levels, taught)]
        distance = np.where(allowed, _spread(*flat), np.inf)
        nearest = distance.argmin(axis=1)
        return distance[np.arange(len(levels)), nearest], nearest


@dataclass(frozen=True, eq=False)
class _Templates:
    """The taught cut-outs, turned, as unit-free vectors without their mean."""

    coarse: Floats
    fine: Floats
    owner: NDArray[np.intp]

    @classmethod
    def of(cls, cuts: _Cuts, empty: NDArray[np.bool_], turns: int) -> "_Templates":
        coarse, fine, owner = [], [], []
        for i, (half, full) in enumerate(zip(cuts.coarse, cuts.fine, strict=True)):
            # The board does not turn, pieces do.
            angles = (
                (0.0,)
                if empty[i]
                else tuple(360 / turns * k + t for k in range(turns) for t in TILTS_DEG)
            )
            for angle in angles:
                coarse.append(_middle(_turn(half, angle), WINDOW_PX // 2))
                fine.append(_middle(_turn(full, angle), WINDOW_PX))
                owner.append(i)
        return cls(_without_mean(np.stack(coarse)), _without_mean(np.stack(fine)), np.array(owner))

    def compare(self, seen: _Cuts, allowed: NDArray[np.bool_], face_of: NDArray[np.intp]) -> Floats:
        """For each cut-out and example, from 0 (same shape) to 2 (opposite)."""
        reach = range(-COARSE_PX, COARSE_PX + 1)
        shifts = np.array([(dy, dx) for dy in reach for dx in reach])
        found = np.full((len(allowed), len(self.owner)), np.inf, np.float32)
        chosen = np.zeros(found.shape, np.intp)
        power = (self.coarse**2).sum(axis=1)
        side = WINDOW_PX // 2
        start = (seen.coarse.shape[1] - side) // 2
        for k, (y, x) in enumerate(start + shifts):
            windows = _without_mean(seen.coarse[:, y : y + side, x : x + side])
            powers = (windows**2).sum(axis=1)[:, None]
            misfit = _misfit(windows @ self.coarse.T, powers, power, side)
            better = misfit < found
            found[better] = misfit[better]
            chosen[better] = k
        refined = self._refine(seen, allowed, face_of, found, shifts[chosen])
        firsts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        best: Floats = np.minimum.reduceat(refined, firsts, axis=1)
        return best

    def _refine(
        self,
        seen: _Cuts,
        allowed: NDArray[np.bool_],
        face_of: NDArray[np.intp],
        found: Floats,
        places: NDArray[np.intp],
    ) -> Floats:
        """The misfits of the nearest templates of each face at full resolution.

        All others are taken to lose at least as much by a closer look as these did.
        """
        start = (SPAN_PX - WINDOW_PX) // 2
        power = (self.fine**2).sum(axis=1)
        of_face = [np.flatnonzero(face_of[self.owner] == f) for f in np.unique(face_of)]
        refined = found.copy()
        for i, cut in enumerate(seen.fine):
            possible = np.where(allowed[i, self.owner], found[i], np.inf)
            nearest = sorted(
                (m[np.argsort(possible[m])[:CLOSELY]] for m in of_face),
                key=lambda m: possible[m[0]],
            )
            looked = np.concatenate(nearest[:BEST_FACES])
            looked = looked[np.isfinite(possible[looked])]
            windows = np.lib.stride_tricks.sliding_window_view(cut, (WINDOW_PX, WINDOW_PX))
            for t in looked:
                y, x = start + 2 * places[i, t] - FINE_PX
                near = windows[y : y + 2 * FINE_PX + 1, x : x + 2 * FINE_PX + 1]
                flat = _without_mean(near.reshape(-1, WINDOW_PX, WINDOW_PX))
                misfit = _misfit(flat @ self.fine[t], (flat**2).sum(axis=1), power[t], WINDOW_PX)
                refined[i, t] = misfit.min()
            lost = max(float((refined[i, looked] - found[i, looked]).max()), 0.0)
            others = np.ones(len(self.owner), bool)
            others[looked] = False
            refined[i, others] += lost
        return refined


def _trust(by_face: Floats, truth: NDArray[np.intp], without: Floats) -> Floats:
    """What a nearest face is worth: from trial readings, and from some of untaught faces."""
    right = by_face.argmin(axis=1) == truth
    features = np.concatenate([_features(by_face), _features(without)])
    worth = np.concatenate([np.ones(len(right)), np.full(len(without), UNTAUGHT)])
    return _logistic(features, np.concatenate([right, np.zeros(len(without), bool)]), worth)


def _features(by_face: Floats) -> Floats:
    """How far the second face is against the first, and how near the first."""
    first, second = np.sort(by_face, axis=1)[:, :2].T.clip(max=100)
    near = np.log(first + NEAR)
    return np.stack([np.ones_like(first), np.log(second + NEAR) - near, near], axis=1)


def _logistic(features: Floats, right: NDArray[np.bool_], worth: Floats) -> Floats:
    weights = np.zeros(features.shape[1])
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(40):
        p = _sigmoid(features @ weights)
        slope = features.T @ (worth * (p - right)) + ridge @ weights
        curve = (features * (worth * p * (1 - p))[:, None]).T @ features + ridge
        weights -= np.linalg.solve(curve, slope)
    return weights


def _sigmoid(x: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return found


def _margin(by_face: Floats, truth: NDArray[np.intp]) -> float:
    """How much nearer the true face is than the nearest other one, on average."""
    rows = np.arange(len(truth))
    mine = by_face[rows, truth]
    others = by_face.copy()
    others[rows, truth] = np.inf
    ratio = np.log(others.min(axis=1).clip(max=100) + NEAR) - np.log(mine + NEAR)
    return float(np.clip(ratio, -1, 1).mean())


def _distinct(examples: Sequence[Example]) -> list[Example]:
    kept: dict[tuple[Site, Face], list[Example]] = {}
    for example in examples:
        mine = kept.setdefault((example.site, example.face), [])
        if all(_difference(example.patch, e.patch) > SAME for e in mine):
            mine.append(example)
    return [e for found in kept.values() for e in found]


def _difference(a: Patch, b: Patch) -> float:
    return float(np.abs(_middle(a, WINDOW_PX) - _middle(b, WINDOW_PX)).mean())


def _misfit(products: Floats, power_a: Floats, power_b: Floats, side: int) -> Floats:
    """Difference of two shapes against their contrast; a moderate change of contrast is light."""
    gain = np.sqrt((power_a + 1e-6) / (power_b + 1e-6)).clip(1 / CONTRAST, CONTRAST)
    both = power_a + gain**2 * power_b
    misfit: Floats = (both - 2 * gain * products) / (both + 2 * side * side * FLAT**2)
    return misfit.astype(np.float32)


def _colours(patches: Floats) -> Floats:
    inner = patches[:, BORDER_PX + 4 : -BORDER_PX - 4, BORDER_PX + 4 : -BORDER_PX - 4]
    b, g, r = np.moveaxis(inner, -1, 0)
    gray = 0.114 * b + 0.587 * g + 0.299 * r
    steep = np.hypot(np.gradient(gray, axis=1), np.gradient(gray, axis=2))
    parts = np.stack([b, g, r, r - g, (r + g) / 2 - b, steep]).reshape(6, len(patches), -1)
    found = np.quantile(parts, LEVELS, axis=2)
    colours: Floats = found.transpose(2, 1, 0).reshape(len(patches), -1).astype(np.float32)
    return colours


def _channel_levels(colours: Floats) -> Floats:
    return colours.reshape(len(colours), 6, -1)[:, :3].transpose(0, 2, 1)


def _spread(a: Floats, b: Floats) -> Floats:
    return np.stack([np.abs(row - b).mean(axis=1) for row in a])


def _fit_line(x: Floats, y: Floats, weights: Floats) -> tuple[float, float]:
    """The line from ``x`` to ``y``; black stays near 0 where nothing speaks for another level."""
    w, x, y = weights.ravel(), x.ravel(), y.ravel()
    squares = np.array([[w @ x**2, w @ x], [w @ x, 1.01 * w.sum()]])
    gain, black = np.linalg.solve(squares, [w @ (x * y), w @ y])
    return float(np.clip(gain, 0.2, 5)), float(np.clip(black, -0.2, 0.2))


def _centred(patches: Floats) -> Floats:
    """Pieces moved so that their bodies lie in the middle, if they have a body in common."""
    gray = patches @ _GRAY
    start = (SPAN_PX - WINDOW_PX) // 2
    views = np.lib.stride_tricks.sliding_window_view(gray, (WINDOW_PX, WINDOW_PX), axis=(1, 2))
    reach = np.arange(start - CENTRE_PX, start + CENTRE_PX + 1)
    near = views[:, reach][:, :, reach]
    flat = near.reshape(len(patches), len(reach) ** 2, -1)
    flat = flat - flat.mean(axis=2, keepdims=True)
    flat /= np.linalg.norm(flat, axis=2, keepdims=True) + 1e-3
    chosen = np.full(len(patches), len(reach) ** 2 // 2)
    rows = np.arange(len(patches))
    for _ in range(3):
        mean = flat[rows, chosen].mean(axis=0)
        likeness = flat @ (mean / (np.linalg.norm(mean) + 1e-6))
        chosen = likeness.argmax(axis=1)
    if float(likeness.max(axis=1).mean()) < ALIKE:
        return patches
    shifts = np.stack(np.divmod(chosen, len(reach)), axis=1) - CENTRE_PX
    moved = [
        cv2.warpAffine(
            patch,
            np.array([[1, 0, -dx], [0, 1, -dy]], np.float32),
            (SPAN_PX, SPAN_PX),
            borderMode=cv2.BORDER_REPLICATE,
        )
        for patch, (dy, dx) in zip(patches, shifts, strict=True)
    ]
    return np.stack(moved)


def _without_mean(windows: Floats) -> Floats:
    flat = windows.reshape(len(windows), -1)
    found: Floats = flat - flat.mean(axis=1, keepdims=True)
    return found


def _middle(patch: Floats, side: int) -> Floats:
    start = (len(patch) - side) // 2
    return patch[start : start + side, start : start + side]


def _turn(patch: Floats, deg: float) -> Floats:
    if deg == 0:
        return patch
    middle = (len(patch) - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), deg, 1.0)
    turned = cv2.warpAffine(patch, matrix, patch.shape, borderMode=cv2.BORDER_REPLICATE)
    return turned.astype(np.float32, copy=False)
