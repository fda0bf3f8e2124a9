"""Commands, events, take-back and correction, on the toy game."""

import pytest

from rules.commands import Correct, PlayMoves, StartGame, TakeBack
from rules.errors import InvalidNotation, InvalidSetup, StaleCommand, UnknownGame
from rules.events import GameStarted, MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from rules.game import Seat
from rules.session import Session, decide, evolve, illegal_after, replay

START = GameStarted("noughts", 1, "basic", ("Anna", "Boris"))


@pytest.fixture(autouse=True)
def _toy(noughts):
    pass


def play(*moves: str) -> Session:
    events = [START, *(MovePlayed(m, "camera") for m in moves)]
    session = replay(enumerate(events, 1))
    assert session is not None
    return session


def obey(session: Session, command) -> Session:
    for event in decide(session, command):
        session = evolve(session, event, session.seq + 1)
    return session


def codes(events) -> list[str]:
    assert len(events) == 1
    assert isinstance(events[0], MoveRefused)
    return [v.code for v in events[0].violations]


def test_a_game_starts_with_its_names_and_filled_in_options():
    events = decide(None, StartGame("noughts", "basic", ("Anna", "Boris"), 0))
    assert events == (START,)


@pytest.mark.parametrize(
    ("command", "error", "says"),
    [
        (StartGame("chess", "basic", ("A", "B"), 0), UnknownGame, "expected one of .*noughts"),
        (StartGame("noughts", "fast", ("A", "B"), 0), InvalidSetup, "expected one of basic"),
        (StartGame("noughts", "basic", ("A",), 0), InvalidSetup, "expected one of 2, got 1"),
        (StartGame("noughts", "basic", ("A", "B"), 0, {"x": "y"}), InvalidSetup, "got 'x'"),
        (PlayMoves(("cross@b2",), 0), InvalidSetup, "no game"),
    ],
)
def test_a_start_that_makes_no_sense_is_an_error(command, error, says):
    with pytest.raises(error, match=says):
        decide(None, command)


def test_a_legal_move_is_played_and_judged_once():
    session = play()
    events = decide(session, PlayMoves(("cross@b2",), 1, Seat(0), "camera"))
    assert events == (MovePlayed("cross@b2", "camera", Seat(0)),)
    assert session.number == 0, "decide changes nothing"
    assert evolve(session, events[0], 2).state.at("b2") == "cross"


def test_an_illegal_move_is_refused_with_reason_and_site():
    session = play("cross@b2")
    (refusal,) = decide(session, PlayMoves(("nought@b2",), 2))
    assert [(v.code, v.rule, v.sites) for v in refusal.violations] == [
        ("cell_taken", "NO-1", ("b2",))
    ]
    after = evolve(session, refusal, 3)
    assert after.state == session.state
    assert after.seq == 3


def test_several_moves_are_booked_all_or_none():
    session = play()
    both = decide(session, PlayMoves(("cross@b2", "nought@a1"), 1))
    assert [e.move for e in both] == ["cross@b2", "nought@a1"]
    assert codes(decide(session, PlayMoves(("cross@b2", "nought@b2"), 1))) == ["cell_taken"]


def test_a_seat_cannot_move_for_another_but_the_host_can():
    session = play()
    assert codes(decide(session, PlayMoves(("cross@b2",), 1, Seat(1)))) == ["not_your_turn"]
    assert isinstance(decide(session, PlayMoves(("cross@b2",), 1, None))[0], MovePlayed)


def test_a_command_made_for_an_older_table_is_refused():
    session = play("cross@b2")
    with pytest.raises(StaleCommand, match="knows entry 1, the table is at 2"):
        decide(session, PlayMoves(("nought@a1",), 1))


def test_wrong_notation_is_an_error_that_shows_the_right_one():
    with pytest.raises(InvalidNotation, match="expected like 'cross@b2', got 'b2'"):
        decide(play(), PlayMoves(("b2",), 1))


