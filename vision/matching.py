"""Explains a changed table by the likeliest moves, legal or not."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

from rules.game import AnyGame, Game, MoveT, Seat, StateT
from rules.status import Difference
from rules.table import EMPTY, Face, Layout, Site
from rules.verdict import LEGAL, Verdict

from .observation import Observation

FLOOR = 1e-4
"""No reading of a single site is trusted beyond one in ten thousand, however sure it says it is."""

CHANGE = 2.0
"""A site has changed when another face is likelier than the expected one by more than this (as a
logarithm; 2 is about 7 to 1): of a hundred sites that nobody touched, some are doubtful."""

HINT = 1.0
"""Half of that is a hint: moves are looked for there too, if their sites together say more."""

ILLEGAL_COST = 3.0
"""Players mostly keep the rules: about one placement in twenty breaks one. Well below the margin
that a booking needs, so that legality alone never decides between two readings."""

STEP_COST = 3.0
"""For each decision after the first: mostly, one press is one move, and what chance adds to it."""

MOST_CHANCE = 64
"""So many moves of chance may follow from one press: a whole table that is dealt out."""

UNEXPLAINED_COST = 2.0
"""For each changed site that a line of moves leaves open, on top of the gain it forgoes."""

WINDOW = 12.0
"""Moves that fit worse than the best one by more than this are not shown to the rules, nor are
lines of moves kept: they could come neither within a booking margin of it nor pass it by being
legal."""

CHECKED = 64
"""So many of the best fitting moves are shown to the rules for each line."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One to a few moves in order, of which only the last can be illegal; or a take-back."""

    moves: tuple[str, ...]
    movers: tuple[Seat, ...]
    laid: Layout = field(hash=False)
    """What the moves together change on the table."""
    score: float
    """Logarithm of how much better it fits what is seen than an unchanged table does."""
    verdict: Verdict
    unexplained: frozenset[Site]
    """Changed sites that it leaves open."""
    outcome: Hashable = field(repr=False)
    """Two explanations with an equal outcome come to the same thing."""
    takes_back: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    state: Any
    moves: tuple[str, ...]
    movers: tuple[Seat, ...]
    laid: Layout
    gain: float
    verdict: Verdict
    open: frozenset[Site]
    outcome: Hashable
    decided: int = 0
    """How many of the moves somebody decided on; the others are chance."""

    @property
    def score(self) -> float:
        illegal = 0.0 if self.verdict.legal else ILLEGAL_COST
        further = STEP_COST * max(self.decided - 1, 0)
        return self.gain - illegal - further - UNEXPLAINED_COST * len(self.open)


class _Evidence:
    """An observation as logarithms."""

    def __init__(self, seen: Observation) -> None:
        self._logs = {
            site: {face: log(max(p, FLOOR)) for face, p in belief.items()}
            for site, belief in seen.beliefs.items()
        }

    def gain(self, site: Site, after: Face, before: Face) -> float:
        """How much better the site fits ``after`` than ``before``; 0 where nothing is seen."""
        logs = self._logs.get(site)
        if logs is None or after == before:
            return 0.0
        return logs.get(after, log(FLOOR)) - logs.get(before, log(FLOOR))

    def potentials(self, expected: Layout, more_than: float = CHANGE) -> dict[Site, float]:
        """The largest gain that any face could have, for each site that has changed."""
        found = {}
        for site, logs in self._logs.items():
            most = max(logs.values()) - logs.get(expected.get(site, EMPTY), log(FLOOR))
            if most > more_than:
                found[site] = most
        return found


def differ(expected: Layout, seen: Observation) -> tuple[Difference, ...]:
    """The sites where the camera sees something else than the game says."""
    changed = _Evidence(seen).potentials(expected)
    return tuple(Difference(s, seen.best(s), expected.get(s, EMPTY)) for s in changed)


