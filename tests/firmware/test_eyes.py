"""The camera's thread: when it reads, when it does not, and what it does without a camera."""

from queue import SimpleQueue

import pytest

from firmware.choose import Ask, Book, Refuse
from firmware.eyes import CameraEyes
from firmware.inbox import Active, CameraBack, CameraGone, Crashed, Seen, Unseen
from firmware.settings import Reading
from firmware.virtual import TabletopCamera, VirtualTabletop
from rules.commands import PlayMoves, StartGame
from rules.session import decide, evolve
from rules.status import Trouble
from vision.cameras.virtual import CALM, VirtualCamera
from vision.errors import CameraLost

SIZE = (960, 540)
TIMEOUT_S = 30


def play(session, command):
    for event in decide(session, command):
        session = evolve(session, event, (session.seq if session else 0) + 1)
    return session


class Scene:
    """A virtual table and eyes that look at it frame by frame, in a time of their own."""

    def __init__(self, clock, session):
        self.clock = clock
        self.told = SimpleQueue()
        self.tabletop = VirtualTabletop()
        self.session = session
        self.tabletop.follow(session)
        self.table = self.tabletop.table()
        self.camera = VirtualCamera(self.table, CALM, size=SIZE, clock=clock, wait=clock.wait)
        self.eyes = CameraEyes(lambda: self.camera, self.told.put, Reading(), clock)
        self.eyes.follow(session)
        self.looks = 0

    def glance(self, frames=1):
        for _ in range(frames):
            self.eyes.glance(self.camera)

    def press(self, seat=0):
        self.looks += 1
        self.eyes.look(self.looks, self.session, seat)

    def messages(self):
        found = []
        while not self.told.empty():
            found.append(self.told.get())
        return found

    def until_answer(self, most=60):
        """Look on until the press is answered; the answer and the time it took."""
        since_s = self.clock()
        for _ in range(most):
            self.glance()
            for message in self.messages():
                if isinstance(message, Seen | Unseen):
                    return message, self.clock() - since_s
        raise AssertionError("no answer")


@pytest.fixture
def session(noughts):
    return play(None, StartGame("noughts", "basic", ("Ann", "Ben"), 0))


@pytest.fixture
def scene(clock, session):
    scene = Scene(clock, session)
    scene.glance(8)
    assert scene.messages() == [Active("hands"), Active("still")]
    return scene


def test_a_laid_piece_is_read_after_the_press_and_not_before(scene):
    scene.tabletop.lay(scene.session, {"b2": "cross"})
    scene.glance(8)
    assert scene.messages() == [Active("hands"), Active("still")]
    scene.press()
    answer, took_s = scene.until_answer()
    assert answer == Seen(1, Book(("cross@b2",)))
    assert took_s < 0.5


def test_an_illegal_piece_is_refused(scene):
    scene.tabletop.lay(scene.session, {"b2": "nought"})
    scene.press()
    answer, _ = scene.until_answer()
    assert isinstance(answer.decision, Refuse)
    assert answer.decision.verdict.violations[0].code == "not_your_mark"


def test_an_unchanged_table_asks(scene):
    scene.press()
    answer, _ = scene.until_answer()
    assert answer == Seen(1, Ask("nothing_changed"))


def test_a_hand_over_the_table_is_waited_for(scene):
    scene.tabletop.lay(scene.session, {"b2": "cross"})
    scene.table.reach("b2", seat=1)
    scene.press()
    scene.glance(12)
    assert not any(isinstance(m, Seen | Unseen) for m in scene.messages())
    scene.table.withdraw()
    answer, _ = scene.until_answer()
    assert answer == Seen(1, Book(("cross@b2",)))


def test_a_hand_that_stays_ends_the_patience_and_a_second_press_insists(scene):
    scene.table.reach("b2", seat=1)
    scene.press()
    answer, took_s = scene.until_answer()
    assert answer == Unseen(1, "hands")
    assert 3.0 < took_s < 3.5
    scene.press()
    answer, _ = scene.until_answer()
    assert isinstance(answer, Seen)
    assert not isinstance(answer.decision, Book)


