"""The virtual table: what is laid is drawn, every fault has its switch, seeds decide all chance."""

from dataclasses import fields, replace
from itertools import pairwise
from threading import Thread

import cv2
import numpy as np
import pytest

from rules.table import EMPTY, Face, Site
from vision.cameras.virtual import CALM, DEFAULT, Misbehaviour, VirtualCamera, VirtualTable
from vision.errors import CameraLost, NotOnTheTable
from vision.pose import project
from vision.render import Moment, Painter, render
from vision.virtual.arm import Arm
from vision.virtual.lighting import light_colour
from vision.virtual.scene import place_mm

SMALL = (960, 540)
NONE = Misbehaviour()


@pytest.fixture(scope="module")
def painter(draughts):
    return Painter(draughts, SMALL)


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s

    def wait(self, seconds):
        self.now_s += seconds


def camera_of(table, room, **more):
    clock = Clock()
    return VirtualCamera(table, room, size=SMALL, clock=clock, wait=clock.wait, **more)


@pytest.mark.parametrize("room", [NONE, CALM, DEFAULT, Misbehaviour.default(3)])
def test_a_picture_depends_on_nothing_but_its_description(draughts, opening, room):
    moment = Moment(tick=3, arm=Arm((100, 100), 45))
    one = render(draughts, opening, room, moment, SMALL)
    other = Painter(draughts, SMALL)
    other.paint({}, Misbehaviour.default(9))
    assert one.shape == (540, 960, 3)
    assert one.dtype == np.uint8
    assert np.array_equal(one, other.paint(opening, room, moment))


def test_seeds_make_different_rooms():
    assert Misbehaviour.default(1) == Misbehaviour.default(1)
    assert len({Misbehaviour.default(seed) for seed in range(50)}) == 50
    assert max(Misbehaviour.default(seed).tilt_deg for seed in range(300)) <= 15


SWITCHES = {
    "tilt_deg": 10.0,
    "roll_deg": 5.0,
    "aim_mm": (10.0, 5.0),
    "fill": 0.8,
    "light_k": 2700.0,
    "exposure_ev": -0.5,
    "gradient": 0.3,
    "vignette": 0.3,
    "big_shadow": 0.4,
    "glare": 0.3,
    "shadow": 0.4,
    "raised": False,
    "misplaced_mm": 1.0,
    "turned_deg": 4.0,
    "surface": "cloth",
    "board_moved_mm": (8.0, -5.0),
    "board_turned_deg": 4.0,
    "covered_cards": 1,
    "blur_px": 1.0,
    "noise": 1.0,
}
MODIFIERS = {"seed", "tilt_towards_deg", "gradient_towards_deg", "white_balance", "focal"}
OVER_TIME = {"hands_per_min", "bumps_per_min", "lost_frames"}


def test_every_effect_is_tested():
    assert {f.name for f in fields(Misbehaviour)} == SWITCHES.keys() | MODIFIERS | OVER_TIME


@pytest.mark.parametrize(("name", "value"), SWITCHES.items(), ids=SWITCHES)
def test_every_effect_shows(painter, opening, name, value):
    without = painter.paint(opening, NONE)
    assert np.array_equal(without, painter.paint(opening, NONE, Moment(tick=1)))
    difference = cv2.absdiff(without, painter.paint(opening, replace(NONE, **{name: value})))
    assert (difference.max(axis=2) > 3).sum() > 50


@pytest.mark.parametrize(
    ("room", "change"),
    [
        (replace(NONE, tilt_deg=10.0), {"tilt_towards_deg": 90.0}),
        (replace(NONE, gradient=0.3), {"gradient_towards_deg": 90.0}),
        (replace(NONE, light_k=2700.0), {"white_balance": 1.0}),
        (replace(NONE, tilt_deg=10.0), {"focal": 1.0}),
        (NONE, {"seed": 2}),
    ],
)
def test_modifiers_change_their_effect(painter, opening, room, change):
    one, other = painter.paint(opening, room), painter.paint(opening, replace(room, **change))
    assert (cv2.absdiff(one, other) > 3).sum() > 50


def test_noise_differs_from_frame_to_frame_and_is_stronger_in_the_dark(painter):
    room = replace(NONE, noise=1.0)
    frames = [painter.paint({}, room, Moment(tick=n)).astype(float) for n in range(8)]
    spread = np.std(frames, axis=0).mean(axis=2)
    level = np.mean(frames, axis=0).mean(axis=2)
    assert 0.5 < np.median(spread) < 8
    assert np.median(spread[level < 80]) > np.median(spread[level > 200]) > 0.3


def test_lamps_are_red_and_windows_blue():
    assert light_colour(2700)[2] > light_colour(5000)[2] > light_colour(6500)[2]
    assert light_colour(2700)[0] < light_colour(5000)[0] < light_colour(6500)[0]


@pytest.mark.parametrize("tilt_towards_deg", [0, 120, 240])
def test_tops_of_pieces_are_drawn_at_their_height(painter, draughts, tilt_towards_deg):
    room = replace(NONE, tilt_deg=14.0, tilt_towards_deg=tilt_towards_deg, misplaced_mm=1.0)
    bare = painter.paint({}, room)
    thickness_mm = draughts.pieces["man"].thickness_mm
    top = painter.pose(room).homography(thickness_mm)
    for name in ("a1", "d5", "h8"):
        site = Site(name)
        laid = painter.paint({site: Face("white")}, room)
        x_mm, y_mm, _ = place_mm(draughts, site, Face("white"), room)
        assert (
            0 < np.hypot(x_mm - draughts.places[site].x_mm, y_mm - draughts.places[site].y_mm) < 1
        )
        rows, columns = np.nonzero(cv2.subtract(laid, bare)[:, :, 0] > 60)
        expected = project(top, np.array([(x_mm, y_mm)]))[0]
        assert np.hypot(columns.mean() - expected[0], rows.mean() - expected[1]) < 0.8


