"""Where the board lies: found wherever it is pushed, and never found where it is not."""

from dataclasses import replace
from random import Random

import cv2
import numpy as np
import pytest

from rules.codec import decode, encode
from rules.table import EMPTY, Face, Site
from vision.board import (
    AS_PLANNED,
    BoardPicture,
    BoardPlace,
    BoardWatch,
    fit_place,
    place_by_taps,
    tap_sites,
)
from vision.cameras.virtual import VirtualCamera, VirtualTable
from vision.errors import BoardUnclear
from vision.frame import Frame
from vision.looks import DrawnLooks
from vision.observe import Observer, reading_scale
from vision.pose import project
from vision.rectify import rectify
from vision.render import Painter
from vision.stillness import Gate
from vision.textures import surface_texture
from vision.virtual.misbehaviour import CALM, Misbehaviour

HD = (1280, 720)


@pytest.fixture(scope="module")
def painter(draughts):
    return Painter(draughts, HD)


@pytest.fixture(scope="module")
def drawn(draughts):
    return BoardPicture.drawn(draughts)


def pushed(room, x_mm, y_mm, turn_deg):
    return replace(room, board_moved_mm=(x_mm, y_mm), board_turned_deg=turn_deg)


def picture(painter, plan, layout, room, place=AS_PLANNED):
    frame = Frame(painter.paint(layout, room), 0)
    return rectify(frame, plan, px_per_mm=reading_scale(plan), place=place)


def men(plan, rng, most):
    sites = rng.sample(plan.sites, rng.randrange(most))
    return {site: rng.choice(("white", "red")) for site in sites}


def test_a_place_and_its_matrix_are_the_same():
    place = BoardPlace(12.5, -3.0, 7.0, 1.01)
    again = BoardPlace.of_matrix(place.matrix())
    assert again.apart_mm(place, (400, 300)) < 1e-9
    assert decode(BoardPlace, encode(place)) == place


def test_a_board_is_pushed_about_its_middle():
    place = BoardPlace.pushed((400, 300), (10, -5), 90)
    middle, corner = project(place.matrix(), np.array([(200.0, 150.0), (0.0, 0.0)]))
    assert middle == pytest.approx((210, 145))
    assert corner == pytest.approx((360, -55))
    assert AS_PLANNED.apart_mm(BoardPlace(3, 4), (400, 300)) == pytest.approx(5)


def test_everything_seen_is_in_millimetres_of_the_plan(painter, draughts, opening):
    room = pushed(CALM, 14, -9, 5)
    place = BoardPlace.pushed(draughts.size_mm, (14, -9), 5)
    seen = Observer(draughts, DrawnLooks(draughts)).observe(
        picture(painter, draughts, opening, room, place)
    )
    right = {**draughts.bare(), **opening}
    assert len(seen.beliefs) > len(right) - 3
    assert all(seen.best(site) == right[site] for site in seen.beliefs)


class TestTaps:
    def test_the_outermost_sites_are_tapped(self, draughts):
        assert tap_sites(draughts) == ("a1", "a8", "h8", "h1")

    def test_imprecise_taps_are_evened_out(self, draughts):
        place = BoardPlace.pushed(draughts.size_mm, (20, 11), -6)
        truth = [(draughts.places[s].x_mm, draughts.places[s].y_mm) for s in tap_sites(draughts)]
        rng = Random(4)
        taps = project(place.matrix(), np.array(truth)) + [
            (rng.uniform(-2, 2), rng.uniform(-2, 2)) for _ in truth
        ]
        found = place_by_taps(draughts, [(x, y) for x, y in taps])
        assert found.apart_mm(place, draughts.size_mm) < 3

    @pytest.mark.parametrize(
        ("taps", "got"),
        [
            ([(64, 44), (316, 44), (316, 296)], "3 taps"),
            ([(64, 44), (316, 296), (316, 44), (64, 296)], "mm off"),
            ([(64, 44), (190, 44), (190, 170), (64, 170)], "0.50 times the size"),
        ],
        ids=["too few", "crossed", "half the size"],
    )
    def test_taps_that_no_board_fits_are_refused(self, draughts, taps, got):
        with pytest.raises(BoardUnclear, match=f"expected the middles of a1, a8.*{got}"):
            place_by_taps(draughts, taps)

    def test_a_fit_gives_back_what_was_put_in(self):
        place = BoardPlace(5, 6, 30, 1.02)
        points = np.array([(0, 0), (100, 0), (30, 70)], np.float64)
        assert fit_place(points, project(place.matrix(), points)).apart_mm(place, (1, 1)) < 1e-6


