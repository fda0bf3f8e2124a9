"""What the table is doing at this moment; sent to the pages, never stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .game import Seat
from .table import Face, Site
from .teaching import PictureKind
from .verdict import Verdict

Mode = Literal["idle", "ready", "hands", "reading", "question", "refused", "trouble", "camera_lost"]
"""``idle``: no game; ``trouble``: the picture cannot be read; the rest says its name."""

Pattern = Literal["off", "steady", "slow", "double"]
"""Lamp grammar. steady: your turn; slow blink: reading; double blink: look at the phone."""


SITES_NAMED = 6

TroubleCode = Literal[
    "no_cards",
    "cards_missing",
    "cards_moved",
    "too_dark",
    "too_bright",
    "blurred",
    "out_of_view",
    "board_lost",
    "glare",
    "foreign",
]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the picture; nothing is booked by what it hides."""

    code: TroubleCode
    """Text ``trouble.<code>``: what it is, and what to do about it."""
    sites: tuple[Site, ...] = ()
    """Where it is, if it is not the whole picture."""
    cards: tuple[int, ...] = ()
    """The corner cards that it is about, 1 to 4 as printed on them."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """For its text; of many sites the first few."""
        more = ("…",) if len(self.sites) > SITES_NAMED else ()
        return {
            "cards": tuple(f"card_{number}" for number in self.cards),
            "sites": (*self.sites[:SITES_NAMED], *more),
        }


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible answer: the moves that would be booked and what the rules say to them."""

    moves: tuple[str, ...]
    verdict: Verdict
    likelihood: float
    takes_back: bool = False
    """The table looks as before the last move: answering takes that move back."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A site where the camera sees something else than the game says."""

    site: Site
    seen: Face
    expected: Face


@dataclass(frozen=True, slots=True)
class Question:
    """Asked when the picture is not clear; at most three choices, the likeliest first."""

    number: int
    seat: Seat
    code: str
    """Why it asks: text ``question.<code>``."""
    choices: tuple[Choice, ...]
    differences: tuple[Difference, ...] = ()
    trouble: Trouble | None = None
    """What in the picture was in the way; when it is gone, so is the question."""


@dataclass(frozen=True, slots=True)
class Teaching:
    """What is happening to the draft of a lesson; the draft itself is a file, see ``lessons``."""

    game: str
    revision: int
    """Rises with every change of the draft or of the versions: read them again."""
    taking: PictureKind | None = None
    """A picture of this kind is being taken."""
    problem: str = ""
    """Why the last picture could not be taken or used: text ``teaching.problem.<code>``."""
    trouble: Trouble | None = None
    """For the problem ``trouble``: what is wrong with the picture."""


@dataclass(frozen=True, slots=True)
class Status:
    """One look at the machine."""

    mode: Mode = "idle"
    seq: int = 0
    """The journal entry this was true for."""
    seat: Seat | None = None
    """Whose press is being read, asked about or refused."""
    question: Question | None = None
    lamps: tuple[Pattern, ...] = ()
    camera: str = "none"
    problem: str = ""
    """For ``camera_lost``: the reason, in the words of the camera."""
    trouble: Trouble | None = None
    """For ``trouble``: the reason."""
    lying: Mapping[Site, Face] | None = field(default=None, hash=False)
    """Virtual table only: what lies there now."""
    teaching: Teaching | None = None