def test_take_back_undoes_the_last_move_only():
    session = play("cross@b2", "nought@a1")
    after = obey(session, TakeBack(3))
    assert after.state == play("cross@b2").state
    assert after.seq == 4
    assert codes(decide(play(), TakeBack(1))) == ["nothing_to_take_back"]


def test_a_seat_takes_back_and_corrects_its_own_moves_only():
    session = play("cross@b2", "nought@a1")
    assert codes(decide(session, TakeBack(3, Seat(0)))) == ["not_your_move"]
    assert isinstance(decide(session, TakeBack(3, Seat(1)))[0], MoveTakenBack)
    assert codes(decide(session, Correct(1, "cross@c3", 3, Seat(1)))) == ["not_your_move"]
    assert isinstance(decide(session, Correct(1, "cross@c3", 3, Seat(0)))[0], MoveCorrected)
    held = obey(session, Correct(1, "cross@a1", 3))
    assert isinstance(decide(held, TakeBack(4, Seat(0)))[0], MoveTakenBack)


def test_a_correction_works_out_everything_after_it_again():
    session = play("cross@a1", "nought@b1", "cross@a2", "nought@b2", "cross@c3")
    assert not session.game.standings(session.state).over
    after = obey(session, Correct(5, "cross@a3", 6))
    assert after.game.standings(after.state).winners == (0,)
    assert [line.code for line in after.last.lines] == ["row"]
    early = obey(session, Correct(1, "cross@c1", 6))
    assert early.plies()[0].move == "cross@c1"
    assert early.number == 5
    assert early.held == ()
    assert early.state == play("cross@c1", *[p.move for p in session.plies()[1:]]).state


def test_a_correction_keeps_later_moves_that_it_makes_illegal():
    session = play("cross@a1", "nought@b1", "cross@a2", "nought@b2")
    assert [(h.number, h.move) for h in illegal_after(session, 1, "cross@b2")] == [(4, "nought@b2")]
    after = obey(session, Correct(1, "cross@b2", 5))
    assert [h.number for h in after.held] == [4]
    assert [v.code for v in after.held[0].verdict.violations] == ["cell_taken"]
    assert after.number == 4
    assert codes(decide(after, PlayMoves(("cross@c3",), 6))) == ["held"]


def test_a_held_move_can_be_corrected_taken_back_or_healed():
    session = play("cross@a1", "nought@b1", "cross@a2", "nought@b2", "cross@c3")
    held = obey(session, Correct(1, "cross@b2", 6))
    assert [h.number for h in held.held] == [4, 5]
    mended = obey(held, Correct(4, "nought@c2", 7))
    assert mended.held == ()
    assert mended.number == 5
    healed = obey(held, Correct(1, "cross@a1", 7))
    assert healed.state == session.state
    back = obey(obey(held, TakeBack(7)), TakeBack(8))
    assert back.held == ()
    assert back.number == 3
    assert codes(decide(held, Correct(5, "cross@c1", 7))) == ["held"]


def test_correcting_a_move_that_does_not_exist_or_is_illegal_is_refused():
    session = play("cross@b2")
    assert codes(decide(session, Correct(2, "cross@a1", 2))) == ["no_such_move"]
    assert codes(decide(session, Correct(1, "nought@a1", 2))) == ["not_your_mark"]


def test_replaying_the_decided_events_gives_the_same_session():
    events = [
        START,
        MovePlayed("cross@a1", "camera"),
        MoveRefused(("nought@a1",), (), "camera"),
        MovePlayed("nought@b1", "web"),
        MoveTakenBack(2, "panel"),
        MovePlayed("nought@b2", "camera"),
        MoveCorrected(1, "cross@c1", "web"),
    ]
    session = replay(enumerate(events, 1))
    assert session.state == play("cross@c1", "nought@b2").state
    assert session.seq == len(events)


def test_a_long_session_can_be_shown_and_compared():
    session = play()
    for n in range(3000):
        move = "cross@b2" if n % 2 == 0 else None
        event = MovePlayed(move, "web") if move else MoveTakenBack(1, "web")
        session = evolve(session, event, session.seq + 1)
    assert "Session" in repr(session)
    assert session == session