def test_covered_cards_are_trouble(scene):
    scene.table.cover([0, 1])
    scene.glance(8)
    hidden = Trouble("cards_missing", cards=(1, 2))
    assert scene.messages()[-1] == Active("trouble", hidden)
    scene.press()
    answer, _ = scene.until_answer()
    assert answer == Unseen(1, "trouble", hidden)
    scene.table.cover([])
    scene.glance(8)
    assert scene.messages()[-1] == Active("still")


def test_a_look_that_is_forgotten_is_not_answered(scene):
    scene.press()
    scene.eyes.forget()
    scene.glance(10)
    assert scene.messages() == []


def test_a_later_look_replaces_an_earlier_one(scene):
    scene.tabletop.lay(scene.session, {"b2": "cross"})
    scene.press()
    scene.glance(2)
    scene.press()
    answer, _ = scene.until_answer()
    assert answer.number == 2
    scene.glance(10)
    assert scene.messages() == []


def test_a_new_game_begins_on_a_new_table(scene):
    full = dict.fromkeys(scene.session.game.plan.sites, "cross")
    scene.tabletop.lay(scene.session, full)
    scene.glance(3)
    again = play(scene.session, StartGame("noughts", "basic", ("Ann", "Ben"), 1))
    scene.session = again
    scene.eyes.follow(again)
    scene.tabletop.follow(again)
    scene.tabletop.lay(again, {"a1": "cross"})
    scene.press()
    answer, _ = scene.until_answer()
    assert answer == Seen(1, Book(("cross@a1",)))


def test_without_a_game_the_camera_is_not_read(clock):
    eyes = CameraEyes(lambda: None, lambda m: pytest.fail(str(m)), Reading(), clock)
    eyes.glance(None)


def next_of(told, kind):
    while True:
        message = told.get(timeout=TIMEOUT_S)
        if isinstance(message, kind):
            return message


def test_one_lost_frame_is_not_a_lost_camera(scene, monkeypatch):
    read, failures = scene.camera.read, [CameraLost("lost")]

    def once():
        if failures:
            raise failures.pop()
        return read()

    monkeypatch.setattr(scene.camera, "read", once)
    scene.glance()
    assert scene.messages() == []


def test_a_lost_camera_is_told_and_comes_back_by_itself(scene, monkeypatch):
    monkeypatch.setattr("firmware.eyes.FIRST_DELAY_S", 0.01)
    told = SimpleQueue()
    eyes = CameraEyes(
        lambda: VirtualCamera(scene.table, CALM, size=SIZE),
        told.put,
        Reading(idle_fps=60),
    )
    eyes.follow(scene.session)
    eyes.start()
    try:
        assert next_of(told, CameraBack) == CameraBack("virtual camera")
        scene.table.unplugged = True
        assert "unplugged" in next_of(told, CameraGone).reason
        scene.table.unplugged = False
        assert next_of(told, CameraBack) == CameraBack("virtual camera")
        scene.tabletop.lay(scene.session, {"b2": "cross"})
        eyes.look(9, scene.session, 0)
        assert next_of(told, Seen) == Seen(9, Book(("cross@b2",)))
    finally:
        eyes.stop()


def test_a_camera_that_cannot_be_opened_is_told():
    told = SimpleQueue()

    def absent():
        raise CameraLost("webcam /dev/video0: not found")

    eyes = CameraEyes(absent, told.put)
    eyes.start()
    try:
        assert next_of(told, CameraGone).reason == "webcam /dev/video0: not found"
    finally:
        eyes.stop()


def test_a_bug_in_the_eyes_is_told_to_the_loop():
    told = SimpleQueue()

    def broken():
        raise ZeroDivisionError("a bug")

    eyes = CameraEyes(broken, told.put)
    eyes.start()
    assert isinstance(next_of(told, Crashed).error, ZeroDivisionError)
    eyes.stop()


def test_the_virtual_camera_shows_whichever_game_lies_there(scene):
    camera = TabletopCamera(scene.tabletop, "calm")
    before = camera.read()
    moved = play(scene.session, PlayMoves(("cross@b2",), 1))
    scene.tabletop.follow(moved)
    after = camera.read()
    assert before.bgr.shape == after.bgr.shape
    assert (before.bgr.astype(int) - after.bgr).std() > 1
    scene.tabletop.follow(None)
    with pytest.raises(CameraLost):
        camera.read()
