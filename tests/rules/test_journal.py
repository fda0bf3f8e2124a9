"""The journal on a real disk: what was confirmed is there; what is broken is moved aside."""

import random
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rules import journal as journal_module
from rules.errors import (
    BrokenJournal,
    JournalInUse,
    JournalLost,
    JournalTooNew,
    UnknownGame,
)
from rules.events import GameStarted, MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from rules.game import Seat
from rules.journal import Journal, Reader
from rules.verdict import Violation

START = GameStarted("noughts", 1, "basic", ("Анна", "Zoë <b>"))
EVENTS = [
    START,
    MovePlayed("cross@b2", "camera", Seat(0)),
    MoveRefused(
        ("nought@b2",), (Violation("cell_taken", "NO-1", ("b2",), {"n": 2}),), "camera", Seat(1)
    ),
    MovePlayed("nought@a1", "web"),
    MoveTakenBack(2, "panel", Seat(1)),
    MoveCorrected(1, "cross@c3", "web"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def write(path: Path, count: int = len(EVENTS)) -> None:
    with Journal(path) as journal:
        for event in EVENTS[:count]:
            journal.append([event])


def test_events_come_back_as_they_were_written(path):
    write(path)
    with Reader(path) as reader:
        assert [e.event for e in reader.entries()] == EVENTS
        assert [e.seq for e in reader.entries(after=4)] == [5, 6]
        assert reader.last_seq() == 6


def test_it_is_written_so_that_a_power_cut_costs_nothing(path):
    with Journal(path) as journal:
        assert journal._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert journal._db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_several_events_are_one_transaction(path, monkeypatch):
    with Journal(path) as journal:
        journal.append(EVENTS[:1])
        bad = MovePlayed(object(), "web")  # cannot be written as JSON
        with pytest.raises(TypeError):
            journal.append([EVENTS[1], bad])
        assert journal.last_seq() == 1
        assert journal.append(EVENTS[1:3]) == 3


def test_a_reader_notices_and_cannot_write(path):
    with Journal(path) as journal, Reader(path) as reader:
        before = reader.version()
        assert reader.version() == before
        journal.append(EVENTS[:1])
        assert reader.version() != before
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._db.execute("DELETE FROM entry")


def test_there_is_one_writer(path):
    with Journal(path), pytest.raises(JournalInUse, match="another table is already running"):
        Journal(path)
    Journal(path).close()


def test_games_are_kept_apart(path, noughts):
    with Journal(path) as journal:
        journal.append([*EVENTS, START, MovePlayed("cross@a1", "web")])
        assert [e.seq for e in journal.games()] == [1, 7]
        assert [e.seq for e in journal.game()] == [7, 8]
        assert [e.seq for e in journal.game(1)] == [1, 2, 3, 4, 5, 6]
        assert journal.session().last.move == "cross@a1"
        with pytest.raises(UnknownGame, match=r"expected one of \[1, 7\], got 3"):
            journal.game(3)


def test_an_empty_journal_has_no_session(path):
    with Journal(path) as journal:
        assert journal.session() is None


def test_an_entry_that_does_not_fit_the_rules_is_named(path, noughts):
    with Journal(path) as journal:
        journal.append([START, MovePlayed("cross@b2", "web"), MovePlayed("cross@b2", "web")])
        with pytest.raises(BrokenJournal, match="entry 3: cross@b2"):
            journal.session()


def closed_file(path: Path) -> bytes:
    """The bytes of a journal after a clean close: one file, nothing left in the log beside it."""
    write(path)
    data = path.read_bytes()
    assert not path.with_name(path.name + "-wal").exists()
    return data


@pytest.mark.parametrize("keep", [0, 50, 100, 1000, 4096, 6000, 12000])
def test_a_torn_file_is_moved_aside_and_nothing_is_thrown_away(path, keep):
    torn = closed_file(path)[:keep]
    path.write_bytes(torn)
    with Journal(path) as journal:
        if keep:
            assert "moved to journal.broken-" in journal.notice
            (aside,) = path.parent.glob("journal.broken-*.sqlite")
            assert aside.read_bytes() == torn
        assert journal.append([START]) == journal.last_seq()
    with Journal(path) as journal:
        assert journal.notice == "", "the next start is clean: no crash loop"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entry SET event = '{' WHERE seq = 5",
        "UPDATE entry SET event = replace(event, '2', '3') WHERE seq = 5",
        "UPDATE entry SET kind = 'game_ended' WHERE seq = 5",
        "DELETE FROM entry WHERE seq = 5",
    ],
)
def test_readable_entries_of_a_damaged_file_are_taken_over(path, damage):
    write(path)
    db = sqlite3.connect(path)
    db.execute(damage)
    db.commit()
    db.close()
    with Journal(path) as journal:
        assert "4 readable entries" in journal.notice
        assert [e.event for e in journal.entries()] == EVENTS[:4]


