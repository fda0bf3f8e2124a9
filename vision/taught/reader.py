"""Reads the cut-outs of a photograph by taught examples, with beliefs that mean what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rules.table import EMPTY, Face, Site

from ..errors import NothingTaught
from ..observation import Observation
from .board import Board
from .light import BLOWN, Light, Lit, choose_prototypes
from .patches import (
    ALL_LEVELS,
    OUTER_LEVELS,
    PITCH_PX,
    SAME,
    SPAN_PX,
    Example,
    Flags,
    Floats,
    Patch,
    Rows,
    channel_levels,
    describe_colours,
    halve,
    keep_distinct,
    spread_all_colours,
    stack_patches,
    to_gray,
)
from .pieces import Pieces
from .shapes import FLAT, Likeness
from .strange import doubt_lone_sites, fit_to_pieces
from .trials import Trials, choose_trials, draw_trials
from .trust import (
    NEAR,
    compare_nearness,
    describe_choice,
    describe_nearest,
    fit_logistic,
    measure_margin,
    sigmoid,
)

COLOUR_WEIGHTS = (1.0, 3.0, 10.0, 30.0)
"""How much a difference of colours may count against one of shape."""

COLOUR_PARTS = (ALL_LEVELS, OUTER_LEVELS)
"""The colours of pictures are told by all their levels; those of a print by what does not depend
on how large and how sharp it is."""

TURNS = (1, 4)
TURNING = 0.02
"""Pieces are thought to be turned only if the trials are read so much better: more can be mixed
up then."""

UNTAUGHT = 0.2
"""How much rarer an untaught face is than a taught one."""

BRIGHT = 0.8
"""The level of the brightest places in a good photograph."""

WHITE_SITE = 0.5
"""A site with more of its levels blown in all channels may have lost its print."""

WELL_FITTED = 0.08
"""Light that fits worse lowers the trust in all that is read."""

SURE = 0.9
"""Whoever believes less than this has to ask."""

SETTLED = 0.005
"""A site is bare without a closer look if something lies there less likely than this."""

HALF_SIZE = 0.7
"""At least this share of a misfit at half size is left in a closer look."""

MOST_BLOWN = 0.02
"""If more of a photograph is blown, it is compared with taught pictures blown in the same way."""

MOST_UNSURE = 0.15
MUCH_SURER = 0.8
"""If more sites are unsure, the board is also read as a strange one; that reading counts if it
leaves much fewer of them unsure."""

STRONG = 1.5
ALSO_STRONG = 0.1
FEWEST_STRONG = 6
"""A site whose shape fits a piece hardly worse than usual tells the light, by all examples that
fit nearly as well; if there are too few such sites, the best ones do."""

STILL_FIRST = 0.6
"""However little it is trusted, the nearest face may be believed so much: that is asked anyway."""

STILL_TAKEN = 0.8
"""However blown a site is, so much may speak for a piece on it: that is asked anyway."""

UNREADABLE = 0.9
"""A site is left out when 'none of these' is believed more than this."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """Cut-outs in the taught light, in the forms in which they are compared."""

    sites: Sequence[Site]
    gray: Floats
    colours: Floats

    @classmethod
    def of(cls, sites: Sequence[Site], patches: Floats) -> "_Seen":
        return cls(sites, to_gray(patches), describe_colours(halve(patches)))

    def pick(self, rows: Rows) -> "_Seen":
        """Some of them."""
        return _Seen([self.sites[i] for i in rows], self.gray[rows], self.colours[rows])

    def find_flat(self) -> Flags:
        """Which cut-outs have hardly any contrast."""
        middle = (SPAN_PX - PITCH_PX // 2) // 2
        flat: Flags = self.gray[:, middle:-middle, middle:-middle].std(axis=(1, 2)) < 2 * FLAT
        return flat


@dataclass(frozen=True, eq=False)
class _Choices:
    """What might lie on sites that were looked at closely."""

    by_face: Floats
    """How far each face is."""
    shape: Floats
    """How far the nearest example is in its shape."""
    spots: Floats
    """How much it differs in its worst spot."""

    def describe(self) -> Floats:
        return describe_choice(self.by_face, self.spots)


@dataclass(frozen=True, eq=False)
class _Reading:
    """What was seen on all sites."""

    sites: Sequence[Site]
    taken: Floats
    """How likely something lies there."""
    close: Rows
    """Which sites were looked at closely."""
    choices: _Choices
    view: Floats
    """How well those can be seen: 1 is well, 0 not at all."""


class TaughtReader:
    """Reads cut-outs by the examples it was taught."""

    def __init__(self, examples: Sequence[Example], turns: int | None = None) -> None:
        self.faces = tuple(sorted({e.face for e in examples}))
        self.pieces = tuple(f for f in self.faces if f != EMPTY)
        if len(self.pieces) < 2:
            raise NothingTaught(f"expected examples of two faces or more, got {len(self.pieces)}")
        gain = _measure_exposure(examples)
        kept = _expose(keep_distinct(examples, SAME / gain), gain)
        self._board = Board.of([e for e in kept if e.face == EMPTY])
        self._pieces = Pieces.of([e for e in kept if e.face != EMPTY], self.pieces)
        self._prototypes = choose_prototypes(channel_levels(self._pieces.colours))
        trials = draw_trials(_expose(choose_trials(examples), gain))
        self._choose_turns(trials, (turns,) if turns else TURNS)
        if self._board:
            self._choose_bare(self._board, trials)

    @property
    def turns(self) -> int:
        """In how many steps of a full turn the pieces lie."""
        return self._pieces.shapes.turns

    def observe(self, cuts: Mapping[Site, Patch]) -> Observation:
        """What lies on every site of one photograph that can be read."""
        sites = tuple(cuts)
        patches = stack_patches(list(cuts.values()))
        beliefs = self._believe(self._read(sites, patches))
        if self._board and _share_unsure(beliefs, sites) > MOST_UNSURE:
            strange = self._believe(self._read_strange(sites, patches))
            if _share_unsure(strange, sites) < MUCH_SURER * _share_unsure(beliefs, sites):
                beliefs = strange
        return Observation(beliefs)

    def _read(self, sites: Sequence[Site], patches: Floats) -> _Reading:
        """As if the board were the taught one."""
        levels = channel_levels(describe_colours(halve(patches)))
        bare, known = np.zeros_like(levels), np.zeros(len(sites), bool)
        if self._board:
            bare, known = self._board.levels_at(sites)
        light = Lit(levels, bare, known, self._prototypes).fit()
        pieces, board = self._pieces, self._board
        if light.blown > MOST_BLOWN:
            pieces, board = pieces.under(light), board.under(light) if board else None
        seen = _Seen.of(sites, light.correct(patches))
        colour = self._spread(seen, pieces)
        taken = np.ones(len(sites), np.float32)
        if board:
            away = self._measure_bare(board, seen, self._bare_weight)
            # No piece can be nearer than its colours alone are: mostly that settles it.
            least = self._bare_weight * colour.min(axis=1)
            taken = sigmoid(compare_nearness(away, least) @ self._bare_trust)
        close = np.flatnonzero(taken > SETTLED)
        found = pieces.shapes.search(seen.gray[close], pieces.allow_all(len(close)))
        if board:
            # Nor is any nearer than it seems at half size.
            least = HALF_SIZE * found.misfit + self._bare_weight * colour[close]
            weighed = compare_nearness(away[close], least.min(axis=1)) @ self._bare_trust
            taken[close] = sigmoid(weighed)
            kept = np.flatnonzero(taken[close] > SETTLED)
            close, found = close[kept], found.pick(kept)
        pieces.shapes.look_closely(seen.gray[close], found, np.arange(len(close)))
        choices = _choose_faces(pieces, seen.gray[close], found, self._weight * colour[close])
        if board and len(close):
            nearest = (found.misfit + self._bare_weight * colour[close]).min(axis=1)
            some = seen.pick(close)
            like = self._measure_bare(board, some, self._bare_weight, peers=True)
            away[close] = np.minimum(away[close], like)
            weighed = compare_nearness(away[close], nearest) @ self._bare_trust
            taken[close] = sigmoid(_doubt_blown(weighed, levels[close], some))
        return _Reading(sites, taken, close, choices, _judge_view(levels, seen, light)[close])

    def _read_strange(self, sites: Sequence[Site], patches: Floats) -> _Reading:
        """As if the board had never been seen."""
        levels = channel_levels(describe_colours(halve(patches)))
        pieces = self._pieces
        taught = channel_levels(pieces.colours)
        every = pieces.allow_all(len(sites))
        shape = pieces.shapes.compare_without_light(to_gray(patches), every)
        best = shape.misfit.min(axis=1)
        strong = best < self._usual_misfit
        if strong.sum() < FEWEST_STRONG:
            strong = best <= np.sort(best)[:FEWEST_STRONG][-1]
        allowed = shape.misfit[strong] < best[strong, None] + ALSO_STRONG
        light = fit_to_pieces(levels[strong], taught, allowed)
        if light.blown > MOST_BLOWN:
            pieces = pieces.under(light)
        seen = _Seen.of(sites, light.correct(patches))
        found = pieces.shapes.compare(seen.gray, every)
        colour = self._weight * self._spread(seen, pieces)
        choices = _choose_faces(pieces, seen.gray, found, colour)
        weighed = describe_nearest(best) @ self._lone_trust
        taken = sigmoid(_doubt_blown(weighed, levels, seen))
        taken = doubt_lone_sites(taken, seen.colours)
        view = _judge_view(levels, seen, light)
        return _Reading(sites, taken, np.arange(len(sites)), choices, view)

    def _spread(self, seen: _Seen, pieces: Pieces) -> Floats:
        """How far the colours of each site are from those of each example, squared."""
        parts = self._parts
        squares: Floats = spread_all_colours(seen.colours[:, parts], pieces.colours[:, parts]) ** 2
        return squares

    def _measure_bare(
        self, board: Board, seen: _Seen, weight: float, peers: bool = False
    ) -> Floats:
        """How far each site is from its own bare look, or from any if that was never taught."""
        mine, shape, colour = board.compare(seen.sites, halve(seen.gray), seen.colours, peers)
        firsts = np.flatnonzero(np.diff(mine, prepend=-1))
        nearest: Floats = np.minimum.reduceat(shape + weight * colour**2, firsts)
        return nearest

    def _choose_turns(self, trials: Trials, turns: Sequence[int]) -> None:
        """Turns of the pieces, weight of colour and trust, by which trials are read best."""
        seen = _Seen.of(trials.piece_sites, trials.pieces)
        truth = np.array([self.pieces.index(f) for f in trials.faces])
        own = np.array([[s == mine for mine in self._pieces.sites] for s in seen.sites])
        same_face = truth[:, None] == self._pieces.face_of
        allowed = ~(own & same_face)
        known = (allowed & same_face).any(axis=1)
        best = -np.inf
        colours = {
            parts: spread_all_colours(seen.colours[:, parts], self._pieces.colours[:, parts]) ** 2
            for parts in COLOUR_PARTS
        }
        for pieces in [self._pieces.turned(t) for t in turns]:
            found = pieces.shapes.compare(seen.gray, allowed)
            for parts, weight in product(COLOUR_PARTS, COLOUR_WEIGHTS):
                by_face = pieces.by_face(found.misfit + weight * colours[parts])[known]
                figure = measure_margin(by_face, truth[known])
                figure -= TURNING if pieces.shapes.turns > 1 else 0.0
                if figure > best:
                    best, self._pieces, self._weight, kept = figure, pieces, weight, found
                    self._parts, colour = parts, colours[parts]
        choices = _choose_faces(self._pieces, seen.gray, kept, self._weight * colour)
        right = (choices.by_face.argmin(axis=1) == truth)[known]
        self._usual_misfit = STRONG * float(np.quantile(choices.shape[known], 0.9)) + NEAR
        others = self._pieces.shapes.compare(seen.gray, ~same_face)
        untaught = _choose_faces(self._pieces, seen.gray, others, self._weight * colour)
        features = np.concatenate([choices.describe()[known], untaught.describe()])
        worth = np.concatenate([np.ones(len(right)), np.full(len(truth), UNTAUGHT)])
        right = np.concatenate([right, np.zeros(len(truth), bool)])
        self._trust = fit_logistic(features, right, worth)

    def _choose_bare(self, board: Board, trials: Trials) -> None:
        """Weight of colour and trust in telling pieces from the bare board."""
        laid = _Seen.of(trials.piece_sites, trials.pieces)
        bare = _Seen.of(trials.bare_sites, trials.bare)
        own = np.array([[s == mine for mine in self._pieces.sites] for s in laid.sites])
        best = -np.inf
        shapes, colours = [], []
        for seen, allowed in (laid, ~own), (bare, self._pieces.allow_all(len(bare.sites))):
            shapes.append(self._pieces.shapes.compare(seen.gray, allowed).misfit)
            colours.append(self._spread(seen, self._pieces))
        shape, colour = np.concatenate(shapes), np.concatenate(colours)
        is_piece = np.arange(len(shape)) < len(laid.sites)
        for weight in COLOUR_WEIGHTS:
            away = np.concatenate([self._measure_bare(board, s, weight) for s in (laid, bare)])
            features = compare_nearness(away, (shape + weight * colour).min(axis=1))
            figure = float(np.clip(np.where(is_piece, 1, -1) * features[:, 1], -1, 1).mean())
            if figure > best:
                best, self._bare_weight = figure, weight
                self._bare_trust = fit_logistic(features, is_piece, np.ones(len(is_piece)))
        strange = _Seen.of((), trials.strange)
        readings = []
        for seen, allowed in (laid, ~own), (strange, self._pieces.allow_all(len(trials.strange))):
            shape_only = self._pieces.shapes.compare_without_light(seen.gray, allowed)
            readings.append(describe_nearest(shape_only.misfit.min(axis=1)))
        features = np.concatenate(readings)
        is_piece = np.arange(len(features)) < len(laid.sites)
        self._lone_trust = fit_logistic(features, is_piece, np.ones(len(features)))

    def _believe(self, reading: _Reading) -> dict[Site, dict[Face, float]]:
        choices = reading.choices
        weighed = choices.describe() @ self._trust
        trust = sigmoid(np.where(weighed > 0, weighed * reading.view, weighed))
        by_face = choices.by_face
        mine = np.arange(len(by_face)), by_face.argmin(axis=1)
        likely = ((by_face.min(axis=1, keepdims=True) + NEAR) / (by_face + NEAR)) ** 4
        # The nearest face is believed as far as it is trusted, and stays the likeliest one.
        first = np.maximum(trust, np.minimum(1 / likely.sum(axis=1), STILL_FIRST))
        likely[mine] = 0
        likely *= ((1 - first) / (likely.sum(axis=1) + 1e-9))[:, None]
        likely[mine] = first
        every = np.full((len(reading.sites), len(self.pieces)), 1 / len(self.pieces))
        every[reading.close] = likely
        every *= reading.taken[:, None]
        beliefs = {}
        rows = zip(reading.sites, every.tolist(), reading.taken.tolist(), strict=True)
        for site, row, taken in rows:
            belief = dict(zip(self.pieces, row, strict=True))
            if self._board:
                belief[EMPTY] = 1 - taken
            if max(belief.values()) >= 1 - UNREADABLE:
                beliefs[site] = belief
        return beliefs


def _choose_faces(pieces: Pieces, gray: Floats, found: Likeness, colour: Floats) -> _Choices:
    distances = found.misfit + colour
    nearest = distances.argmin(axis=1)
    rows = np.arange(len(nearest))
    return _Choices(
        pieces.by_face(distances),
        found.misfit[rows, nearest],
        pieces.shapes.find_spots(gray, found, nearest),
    )


def _doubt_blown(weighed: Floats, levels: Floats, seen: _Seen) -> Floats:
    """What speaks for a piece on a site: less where it is flat and partly blown."""
    blown = (levels >= BLOWN).mean(axis=(1, 2))
    left = np.where(seen.find_flat(), (1 - 2 * blown).clip(min=0), 1.0)
    return np.where(weighed > 0, np.maximum(weighed * left, weighed.clip(max=STILL_TAKEN)), weighed)


def _judge_view(levels: Floats, seen: _Seen, light: Light) -> Floats:
    """How far sites can be trusted: white ones may have lost their print, and poor light fools."""
    white = (levels >= BLOWN).mean(axis=1).min(axis=1) > WHITE_SITE
    view = np.where(white, np.where(seen.find_flat(), 0.0, 0.4), 1.0)
    return view * min(1.0, WELL_FITTED / (light.misfit + 1e-6))


def _share_unsure(beliefs: Mapping[Site, Mapping[Face, float]], sites: Sequence[Site]) -> float:
    return 1 - sum(max(b.values()) >= SURE for b in beliefs.values()) / max(len(sites), 1)


def _measure_exposure(examples: Sequence[Example]) -> float:
    """By how much the examples are too dark: dark ones have little contrast."""
    bright = float(np.quantile(np.concatenate([e.patch[::8, ::8].ravel() for e in examples]), 0.95))
    return BRIGHT / max(bright, 0.05)


def _expose(examples: Sequence[Example], gain: float) -> list[Example]:
    return [Example(e.site, e.face, e.patch * np.float32(gain)) for e in examples]
