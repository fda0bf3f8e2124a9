"""What the pages show, as plain values worked out from the game and the status of the table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rules.game import ScoreLine, Seat, Standings
from rules.session import Ply, Session
from rules.status import Status
from rules.table import EMPTY, Face, Layout, Site

from .follow import Note, Record


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything the pages know at one moment."""

    id: str
    record: Record
    status: Status | None = None
    """None: the table process does not answer."""

    @property
    def session(self) -> Session | None:
        return self.record.session

    @property
    def seq(self) -> int:
        return self.record.seq

    @property
    def virtual(self) -> bool:
        return self.status is not None and self.status.lying is not None

    @property
    def game(self) -> str:
        """Changes when a page has to be loaded anew, because another board lies on the table."""
        return self.session.opening.game if self.session else ""


@dataclass(frozen=True, slots=True)
class StateLine:
    mode: str
    tone: str
    word: str
    hint: str


@dataclass(frozen=True, slots=True)
class Gain:
    """What a move brings on one track."""

    track: str
    points: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One side on one track."""

    value: int
    limit: int | None
    change: int
    counts: bool
    """The lowest track, where that is the result."""


@dataclass(frozen=True, slots=True)
class Row:
    track: str
    cells: tuple[Cell | None, ...]
    """One per side; None where the side has no such track."""


@dataclass(frozen=True, slots=True)
class Side:
    """A player or a team at the head of the score table."""

    names: tuple[str, ...]
    seats: tuple[Seat, ...]
    total: int
    change: int
    rank: int
    acts: bool
    lamps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    sides: tuple[Side, ...]
    rows: tuple[Row, ...]
    lowest_counts: bool


@dataclass(frozen=True, slots=True)
class Reason:
    """One score line in words."""

    number: int
    text: str
    rule: str
    points: int
    track: str
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """One broken rule in words."""

    text: str
    rule: str
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A booked move in words."""

    number: int
    seat: Seat
    name: str
    notation: str
    words: str
    reasons: tuple[Reason, ...]
    gains: tuple[Gain, ...]
    unchecked: tuple[str, ...]
    note: Note | None
    laid: Layout


@dataclass(frozen=True, slots=True)
class HeldMove:
    number: int
    words: str
    wrongs: tuple[Wrong, ...]
    """Empty for a move that merely follows a held one."""


@dataclass(frozen=True, slots=True)
class Option:
    """A move that could be booked: what it is, what forbids it, what it would bring."""

    notation: str
    words: str
    name: str
    wrongs: tuple[Wrong, ...]
    gains: tuple[Gain, ...]
    reasons: tuple[Reason, ...] = ()
    sites: tuple[Site, ...] = ()
    takes_back: bool = False
    held: tuple[HeldMove, ...] = ()
    """Later moves that this one, as a correction, would make impossible."""
    shifts: tuple["Shift", ...] = ()
    """Scores that it, as a correction, would change."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A score that a correction changes; no track means the result."""

    name: str
    track: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Difference:
    site: Site
    seen: str
    expected: str


@dataclass(frozen=True, slots=True)
class Place:
    """One step of the podium."""

    rank: int
    names: tuple[str, ...]
    total: int


def gains(lines: Iterable[ScoreLine]) -> tuple[Gain, ...]:
    """The points of some score lines, added up by track."""
    sums: dict[str, int] = {}
    for line in lines:
        sums[line.track] = sums.get(line.track, 0) + line.points
    return tuple(Gain(track, points) for track, points in sums.items())


def ply_of(session: Session, number: int) -> Ply | None:
    return next((p for p in session.backwards() if p.number == number), None)


def state_before(session: Session, number: int) -> Any:
    """The state in which move ``number`` was made."""
    earlier = next((p for p in session.backwards() if p.number < number), None)
    return earlier.state if earlier else session.beginning


def lying(snapshot: Snapshot, session: Session) -> tuple[Layout, Layout]:
    """What the board shows, and the sites where it differs from the game, with what is missing."""
    wanted = session.game.layout(session.state)
    if snapshot.status is None or snapshot.status.lying is None:
        return wanted, {}
    seen = snapshot.status.lying
    shown: Mapping[Site, Face] = {s: seen.get(s, EMPTY) for s in wanted}
    return shown, {s: face for s, face in wanted.items() if shown[s] != face}


def shifts(session: Session, before: Standings, after: Standings) -> tuple[Shift, ...]:
    """The tracks and results that differ between two standings."""
    found = []
    for old, new in zip(before.scores, after.scores, strict=True):
        name = " + ".join(session.opening.names[s] for s in old.seats)
        values = {t.name: t.value for t in old.tracks}
        for track in new.tracks:
            was = values.get(track.name, 0)
            if was != track.value:
                found.append(Shift(name, track.name, was, track.value))
        if old.total != new.total:
            found.append(Shift(name, "", old.total, new.total))
    return tuple(found)
