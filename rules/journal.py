"""The event log on disk: an append-only SQLite table, one writer, any number of readers.

The journal is the game: state is the fold of its events. It is written in WAL mode with
``synchronous=FULL``, so that an entry that was confirmed survives a power cut.
"""

import fcntl
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Self
from zlib import crc32

from .codec import decode_tagged, encode_tagged
from .errors import BrokenJournal, JournalInUse, JournalLost, JournalTooNew, RulesError, UnknownGame
from .events import Event
from .session import Session, evolve

log = logging.getLogger(__name__)

APPLICATION_ID = 0x7AFE1AA7
"""Marks a file as ours: SQLite stores it in the header."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        event TEXT NOT NULL,
        crc INTEGER NOT NULL
    );
    CREATE INDEX entry_kind ON entry (kind, seq);
    """,
)
"""Step n leads from schema version n to n + 1; steps are added, never changed."""


COLUMNS = "seq, at, kind, event, crc"
INSERT = f"INSERT INTO entry ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"
Row = tuple[int, str, str, str, int]

_DISK_TROUBLE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}
"""What says nothing about the file itself, so that it must not be moved aside."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal."""

    seq: int
    at: datetime
    """For people only: a Pi has no clock of its own, so order is by ``seq``."""
    event: Event


class Reader:
    """Looks into a journal without ever writing to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._disk():
            self._db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
            self._db.execute("PRAGMA query_only=ON")

    def version(self) -> int:
        """Changes whenever another process has written; cheap enough to ask many times a second."""
        return self._number("PRAGMA data_version")

    def last_seq(self) -> int:
        return self._number("SELECT coalesce(max(seq), 0) FROM entry")

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Entries in order, those behind number ``after``."""
        return self._entries("seq > ?", after)

    def games(self) -> tuple[Entry, ...]:
        """The first entry of every game, in order."""
        return tuple(self._entries("kind = 'game_started'"))

    def game(self, seq: int | None = None) -> tuple[Entry, ...]:
        """All entries of the game that began at ``seq``, or of the newest one."""
        starts = [e.seq for e in self.games()]
        if not starts:
            return ()
        start = starts[-1] if seq is None else seq
        if start not in starts:
            raise UnknownGame(f"{self.path}: game: expected one of {starts}, got {seq}")
        end = min((s for s in starts if s > start), default=self.last_seq() + 1)
        return tuple(e for e in self.entries(start - 1) if e.seq < end)

    def session(self) -> Session | None:
        """The game that was started last, replayed."""
        return fold(self.path, self.game())

    def close(self) -> None:
        self._db.close()

    def _number(self, query: str) -> int:
        with self._disk():
            return int(self._db.execute(query).fetchone()[0])

    def _entries(self, where: str, *values: int) -> Iterator[Entry]:
        with self._disk():
            for row in _rows(self._db, where, *values):
                yield _entry(self.path, row)

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Whatever SQLite reports about the disk is ours to say."""
        try:
            yield
        except sqlite3.Error as error:
            raise JournalLost(f"{self.path}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Journal(Reader):
    """The one writer. Opening checks the file; a broken one is moved aside, never mended."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = path
        self.notice = ""
        """What had to be done to get a usable file, in one sentence; empty if nothing."""
        self._now = now
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(path.with_name(path.name + ".lock"))
        try:
            self._db = self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def append(self, events: Sequence[Event]) -> int:
        """Write events in one transaction and wait until they are on the disk; the last number."""
        with self._disk(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            first = self.last_seq() + 1
            at = self._now().isoformat(timespec="milliseconds")
            for seq, event in enumerate(events, first):
                body = encode_tagged(event)
                kind = body.pop("kind")
                text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
                self._db.execute(INSERT, (seq, at, kind, text, _crc(seq, at, kind, text)))
        return first + len(events) - 1

    def close(self) -> None:
        super().close()
        os.close(self._lock)

    def _open(self) -> sqlite3.Connection:
        fault = _fault(self.path) if self.path.exists() else ""
        if not fault:
            return _connect(self.path)
        saved = _salvage(self.path)
        aside = _move_aside(self.path, self._now())
        self.notice = (
            f"{self.path}: {fault}; moved to {aside.name}, "
            f"{len(saved)} readable entries taken over into a new journal"
        )
        log.error("%s", self.notice)
        db = _connect(self.path)
        with db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(INSERT, saved)
        return db


def fold(path: Path, entries: Sequence[Entry]) -> Session | None:
    """Replay the entries of one game; ``BrokenJournal`` names the entry that does not fit."""
    session: Session | None = None
    for entry in entries:
        try:
            session = evolve(session, entry.event, entry.seq)
        except RulesError as error:
            raise BrokenJournal(f"{path}: entry {entry.seq}: {error}") from error
    return session


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        db.executescript(f"BEGIN; {script} PRAGMA user_version={number}; COMMIT;")
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    return db


def _fault(path: Path) -> str:
    """Why a file cannot be used as a journal, or nothing."""
    try:
        db = sqlite3.connect(path)
        try:
            version = int(db.execute("PRAGMA user_version").fetchone()[0])
            owner = int(db.execute("PRAGMA application_id").fetchone()[0])
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
            if owner == 0 and not tables:
                return ""  # a new file, or one whose creation was cut off
            if owner != APPLICATION_ID:
                return "this is another program's database"
            result = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            if result != "ok":
                return f"the file is damaged ({result})"
            if version > len(MIGRATIONS):
                raise JournalTooNew(
                    f"{path}: expected schema version {len(MIGRATIONS)} or older, got {version}; "
                    "update the program, the file was left as it is"
                )
            last = db.execute("SELECT max(seq) FROM entry").fetchone()[0] or 0
            whole = len(_whole(path, db))
            return "" if whole == last else f"entry {whole + 1} of {last} is damaged"
        finally:
            db.close()
    except (sqlite3.Error, UnicodeDecodeError, BrokenJournal) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK_TROUBLE:
            raise JournalLost(f"{path}: {error}; the file was left as it is") from error
        return f"the file is damaged ({error})"


def _salvage(path: Path) -> list[Row]:
    """The whole entries from the start of a damaged journal up to the first that cannot be read."""
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.Error:
        return []
    try:
        return _whole(path, db)
    finally:
        db.close()


def _whole(path: Path, db: sqlite3.Connection) -> list[Row]:
    """Entries 1, 2, 3 … as far as each can be read and is what was written."""
    whole: list[Row] = []
    try:
        for row in _rows(db):
            if row[0] != len(whole) + 1:
                break
            _entry(path, row)
            whole.append(row)
    except (sqlite3.Error, UnicodeDecodeError, BrokenJournal):
        pass  # what was read so far is what can be used
    return whole


def _move_aside(path: Path, now: datetime) -> Path:
    stem = f"{path.stem}.broken-{now:%Y%m%d-%H%M%S}"
    names = (f"{stem}{mark}{path.suffix}" for mark in chain([""], (f"-{n}" for n in count(2))))
    aside = next(p for p in map(path.with_name, names) if not p.exists())
    for suffix in ("-wal", "-shm"):
        extra = path.with_name(path.name + suffix)
        if extra.exists():
            extra.rename(aside.with_name(aside.name + suffix))
    path.rename(aside)
    return aside


def _lock(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise JournalInUse(f"{path}: another table is already running with this journal") from None
    return handle


def _rows(db: sqlite3.Connection, where: str = "1", *values: int) -> Iterator[Row]:
    yield from db.execute(f"SELECT {COLUMNS} FROM entry WHERE {where} ORDER BY seq", values)


def _crc(seq: int, at: str, kind: str, event: str) -> int:
    """Tells an entry that was altered on the disk from the one that was written."""
    return crc32(f"{seq} {at} {kind} {event}".encode())


def _entry(path: Path, row: Row) -> Entry:
    seq, at, kind, event, crc = row
    try:
        if crc != _crc(seq, at, kind, event):
            raise ValueError("its checksum does not fit")
        body = {"kind": kind, **json.loads(event)}
        return Entry(seq, datetime.fromisoformat(at), decode_tagged(Event, body))
    except (ValueError, TypeError) as error:
        raise BrokenJournal(f"{path}: entry {seq}: {error}") from error
