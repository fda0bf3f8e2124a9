"""Teaching through the running table: requests, pictures of a virtual table, files, and play."""

import json
import socket
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from threading import Thread
from time import monotonic

import cv2
import numpy as np
import pytest

from firmware.demo import pick
from firmware.eyes import CameraEyes
from firmware.inbox import Asked, CameraBack, CameraGone, Inbox, Stop
from firmware.loop import Loop
from firmware.settings import Reading
from firmware.teacher import Teacher
from firmware.virtual import TabletopCamera, VirtualTabletop
from firmware.wire import Wire
from rules import games
from rules.commands import (
    Answer,
    Correct,
    DropDraft,
    DropPicture,
    KeepLesson,
    LabelCuts,
    Lay,
    PlayMoves,
    Press,
    StartGame,
    TakePicture,
    TapBoard,
    UseLesson,
)
from rules.journal import Journal
from rules.lessons import Lessons
from rules.status import Trouble
from rules.table import EMPTY, changes
from rules.teaching import VIEW_MARGIN_MM, VIEW_PX_PER_MM, missing, tap_sites
from vision.board import BoardPlace
from vision.cameras.virtual import CALM, Misbehaviour, VirtualCamera, VirtualTable
from vision.errors import CameraLost
from vision.pose import project

SIZE = (960, 540)
FRAME_S = 0.2


class Room:
    """A loop with real eyes above a virtual table; one step is one frame of the camera."""

    def __init__(self, folder: Path, clock, game, table, misbehaviour=CALM, size=SIZE, **more):
        self.clock, self.game, self.table = clock, game, table
        self.closed = False
        self.inbox = Inbox()
        self.journal = Journal(folder / "journal.sqlite")
        lessons = partial(Lessons, folder)
        self.lessons = lessons(game.info.name)
        self.size = size
        self.watch(misbehaviour)
        self.eyes = CameraEyes(
            lambda: self.camera, self.inbox.put, Reading(), clock, lessons=lessons
        )
        self.loop = Loop(
            self.journal,
            self.inbox,
            self.eyes,
            teacher=Teacher(self.eyes, lessons),
            clock=clock,
            **more,
        )

    def watch(self, misbehaviour):
        """Let another camera look at the table, in another room."""
        clock = self.clock
        self.camera = VirtualCamera(
            self.table,
            misbehaviour,
            size=self.size,
            frames_per_s=1 / FRAME_S,
            clock=clock,
            wait=clock.wait,
        )

    @property
    def teaching(self):
        return self.loop.status.teaching

    def ask(self, request):
        replies = []
        self.loop.take(Asked(request, replies.append))
        return replies[0]

    def step(self, frames=1):
        for _ in range(frames):
            self.eyes.glance(self.camera)
            while not self.inbox.empty():
                self.loop.take(self.inbox.get())

    def picture(self, kind, anew=False):
        """Ask for a picture and wait until it is taken or given up; the problem, if any."""
        name = self.game.info.name
        assert self.ask(TakePicture(name, kind, anew)).code == "done"
        assert self.teaching.taking == kind
        for _ in range(40):
            self.step()
            if self.teaching.taking is None:
                return self.teaching.problem
        raise AssertionError("no picture was taken")

    def confirm(self, laid):
        """Label every open cut-out with the truth."""
        name = self.game.info.name
        for cuts in self.lessons.draft().questions().values():
            faces = {c.name: laid.get(c.site, EMPTY) for c in cuts}
            assert self.ask(LabelCuts(name, faces)).code == "done"

    def teach(self, *layouts):
        """A kept lesson: the bare table, then each of these layouts."""
        self.table.clear()
        assert self.picture("bare") == ""
        self.confirm({})
        for laid in layouts:
            self.table.clear()
            self.table.lay(laid)
            assert self.picture("pieces") == ""
            self.confirm(laid)
        self.table.clear()
        return self.ask(KeepLesson(self.game.info.name))

    def start(self, variant, names):
        command = StartGame(self.game.info.name, variant, names, self.loop.status.seq)
        assert self.ask(command).code == "booked"
        self.table.clear()
        self.table.lay(self.game.layout(self.loop.session.state))

    def press(self, seat):
        assert self.ask(Press(seat)).code == "done"
        for _ in range(40):
            self.step()
            if self.loop.status.mode != "reading":
                return
        raise AssertionError("the press was never answered")

    def close(self):
        if not self.closed:
            self.closed = True
            self.journal.close()


