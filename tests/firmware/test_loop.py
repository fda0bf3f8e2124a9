"""The thread that owns the game: what every message leads to, on a real journal."""

import pytest

from firmware.choose import Ask, Book, Refuse
from firmware.inbox import Active, CameraBack, CameraGone, Crashed, Seen, Unseen
from firmware.virtual import VirtualTabletop
from rules.commands import Answer, Correct, Lay, PlayMoves, Press, StartGame, TakeBack, Tidy
from rules.errors import JournalLost
from rules.events import GameStarted, MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from rules.journal import Reader
from rules.status import Choice, Trouble
from rules.verdict import LEGAL, Verdict, Violation

NAMES = ("Ann", "Ben")
TAKEN = Verdict((Violation("cell_taken", "NO-1", ("b2",)),))


def start(bench):
    assert bench.ask(StartGame("noughts", "basic", NAMES, bench.status.seq)).code == "booked"
    return bench


@pytest.fixture
def game(bench, noughts):
    return start(bench)


@pytest.fixture
def virtual(make_bench, noughts):
    return start(make_bench(tabletop=VirtualTabletop()))


def events(bench, after=1):
    return [e.event for e in bench.journal.entries(after)]


def read(bench, seat, decision):
    """A press of a seat, and what the camera made of it."""
    bench.finger(seat)
    number, _, asked_seat = bench.eyes.asked[-1]
    assert asked_seat == seat
    bench.loop.take(Seen(number, decision))


def test_without_a_game_nothing_can_be_played(bench):
    assert bench.status.mode == "idle"
    assert bench.status.lamps == ()
    bench.finger(0)
    assert bench.eyes.asked == []
    assert bench.ask(PlayMoves(("cross@b2",), 0)).code == "invalid"
    assert bench.ask(Press(0)).code == "invalid"


def test_a_started_game_is_ready_with_a_lamp_for_the_first_seat(game):
    assert (game.status.mode, game.status.seq) == ("ready", 1)
    assert game.status.lamps == ("steady", "off")
    assert game.eyes.followed == [0, 1]
    assert isinstance(events(game, 0)[0], GameStarted)


def test_a_clear_legal_move_is_booked(game):
    read(game, 0, Book(("cross@b2",)))
    assert events(game) == [MovePlayed("cross@b2", "camera", 0)]
    assert (game.status.mode, game.status.seq) == ("ready", 2)
    assert game.status.lamps == ("off", "steady")
    assert game.status.seat is None


def test_the_entry_is_on_disk_before_anybody_is_told(game):
    on_disk = []
    game.loop.observe(lambda session, status: on_disk.append(Reader(game.journal.path).last_seq()))
    reply = game.ask(PlayMoves(("cross@b2",), 1))
    assert (reply.code, reply.seq) == ("booked", 2)
    assert on_disk[-1] == 2


def test_a_clear_illegal_move_is_written_down_as_refused(game):
    read(game, 0, Book(("cross@b2",)))
    read(game, 1, Refuse(("nought@b2",), TAKEN))
    refused = events(game)[-1]
    assert isinstance(refused, MoveRefused)
    assert [v.code for v in refused.violations] == ["cell_taken"]
    assert (game.status.mode, game.status.seat) == ("refused", 1)
    assert game.status.lamps == ("off", "double")


def test_a_refusal_ends_with_the_next_press(game):
    read(game, 0, Book(("cross@b2",)))
    read(game, 1, Refuse(("nought@b2",), TAKEN))
    game.finger(1)
    assert game.status.mode == "reading"


def test_a_press_out_of_turn_is_refused_by_the_session(game):
    read(game, 1, Book(("cross@b2",)))
    assert events(game)[-1].violations[0].code == "not_your_turn"
    assert (game.status.mode, game.status.seat) == ("refused", 1)
    assert game.status.lamps == ("steady", "double")


def test_a_second_press_while_reading_is_the_same_reading(game):
    game.finger(0)
    game.finger(0)
    assert game.eyes.asked == [(1, 1, 0)]


def ask_between(game, *choices):
    read(game, 0, Ask("unclear", choices))
    assert game.status.mode == "question"
    return game.status.question


A1 = Choice(("cross@a1",), LEGAL, 0.6)
B2 = Choice(("cross@b2",), LEGAL, 0.4)


def test_an_unclear_picture_asks_and_the_answer_is_booked(game):
    question = ask_between(game, A1, B2)
    assert (question.seat, question.code, question.choices) == (0, "unclear", (A1, B2))
    assert game.status.lamps == ("double", "off")
    assert game.ask(Answer(question.number, 1, 0)).code == "booked"
    assert events(game) == [MovePlayed("cross@b2", "camera", 0)]
    assert game.status.question is None


