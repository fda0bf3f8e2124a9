"""When the table may be read: never while something moves or a hand is over it."""

from dataclasses import replace
from itertools import chain
from random import Random

import cv2
import numpy as np
import pytest

from rules.table import EMPTY, Face, Site
from vision.cameras.virtual import VirtualCamera, VirtualTable
from vision.frame import Frame
from vision.rectify import rectify
from vision.render import Moment, Painter
from vision.stillness import Gate, Stillness, hands_over
from vision.virtual.arm import SKINS, SLEEVES, Arm, outlines
from vision.virtual.misbehaviour import CALM, DEFAULT, Misbehaviour

HD = (1280, 720)


@pytest.fixture(scope="module")
def painter(draughts):
    return Painter(draughts, HD)


def rectified(painter, plan, layout, room, moment=Moment()):  # noqa: B008
    image = rectify(Frame(painter.paint(layout, room, moment), 0), plan, px_per_mm=2)
    assert image is not None
    return image


def over_table_mm2(arm, size_mm):
    """How much of the table an arm covers, seen from above."""
    width, height = (int(side) for side in size_mm)
    mask = np.zeros((height, width), np.uint8)
    for shape in chain(*outlines(arm, size_mm)):
        cv2.fillPoly(mask, [np.rint(shape).astype(np.int32)], 1)
    return int(mask.sum())


def random_arm(rng, plan, reach=1.0):
    return Arm(
        (rng.uniform(20, plan.size_mm[0] - 20), rng.uniform(20, plan.size_mm[1] - 20)),
        from_deg=rng.uniform(0, 360),
        reach=reach,
        skin=rng.choice(SKINS),
        sleeve=rng.choice(SLEEVES),
    )


def test_a_table_is_still_only_after_a_while(painter, opening):
    stillness = Stillness(settle_s=0.4)
    seen = [
        stillness.feed(Frame(painter.paint(opening, DEFAULT, Moment(tick=n)), n / 10))
        for n in range(8)
    ]
    assert seen == ["moving"] * 4 + ["still"] * 4


def test_one_laid_piece_is_motion(painter, opening):
    stillness = Stillness()
    for n in range(8):
        stillness.feed(Frame(painter.paint(opening, CALM, Moment(tick=n)), n / 10))
    laid = {**opening, Site("d4"): Face("red")}
    assert stillness.feed(Frame(painter.paint(laid, CALM), 0.9)) == "moving"
    assert stillness.feed(Frame(painter.paint(laid, CALM), 1.1)) == "moving"
    assert stillness.feed(Frame(painter.paint(laid, CALM), 1.4)) == "still"


def test_slow_motion_adds_up():
    """A hand that creeps changes each frame too little to be noticed against the last one."""
    stillness = Stillness(settle_s=0.5)
    seen = []
    for n in range(40):
        bgr = np.full((720, 1280, 3), 90, np.uint8)
        cv2.circle(bgr, (200 + n, 360), 60, (160, 160, 160), -1)
        seen.append(stillness.feed(Frame(cv2.blur(bgr, (31, 31)), n / 10)))
    assert seen[8:].count("moving") > 8


def test_wandering_exposure_is_no_motion(painter, opening):
    stillness = Stillness()
    seen = [
        stillness.feed(Frame(painter.paint(opening, replace(CALM, exposure_ev=-n * 0.05)), n / 10))
        for n in range(10)
    ]
    assert seen[5:] == ["still"] * 5


def test_a_bump_is_motion(painter, opening):
    stillness = Stillness()
    for n in range(8):
        stillness.feed(Frame(painter.paint(opening, CALM, Moment(tick=n)), n / 10))
    bumped = painter.paint(opening, CALM, Moment(bump_deg=(0.4, -0.3)))
    assert stillness.feed(Frame(bumped, 0.8)) == "moving"


def test_another_size_of_frames_is_motion():
    stillness = Stillness(settle_s=0)
    stillness.feed(Frame(np.zeros((720, 1280, 3), np.uint8), 0))
    assert stillness.feed(Frame(np.zeros((480, 640, 3), np.uint8), 1)) == "moving"
    assert stillness.feed(Frame(np.zeros((480, 640, 3), np.uint8), 2)) == "still"


