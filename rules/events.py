"""What happened: the only thing that is written down."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .commands import Source
from .game import Seat
from .verdict import Violation


@dataclass(frozen=True, slots=True)
class GameStarted:
    game: str
    version: int
    variant: str
    names: tuple[str, ...]
    """One per seat."""
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    source: Source = "web"


@dataclass(frozen=True, slots=True)
class MovePlayed:
    move: str
    source: Source
    by: Seat | None = None


@dataclass(frozen=True, slots=True)
class MoveRefused:
    """The table showed, or somebody entered, something the rules forbid; nothing was booked."""

    moves: tuple[str, ...]
    violations: tuple[Violation, ...]
    source: Source
    by: Seat | None = None


@dataclass(frozen=True, slots=True)
class MoveTakenBack:
    number: int
    source: Source
    by: Seat | None = None


@dataclass(frozen=True, slots=True)
class MoveCorrected:
    number: int
    move: str
    source: Source
    by: Seat | None = None


Event = GameStarted | MovePlayed | MoveRefused | MoveTakenBack | MoveCorrected
