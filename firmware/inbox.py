"""What may happen to the table: messages of all other threads to the one that owns the game."""

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Literal

from rules.commands import Command, Request
from rules.game import Seat
from rules.status import Trouble
from rules.teaching import Lesson

from .choose import Decision

Code = Literal["booked", "refused", "done", "stale", "invalid", "unavailable"]

Activity = Literal["still", "hands", "trouble"]
"""What the camera sees happening. hands: something moves or lies over the table; trouble: the
picture cannot be read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a command or request."""

    code: Code
    seq: int
    """The newest journal entry."""
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.code in ("booked", "done")


@dataclass(frozen=True, slots=True)
class Edge:
    """A button's contact closed or opened."""

    seat: Seat
    down: bool
    at_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The camera has read the table for look ``number``, and this is what to do."""

    number: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class Unseen:
    """The table could not be read for look ``number``; the reason is a question's code."""

    number: int
    reason: str
    trouble: Trouble | None = None


@dataclass(frozen=True, slots=True)
class Pictured:
    """Picture ``number`` for a lesson: the draft with it, or what was in the way.

    For one of the whole table, the picture itself as a PNG.
    """

    number: int
    outcome: Lesson | bytes | Trouble | str


@dataclass(frozen=True, slots=True)
class Active:
    """Something else is happening on the table now."""

    activity: Activity
    trouble: Trouble | None = None
    """What is wrong with the picture, or was when it was read last and still is."""


@dataclass(frozen=True, slots=True)
class CameraGone:
    """No pictures; the reason in the words of the camera."""

    reason: str


@dataclass(frozen=True, slots=True)
class CameraBack:
    """Pictures (again), from the camera of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Somebody asks for something; ``reply`` must be called once and never blocks."""

    request: Command | Request
    reply: Callable[[Reply], None]


@dataclass(frozen=True, slots=True)
class Crashed:
    """Another thread has ended by a bug; without it the table is of no use."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Stop:
    """End the thread that owns the game."""


Message = (
    Edge | Seen | Unseen | Pictured | Active | CameraGone | CameraBack | Asked | Crashed | Stop
)

Inbox = SimpleQueue[Message]