def test_none_of_these_dismisses_the_question(game):
    question = ask_between(game, A1)
    assert game.ask(Answer(question.number, None)).code == "done"
    assert game.status.mode == "ready"
    assert events(game) == []


def test_a_question_is_answered_once_and_by_its_own_seat(game):
    question = ask_between(game, A1)
    assert game.ask(Answer(question.number, 0, 1)).code == "refused"
    assert game.ask(Answer(question.number, 5)).code == "invalid"
    assert game.ask(Answer(question.number, -1)).code == "invalid"
    assert game.ask(Answer(question.number + 1, 0)).code == "stale"
    assert game.ask(Answer(question.number, 0)).code == "booked"
    assert game.ask(Answer(question.number, 0)).code == "stale"
    assert len(events(game)) == 1


def test_a_question_vanishes_when_the_game_moves_on(game):
    question = ask_between(game, A1)
    assert game.ask(PlayMoves(("cross@c3",), 1)).code == "booked"
    assert (game.status.mode, game.status.question) == ("ready", None)
    assert game.ask(Answer(question.number, 0)).code == "stale"


def test_every_question_has_a_number_of_its_own(game):
    first = ask_between(game, A1)
    assert ask_between(game, A1).number > first.number


def test_an_answer_that_takes_back(game):
    read(game, 0, Book(("cross@b2",)))
    read(game, 1, Ask("taken_back", (Choice((), LEGAL, 0.9, takes_back=True),)))
    assert game.ask(Answer(game.status.question.number, 0)).code == "booked"
    assert events(game)[-1] == MoveTakenBack(1, "camera", None)
    assert game.session.number == 0


def test_a_long_press_takes_the_last_move_back(game):
    read(game, 0, Book(("cross@b2",)))
    game.finger(0, held_s=1.2)
    assert events(game)[-1] == MoveTakenBack(1, "panel", 0)
    assert game.status.lamps == ("steady", "off")


def test_what_is_seen_too_late_counts_for_nothing(game):
    game.finger(0)
    assert game.ask(PlayMoves(("cross@c3",), 1)).code == "booked"
    assert game.eyes.asked == [(1, 1, 0), "forget"]
    game.loop.take(Seen(1, Book(("cross@b2",))))
    assert events(game) == [MovePlayed("cross@c3", "web", None)]


@pytest.mark.parametrize("reason", ["hands", "trouble", "unclear"])
def test_a_table_that_cannot_be_read_becomes_a_question(game, reason):
    game.finger(0)
    game.loop.take(Unseen(1, reason))
    assert game.status.mode == "question"
    assert (game.status.question.code, game.status.question.choices) == (reason, ())


def test_without_the_camera_every_move_can_be_entered(game):
    game.loop.take(CameraBack("webcam"))
    game.loop.take(CameraGone("unplugged"))
    assert (game.status.mode, game.status.problem) == ("camera_lost", "unplugged")
    assert game.status.lamps == ("steady", "off")
    game.finger(0)
    assert game.status.question.code == "camera_lost"
    assert game.eyes.asked == []
    assert game.ask(PlayMoves(("cross@b2",), 1)).code == "booked"
    assert game.status.mode == "camera_lost"
    game.loop.take(CameraBack("webcam"))
    assert (game.status.mode, game.status.problem, game.status.camera) == ("ready", "", "webcam")


def test_a_camera_that_is_lost_while_reading_asks(game):
    game.finger(0)
    game.loop.take(CameraGone("unplugged"))
    assert (game.status.mode, game.status.question.code) == ("question", "camera_lost")


def test_hands_and_trouble_are_shown(game):
    game.loop.take(Active("hands"))
    assert game.status.mode == "hands"
    game.loop.take(Active("trouble", Trouble("too_dark")))
    assert (game.status.mode, game.status.trouble) == ("trouble", Trouble("too_dark"))
    game.loop.take(Active("still"))
    assert game.status.mode == "ready"


def test_a_stale_command_changes_nothing(game):
    assert game.ask(PlayMoves(("cross@b2",), 0)).code == "stale"
    assert game.ask(TakeBack(7)).code == "stale"
    assert game.ask(StartGame("noughts", "basic", NAMES, 0)).code == "stale"
    assert events(game) == []


@pytest.mark.parametrize(
    "command",
    [
        PlayMoves(("cross@z9",), 1),
        PlayMoves((), 1),
        Correct(1, "nonsense", 2),
        StartGame("chess", "basic", NAMES, 1),
        StartGame("noughts", "blitz", NAMES, 1),
        StartGame("noughts", "basic", ("Ann",), 1),
        StartGame("noughts", "basic", NAMES, 1, {"gravity": "off"}),
        Press(2),
        Press(-1),
    ],
)
def test_what_makes_no_sense_is_invalid_and_changes_nothing(game, command):
    assert game.ask(command).code in ("invalid", "stale")
    assert events(game) == []


