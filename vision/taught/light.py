"""The light of a photograph against that of the taught ones: gain and black level per channel."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from .patches import Flags, Floats, transform_colours

BRIGHTNESS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
CASTS = ((1.0, 1.0, 1.0), (0.7, 0.9, 1.15), (1.45, 1.1, 0.85), (2.2, 1.3, 0.8))
"""Gains tried before the light is fitted: how bright, and how blue, green and red."""

ROUNDS = 6

FEWEST_BARE = 8
"""So many bare sites are enough to fit the light to them alone."""

PIECE_WORTH = 0.3
"""The board is the same everywhere; which piece lies on a site is not known yet."""

WELL_LIT = 0.03
"""Levels nearer than this to the taught ones count fully, others less the further they are."""

EXPLAINED = 0.08
"""A site whose levels differ less from something taught is explained by it."""

MOST_EXPLAINED = 0.9
"""When the bare board and the pieces explain so many sites, no other light is tried."""

BLOWN, BLACK = 0.97, 0.02
"""Levels beyond these are cut off."""

UNMIXED = 0.3
"""How much the colours of the board must differ before channels are thought to be mixed."""

LEAST_SCALE, MOST_SCALE = 0.2, 5.0

PROTOTYPES = 48
"""So many of the taught pieces, as different as can be, stand for all of them."""


@dataclass(frozen=True, eq=False)
class Light:
    """How a photograph has to be changed to look like the taught ones."""

    matrix: Floats
    """What its blue, green and red become: one row each."""
    black: Floats
    """What is added to them."""
    misfit: float
    """How far the sites then are from something taught: the median over all sites."""
    explained: float
    """The share of the sites that are near something taught."""
    blown: float
    """The share of the levels that are blown."""

    def correct(self, pictures: Floats) -> Floats:
        """The pictures as if they had been taken in the taught light."""
        matrix = np.column_stack([self.matrix, self.black]).astype(np.float32)
        return transform_colours(pictures, matrix)

    def blow(self, taught: Floats) -> Floats:
        """Taught pictures without what is blown or black in this light."""
        seen = (taught - self.black) @ np.linalg.inv(self.matrix).T
        return self.correct(seen.clip(0, 1).astype(np.float32))


@dataclass(frozen=True, eq=False)
class Lit:
    """The channel levels of one photograph's sites, and of what may lie there."""

    levels: Floats
    """Site, level, channel."""
    bare: Floats
    """The taught levels of each bare site."""
    has_bare: Flags
    pieces: Floats
    """Prototypes of the taught pieces."""

    def fit(self) -> Light:
        """The light under which the taught sites look most like this photograph."""
        if self.has_bare.sum() >= FEWEST_BARE:
            light = self._mix(*self._refine(self._guess()))
            if light.explained >= MOST_EXPLAINED:
                return light
        starts = [np.float32(s) * np.array(c, np.float32) for s, c in product(BRIGHTNESS, CASTS)]
        zero = np.zeros(3, np.float32)
        costs = [self._nearest(scale, zero)[0].clip(max=0.15).mean() for scale in starts]
        return self._mix(*self._refine(starts[int(np.argmin(costs))]))

    def _guess(self) -> Floats:
        """The scale if most sites are bare."""
        seen, taught = self.levels[self.has_bare], self.bare[self.has_bare]
        scales = []
        for channel in range(3):
            y, x = seen[..., channel].ravel(), taught[..., channel].ravel()
            clear = (y > BLACK) & (y < BLOWN)
            x, y = (x[clear], y[clear]) if clear.any() else (x, y)
            # Bright levels count more: nearly black ones say little about the scale.
            order = np.argsort(y / (x + 1e-3))
            heavy = np.cumsum(x[order])
            middle = order[np.searchsorted(heavy, heavy[-1] / 2)]
            scales.append(float(np.clip(y[middle] / (x[middle] + 1e-3), LEAST_SCALE, MOST_SCALE)))
        return np.array(scales, np.float32)

    def _refine(self, scale: Floats) -> tuple[Floats, Floats]:
        """Scale and haze per channel: seen = taught x scale + haze, cut off at 1."""
        haze = np.zeros(3, np.float32)
        for _ in range(ROUNDS):
            _, target, board = self._nearest(scale, haze)
            worth = np.where(board, 1.0, PIECE_WORTH)
            scale, haze = fit_channels(self.levels, target, worth, scale, haze)
        return scale, haze

    def _mix(self, scale: Floats, haze: Floats) -> Light:
        """The light, with channels mixed as another camera may do; the board's colours tell."""
        distance, target, board = self._nearest(scale, haze)
        mixed, added = np.diag(scale), haze
        if board.sum() >= FEWEST_BARE:
            worth = np.where(board, 1.0, PIECE_WORTH)
            mixed, added = fit_rows(self.levels, target, worth, mixed, added)
            expected = (self.bare @ mixed.T + added).clip(0, 1)
            bare = np.sqrt(((self.levels - expected) ** 2).mean(axis=(1, 2)))
            distance = np.where(board, np.minimum(bare, distance), distance)
        return find_light(mixed, added, distance / float(scale.mean()), self.levels)

    def _nearest(self, scale: Floats, haze: Floats) -> tuple[Floats, Floats, Flags]:
        """For each site how far the nearest taught levels are, which, and if of the bare board."""
        pieces = (self.pieces * scale + haze).clip(0, 1)
        away = measure_spread(self.levels, pieces)
        nearest = away.argmin(axis=1)
        piece = away[np.arange(len(away)), nearest]
        expected = (self.bare * scale + haze).clip(0, 1)
        bare = np.sqrt(((self.levels - expected) ** 2).mean(axis=(1, 2)))
        board = self.has_bare & (bare < piece)
        target = np.where(board[:, None, None], self.bare, self.pieces[nearest])
        return np.where(board, bare, piece), target, board


