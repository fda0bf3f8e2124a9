"""What one may ask of the table: of the game (session commands) and of the machine (requests)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .game import Seat
from .table import Face, Site
from .teaching import PictureKind, Point

Source = Literal["camera", "panel", "web", "cli"]


@dataclass(frozen=True, slots=True)
class StartGame:
    """Begin a new game; an unfinished one stays in the journal."""

    game: str
    variant: str
    names: tuple[str, ...]
    seen: int
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    source: Source = "web"


@dataclass(frozen=True, slots=True)
class PlayMoves:
    """Book these moves in order, all or none."""

    moves: tuple[str, ...]
    seen: int
    """Number of the last journal entry that the sender knew of."""
    by: Seat | None = None
    """The seat that says so; None is the host, who may speak for everyone."""
    source: Source = "web"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Undo the last move: its player changed their mind."""

    seen: int
    by: Seat | None = None
    source: Source = "web"


@dataclass(frozen=True, slots=True)
class Correct:
    """Replace an earlier move: the machine was wrong about what was played."""

    number: int
    """Which move, counted from 1."""
    move: str
    seen: int
    by: Seat | None = None
    source: Source = "web"


Command = StartGame | PlayMoves | TakeBack | Correct


@dataclass(frozen=True, slots=True)
class Press:
    """A seat button pressed on a phone instead of at the table."""

    seat: Seat
    long: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the question that is open: one of its choices, or None for 'none of these'."""

    question: int
    choice: int | None
    by: Seat | None = None


@dataclass(frozen=True, slots=True)
class Lay:
    """Change what lies on the virtual table, as a hand would; refused by a real one."""

    faces: Mapping[Site, Face] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Tidy:
    """Make the virtual table lie as the game says, as hands would after a refusal."""


@dataclass(frozen=True, slots=True)
class TakePicture:
    """Photograph the table for the draft of a lesson, once nothing moves.

    The first picture begins a draft: with what is taught already, or ``anew`` with nothing.
    """

    game: str
    picture: PictureKind
    anew: bool = False


@dataclass(frozen=True, slots=True)
class LabelCuts:
    """Confirm what cut-outs of the draft show; None: nothing of this game, drop it."""

    game: str
    faces: Mapping[str, Face | None] = field(hash=False)
    """Name of the cut-out -> face, ``empty`` for the bare table."""


@dataclass(frozen=True, slots=True)
class DropPicture:
    """Take the cut-outs of one photograph out of the draft."""

    game: str
    picture: int


@dataclass(frozen=True, slots=True)
class DropDraft:
    """Forget the draft; what was kept before stays."""

    game: str


@dataclass(frozen=True, slots=True)
class KeepLesson:
    """Make the confirmed cut-outs of the draft the newest version, and read with it."""

    game: str
    gaps: bool = False
    """Also when faces are missing or cut-outs unconfirmed; else that is refused."""


@dataclass(frozen=True, slots=True)
class UseLesson:
    """Make an older version the newest one again."""

    game: str
    number: int


@dataclass(frozen=True, slots=True)
class TapBoard:
    """Say where the board lies between the corner cards: the middles of its outermost sites."""

    game: str
    taps_mm: tuple[Point, ...]
    """Of ``teaching.tap_sites``, from the inner corner of the first card; none: as planned."""


Teach = TapBoard | TakePicture | LabelCuts | DropPicture | DropDraft | KeepLesson | UseLesson

Request = Press | Answer | Lay | Tidy | Teach