def test_the_whole_table_is_in_every_picture(draughts):
    width, height = draughts.size_mm
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    for seed in range(100):
        seen = project(
            Painter(draughts, SMALL).pose(Misbehaviour.default(seed)).homography(), corners
        )
        assert (seen > 0).all()
        assert (seen < SMALL).all()


def test_any_plan_is_drawn(noughts):
    plan = noughts.plan
    laid = {plan.sites[0]: Face("cross"), plan.sites[8]: Face("nought")}
    bare, full = (render(plan, layout, CALM, size=SMALL) for layout in ({}, laid))
    assert (cv2.absdiff(bare, full).max(axis=2) > 30).sum() > 500


class TestTable:
    def test_lay_adds_and_empty_takes_away(self, draughts, opening):
        table = VirtualTable(draughts, opening)
        table.lay({Site("d4"): Face("red"), Site("a2"): EMPTY})
        expected = {**opening, Site("d4"): Face("red")}
        del expected[Site("a2")]
        assert table.lying() == expected
        table.clear()
        assert table.lying() == {}

    @pytest.mark.parametrize(
        ("faces", "message"),
        [
            ({"z9": "red"}, "site: expected one of the table, got 'z9'"),
            ({"a1": "blue"}, "a1: expected one of empty, white, red, got 'blue'"),
        ],
    )
    def test_what_cannot_lie_there_changes_nothing(self, draughts, opening, faces, message):
        table = VirtualTable(draughts, opening)
        with pytest.raises(NotOnTheTable, match=message):
            table.lay({Site("d4"): Face("red"), **faces})
        assert table.lying() == opening

    def test_several_threads_may_lay(self, draughts):
        table = VirtualTable(draughts)
        parts = [draughts.sites[n::4] for n in range(4)]

        def lay(part):
            for site in part:
                table.lay({site: Face("red")})

        threads = [Thread(target=lay, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert table.lying() == dict.fromkeys(draughts.sites, Face("red"))


class TestCamera:
    def test_it_shows_what_lies_there(self, draughts, opening):
        table = VirtualTable(draughts, opening)
        camera = camera_of(table, NONE)
        before = camera.read()
        table.lay({Site("d4"): Face("white")})
        after = camera.read()
        assert (cv2.absdiff(before.bgr, after.bgr).max(axis=2) > 40).sum() > 200
        assert after.at_s == pytest.approx(before.at_s + 0.1)
        assert before.name != after.name

    def test_it_keeps_its_pace_but_never_falls_behind(self, draughts):
        clock = Clock()
        waited = []

        def wait(seconds):
            waited.append(seconds)
            clock.wait(seconds)

        camera = VirtualCamera(
            VirtualTable(draughts), NONE, size=SMALL, frames_per_s=4, clock=clock, wait=wait
        )
        camera.read()
        camera.read()
        clock.now_s += 10
        camera.read()
        camera.read()
        assert waited == pytest.approx([0.25, 0.25])

    def test_hands_come_and_go_by_themselves(self, draughts, opening):
        table = VirtualTable(draughts, opening)
        still = camera_of(table, NONE).read().bgr
        camera = camera_of(table, replace(NONE, hands_per_min=12))
        seen = [cv2.absdiff(camera.read().bgr, still).max() > 20 for _ in range(200)]
        assert 20 < sum(seen) < 150
        assert sum(a != b for a, b in pairwise(seen)) >= 4

    def test_a_reaching_hand_stays_until_withdrawn(self, draughts):
        table = VirtualTable(draughts)
        camera = camera_of(table, NONE)
        bare = camera.read().bgr
        table.reach(Site("d4"), seat=1)
        assert (cv2.absdiff(camera.read().bgr, bare).max(axis=2) > 20).sum() > 5000
        table.withdraw()
        assert np.array_equal(camera.read().bgr, bare)

    def test_a_bump_turns_the_camera_for_good(self, draughts):
        table = VirtualTable(draughts)
        camera = camera_of(table, NONE)
        first = camera.read().bgr
        table.bump()
        second, third = camera.read().bgr, camera.read().bgr
        assert cv2.absdiff(first, second).mean() > 1
        assert np.array_equal(second, third)

    def test_bumps_come_by_themselves(self, draughts):
        camera = camera_of(VirtualTable(draughts), replace(NONE, bumps_per_min=30))
        frames = [camera.read().bgr for _ in range(100)]
        jumps = [not np.array_equal(a, b) for a, b in pairwise(frames)]
        assert 1 <= sum(jumps) <= 15

    def test_frames_get_lost(self, draughts):
        camera = camera_of(VirtualTable(draughts), replace(NONE, lost_frames=0.2))
        lost = 0
        for _ in range(200):
            try:
                camera.read()
            except CameraLost:
                lost += 1
        assert 20 <= lost <= 65

    def test_an_unplugged_one_is_lost_until_it_is_back(self, draughts):
        table = VirtualTable(draughts)
        camera = camera_of(table, NONE)
        table.unplugged = True
        with pytest.raises(CameraLost, match="unplugged"):
            camera.read()
        table.unplugged = False
        assert camera.read().bgr.shape == (540, 960, 3)

    def test_covered_cards_are_covered(self, draughts):
        table = VirtualTable(draughts)
        camera = camera_of(table, NONE)
        bare = camera.read().bgr
        table.cover({0})
        assert (cv2.absdiff(camera.read().bgr, bare).max(axis=2) > 40).sum() > 500
        table.cover(())
        assert np.array_equal(camera.read().bgr, bare)
