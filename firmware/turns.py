"""Plays random turns on virtual tables and counts what is booked, refused and asked.

``python -m firmware.turns GAME --turns 500 --illegal 300`` prints the figures.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from rules import games
from rules.events import GameStarted, MovePlayed
from rules.game import AnyGame, Seat
from rules.session import Session, evolve
from rules.table import Layout
from rules.verdict import Verdict
from vision.frame import Frame
from vision.looks import DrawnLooks
from vision.observation import Observation, average
from vision.observe import Observer, reading_scale
from vision.rectify import rectify
from vision.render import Moment, Painter
from vision.virtual.misbehaviour import Misbehaviour

from .choose import Ask, Book, Decision, Refuse, choose

FRAMES = 3
TRIES = 400
"""So many random candidates are tried before another position is taken."""


@dataclass(frozen=True)
class Turn:
    """A position, and what is laid on the table in it."""

    session: Session
    seat: Seat
    move: str
    verdict: Verdict
    laid: Layout


@dataclass(frozen=True)
class Reading:
    """A turn and what became of it."""

    turn: Turn
    seed: int
    decision: Decision | None
    """None: the table was not found in the picture."""

    @property
    def outcome(self) -> str:
        """``right``, ``asked``, ``lost``, or what went wrong."""
        match self.decision:
            case None:
                return "lost"
            case Ask():
                return "asked"
            case Book(moves):
                if not self.turn.verdict.legal:
                    return "booked, illegal"
                return "right" if self._comes_to_the_same(moves) else "booked, wrong"
            case Refuse(_, verdict):
                if self.turn.verdict.legal:
                    return "refused, legal"
                same = _reasons(verdict) == _reasons(self.turn.verdict)
                return "right" if same else "refused for another reason"

    def _comes_to_the_same(self, moves: Iterable[str]) -> bool:
        game, state = self.turn.session.game, self.turn.session.state
        return bool(_play(game, state, moves) == _play(game, state, [self.turn.move]))


class Bench:
    """Reads turns of one game on virtual tables."""

    def __init__(self, game: AnyGame) -> None:
        self._plan = game.plan
        self._observer = Observer(game.plan, DrawnLooks(game.plan))

    def observe(self, layout: Layout, misbehaviour: Misbehaviour) -> Observation | None:
        """What a few frames of this table show; None if its corners are not found."""
        painter = Painter(self._plan)
        seen = []
        for tick in range(FRAMES):
            bgr = painter.paint(layout, misbehaviour, Moment(tick=tick))
            image = rectify(Frame(bgr, 0.0), self._plan, px_per_mm=reading_scale(self._plan))
            if image is not None:
                seen.append(self._observer.observe(image))
        return average(seen) if seen else None

    def read(self, turn: Turn, seed: int) -> Reading:
        seen = self.observe(turn.laid, Misbehaviour.default(seed))
        return Reading(turn, seed, choose(turn.session, seen, turn.seat) if seen else None)


def draw_turn(game: AnyGame, seed: int) -> Turn:
    """A legal move in a random position."""
    rng = Random(f"legal {seed}")
    while True:
        session = draw_session(game, rng)
        for move in _candidates(session, rng):
            if game.check(session.state, move).legal:
                return _turn(session, move)


def draw_illegal_turn(game: AnyGame, code: str, seed: int) -> Turn:
    """A placement in a random position that is refused first of all for the reason ``code``."""
    rng = Random(f"{code} {seed}")
    while True:
        session = draw_session(game, rng)
        for move in _candidates(session, rng):
            violations = game.check(session.state, move).violations
            if violations and violations[0].code == code:
                return _turn(session, move)


def draw_session(game: AnyGame, rng: Random) -> Session:
    """A game of any variant with any number of players, played for a while at random."""
    variant = rng.choice([v for v in game.info.variants if max(v.seats) > 1])
    names = tuple(f"seat {n}" for n in range(rng.choice([s for s in variant.seats if s > 1])))
    session = evolve(None, GameStarted(game.info.name, game.info.version, variant.name, names), 1)
    for number in range(rng.choice((rng.randrange(6), rng.randrange(len(game.plan.sites) // 2)))):
        legal = (m for m in _candidates(session, rng) if game.check(session.state, m).legal)
        move = next(legal, None)
        if move is None or game.standings(session.state).over:
            break
        longer = evolve(session, MovePlayed(game.notate(move), "cli"), number + 2)
        if game.standings(longer.state).over:
            break
        session = longer
    return session


def codes_of(game: AnyGame, seeds: int = 60) -> list[str]:
    """The reasons for which something laid on the table may be refused, found by trying."""
    found: Counter[str] = Counter()
    for seed in range(seeds):
        rng = Random(seed)
        session = draw_session(game, rng)
        for move in _candidates(session, rng):
            found.update(v.code for v in game.check(session.state, move).violations[:1])
    return sorted(found)


def evaluate(game: AnyGame, turns: Iterable[tuple[Turn, int]]) -> Iterator[Reading]:
    bench = Bench(game)
    for turn, seed in turns:
        yield bench.read(turn, seed)


def _candidates(session: Session, rng: Random) -> Iterator[Any]:
    """Random moves that change what is seen, one near each of many random sites."""
    game, state = session.game, session.state
    layout = game.layout(state)
    for _ in range(TRIES):
        near = frozenset([rng.choice(game.plan.sites)])
        move = rng.choice(list(game.candidates(state, near)))
        footprint = game.footprint(state, move)
        if footprint and all(layout[s] != face for s, face in footprint.items()):
            yield move


def _turn(session: Session, move: Any) -> Turn:
    game, state = session.game, session.state
    laid = {**game.layout(state), **game.footprint(state, move)}
    verdict = game.check(state, move)
    return Turn(session, game.mover(state, move), game.notate(move), verdict, laid)


def _play(game: AnyGame, state: Any, moves: Iterable[str]) -> Any:
    for text in moves:
        state = game.apply(state, game.parse(text)).state
    return state


def _reasons(verdict: Verdict) -> list[tuple[str, frozenset[str]]]:
    return [(v.code, frozenset(v.sites)) for v in verdict.violations]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--illegal", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    game = games.find(arguments.game)
    seeds = range(arguments.seed, arguments.seed + arguments.turns)
    legal = ((draw_turn(game, s), s) for s in seeds)
    print("legal", dict(_count(evaluate(game, legal))))
    codes = codes_of(game)
    for k, code in enumerate(codes):
        first = arguments.seed + 100_000 * (k + 1)
        seeds = range(first, first + -(-arguments.illegal // len(codes)))
        turns = ((draw_illegal_turn(game, code, s), s) for s in seeds)
        print(code, dict(_count(evaluate(game, turns))))


def _count(readings: Iterable[Reading]) -> Counter[str]:
    found: Counter[str] = Counter()
    for reading in readings:
        found[reading.outcome] += 1
        if reading.outcome != "right":
            print(f"  {reading.seed} {reading.turn.move}: {reading.outcome}: {reading.decision}")
    return found


if __name__ == "__main__":
    main()
