"""Plays random turns on virtual tables and counts what is booked, refused and asked.

``python -m firmware.turns GAME --turns 500 --illegal 300`` prints the figures; with ``--studio``
the pictures are ray-traced, one a turn, and kept for the next time.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from rules import games
from rules.events import GameStarted, MovePlayed
from rules.game import AnyGame, Seat
from rules.session import Session, evolve
from rules.table import EMPTY, Layout, Plan
from rules.verdict import Verdict
from vision.frame import Frame, read_picture
from vision.looks import DrawnLooks
from vision.observation import Observation, average
from vision.observe import Observer, reading_scale
from vision.rectify import rectify
from vision.render import Moment, Painter
from vision.studio.room import Room
from vision.studio.studio import Album, Shot
from vision.virtual.misbehaviour import Misbehaviour

from .choose import Ask, Book, Decision, Refuse, choose

FRAMES = 3
TRIES = 400
"""So many random candidates are tried before another position is taken."""
SURE = 0.9
"""A face believed less than this is asked about, when sites are counted one by one."""
STUDIO = Path("out/studio")
RAYS = 4
"""A grainy picture, as of a webcam in the evening, in half the time of a smooth one."""

Take = Callable[[Layout, int], Iterable[Frame]]
"""From what lies on a table, and the seed of a room, to pictures of it."""


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
    seen: Observation | None
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


def take_virtual(plan: Plan) -> Take:
    """Pictures drawn quickly, a few of each table."""

    def take(layout: Layout, seed: int) -> Iterator[Frame]:
        painter = Painter(plan)
        for tick in range(FRAMES):
            yield Frame(painter.paint(layout, Misbehaviour.default(seed), Moment(tick=tick)), 0.0)

    return take


def take_traced(plan: Plan, folder: Path) -> Take:
    """Ray-traced pictures, one of each table, kept in a folder."""
    album = Album(folder)

    def take(layout: Layout, seed: int) -> Iterator[Frame]:
        yield read_picture(album.picture(Shot(plan, Room.draw(seed), seed, layout, rays=RAYS)))

    return take


class Bench:
    """Reads turns of one game from pictures."""

    def __init__(self, game: AnyGame, take: Take | None = None) -> None:
        self._plan = game.plan
        self._take = take or take_virtual(game.plan)
        self._observer = Observer(game.plan, DrawnLooks(game.plan))

    def observe(self, layout: Layout, seed: int) -> Observation | None:
        """What pictures of this table show; None if its corners are not found."""
        seen = []
        for frame in self._take(layout, seed):
            image = rectify(frame, self._plan, px_per_mm=reading_scale(self._plan))
            if image is not None:
                seen.append(self._observer.observe(image))
        return average(seen) if seen else None

    def read(self, turn: Turn, seed: int) -> Reading:
        seen = self.observe(turn.laid, seed)
        decision = choose(turn.session, seen, turn.seat) if seen else None
        return Reading(turn, seed, seen, decision)


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


def count_sites(readings: Iterable[Reading]) -> Counter[str]:
    """How many sites were read right, how many wrong and silent, and how many are asked about."""
    found: Counter[str] = Counter()
    for reading in readings:
        beliefs = reading.seen.beliefs if reading.seen else {}
        for site in reading.turn.session.game.plan.sites:
            belief = beliefs.get(site, {})
            face = max(belief, key=lambda f: belief[f], default=None)
            right = face == reading.turn.laid.get(site, EMPTY)
            asked = face is None or belief[face] < SURE
            found.update(sites=1, right=right, asked=asked, silent=not right and not asked)
    return found


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
    parser.add_argument("--studio", action="store_true", help="read ray-traced pictures")
    arguments = parser.parse_args()
    game = games.find(arguments.game)
    folder = STUDIO / f"{arguments.game}-turns"
    bench = Bench(game, take_traced(game.plan, folder) if arguments.studio else None)
    seeds = range(arguments.seed, arguments.seed + arguments.turns)
    readings = _report("legal", bench, ((draw_turn(game, s), s) for s in seeds))
    codes = codes_of(game) if arguments.illegal else []
    for k, code in enumerate(codes):
        first = arguments.seed + 100_000 * (k + 1)
        seeds = range(first, first + -(-arguments.illegal // len(codes)))
        turns = ((draw_illegal_turn(game, code, s), s) for s in seeds)
        readings += _report(code, bench, turns)
    print("sites", dict(count_sites(readings)))


def _report(name: str, bench: Bench, turns: Iterable[tuple[Turn, int]]) -> list[Reading]:
    """Read turns, print every one that did not go right as soon as it is read, and the counts."""
    readings = []
    for turn, seed in turns:
        reading = bench.read(turn, seed)
        readings.append(reading)
        if reading.outcome != "right":
            print(f"  {seed} {turn.move}: {reading.outcome}: {reading.decision}", flush=True)
    print(name, dict(Counter(r.outcome for r in readings)), flush=True)
    return readings


if __name__ == "__main__":
    main()