def test_flipped_bytes_never_stop_a_start(path, tmp_path):
    data = closed_file(path)
    rng = random.Random(7)
    for trial in range(200):
        broken = bytearray(data)
        for _ in range(100):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        broken[60:64] = data[60:64]  # the schema version: a higher one is a newer program's file
        file = tmp_path / f"trial{trial}" / "journal.sqlite"
        file.parent.mkdir()
        file.write_bytes(broken)
        with Journal(file) as journal:
            kept = [e.event for e in journal.entries()]
            assert kept == EVENTS[: len(kept)], "nothing that was never written"
            assert journal.append([START]) == len(kept) + 1


@pytest.mark.parametrize("content", [b"hello " * 2000, b"\x00" * 8192, b"{}"])
def test_a_foreign_file_is_moved_aside(path, content):
    path.write_bytes(content)
    with Journal(path) as journal:
        assert "moved to" in journal.notice
        assert next(path.parent.glob("*.broken-*")).read_bytes() == content


def test_the_database_of_another_program_is_moved_aside(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE cookies (name)")
    db.commit()
    db.close()
    with Journal(path) as journal:
        assert "another program's database" in journal.notice


def test_two_broken_files_in_one_second_keep_both(path):
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    for text in (b"first" * 300, b"second" * 300):
        path.write_bytes(text)
        Journal(path, lambda: now).close()
    assert {f.read_bytes()[:5] for f in path.parent.glob("*.broken-*")} == {b"first", b"secon"}


def test_a_newer_journal_is_left_alone(path):
    write(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version=99")
    db.close()
    before = path.read_bytes()
    with pytest.raises(JournalTooNew, match="expected schema version 1 or older, got 99"):
        Journal(path)
    assert path.read_bytes() == before


def test_an_older_journal_is_migrated(path, monkeypatch):
    write(path)
    steps = (*journal_module.MIGRATIONS, "ALTER TABLE entry ADD COLUMN note TEXT;")
    monkeypatch.setattr(journal_module, "MIGRATIONS", steps)
    with Journal(path) as journal:
        assert journal.notice == ""
        assert [e.event for e in journal.entries()] == EVENTS
        assert journal._db.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_copy_taken_while_playing_is_a_whole_journal(path, tmp_path):
    with Journal(path) as journal:
        journal.append(EVENTS[:3])
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in path.parent.glob("journal.sqlite*"):
            shutil.copy(file, copy)
    with Journal(copy / "journal.sqlite") as journal:
        assert journal.last_seq() == 3


def test_what_was_acknowledged_survives_a_killed_writer(path):
    script = (
        "import sys; from pathlib import Path; from rules.journal import Journal; "
        "from rules.events import MovePlayed\n"
        "j = Journal(Path(sys.argv[1]))\n"
        "while True: print(j.append([MovePlayed('m', 'web')]), flush=True)"
    )
    acknowledged = 0
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(20):
            acknowledged = int(child.stdout.readline())
        child.kill()
        rest = child.communicate()[0].split("\n")
        acknowledged = max([acknowledged, *(int(n) for n in rest[:-1] if n)])
        with Journal(path) as journal:
            assert journal.notice == ""
            assert journal.last_seq() >= acknowledged


def write_for_ever(journal: Journal) -> None:
    while journal.append([MovePlayed("cross@b2", "web")]) < 10_000:
        pass


def test_a_full_disk_is_said_and_costs_nothing_that_was_confirmed(path):
    with Journal(path) as journal:
        pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
        journal._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(JournalLost, match="full"):
            write_for_ever(journal)
        confirmed = journal.last_seq()
        assert confirmed > 0
        journal._db.execute("PRAGMA max_page_count=10000")
        assert journal.append([START]) == confirmed + 1
