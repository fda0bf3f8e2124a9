"""Small ray-traced pictures: what is seen lies where the truth says, and the real reading works."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from rules.table import EMPTY, Face, Plan, Site
from vision.cards import IDS, find_cards
from vision.frame import Frame, Pixels
from vision.looks import DrawnLooks
from vision.observe import Observer, reading_scale
from vision.rectify import rectify
from vision.studio.dice import Die, Paint
from vision.studio.prints import make_table
from vision.studio.room import Light, Room
from vision.studio.studio import Shot, photograph
from vision.virtual.misbehaviour import CALM

pytest.importorskip("mitsuba", reason="the extra 'studio' is not installed: make studio")

ROOM = replace(
    Room.draw(1, (800, 600)),
    habits=replace(CALM, tilt_deg=9.0, tilt_towards_deg=30.0, blur_px=0.0, misplaced_mm=0.3),
    lights=(Light((300.0, -200.0, 1400.0), (250.0, 250.0), True, 4000.0, 0.7),),
    ambient=0.3,
    ambient_k=4000.0,
    board_roughness=0.8,
    board_mm=1.0,
    aperture_mm=0.2,
    barrel=0.02,
)


def decode(jpeg: bytes) -> Pixels:
    bgr = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(bgr, np.uint8)


@pytest.fixture(scope="module")
def shot(draughts: Plan, opening: dict[Site, Face]) -> Shot:
    return Shot(draughts, ROOM, 1, opening)


@pytest.fixture(scope="module")
def bgr(shot: Shot) -> Pixels:
    return decode(photograph(shot))


def test_the_cards_are_seen_where_the_truth_says(shot: Shot, bgr: Pixels):
    found = find_cards(bgr).corners_px
    assert set(found) == set(IDS)
    for number, corners in shot.markers_px.items():
        off = found[number] - corners
        assert np.hypot(*off.mean(axis=0)) < 0.15
        # Light is blurred before it is encoded, as in a camera: white grows into black.
        assert np.hypot(*off.T).max() < 0.8


def test_the_real_reading_reads_the_picture(shot: Shot, bgr: Pixels, draughts: Plan):
    image = rectify(Frame(bgr, 0.0), draughts, px_per_mm=reading_scale(draughts))
    assert image is not None
    seen = Observer(draughts, DrawnLooks(draughts)).observe(image)
    wrong = {s for s in seen.beliefs if seen.best(s) != shot.layout.get(s, EMPTY)}
    assert not wrong
    assert len(seen.beliefs) >= 0.95 * len(draughts.sites)


def test_thick_pieces_hide_and_shade_the_board(shot: Shot, bgr: Pixels):
    bare = decode(photograph(replace(shot, layout={})))
    changed = np.abs(bgr.astype(int) - bare).max(axis=2) > 25
    laid = shot.project(np.array([(64 + 36, 44)]), ROOM.board_mm + 8)[0]
    assert changed[round(laid[1]), round(laid[0])]
    far = shot.project(np.array([(20, 170)]), ROOM.board_mm)[0]
    assert not changed[round(far[1]), round(far[0])]


@pytest.mark.parametrize("value", range(1, 7))
def test_the_pips_of_a_die_are_those_of_its_value(value: int):
    paint = Paint("white", (235, 235, 235), (20, 20, 20))
    die = Die(value, 45, 45, 25.0, 16.0, paint)
    room = replace(ROOM, size_px=(200, 200), away_mm=250.0, piece_roughness=0.6)
    room = replace(room, habits=replace(room.habits, tilt_deg=20.0, focal=2.2))
    shot = Shot(make_table("lines", 1, (90.0, 90.0)), room, 1, {}, (die,), cards=False, rays=16)
    side = 96
    square = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32)
    upright = cv2.getPerspectiveTransform(shot.top_px(die).astype(np.float32), square)
    top = cv2.warpPerspective(decode(photograph(shot)), upright, (side, side))
    gray = cv2.cvtColor(top, cv2.COLOR_BGR2GRAY)[8:-8, 8:-8]
    dark = (gray < 0.5 * np.percentile(gray, 80)).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark)
    assert sum(stats[k, cv2.CC_STAT_AREA] > 30 for k in range(1, count)) == value
