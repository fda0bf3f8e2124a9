"""What the table is doing at this moment; sent to the pages, never stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .game import Seat
from .table import Face, Site
from .verdict import Verdict

Mode = Literal[
    "idle", "ready", "hands", "reading", "question", "refused", "table_lost", "camera_lost"
]
"""``idle``: no game; ``table_lost``: too few corner cards in view; the rest says its name."""

Pattern = Literal["off", "steady", "slow", "double"]
"""Lamp grammar. steady: your turn; slow blink: reading; double blink: look at the phone."""


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
    lying: Mapping[Site, Face] | None = field(default=None, hash=False)
    """Virtual table only: what lies there now."""