LAID = {"a1": "cross", "b2": "nought", "c3": "cross", "a3": "nought"}


@pytest.fixture
def room(tmp_path, clock, noughts, other_box):
    table = VirtualTable(other_box(noughts.plan))
    with closing(Room(tmp_path, clock, noughts, table)) as room:
        yield room


def test_a_lesson_is_taught_step_by_step(room):
    assert room.teaching is None
    assert room.picture("bare") == ""
    assert room.teaching.revision == 1
    draft = room.lessons.draft()
    assert missing(room.game.plan, draft) == (EMPTY, "cross", "nought")
    ((cuts),) = draft.questions().values()
    assert len(cuts) == 9
    room.confirm({})
    room.table.lay(LAID)
    assert room.picture("pieces") == ""
    questions = room.lessons.draft().questions()
    assert {frozenset(LAID[c.site] for c in cuts) for cuts in questions.values()} == {
        frozenset(["cross"]),
        frozenset(["nought"]),
    }
    assert room.ask(KeepLesson("noughts")).code == "refused"
    room.confirm(LAID)
    assert room.ask(KeepLesson("noughts")).code == "done"
    assert room.lessons.draft() is None
    number, lesson = room.lessons.newest(room.game.plan)
    assert number == 1
    assert {f: len(c) for f, c in lesson.examples().items()} == {EMPTY: 9, "cross": 2, "nought": 2}
    assert lesson.made_at.startswith("20")


def test_a_draft_survives_a_restart(room, tmp_path, clock):
    room.picture("bare")
    room.confirm({})
    room.close()
    with closing(Room(tmp_path, clock, room.game, room.table)) as again:
        again.table.lay(LAID)
        assert again.picture("pieces") == ""
        assert len(again.lessons.draft().confirmed()) == 9


def test_gaps_are_kept_only_when_said_so(room):
    room.picture("bare")
    room.confirm({})
    reply = room.ask(KeepLesson("noughts"))
    assert (reply.code, reply.message) == ("refused", "not taught: cross, nought")
    assert room.ask(KeepLesson("noughts", gaps=True)).code == "done"
    assert room.lessons.numbers() == (1,)


def test_the_next_draft_goes_on_from_what_is_taught_or_begins_anew(room):
    assert room.teach(LAID).code == "done"
    room.picture("bare")
    assert len(room.lessons.draft().confirmed()) == 13
    assert room.ask(DropDraft("noughts")).code == "done"
    room.picture("bare", anew=True)
    assert room.lessons.draft().confirmed() == ()
    assert room.lessons.numbers() == (1,)


def test_a_picture_can_be_taken_out_of_the_draft(room):
    room.picture("bare")
    room.picture("bare")
    assert room.lessons.draft().pictures == (1, 2)
    assert room.ask(DropPicture("noughts", 2)).code == "done"
    assert room.lessons.draft().pictures == (1,)
    assert room.ask(DropPicture("noughts", 2)).code == "stale"


def test_an_older_lesson_can_be_used_again(room):
    room.teach(LAID)
    room.teach({"a1": "cross", "b1": "nought"})
    assert room.ask(UseLesson("noughts", 1)).code == "done"
    assert room.lessons.newest(room.game.plan)[1].cuts == room.lessons.load(1).cuts
    assert room.ask(UseLesson("noughts", 9)).code == "invalid"
    assert room.lessons.numbers() == (1, 2, 3)


