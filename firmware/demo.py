"""Virtual players: they lay tiles on the virtual table, press, err now and then, and play on."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from random import Random
from threading import Condition, Event, Thread
from typing import Any

from rules import games
from rules.commands import Answer, Command, Lay, PlayMoves, Press, Request, StartGame, Tidy
from rules.game import AnyGame, Seat
from rules.session import Session
from rules.status import Status
from rules.table import Face, Layout, Site

from .inbox import Asked, Inbox, Reply
from .virtual import VirtualTabletop

log = logging.getLogger(__name__)

NAMES = ("Anna", "Bram", "Chiara", "Dmitri", "Emma", "Felix")
THOUGHTS = 40
"""Legal moves that a virtual player thinks of before choosing the best of them."""
BLUNDER = 0.08
"""How often something illegal is laid."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the virtual players are, in seconds."""

    think_s: float = 1.5
    reach_s: float = 0.7
    wonder_s: float = 3.0
    """After a refusal or question, before it is put right."""
    celebrate_s: float = 12.0
    """Between two games."""
    patience_s: float = 15.0
    """For an answer of the table."""


def pick(game: AnyGame, state: Any, rng: Random, thoughts: int = THOUGHTS) -> Any:
    """A fairly good legal move: the best paid of the first few that come to mind."""
    legal = _shuffled(game.candidates(state), rng)
    found = list(islice((m for m in legal if game.check(state, m).legal), thoughts))
    return max(found, key=lambda m: _points(game, state, m))


def blunder(game: AnyGame, state: Any, rng: Random) -> Any | None:
    """A move that changes the table and breaks a rule, if there is one."""
    before = game.layout(state)
    for move in _shuffled(game.candidates(state), rng):
        laid = game.footprint(state, move)
        if any(before[s] != f for s, f in laid.items()) and not game.check(state, move).legal:
            return move
    return None


def lay_out(game: AnyGame, state: Any, move: Any, rng: Random) -> dict[Site, Face]:
    """What lies there after a move, and after what chance then turns up."""
    laid: dict[Site, Face] = {}
    while True:
        laid |= game.footprint(state, move)
        if not game.check(state, move).legal:
            return laid
        state = game.apply(state, move).state
        chances = [
            m
            for m in (game.candidates(state) if game.info.chance else ())
            if game.describe(m)[0] in game.info.chance and game.check(state, m).legal
        ]
        if not chances:
            return laid
        move = rng.choice(chances)


def _shuffled(moves: Iterable[Any], rng: Random) -> list[Any]:
    found = list(moves)
    rng.shuffle(found)
    return found


def _points(game: AnyGame, state: Any, move: Any) -> int:
    mover = game.mover(state, move)
    return sum(line.points for line in game.apply(state, move).lines if line.seat == mover)


class Demo(Thread):
    """Plays one game after the other until stopped, through the same doors as people do."""

    def __init__(
        self,
        inbox: Inbox,
        tabletop: VirtualTabletop,
        *,
        pace: Pace | None = None,
        seed: int | None = None,
        blunders: float = BLUNDER,
    ) -> None:
        super().__init__(name="demo", daemon=True)
        self._inbox = inbox
        self._tabletop = tabletop
        self._pace = pace or Pace()
        self._rng = Random(seed)
        self._blunders = blunders
        self._stopped = Event()
        self._changed = Condition()
        self._session: Session | None = None
        self._status = Status()

    def observe(self, session: Session | None, status: Status) -> None:
        """An observer for the loop."""
        with self._changed:
            self._session, self._status = session, status
            self._changed.notify_all()

    def stop(self) -> None:
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()

    def run(self) -> None:
        while not self._stopped.is_set():
            session, status = self._session, self._status
            if session is None:
                self._begin(0)
            elif session.held or session.game.standings(session.state).over:
                self._stopped.wait(self._pace.celebrate_s)
                self._begin(session.seq)
            elif status.question or status.mode == "refused":
                self._put_right(session, status)
            else:
                self._take_turn(session)

    def _begin(self, seen: int) -> None:
        """Start any game in any of its variants."""
        game = self._rng.choice(list(games.installed().values()))
        variant = self._rng.choice([v for v in game.info.variants if max(v.seats) > 1])
        names = NAMES[: self._rng.choice([n for n in variant.seats if n > 1])]
        self._ask(StartGame(game.info.name, variant.name, names, seen, source="cli"))

    def _take_turn(self, session: Session) -> None:
        game, state = session.game, session.state
        self._stopped.wait(self._pace.think_s)
        move = None
        if self._rng.random() < self._blunders:
            move = blunder(game, state, self._rng)
        move = move or pick(game, state, self._rng)
        seat = game.mover(state, move)
        if not game.footprint(state, move):
            self._ask(PlayMoves((game.notate(move),), session.seq, seat, "cli"))
            return
        self._lay(lay_out(game, state, move, self._rng), seat)
        asked = self._status.question
        self._ask(Press(seat))
        self._wait_until(lambda t: t.seq != session.seq or t.question not in (None, asked))

    def _lay(self, laid: Layout, seat: Seat) -> None:
        """A hand reaches in, lays the piece and leaves."""
        table = self._tabletop.table()
        if table:
            table.reach(next(iter(laid)), seat)
        self._stopped.wait(self._pace.reach_s)
        self._ask(Lay(laid))
        if table:
            table.withdraw()
        self._stopped.wait(self._pace.reach_s)

    def _put_right(self, session: Session, status: Status) -> None:
        """Answer with the first legal choice, or tidy the table and try something else."""
        self._stopped.wait(self._pace.wonder_s)
        question = status.question
        if question:
            legal = [n for n, c in enumerate(question.choices) if c.moves and c.verdict.legal]
            answer = legal[0] if legal else None
            if self._ask(Answer(question.number, answer)).code == "booked":
                return
        self._ask(Tidy())
        self._take_turn(session)

    def _ask(self, request: Command | Request) -> Reply:
        replies: SimpleQueue[Reply] = SimpleQueue()
        self._inbox.put(Asked(request, replies.put))
        try:
            reply = replies.get(timeout=self._pace.patience_s)
        except Empty:
            return Reply("unavailable", 0, "no answer")
        # The loop shows a change after it has replied.
        self._wait_until(lambda t: t.seq >= reply.seq)
        if not reply.ok:
            log.info("%s: %s", reply.code, reply.message)
        return reply

    def _wait_until(self, happened: Callable[[Status], bool]) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: self._stopped.is_set() or happened(self._status), self._pace.patience_s
            )
