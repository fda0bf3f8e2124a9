"""One game in progress: commands in, events out, state by replay.

``decide`` judges a command and changes nothing; ``evolve`` folds one event into the session.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from . import games
from .commands import Command, Correct, PlayMoves, StartGame, TakeBack
from .errors import InvalidSetup, StaleCommand
from .events import Event, GameStarted, MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from .game import AnyGame, ScoreLine, Seat
from .verdict import Verdict, Violation


@dataclass(frozen=True, slots=True)
class Ply:
    """One booked move and what came of it; a link of a chain, so that appending costs the same
    in a short and in a long game."""

    number: int
    move: str
    seat: Seat
    verdict: Verdict
    lines: tuple[ScoreLine, ...]
    state: Any = field(repr=False, compare=False)
    previous: "Ply | None" = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Held:
    """A move that a correction of an earlier one has made impossible, or that follows such a one.

    It is kept, not applied: the players correct it, correct the correction, or take it back.
    """

    number: int
    move: str
    verdict: Verdict
    """Empty for a move that merely follows: it is judged when its turn comes."""


@dataclass(frozen=True, slots=True)
class Session:
    """The game as the journal tells it up to entry ``seq``."""

    game: AnyGame
    opening: GameStarted
    beginning: Any = field(repr=False)
    """The state before the first move."""
    seq: int
    last: Ply | None = None
    held: tuple[Held, ...] = ()

    @property
    def state(self) -> Any:
        return _state_after(self, self.last)

    @property
    def number(self) -> int:
        """Moves booked so far, held ones included."""
        return (self.last.number if self.last else 0) + len(self.held)

    def backwards(self) -> Iterator[Ply]:
        """The applied moves, the last one first."""
        ply = self.last
        while ply is not None:
            yield ply
            ply = ply.previous

    def plies(self) -> tuple[Ply, ...]:
        return tuple(self.backwards())[::-1]


def decide(session: Session | None, command: Command) -> tuple[Event, ...]:
    """The events that a command leads to; an illegal move leads to a refusal, which is one too.

    ``StaleCommand`` if the sender did not know the newest entry; ``InvalidSetup``,
    ``InvalidNotation`` or ``UnknownGame`` if it does not make sense in any state.
    """
    known = session.seq if session else 0
    if command.seen != known:
        raise StaleCommand(f"the command knows entry {command.seen}, the table is at {known}")
    if isinstance(command, StartGame):
        return (_start(command),)
    if session is None:
        raise InvalidSetup("no game has been started")
    match command:
        case PlayMoves():
            return _play(session, command)
        case TakeBack():
            return _take_back(session, command)
        case Correct():
            return _correct(session, command)


def evolve(session: Session | None, event: Event, seq: int) -> Session:
    """The session after one more journal entry, number ``seq``."""
    if isinstance(event, GameStarted):
        game = games.find(event.game)
        setup = game.info.setup(event.variant, len(event.names), event.options)
        return Session(game, event, game.start(setup), seq)
    if session is None:
        raise InvalidSetup(f"entry {seq}: a journal begins with a game, got {event!r}")
    session = replace(session, seq=seq)
    match event:
        case MovePlayed():
            return replace(session, last=_append(session, session.last, event.move))
        case MoveRefused():
            return session
        case MoveTakenBack():
            if session.held:
                return replace(session, held=session.held[:-1])
            return replace(session, last=session.last.previous if session.last else None)
        case MoveCorrected():
            return _rewrite(session, event.number, event.move)


def replay(entries: Iterable[tuple[int, Event]]) -> Session | None:
    """Fold numbered events into the session they describe."""
    session: Session | None = None
    for seq, event in entries:
        session = evolve(session, event, seq)
    return session


def illegal_after(session: Session, number: int, move: str) -> tuple[Held, ...]:
    """What a correction would make impossible, asked before it is made."""
    return _rewrite(session, number, move).held


def _start(command: StartGame) -> GameStarted:
    game = games.find(command.game)
    setup = game.info.setup(command.variant, len(command.names), command.options)
    return GameStarted(
        game.info.name,
        game.info.version,
        setup.variant,
        command.names,
        setup.options,
        command.source,
    )


def _play(session: Session, command: PlayMoves) -> tuple[Event, ...]:
    if session.held:
        return (MoveRefused(command.moves, (_held(session),), command.source, command.by),)
    played: list[Event] = []
    last = session.last
    for text in command.moves:
        state = _state_after(session, last)
        move = session.game.parse(text)
        broken = _out_of_turn(session, session.game.mover(state, move), command.by)
        broken = broken or session.game.check(state, move).violations
        if broken:
            return (MoveRefused(command.moves, broken, command.source, command.by),)
        last = _append(session, last, text)
        played.append(MovePlayed(last.move, command.source, command.by))
    return tuple(played)


def _held(session: Session) -> Violation:
    return Violation("held", "", fields={"number": session.held[0].number})


def _out_of_turn(session: Session, mover: Seat, by: Seat | None) -> tuple[Violation, ...]:
    if by is None or by == mover:
        return ()
    return (Violation("not_your_turn", "", fields={"seat": session.opening.names[mover]}),)


def _take_back(session: Session, command: TakeBack) -> tuple[Event, ...]:
    if session.number == 0:
        violation = Violation("nothing_to_take_back", "")
        return (MoveRefused((), (violation,), command.source, command.by),)
    foreign = _foreign(session, session.number, command.by)
    if foreign:
        return (MoveRefused((), foreign, command.source, command.by),)
    return (MoveTakenBack(session.number, command.source, command.by),)


def _correct(session: Session, command: Correct) -> tuple[Event, ...]:
    if not 1 <= command.number <= session.number:
        fields = {"number": command.number, "last": session.number}
        violation = Violation("no_such_move", "", fields=fields)
        return (MoveRefused((command.move,), (violation,), command.source, command.by),)
    move = session.game.notate(session.game.parse(command.move))
    if session.held and command.number > session.held[0].number:
        return (MoveRefused((move,), (_held(session),), command.source, command.by),)
    foreign = _foreign(session, command.number, command.by)
    if foreign:
        return (MoveRefused((move,), foreign, command.source, command.by),)
    state = _state_after(session, _before(session, command.number))
    verdict = session.game.check(state, session.game.parse(move))
    if not verdict.legal:
        return (MoveRefused((move,), verdict.violations, command.source, command.by),)
    return (MoveCorrected(command.number, move, command.source, command.by),)


def _foreign(session: Session, number: int, by: Seat | None) -> tuple[Violation, ...]:
    """A seat changes its own moves only; held ones belong to nobody for sure, so to everybody."""
    ply = next((p for p in session.backwards() if p.number == number), None)
    if by is None or ply is None or ply.seat == by:
        return ()
    fields: dict[str, str | int] = {"number": number, "seat": session.opening.names[ply.seat]}
    return (Violation("not_your_move", "", fields=fields),)


def _append(session: Session, last: Ply | None, text: str) -> Ply:
    game = session.game
    state = _state_after(session, last)
    move = game.parse(text)
    verdict = game.check(state, move)
    applied = game.apply(state, move)
    number = last.number + 1 if last else 1
    seat = game.mover(state, move)
    return Ply(number, game.notate(move), seat, verdict, applied.lines, applied.state, last)


def _state_after(session: Session, ply: Ply | None) -> Any:
    return ply.state if ply else session.beginning


def _before(session: Session, number: int) -> Ply | None:
    """The ply that precedes move ``number``."""
    return next((p for p in session.backwards() if p.number < number), None)


def _rewrite(session: Session, number: int, move: str) -> Session:
    """The session with move ``number`` replaced and everything after it worked out again."""
    last = _before(session, number)
    later = [p.move for p in session.backwards() if p.number > number][::-1]
    texts = [move, *later, *(h.move for h in session.held if h.number > number)]
    held: list[Held] = []
    for n, text in enumerate(texts, number):
        if held:
            held.append(Held(n, text, Verdict()))
            continue
        state = _state_after(session, last)
        verdict = session.game.check(state, session.game.parse(text))
        if verdict.legal:
            last = _append(session, last, text)
        else:
            held.append(Held(n, text, verdict))
    return replace(session, last=last, held=tuple(held))