def find_light(mixed: Floats, added: Floats, distance: Floats, levels: Floats) -> Light:
    """The light in which taught colours are seen mixed so, and how well it fits."""
    matrix = np.linalg.inv(mixed).astype(np.float32)
    return Light(
        matrix,
        -matrix @ added,
        float(np.median(distance)),
        float((distance < EXPLAINED).mean()),
        float((levels >= BLOWN).mean()),
    )


def fit_channels(
    levels: Floats, target: Floats, worth: Floats, scale: Floats, haze: Floats
) -> tuple[Floats, Floats]:
    """Scale and haze per channel from taught to seen levels, nearer ones counting more."""
    expected = target * scale + haze
    near = WELL_LIT * float(scale.mean())
    weight = _tell(levels, expected) / np.maximum(np.abs(expected - levels), near)
    weight = worth[:, None, None] * weight
    lines = [
        _fit_line(target[..., c], levels[..., c], weight[..., c], float(scale[c])) for c in range(3)
    ]
    scales, hazes = np.array(lines, np.float32).T
    return scales, hazes


def fit_rows(
    levels: Floats, target: Floats, worth: Floats, mixed: Floats, added: Floats
) -> tuple[Floats, Floats]:
    """Each seen channel as a mixture of the taught ones, where it says something."""
    x, y = np.median(target, axis=1), np.median(levels, axis=1)
    near = WELL_LIT * float(np.trace(mixed)) / 3
    rows, offsets = [], []
    for channel in range(3):
        row, offset = mixed[channel], float(added[channel])
        for _ in range(3):
            expected = x @ row + offset
            used = _tell(y[:, channel], expected)
            if used.sum() < FEWEST_BARE:
                break
            away = np.abs(expected - y[:, channel])[used]
            weight = worth[used] * near / np.maximum(away, near)
            row, offset = _fit_row(x[used], y[used, channel], weight, mixed[channel])
        rows.append(row)
        offsets.append(offset)
    return np.array(rows), np.array(offsets)


def measure_spread(a: Floats, b: Floats) -> Floats:
    """The root mean square difference of each of ``a`` from each of ``b``."""
    x, y = a.reshape(len(a), -1), b.reshape(len(b), -1)
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * (x @ y.T)
    spread: Floats = np.sqrt(squares.clip(min=0) / x.shape[1])
    return spread


def choose_prototypes(levels: Floats, count: int = PROTOTYPES) -> Floats:
    """Some of the rows, each as far as can be from those chosen before."""
    chosen = [0]
    away = measure_spread(levels, levels[:1])[:, 0]
    while len(chosen) < min(count, len(levels)):
        chosen.append(int(away.argmax()))
        away = np.minimum(away, measure_spread(levels, levels[chosen[-1:]])[:, 0])
    return levels[chosen]


def _tell(seen: Floats, expected: Floats) -> Flags:
    """Which levels say something: blown and black ones only if they are not expected to be so."""
    clear = (seen > BLACK) & (seen < BLOWN)
    told: Flags = (
        clear | ((seen >= BLOWN) & (expected < BLOWN)) | ((seen <= BLACK) & (expected > BLACK))
    )
    return told


def _fit_line(x: Floats, y: Floats, weights: Floats, before: float) -> tuple[float, float]:
    """The line from ``x`` to ``y``; where little speaks for another one, as before without haze."""
    w, x, y = weights.ravel(), x.ravel(), y.ravel()
    squares = np.array([[w @ x**2 + 1, w @ x], [w @ x, 1.01 * w.sum() + 1]])
    scale, haze = np.linalg.solve(squares, [w @ (x * y) + before, w @ y])
    return float(np.clip(scale, LEAST_SCALE, MOST_SCALE)), float(np.clip(haze, -0.2, 0.2))


def _fit_row(x: Floats, y: Floats, weight: Floats, before: Floats) -> tuple[Floats, float]:
    """The weights of three channels and what is added; as before where the colours do not tell."""
    middle_x, middle_y = np.average(x, axis=0, weights=weight), np.average(y, weights=weight)
    x, y = x - middle_x, y - middle_y
    squares = (x * weight[:, None]).T @ x + UNMIXED * np.eye(3)
    row = np.linalg.solve(squares, (x * weight[:, None]).T @ y + UNMIXED * before)
    return row, float(middle_y - row @ middle_x)