@pytest.mark.parametrize(
    ("kind", "prepare", "problem"),
    [
        ("bare", lambda table: table.cover([0, 1]), "trouble"),
        ("sheet", lambda table: None, "sheet_lost"),
        ("pieces", lambda table: None, "no_bare"),
    ],
)
def test_a_picture_that_is_of_no_use_says_why_and_changes_nothing(room, kind, prepare, problem):
    prepare(room.table)
    assert room.picture(kind) == problem
    trouble = room.teaching.trouble
    assert trouble == (Trouble("cards_missing", cards=(1, 2)) if problem == "trouble" else None)
    assert room.teaching.revision == 0
    assert room.lessons.draft() is None


def test_a_table_that_never_lies_still_is_given_up(room, monkeypatch):
    read, count = room.camera.read, iter(range(1000))

    def restless():
        room.table.clear()
        room.table.lay(LAID if next(count) % 2 else {})
        return read()

    monkeypatch.setattr(room.camera, "read", restless)
    since_s = room.clock()
    assert room.picture("bare") == "hands"
    assert 3 <= room.clock() - since_s < 4


def test_a_hand_that_leaves_in_time_is_waited_for(room, monkeypatch):
    room.table.cover([0, 1])
    assert room.ask(TakePicture("noughts", "bare")).code == "done"
    room.step(5)
    assert room.teaching.taking == "bare"
    room.table.cover([])
    room.step(6)
    assert room.teaching.taking is None
    assert room.teaching.problem == ""


def test_one_picture_at_a_time(room):
    assert room.ask(TakePicture("noughts", "bare")).code == "done"
    assert room.ask(TakePicture("noughts", "bare")).code == "unavailable"
    assert room.ask(DropDraft("noughts")).code == "unavailable"


def test_a_camera_that_is_lost_ends_the_waiting(room):
    room.ask(TakePicture("noughts", "bare"))
    room.loop.take(CameraGone("webcam: gone"))
    assert (room.teaching.taking, room.teaching.problem) == (None, "camera_lost")
    reply = room.ask(TakePicture("noughts", "bare"))
    assert (reply.code, reply.message) == ("unavailable", "webcam: gone")


def test_a_lost_frame_does_not_end_the_waiting(room, monkeypatch):
    read, failures = room.camera.read, [CameraLost("lost")]

    def once():
        if failures:
            raise failures.pop()
        return read()

    monkeypatch.setattr(room.camera, "read", once)
    assert room.picture("bare") == ""


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (TakePicture("chess", "bare"), "invalid"),
        (LabelCuts("noughts", {"00": "cross"}), "stale"),
        (KeepLesson("noughts"), "stale"),
        (DropPicture("noughts", 1), "stale"),
        (UseLesson("noughts", 1), "invalid"),
    ],
)
def test_requests_that_make_no_sense_are_answered_and_harm_nothing(room, request_, code):
    assert room.ask(request_).code == code
    assert room.teaching is None or room.teaching.revision == 0


def test_a_face_that_cannot_lie_there_is_refused(room):
    room.picture("bare")
    cut = room.lessons.draft().cuts[0]
    assert room.ask(LabelCuts("noughts", {cut.name: "queen"})).code == "invalid"
    assert room.lessons.draft().confirmed() == ()


def test_a_full_disk_is_said_and_nothing_is_lost(room, monkeypatch):
    room.picture("bare")
    before = room.lessons.draft()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    cut = before.cuts[0]
    assert room.ask(LabelCuts("noughts", {cut.name: EMPTY})).code == "unavailable"
    assert room.picture("bare") == "disk"
    assert room.lessons.draft() == before


def test_a_broken_draft_is_said_and_can_be_dropped(room):
    room.picture("bare")
    (room.lessons.folder / "draft.zip").write_bytes(b"half a draft")
    reply = room.ask(TakePicture("noughts", "bare"))
    assert reply.code == "invalid"
    assert "draft.zip" in reply.message
    assert room.ask(DropDraft("noughts")).code == "done"
    assert room.picture("bare") == ""


