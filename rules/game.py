"""The contract that every game keeps, and the values that cross it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NewType, Protocol, TypeVar

from .errors import InvalidSetup
from .table import Layout, Plan, Site
from .verdict import Verdict

Seat = NewType("Seat", int)
"""A player's place at the table, counted clockwise from 0; seat 0 begins."""

StateT = TypeVar("StateT")
MoveT = TypeVar("MoveT")


@dataclass(frozen=True, slots=True)
class Variant:
    """One version of a game, with the numbers of players it is made for."""

    name: str
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """A house rule: a name and its values; the first one is the default."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """Which version is played by how many, with which options."""

    variant: str
    seats: int
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def option(self, name: str) -> str:
        return self.options[name]


@dataclass(frozen=True, slots=True)
class GameInfo:
    """Facts about a game that need no rules; its title is the text ``title``."""

    name: str
    version: int
    """Rises only when a rule's behaviour changes, so that old journals can be told apart."""
    variants: tuple[Variant, ...]
    options: tuple[Option, ...] = ()
    chance: tuple[str, ...] = ()
    """Moves (by their key of ``describe``) that nobody decides: what is drawn, rolled or turned
    up. The table shows them, mostly together with the move that brought them about."""
    lowest_counts: bool = False
    """The total of a score is its lowest track, not a sum; pages then mark the lowest ones."""

    def setup(self, variant: str, seats: int, options: Mapping[str, str] | None = None) -> Setup:
        """A complete and valid set-up, defaults filled in, or ``InvalidSetup``."""
        given = dict(options or {})
        seats_of = {v.name: v.seats for v in self.variants}
        if variant not in seats_of:
            raise InvalidSetup(f"variant: expected one of {', '.join(seats_of)}, got {variant!r}")
        if seats not in seats_of[variant]:
            allowed = ", ".join(map(str, seats_of[variant]))
            raise InvalidSetup(f"seats of {variant}: expected one of {allowed}, got {seats!r}")
        chosen = {}
        for option in self.options:
            value = given.pop(option.name, option.values[0])
            if value not in option.values:
                allowed = ", ".join(option.values)
                raise InvalidSetup(f"option {option.name}: expected {allowed}, got {value!r}")
            chosen[option.name] = value
        if given:
            known = ", ".join(o.name for o in self.options) or "none"
            raise InvalidSetup(f"options: expected {known}, got {', '.join(map(repr, given))}")
        return Setup(variant, seats, chosen)


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Why a score changed: one counted thing, with the sites that were counted."""

    seat: Seat
    code: str
    rule: str
    points: int
    track: str = ""
    """The part of the score it belongs to (a colour, a category); a name in ``words``."""
    sites: tuple[Site, ...] = ()
    fields: Mapping[str, str | int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """A state after a move, and every score line that the move caused."""

    state: Any
    lines: tuple[ScoreLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Track:
    """One counted part of a score."""

    name: str
    value: int
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """What one side has; a side is one seat, or the seats of a team."""

    seats: tuple[Seat, ...]
    total: int
    tracks: tuple[Track, ...] = ()
    rank: int = 1
    """Place among the sides after all tie-breaks; equal ranks are a true tie."""


@dataclass(frozen=True, slots=True)
class Standings:
    """The scoreboard, who acts, and who won once the game is over."""

    scores: tuple[Score, ...]
    to_act: Seat | None
    winners: tuple[Seat, ...] | None = None
    ended_by: str = ""
    """Code of the reason the game is over (text ``ended.<code>``)."""
    notices: tuple[str, ...] = ()
    """Codes of what the acting player should know now (text ``notice.<code>``)."""

    @property
    def over(self) -> bool:
        return self.winners is not None


class Game(Protocol[StateT, MoveT]):
    """States and moves are frozen values; no method has a side effect.

    Law: ``layout(apply(s, m).state) == layout(s) | footprint(s, m)`` for every legal ``m``, and
    the points of the score lines of a move sum up to the change of the tracks in ``standings``.
    """

    @property
    def info(self) -> GameInfo: ...

    @property
    def plan(self) -> Plan:
        """Where things lie on the table and how they look."""
        ...

    def start(self, setup: Setup) -> StateT: ...

    def candidates(self, state: StateT, near: frozenset[Site] | None = None) -> Iterable[MoveT]:
        """Well-formed moves, legal or not.

        ``near`` limits those that change the table to the ones that touch one of its sites; the
        quiet moves, which leave the table unchanged, are always among them.
        """
        ...

    def check(self, state: StateT, move: MoveT) -> Verdict: ...

    def apply(self, state: StateT, move: MoveT) -> Applied:
        """The state after a legal move; ``IllegalMove`` for any other."""
        ...

    def mover(self, state: StateT, move: MoveT) -> Seat:
        """Whose move it is; mostly the seat to act."""
        ...

    def layout(self, state: StateT) -> Layout:
        """What the camera should see, for every site of the plan."""
        ...

    def footprint(self, state: StateT, move: MoveT) -> Layout:
        """What the move changes in the layout; empty for a quiet move."""
        ...

    def standings(self, state: StateT) -> Standings: ...

    def parse(self, text: str) -> MoveT:
        """The move written as ``text``, or ``InvalidNotation`` naming expected and got."""
        ...

    def notate(self, move: MoveT) -> str: ...

    def describe(self, move: MoveT) -> tuple[str, Mapping[str, str | int]]:
        """Text key and fields that say the move in words."""
        ...


AnyGame = Game[Any, Any]
