"""Follows the journal: the running game, kept up to date entry by entry."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rules.commands import Source
from rules.errors import RulesError
from rules.events import GameStarted, MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from rules.game import Seat
from rules.journal import Entry, Reader
from rules.session import Session, evolve


@dataclass(frozen=True, slots=True)
class Note:
    """How a booked move came into the journal."""

    at: datetime
    source: Source
    by: Seat | None
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """The running game as far as the journal tells it."""

    session: Session | None = None
    notes: tuple[Note, ...] = ()
    """One per booked move, held ones included."""
    refusal: MoveRefused | None = None
    """The newest entry, if it is a refusal."""
    problem: str = ""
    """Why the journal cannot be shown."""

    @property
    def seq(self) -> int:
        return self.session.seq if self.session else 0


def extend(record: Record, entry: Entry) -> Record:
    """The record after one more entry."""
    event, notes = entry.event, record.notes
    session = evolve(record.session, event, entry.seq)
    match event:
        case GameStarted():
            notes = ()
        case MovePlayed():
            notes = (*notes, Note(entry.at, event.source, event.by))
        case MoveTakenBack():
            notes = notes[:-1]
        case MoveCorrected():
            n = event.number - 1
            new = Note(entry.at, event.source, event.by, corrected=True)
            notes = (*notes[:n], new, *notes[n + 1 :])
        case MoveRefused():
            return Record(session, notes, event)
    return Record(session, notes)


class Follower:
    """Reads what is new in the journal; waits patiently for a file that is not there yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader: Reader | None = None
        self._file = 0
        self._version = -1
        self.record = Record()

    def read(self) -> bool:
        """Take in new entries; whether there were any."""
        before = self.record
        try:
            self._catch_up()
        except OSError as error:
            self.close()
            problem = str(error) if self._path.exists() else ""
            self.record = replace(before, problem=problem)
        except RulesError as error:
            self.record = replace(self.record, problem=str(error))
        after = self.record
        return after.session is not before.session or after.problem != before.problem

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = None
        self._version = -1

    def _catch_up(self) -> None:
        inode = self._path.stat().st_ino
        if self._reader is None or inode != self._file:
            # A damaged journal is moved aside by its writer: then a new file has the name.
            self.close()
            self._reader, self._file = Reader(self._path), inode
            self.record = Record()
        version = self._reader.version()
        if version == self._version:
            return
        self._version = version
        if self.record.session is None or self.record.problem:
            self.record, new = Record(), iter(self._reader.game())
        else:
            new = self._reader.entries(self.record.seq)
        for entry in new:
            self.record = extend(self.record, entry)