def test_play_reads_by_the_lesson_as_soon_as_it_is_kept(room):
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    room.table.lay({"b2": "cross"})
    room.press(0)
    assert room.loop.status.mode == "question"  # the drawings do not look like this
    assert room.teach(LAID).code == "done"
    room.step(6)
    room.table.lay({"b2": "cross"})
    room.press(0)
    assert room.loop.status.mode == "ready"
    assert [p.move for p in room.loop.session.plies()] == ["cross@b2"]
    room.table.lay({"a1": "nought"})
    room.press(1)
    assert [p.move for p in room.loop.session.plies()] == ["cross@b2", "nought@a1"]


def test_a_board_that_is_pushed_after_teaching_is_found_by_its_taught_picture(
    tmp_path, clock, other_box
):
    game = games.find("ingenious")
    table, laid = VirtualTable(other_box(game.plan)), scatter(game, 1)
    with closing(Room(tmp_path, clock, game, table, size=(1600, 900))) as room:
        assert room.teach(laid).code == "done"
        room.watch(PUSHED)
        assert play(room, 3) < 3


def scatter(game, seed):
    """Two pieces of every face on random sites."""
    faces = list(game.plan.piece_of) * 2
    sites = Random(seed).sample(list(game.plan.sites), len(faces))
    return dict(zip(sites, faces, strict=True))


def play(room, turns):
    """A game whose moves are laid, pressed and read; how many were asked about.

    Whatever is booked must be what was laid; of a question, the likeliest answer must be.
    """
    game, rng = room.game, Random(4)
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    asked = 0
    for _ in range(turns):
        before = room.loop.session
        laid = game.footprint(before.state, pick(game, before.state, rng))
        room.table.lay(laid)
        room.press(game.standings(before.state).to_act)
        if question := room.loop.status.question:
            asked += 1
            assert room.ask(Answer(question.number, 0)).code == "booked", question
        after = room.loop.session
        assert changes(game.layout(before.state), game.layout(after.state)) == laid
    return asked


PUSHED = replace(CALM, board_moved_mm=(12.0, -7.0), board_turned_deg=2.5)


def taps_on(plan, missed_mm=2.0):
    """The taps of somebody who sees the pushed board, not quite in the middle of its sites."""
    place = BoardPlace.pushed(plan.size_mm, PUSHED.board_moved_mm, PUSHED.board_turned_deg)
    sites = [plan.places[site] for site in tap_sites(plan)]
    truth = project(place.matrix(), np.array([(p.x_mm, p.y_mm) for p in sites]))
    missed = np.random.default_rng(1).normal(0, missed_mm, truth.shape)
    return tuple((float(x), float(y)) for x, y in truth + missed)


def test_a_board_that_lies_elsewhere_is_shown_by_four_taps_and_then_taught(
    tmp_path, clock, other_box
):
    game = games.find("ingenious")
    table, laid = VirtualTable(other_box(game.plan)), scatter(game, 1)
    with closing(Room(tmp_path, clock, game, table, PUSHED, size=(1600, 900))) as room:
        assert room.picture("table") == ""
        view = cv2.imdecode(np.frombuffer(room.lessons.view(), np.uint8), cv2.IMREAD_COLOR)
        edges = [(side + 2 * VIEW_MARGIN_MM) * VIEW_PX_PER_MM for side in game.plan.size_mm]
        assert view.shape[1::-1] == tuple(edges)
        assert room.lessons.draft() is None
        assert room.ask(TapBoard("ingenious", taps_on(game.plan))).code == "done"
        assert room.teach(laid).code == "done"
        # Each cut-out shows its piece in the middle, up to what the finger missed.
        board = cut_middle(room, "orange")
        assert board == pytest.approx((0.5, 0.5), abs=0.12)
        assert play(room, 3) < 3


