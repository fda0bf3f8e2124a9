"""Bad pictures and a pushed board while people play: nothing wrong is booked, and all is said."""

import cv2
import numpy as np
import pytest

from companion_web.follow import Record
from companion_web.tell import Teller
from companion_web.view import Snapshot
from firmware.eyes import CameraEyes
from firmware.inbox import Asked, Inbox
from firmware.loop import Loop
from firmware.settings import Reading
from firmware.virtual import VirtualTabletop
from rules.commands import Press, StartGame
from rules.journal import Journal
from vision.cameras.virtual import CALM, VirtualCamera
from vision.frame import Frame
from vision.pose import project
from vision.render import Painter
from vision.textures import surface_texture

SIZE = (1280, 720)


class SpoiltCamera:
    """A virtual camera with something before its lens."""

    def __init__(self, table, clock):
        self.name = "spoilt"
        self.spoil = lambda bgr: bgr
        self._camera = VirtualCamera(table, CALM, size=SIZE, clock=clock, wait=clock.wait)

    def read(self):
        frame = self._camera.read()
        return Frame(self.spoil(frame.bgr), frame.at_s, frame.name)

    def close(self):
        """Nothing to give back."""


class Evening:
    """Real eyes and a real loop on a real journal, frame by frame in a time of their own."""

    def __init__(self, folder, clock):
        self.clock = clock
        self.journal = Journal(folder / "journal.sqlite")
        self.inbox = Inbox()
        self.tabletop = VirtualTabletop()
        self.camera = None
        self.eyes = CameraEyes(lambda: self.camera, self.inbox.put, Reading(), clock)
        self.loop = Loop(self.journal, self.inbox, self.eyes, tabletop=self.tabletop, clock=clock)
        self._ask(StartGame("noughts", "basic", ("Ann", "Ben"), 0))
        self.table = self.tabletop.table()
        self.plan = self.table.plan
        self.camera = SpoiltCamera(self.table, clock)
        self.watch()

    def _ask(self, request):
        self.loop.take(Asked(request, lambda reply: None))

    @property
    def status(self):
        return self.loop.status

    def watch(self, frames=10):
        for _ in range(frames):
            self.eyes.glance(self.camera)
            while not self.inbox.empty():
                self.loop.take(self.inbox.get())

    def lay(self, site, face):
        self.tabletop.lay(self.loop.session, {site: face})

    def press(self, seat):
        """Press, and look on until that has been answered."""
        self._ask(Press(seat))
        for _ in range(60):
            self.watch(1)
            if self.status.mode not in ("reading", "trouble"):
                return
        raise AssertionError(self.status)

    def booked(self):
        return [ply.move for ply in self.journal.session().plies()]

    def said(self, language="en"):
        """The question as a phone shows it."""
        snapshot = Snapshot("", Record(session=self.loop.session), self.status)
        return Teller(snapshot, language).asked(self.status.question)


@pytest.fixture
def evening(tmp_path, clock, noughts):
    evening = Evening(tmp_path, clock)
    assert evening.status.mode == "ready"
    yield evening
    evening.journal.close()


def cat(bgr):
    """Fur on a rug: any picture without a table."""
    height, width = bgr.shape[:2]
    rug = surface_texture("cloth", height, width, 3)
    cv2.ellipse(rug, (640, 400), (200, 260), 20, 0, 360, (60, 110, 170), -1, cv2.LINE_AA)
    cv2.circle(rug, (640, 180), 120, (60, 110, 170), -1, cv2.LINE_AA)
    for x in (600, 680):
        cv2.circle(rug, (x, 170), 16, (40, 200, 160), -1, cv2.LINE_AA)
    return rug