class TestDrawnPicture:
    @pytest.mark.parametrize("seed", range(12))
    def test_a_pushed_board_is_found_or_nothing_is(self, painter, draughts, drawn, seed):
        rng = Random(seed)
        push = rng.uniform(-25, 25), rng.uniform(-25, 25), rng.uniform(-9, 9)
        room = pushed(Misbehaviour.default(seed), *push)
        found = drawn.find(picture(painter, draughts, men(draughts, rng, 33), room))
        truth = BoardPlace.pushed(draughts.size_mm, push[:2], push[2])
        assert found is None or found.apart_mm(truth, draughts.size_mm) < 2.5

    def test_it_is_mostly_found_under_pieces(self, painter, draughts, drawn):
        found = 0
        for seed in range(20, 32):
            rng = Random(seed)
            room = pushed(Misbehaviour.default(seed), rng.uniform(-20, 20), 9, rng.uniform(-7, 7))
            layout = men(draughts, rng, 33)
            found += drawn.find(picture(painter, draughts, layout, room)) is not None
        assert found >= 10

    def test_out_of_reach_is_not_found(self, painter, draughts, drawn):
        for push in ((0, 0, 15), (0, 0, -20), (60, 0, 0), (70, 50, 30)):
            assert drawn.find(picture(painter, draughts, {}, pushed(CALM, *push))) is None

    @pytest.mark.parametrize("surface", ["wood", "cloth", "plain"])
    def test_no_board_is_found_on_a_bare_table(self, painter, draughts, drawn, surface):
        image = picture(painter, draughts, {}, CALM)
        height, width = image.bgr.shape[:2]
        for seed in range(6):
            other = replace(image, bgr=surface_texture(surface, height, width, seed))
            assert drawn.find(other) is None

    def test_another_board_is_not_taken_for_it(self, painter, draughts, drawn):
        image = picture(painter, draughts, {}, CALM)
        rng = np.random.default_rng(3)
        bgr = image.bgr.copy()
        for _ in range(80):
            x, y = rng.integers(0, bgr.shape[1]), rng.integers(0, bgr.shape[0])
            colour = tuple(int(v) for v in rng.integers(0, 255, 3))
            cv2.circle(bgr, (int(x), int(y)), int(rng.integers(20, 60)), colour, -1)
        assert drawn.find(replace(image, bgr=bgr)) is None