def cut_middle(room, face):
    """Where the dark symbol lies in a cut-out, as shares of its sides."""
    _, lesson = room.lessons.newest(room.game.plan)
    png = lesson.pngs[lesson.examples()[face][0].name]
    gray = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE).astype(float)
    middle = gray[12:-12, 12:-12]
    ink = np.clip(np.percentile(middle, 90) - 30 - middle, 0, None)
    rows, columns = np.mgrid[12:36, 12:36] + 0.5
    return tuple(float((axis * ink).sum() / ink.sum() / len(gray)) for axis in (columns, rows))


def test_taps_that_fit_no_board_are_refused_and_none_forget_them(room):
    plan = room.game.plan
    sites = [plan.places[site] for site in tap_sites(plan)]
    good = tuple((p.x_mm + 3.0, p.y_mm) for p in sites)
    assert room.ask(TapBoard("noughts", good)).code == "done"
    for wrong in (good[::-1], good[:3], tuple((x / 2, y / 2) for x, y in good)):
        reply = room.ask(TapBoard("noughts", wrong))
        assert reply.code == "refused"
        assert "a1" in reply.message
        assert room.teaching.problem == "taps"
    assert room.lessons.taps(plan) == good
    assert room.ask(TapBoard("noughts", ())).code == "done"
    assert room.lessons.taps(plan) == ()


def test_a_lesson_that_cannot_be_used_leaves_the_drawings(noughts, tmp_path, clock, caplog):
    with closing(Room(tmp_path, clock, noughts, VirtualTable(noughts.plan))) as room:
        room.teach(LAID)
        (room.lessons.folder / "0001.zip").write_bytes(b"torn")
        room.eyes.study()
        room.start("basic", ("Ann", "Ben"))
        room.step(6)
        room.table.lay({"b2": "cross"})
        room.press(0)
        assert [p.move for p in room.loop.session.plies()] == ["cross@b2"]
        assert "0001.zip" in caplog.text


def play_out(room, moves):
    """The rest of the game, entered by hand."""
    for move in moves:
        assert room.ask(PlayMoves((move,), room.loop.status.seq)).code == "booked"
        room.table.lay(room.game.layout(room.loop.session.state))


def learnt(room, number):
    cuts = room.lessons.load(number).cuts
    return [(c.site, c.face) for c in cuts if c.origin == "play"]


def test_an_answer_during_play_becomes_an_example_when_the_game_is_over(room):
    room.teach(LAID)
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    room.table.lay({"b2": "cross", "a1": "nought"})
    room.press(0)
    question = room.loop.status.question
    choice = [c.moves for c in question.choices].index(("cross@b2", "nought@a1"))
    assert room.ask(Answer(question.number, choice)).code == "booked"
    room.step(2)
    assert room.lessons.numbers() == (1,)
    play_out(room, ["cross@b1", "nought@a2", "cross@b3"])
    assert room.game.standings(room.loop.session.state).over
    room.step(2)
    assert room.lessons.numbers() == (1, 2)
    assert room.lessons.load(2).by == "play"
    assert sorted(learnt(room, 2)) == [("a1", "nought"), ("b2", "cross")]
    room.start("basic", ("Ann", "Ben"))
    room.step(2)
    assert room.lessons.numbers() == (1, 2)


def test_the_last_correction_becomes_an_example_of_what_the_picture_showed(room):
    room.teach(LAID)
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    room.table.lay({"b2": "cross"})
    room.press(0)
    for move in ("cross@a1", "cross@b2"):
        assert room.ask(Correct(1, move, room.loop.status.seq)).code == "booked"
    room.start("basic", ("Ann", "Ben"))
    room.step(2)
    assert learnt(room, 2) == [("b2", "cross")]


def test_a_correction_to_something_the_picture_does_not_show_teaches_nothing(room):
    room.teach(LAID)
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    room.table.lay({"b2": "cross"})
    room.press(0)
    assert room.ask(Correct(1, "cross@a1", room.loop.status.seq)).code == "booked"
    room.start("basic", ("Ann", "Ben"))
    room.step(2)
    assert room.lessons.numbers() == (1,)