def test_a_refused_web_command_says_why_and_leaves_the_lamps(game):
    reply = game.ask(PlayMoves(("nought@b2",), 1))
    assert (reply.code, reply.message) == ("refused", "not_your_mark")
    assert game.status.mode == "ready"


def test_a_correction(game):
    game.ask(PlayMoves(("cross@b2", "nought@a1"), 1))
    assert game.ask(Correct(1, "cross@c3", 3)).code == "booked"
    assert events(game)[-1] == MoveCorrected(1, "cross@c3", "web", None)
    assert game.session.plies()[0].move == "cross@c3"


def test_a_restart_continues_the_same_game(game, make_bench):
    read(game, 0, Book(("cross@b2",)))
    game.close()
    again = make_bench()
    assert (again.session.seq, again.session.last.move) == (2, "cross@b2")
    assert (again.status.mode, again.status.lamps) == ("ready", ("off", "steady"))
    read(again, 1, Book(("nought@a1",)))
    assert again.session.number == 2


def test_an_observer_that_fails_stops_nothing(game, caplog):
    def broken(session, status):
        raise RuntimeError("lamp on fire")

    game.loop.observe(broken)
    assert game.ask(PlayMoves(("cross@b2",), 1)).code == "booked"
    assert game.status.seq == 2
    assert "lamp on fire" in caplog.text


def test_observers_hear_only_of_changes(game):
    before = len(game.seen)
    game.loop.take(Active("still"))
    game.settle(1.0)
    assert len(game.seen) == before


def test_a_journal_that_cannot_be_written_books_nothing(game, monkeypatch):
    def full(events):
        raise JournalLost("database or disk is full")

    monkeypatch.setattr(game.journal, "append", full)
    reply = game.ask(PlayMoves(("cross@b2",), 1))
    assert reply.code == "unavailable"
    assert "disk is full" in reply.message
    assert (game.session.seq, game.session.number) == (1, 0)
    assert "disk is full" in game.status.problem
    read(game, 0, Book(("cross@b2",)))
    assert game.status.mode == "ready"
    monkeypatch.undo()
    assert game.ask(PlayMoves(("cross@b2",), 1)).code == "booked"
    assert game.status.problem == ""


def test_a_broken_journal_is_shown_and_a_new_game_can_start(tmp_path, make_bench, noughts):
    (tmp_path / "journal.sqlite").write_bytes(b"SQLite format 3\0 and then nonsense" * 100)
    bench = make_bench()
    assert bench.status.mode == "idle"
    assert "moved to" in bench.status.problem
    start(bench)
    assert bench.status.problem == ""


def test_a_real_table_cannot_be_laid_by_program(game):
    assert game.status.lying is None
    assert game.ask(Lay({"b2": "cross"})).code == "unavailable"
    assert game.ask(Tidy()).code == "unavailable"


def test_laying_on_the_virtual_table_shows_and_books_nothing(virtual):
    assert virtual.status.lying == {}
    assert virtual.ask(Lay({"b2": "cross", "a1": "nought"})).code == "done"
    assert virtual.status.lying == {"b2": "cross", "a1": "nought"}
    assert virtual.ask(Lay({"a1": "empty"})).code == "done"
    assert virtual.status.lying == {"b2": "cross"}
    assert virtual.ask(Lay({"z9": "cross"})).code == "invalid"
    assert virtual.ask(Lay({"b2": "queen"})).code == "invalid"
    assert virtual.status.lying == {"b2": "cross"}
    assert events(virtual) == []
    assert virtual.ask(Tidy()).code == "done"
    assert virtual.status.lying == {}


def test_the_virtual_table_follows_the_game_but_not_refusals(virtual):
    virtual.ask(PlayMoves(("cross@b2",), 1))
    assert virtual.status.lying == {"b2": "cross"}
    virtual.ask(Lay({"b2": "nought"}))
    virtual.ask(PlayMoves(("nought@b2",), 2))
    assert virtual.status.lying == {"b2": "nought"}
    virtual.ask(TakeBack(3))
    assert virtual.status.lying == {}
    virtual.ask(PlayMoves(("cross@c3",), 4))
    virtual.ask(Correct(1, "cross@c1", 5))
    assert virtual.status.lying == {"c1": "cross"}
    start(virtual)
    assert virtual.status.lying == {}


def test_a_bug_of_another_thread_ends_the_loop(game):
    with pytest.raises(ZeroDivisionError, match="in the eyes"):
        game.loop.take(Crashed(ZeroDivisionError("in the eyes")))