SPOILS = {
    "cat": (cat, "no_cards", "Point it at the table"),
    "dark": (lambda bgr: bgr // 10, "too_dark", "Turn on a light"),
    "bright": (lambda bgr: cv2.convertScaleAbs(bgr, alpha=6, beta=60), "too_bright", "Dim the"),
    "blurred": (lambda bgr: cv2.GaussianBlur(bgr, (0, 0), 8), "blurred", "Wipe the lens"),
    "half": (lambda bgr: bgr * (np.arange(1280) < 640)[:, None].astype(np.uint8),
             "cards_missing", "Not in view: card 2 (top right), card 3 (bottom right)"),
}  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_bad_picture_is_named_and_nothing_is_booked(evening, spoil):
    evening.camera.spoil, code, words = SPOILS[spoil]
    evening.lay("b2", "cross")
    evening.watch()
    assert (evening.status.mode, evening.status.trouble.code) == ("trouble", code)
    evening.press(0)
    assert evening.status.question.trouble.code == code
    assert words in evening.said()
    assert evening.said().endswith("Then press again, or enter the move here.")
    for language in ("nl", "ru"):
        assert "[" not in evening.said(language)
    assert evening.booked() == []


@pytest.mark.parametrize("spoil", SPOILS)
def test_when_the_picture_is_good_again_the_message_goes(evening, spoil):
    good = evening.camera.spoil
    evening.camera.spoil = SPOILS[spoil][0]
    evening.lay("b2", "cross")
    evening.watch()
    evening.press(0)
    assert evening.status.question
    evening.camera.spoil = good
    evening.watch()
    assert (evening.status.mode, evening.status.question) == ("ready", None)
    assert evening.status.trouble is None
    evening.press(0)
    assert evening.booked() == ["cross@b2"]


def test_one_trouble_may_follow_another(evening):
    evening.table.cover([0, 1])
    evening.watch()
    evening.press(0)
    assert evening.status.question.trouble.cards == (1, 2)
    evening.table.cover([2, 3])
    evening.watch()
    assert evening.status.question.trouble.cards == (3, 4)
    evening.table.cover([])
    evening.watch()
    assert evening.status.question is None


def disc(evening, site, radius_mm, colour, add=False):
    """Something round lies or shines on a site."""
    pose = Painter(evening.plan, SIZE).pose(CALM)
    place = evening.plan.places[site]
    middle, edge = project(
        pose.homography(),
        np.array([(place.x_mm, place.y_mm), (place.x_mm + radius_mm, place.y_mm)]),
    )
    radius_px = round(float(np.hypot(*(edge - middle))))

    def spoil(bgr):
        over = np.zeros_like(bgr)
        cv2.circle(over, tuple(int(v) for v in middle), radius_px, colour, -1, cv2.LINE_AA)
        if add:
            return cv2.add(bgr, cv2.GaussianBlur(over, (0, 0), radius_px / 3))
        return np.where(over.any(axis=2, keepdims=True), over, bgr)

    return spoil


def test_a_foreign_thing_keeps_a_move_from_being_booked_unasked(evening):
    good = evening.camera.spoil
    evening.lay("b2", "cross")
    evening.camera.spoil = disc(evening, "c3", 14, (60, 160, 40))
    evening.watch()
    evening.press(0)
    question = evening.status.question
    assert (question.trouble.code, question.trouble.sites) == ("foreign", ("c3",))
    assert [choice.moves for choice in question.choices] == [("cross@b2",)]
    assert "does not belong to the game lies on c3" in evening.said()
    assert evening.booked() == []
    evening.watch()
    assert evening.status.question == question
    evening.camera.spoil = good
    evening.watch()
    assert evening.status.question is None
    evening.press(0)
    assert evening.booked() == ["cross@b2"]


def test_a_piece_under_a_reflection_is_not_booked(evening):
    good = evening.camera.spoil
    evening.camera.spoil = disc(evening, "b2", 26, (255, 255, 255), add=True)
    evening.watch(30)
    evening.lay("b2", "cross")
    evening.watch()
    evening.press(0)
    question = evening.status.question
    assert question.trouble.code in ("glare", "foreign")
    assert "b2" in question.trouble.sites
    assert evening.booked() == []
    evening.camera.spoil = good
    evening.watch()
    evening.press(0)
    assert evening.booked() == ["cross@b2"]


def test_a_reflection_elsewhere_does_not_matter(evening):
    evening.camera.spoil = disc(evening, "b2", 26, (255, 255, 255), add=True)
    evening.watch(30)
    evening.lay("c3", "cross")
    evening.watch()
    evening.press(0)
    assert evening.booked() == ["cross@c3"]


PUSHES = ((2, 1, 0.3), (7, -5, 2), (-10, 6, -4), (0, 0, 0), (12, 12, 6))


def test_a_board_that_is_pushed_during_a_game_is_followed(evening):
    moves = ("cross@b2", "nought@a1", "cross@c3", "nought@a3", "cross@a2")
    for number, (push, move) in enumerate(zip(PUSHES, moves, strict=True)):
        evening.table.push(*push)
        face, _, site = move.partition("@")
        evening.lay(site, face)
        evening.watch()
        evening.press(number % 2)
        assert evening.booked() == list(moves[: number + 1]), push


def test_a_push_alone_books_nothing(evening):
    for push in PUSHES:
        evening.table.push(*push)
        evening.watch()
        evening.press(0)
        assert evening.status.question.code == "nothing_changed"
    assert evening.booked() == []


def test_a_board_that_is_gone_is_named_and_found_again(evening):
    evening.lay("b2", "cross")
    evening.table.push(60, 50, 40)
    evening.watch()
    evening.press(0)
    assert evening.status.question.trouble.code == "board_lost"
    assert "cannot find the board" in evening.said()
    evening.press(0)
    assert evening.status.question.trouble.code == "board_lost"
    assert evening.booked() == []
    evening.table.push(0, 0, 0)
    evening.watch()
    assert evening.status.question is None
    evening.press(0)
    assert evening.booked() == ["cross@b2"]