def test_nothing_is_learnt_from_moves_nobody_looked_at(room):
    room.teach(LAID)
    room.start("basic", ("Ann", "Ben"))
    room.step(6)
    room.table.lay({"b2": "cross"})
    room.press(0)
    assert room.loop.status.mode == "ready"
    play_out(room, ["nought@a1", "cross@b1", "nought@a2", "cross@b3"])
    room.step(2)
    assert room.lessons.numbers() == (1,)


def test_without_a_lesson_nothing_is_learnt(noughts, tmp_path, clock):
    with closing(Room(tmp_path, clock, noughts, VirtualTable(noughts.plan))) as room:
        room.start("basic", ("Ann", "Ben"))
        room.step(6)
        room.table.lay({"b2": "cross", "a1": "nought"})
        room.press(0)
        question = room.loop.status.question
        assert room.ask(Answer(question.number, 0)).code == "booked"
        room.start("basic", ("Ann", "Ben"))
        room.step(2)
        assert room.lessons.numbers() == ()


def test_the_virtual_table_is_shown_bare_until_a_game_lies_on_it(room, noughts, tmp_path, clock):
    tabletop = VirtualTabletop()
    room.loop._tabletop, room.camera = tabletop, TabletopCamera(tabletop, "calm")
    assert room.ask(TakePicture("noughts", "bare")).code == "done"
    assert tabletop.table().plan is noughts.plan
    room.loop.take(CameraGone("a pause"))
    room.loop.take(CameraBack("virtual"))
    assert room.ask(StartGame("noughts", "basic", ("Ann", "Ben"), 0)).code == "booked"
    reply = room.ask(TakePicture("ingenious", "bare"))
    assert (reply.code, reply.message) == (
        "unavailable",
        "the virtual table lies ready for noughts",
    )
    assert room.ask(Lay({"b2": "cross"})).code == "done"
    assert room.ask(TakePicture("noughts", "pieces")).code == "done"
    assert tabletop.lying() == {"b2": "cross"}


def test_the_same_over_the_socket(room, tmp_path):
    wire = Wire(tmp_path / "table.sock", room.inbox)
    room.loop.observe(lambda session, status: wire.publish(status))
    room.eyes._open_camera = lambda: VirtualCamera(room.table, CALM, size=SIZE, frames_per_s=30)
    room.eyes._clock = monotonic
    room.eyes.start()
    thread = Thread(target=room.loop.run)
    thread.start()
    try:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(20)
            client.connect(str(wire.path))
            lines = client.makefile("rb")

            def send(**data):
                client.sendall(json.dumps(data).encode() + b"\n")

            send(id=1, kind="take_picture", game="noughts", picture="bare")
            assert json.loads(lines.readline())["ok"]
            send(kind="watch")
            while (status := json.loads(lines.readline())["status"])["teaching"]["revision"] == 0:
                assert status["teaching"]["taking"] == "bare"
            faces = {cut.name: "empty" for cut in room.lessons.draft().cuts}
            send(id=2, kind="label_cuts", game="noughts", faces=faces)
            replies = [json.loads(lines.readline()) for _ in range(2)]
            assert next(r["code"] for r in replies if "id" in r) == "done"
            assert len(room.lessons.draft().confirmed()) == 9
            lines.close()
    finally:
        room.eyes.stop()
        room.inbox.put(Stop())
        thread.join(20)
        wire.close()


def test_a_box_that_looks_unlike_our_drawings_is_taught_and_then_played(tmp_path, clock, other_box):
    """Two pictures of tiles and one of the bare board, in one room; then turns are read right."""
    game = games.find("ingenious")
    table = VirtualTable(other_box(game.plan))
    room = Room(tmp_path, clock, game, table, Misbehaviour.default(12), size=(1600, 900))
    with closing(room):
        assert room.teach(scatter(game, 0), scatter(game, 1)).code == "done"
        assert play(room, 8) <= 4