class TestTaughtPicture:
    @pytest.mark.parametrize("seed", range(8))
    def test_a_photographed_board_is_found_in_another_light(self, painter, draughts, opening, seed):
        rng = Random(seed)
        taught = BoardPicture.taught(picture(painter, draughts, opening, CALM), draughts)
        push = rng.uniform(-20, 20), rng.uniform(-20, 20), rng.uniform(-8, 8)
        room = pushed(Misbehaviour.default(seed), *push)
        moved = {s: f for s, f in opening.items() if rng.random() < 0.8}
        found = taught.find(picture(painter, draughts, moved, room))
        truth = BoardPlace.pushed(draughts.size_mm, push[:2], push[2])
        assert found is not None
        assert found.apart_mm(truth, draughts.size_mm) < 2

    @pytest.mark.parametrize("seed", range(8))
    def test_a_glance_measures_a_small_push(self, painter, draughts, opening, seed):
        rng = Random(seed)
        room = Misbehaviour.default(seed)
        taught = BoardPicture.taught(picture(painter, draughts, opening, room), draughts)
        push = rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(-0.5, 0.5)
        laid = {**opening, Site("d5"): Face("red")}
        found = taught.glance(picture(painter, draughts, laid, pushed(room, *push)))
        truth = BoardPlace.pushed(draughts.size_mm, push[:2], push[2])
        assert found is not None
        assert found.apart_mm(truth, draughts.size_mm) < 1.2

    def test_a_glance_does_not_see_far(self, painter, draughts, opening):
        taught = BoardPicture.taught(picture(painter, draughts, opening, CALM), draughts)
        far = picture(painter, draughts, opening, pushed(CALM, 30, 20, 8))
        assert taught.glance(far) is None


class TestWatch:
    def test_a_board_unlike_its_drawing_is_taken_to_lie_as_told(self, painter, draughts, opening):
        told = BoardPlace(2, 1, 0.5)
        watch = BoardWatch(draughts, told, pictures=[])
        image = picture(painter, draughts, opening, CALM, told)
        assert watch.look(image) == told
        watch.remember(image)
        moved = picture(painter, draughts, opening, pushed(CALM, 15, 0, 4), told)
        found = watch.look(moved)
        by = BoardPlace.pushed(draughts.size_mm, (15, 0), 4)
        expected = BoardPlace.of_matrix(by.matrix() @ told.matrix())
        assert found.apart_mm(expected, draughts.size_mm) < 2

    def test_one_that_was_known_and_is_gone_is_lost(self, painter, draughts, opening):
        watch = BoardWatch(draughts)
        watch.remember(picture(painter, draughts, opening, CALM))
        gone = picture(painter, draughts, opening, CALM)
        height, width = gone.bgr.shape[:2]
        gone = replace(gone, bgr=surface_texture("wood", height, width, 1))
        assert watch.look(gone) is None
        watch.forget()
        assert watch.look(gone) == AS_PLANNED

    def test_a_board_that_creeps_is_noticed(self, painter, draughts, opening):
        watch = BoardWatch(draughts)
        for step in range(9):
            room = pushed(CALM, 0.4 * step, 0, 0)
            image = picture(painter, draughts, opening, room, watch.place)
            place = watch.look(image)
            if place != watch.place:
                image = picture(painter, draughts, opening, room, place)
            watch.remember(image)
        assert watch.place.x_mm == pytest.approx(3.2, abs=1.3)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_pushes_during_play_are_followed(draughts, opening, seed):
    """The board is pushed between moves: every clear picture is read without a mistake."""
    rng, now_s = Random(seed), 0.0
    table = VirtualTable(draughts, opening)
    room = replace(Misbehaviour.default(seed), covered_cards=0)
    camera = VirtualCamera(table, room, size=HD, clock=lambda: now_s, wait=lambda _: None)
    gate = Gate(draughts, px_per_mm=reading_scale(draughts))
    observer = Observer(draughts, DrawnLooks(draughts))
    for push in ((0, 0, 0), (1, 1, 0.2), (6, -5, 1), (18, 10, -5), (-4, -12, 3)):
        table.push(*push)
        free = [site for site in draughts.sites if site not in table.lying()]
        table.lay({rng.choice(free): Face("red")})
        for _ in range(5):
            now_s += 0.25
            sight = gate.feed(camera.read())
        assert sight.state == "clear", push
        seen = observer.observe(sight.image)
        lying = table.lying()
        assert all(seen.best(s) == lying.get(s, EMPTY) for s in seen.beliefs), push
    table.push(100, 90, 45)
    for _ in range(5):
        now_s += 0.25
        sight = gate.feed(camera.read())
    assert (sight.state, sight.trouble.code) == ("lost", "board_lost")