def match(
    game: Game[StateT, MoveT],
    state: StateT,
    seen: Observation,
    *,
    steps: int = 3,
    width: int = 12,
) -> tuple[Explanation, ...]:
    """Up to ``steps`` decisions, with what chance adds to them, that explain what is seen; the
    best explanation first.

    Every well-formed move near a change is weighed, legal or not. Lines that come to the same
    outcome count once. Empty when nothing fits better than an unchanged table.
    """
    expected = game.layout(state)
    evidence = _Evidence(seen)
    potentials = evidence.potentials(expected)
    hints = frozenset(evidence.potentials(expected, HINT)) - potentials.keys()
    beam = [_Line(state, (), (), {}, 0.0, LEGAL, frozenset(potentials), state)]
    done: dict[Hashable, _Line] = {}
    chance = MOST_CHANCE if game.info.chance else 0
    for left in reversed(range(steps + chance)):
        longer: dict[Hashable, _Line] = {}
        for line in beam:
            for new in _extend(game, line, evidence, hints, potentials if left else {}):
                if new.decided <= steps:
                    _keep_better(longer, new)
        for new in longer.values():
            _keep_better(done, new)
        hopes = [
            (-new.gain - sum(potentials[s] for s in new.open), new.moves, new)
            for new in longer.values()
            if new.verdict.legal and (new.open or hints)
        ]
        beam = [new for _, _, new in sorted(hopes, key=lambda h: h[:2])[:width]]
        if not beam:
            break
    ranked = sorted(done.values(), key=_rank)
    return tuple(
        Explanation(r.moves, r.movers, r.laid, r.score, r.verdict, r.open, r.outcome)
        for r in ranked
        if r.score >= ranked[0].score - WINDOW
    )


def taken_back(
    game: AnyGame, previous: Hashable, state: object, seen: Observation
) -> Explanation | None:
    """The explanation that the last move was taken back: the table looks as it did before it.

    None if it does not look so. What has changed besides is left unexplained.
    """
    before, expected = game.layout(previous), game.layout(state)
    evidence = _Evidence(seen)
    lifted = {s: face for s, face in before.items() if face != expected.get(s, EMPTY)}
    gain = sum(evidence.gain(s, face, expected.get(s, EMPTY)) for s, face in lifted.items())
    if gain <= CHANGE:
        return None
    left = frozenset(evidence.potentials(before))
    score = gain - UNEXPLAINED_COST * len(left)
    return Explanation((), (), lifted, score, LEGAL, left, previous, takes_back=True)


def _extend(
    game: AnyGame,
    line: _Line,
    evidence: _Evidence,
    hints: frozenset[Site],
    potentials: Mapping[Site, float],
) -> Iterator[_Line]:
    """The line with one more move, for each of the best fitting ones.

    What a move would change is cheap to ask, what the rules say to it is not, so that is asked
    last. Changes that a move leaves to later ones (``potentials``) are not held against it:
    otherwise of two tiles only the clearer one would be tried as the first.
    """
    expected = game.layout(line.state)
    fits: list[tuple[float, float, Any, Layout]] = []
    near = line.open | hints
    for move in game.candidates(line.state, near) if near else ():
        footprint = game.footprint(line.state, move)
        gain = sum(evidence.gain(s, f, expected.get(s, EMPTY)) for s, f in footprint.items())
        explained = line.open.intersection(footprint)
        if gain > (0 if explained else CHANGE):
            lost = sum(potentials.get(s, -UNEXPLAINED_COST) for s in explained)
            fits.append((gain - lost, gain, move, footprint))
    fits.sort(key=lambda fit: -fit[0])
    for fit, gain, move, footprint in fits[:CHECKED]:
        if fit < fits[0][0] - WINDOW:
            break
        verdict = game.check(line.state, move)
        text = game.notate(move)
        by_chance = game.describe(move)[0] in game.info.chance
        after = game.apply(line.state, move).state if verdict.legal else line.state
        yield _Line(
            after,
            (*line.moves, text),
            (*line.movers, game.mover(line.state, move)),
            {**line.laid, **footprint},
            line.gain + gain,
            verdict,
            line.open - footprint.keys(),
            after if verdict.legal else (line.state, text),
            line.decided + (not by_chance),
        )


def _keep_better(lines: dict[Hashable, _Line], new: _Line) -> None:
    known = lines.get(new.outcome)
    if known is None or _rank(new) < _rank(known):
        lines[new.outcome] = new


def _rank(line: _Line) -> tuple[float, tuple[str, ...]]:
    return -line.score, line.moves