@pytest.mark.parametrize("seed", range(12))
def test_hands_are_found_in_any_room(painter, draughts, opening, seed):
    rng = Random(seed)
    room = replace(Misbehaviour.default(seed), covered_cards=0)
    clear = rectified(painter, draughts, opening, room)
    found = 0
    for tick in range(6):
        arm = random_arm(rng, draughts)
        bgr = painter.paint(opening, room, Moment(tick=tick, arm=arm))
        image = rectify(Frame(bgr, 0), draughts, px_per_mm=2)
        # Without three cards nothing is read at all.
        if image is not None and over_table_mm2(arm, draughts.size_mm) > 300:
            assert hands_over(image, clear, draughts), arm
            found += 1
    assert found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"exposure_ev": -1.0},
        {"light_k": 3000.0, "gradient": 0.4, "gradient_towards_deg": 120.0},
        {"big_shadow": 0.5},
        {"glare": 0.4},
    ],
    ids=["nothing", "dark", "lamp", "shadow", "glare"],
)
def test_laid_pieces_and_light_are_no_hands(painter, draughts, opening, seed, change):
    rng = Random(seed)
    room = replace(Misbehaviour.default(seed), covered_cards=0)
    clear = rectified(painter, draughts, opening, room)
    empty = [site for site in draughts.sites if site not in opening]
    laid = {site: Face("red") for site in rng.sample(empty, 3)}
    taken = dict.fromkeys(rng.sample(sorted(opening), 2), EMPTY)
    knocked = Moment(tick=1, bump_deg=(0.5, -0.4))
    image = rectified(
        painter, draughts, {**opening, **laid, **taken}, replace(room, **change), knocked
    )
    assert not hands_over(image, clear, draughts)


def test_a_cup_amid_the_table_is_foreign(painter, draughts, opening):
    clear = rectified(painter, draughts, opening, CALM)
    bgr = painter.paint(opening, CALM).copy()
    cv2.circle(bgr, (640, 360), 80, (90, 60, 40), -1)
    image = rectify(Frame(bgr, 0), draughts, px_per_mm=2)
    assert hands_over(image, clear, draughts)
    assert not hands_over(image, clear, draughts, most_sites=64)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_read_while_a_hand_is_over_the_table(draughts, opening, seed):
    """Half a minute of play: hands come and lay pieces, somebody knocks, the light changes."""
    rng = Random(seed)
    now_s = 0.0
    table = VirtualTable(draughts, opening)
    room = replace(DEFAULT, seed=seed, hands_per_min=0, bumps_per_min=0, lost_frames=0)
    camera = VirtualCamera(table, room, size=HD, clock=lambda: now_s, wait=lambda _: None)
    gate = Gate(draughts, px_per_mm=2)
    states, laid = [], 0
    for n in range(300):
        now_s = n / 10
        phase = n % 30
        if phase == 12:
            arm = random_arm(rng, draughts)
        if phase == 20:
            empty = [site for site in draughts.sites if site not in table.lying()]
            table.lay({rng.choice(empty): rng.choice((Face("red"), Face("white")))})
            laid += 1
        if n in (61, 200):
            table.bump()
        # In, a rest of a second over the table as long as stillness itself, and out again.
        reach = max(0.0, min(1.0, (phase - 11) / 4, (28 - phase) / 4))
        table.hand = replace(arm, reach=reach) if reach else None
        sight = gate.feed(camera.read())
        hidden_mm2 = over_table_mm2(table.hand, draughts.size_mm) if table.hand else 0
        states.append((sight.state, hidden_mm2))
    assert not [hidden for state, hidden in states if state == "clear" and hidden > 0]
    assert laid == 10
    assert [hidden for state, hidden in states if state in ("covered", "lost") and hidden]
    for phase in (10, 40, 70, 100, 130, 160, 190, 220, 250, 280):
        assert "clear" in [state for state, _ in states[phase - 2 : phase + 1]], phase


def feed_for(gate, painter, layout, room, from_s, seconds, arm=None):
    """The last state after so many seconds of the same picture."""
    state = ""
    for n in range(int(seconds * 10)):
        moment = Moment(tick=n, arm=arm)
        state = gate.feed(Frame(painter.paint(layout, room, moment), from_s + n / 10)).state
    return state


def test_what_covers_the_table_for_long_is_accepted_and_forgiven(painter, draughts, opening):
    gate = Gate(draughts, px_per_mm=2, accept_s=2.0)
    elbow = Arm((190, 40), from_deg=270)
    assert feed_for(gate, painter, opening, CALM, 0, 1) == "clear"
    assert feed_for(gate, painter, opening, CALM, 1, 1.5, elbow) == "covered"
    assert feed_for(gate, painter, opening, CALM, 2.5, 1, elbow) == "clear"
    assert feed_for(gate, painter, opening, CALM, 3.5, 1) == "clear"


def test_somebody_can_say_that_the_table_is_clear(painter, draughts, opening):
    gate = Gate(draughts, px_per_mm=2)
    full = dict.fromkeys(draughts.sites, Face("red"))
    assert feed_for(gate, painter, opening, CALM, 0, 1) == "clear"
    assert feed_for(gate, painter, full, CALM, 1, 1) == "covered"
    gate.accept()
    assert feed_for(gate, painter, full, CALM, 2, 1) == "clear"


def test_covered_cards_lose_the_table(painter, draughts):
    gate = Gate(draughts, px_per_mm=2)
    frame = painter.paint({}, CALM, Moment(covered=frozenset({0, 1})))
    assert [gate.feed(Frame(frame, n / 2)).state for n in range(3)] == ["moving", "lost", "lost"]
