"""Bad pictures are named: each for what it is, and none that is good."""

from dataclasses import replace
from random import Random

import cv2
import numpy as np
import pytest

from rules.status import TroubleCode
from rules.table import EMPTY, Face
from rules.texts import CORE, LANGUAGES, load
from vision.cards import Cards, card_corners_mm, find_cards
from vision.frame import Frame
from vision.looks import DrawnLooks
from vision.observe import Observer, reading_scale
from vision.pose import project
from vision.rectify import rectify
from vision.render import Moment, Painter
from vision.textures import card_texture, surface_texture
from vision.trouble import doubt, examine, explain_lost, find_glare
from vision.virtual.misbehaviour import CALM, Misbehaviour

SEEDS = range(100, 110)


@pytest.fixture(scope="module")
def painter(draughts):
    return Painter(draughts)


@pytest.fixture(scope="module")
def observer(draughts):
    return Observer(draughts, DrawnLooks(draughts))


@pytest.fixture
def judge(draughts):
    """What is wrong with the whole of a picture."""

    def judge(bgr):
        frame = Frame(bgr, 0)
        cards = find_cards(bgr)
        image = rectify(frame, draughts, px_per_mm=reading_scale(draughts), cards=cards)
        if image is None:
            return explain_lost(frame, cards, draughts)
        return examine(frame, cards, image, draughts)

    return judge


def code(trouble):
    return trouble.code if trouble else None


def draw_cat(seed, size=(1920, 1080)):
    """Fur, ears, eyes and whiskers on a rug, with the grain of a photograph."""
    rng = np.random.default_rng(seed)
    width, height = size
    bgr = surface_texture(("wood", "cloth", "plain")[seed % 3], height, width, seed)
    fur = tuple(int(v) for v in rng.uniform(40, 210, 3))
    x, y = int(rng.uniform(0.3, 0.7) * width), int(rng.uniform(0.4, 0.7) * height)
    s = int(rng.uniform(0.15, 0.35) * height)
    cv2.ellipse(bgr, (x, y + s), (s, int(1.4 * s)), 0, 0, 360, fur, -1, cv2.LINE_AA)
    cv2.circle(bgr, (x, y - s // 2), int(0.7 * s), fur, -1, cv2.LINE_AA)
    for side in (-1, 1):
        ear = [(0.6, -0.5), (0.55, -1.5), (0.1, -1.0)]
        points = [(x + int(side * dx * s), y + int(dy * s)) for dx, dy in ear]
        cv2.fillPoly(bgr, [np.array(points, np.int32)], fur, cv2.LINE_AA)
        cv2.circle(bgr, (x + side * s // 4, y - s // 2), s // 9, (60, 200, 190), -1, cv2.LINE_AA)
        for k in (-1, 0, 1):
            nose, tip = (x + side * s // 6, y - s // 4), (x + side * s, y - s // 4 + k * s // 6)
            cv2.line(bgr, nose, tip, (230, 230, 230), 2, cv2.LINE_AA)
    grain = cv2.resize(rng.normal(0, 12, (height // 3, width // 3)).astype(np.float32), size)
    noisy = bgr + grain[:, :, None] + rng.normal(0, 3, bgr.shape)
    return cv2.GaussianBlur(np.clip(noisy, 0, 255).astype(np.uint8), (0, 0), rng.uniform(0.6, 1.4))


@pytest.mark.parametrize("seed", range(200, 224))
def test_a_good_picture_is_no_trouble(painter, opening, judge, seed):
    assert judge(painter.paint(opening, Misbehaviour.default(seed))) is None


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"exposure_ev": -6.0}, "too_dark"),
        ({"exposure_ev": -8.0}, "too_dark"),
        ({"exposure_ev": -12.0}, "too_dark"),
        ({"exposure_ev": 4.0}, "too_bright"),
        ({"exposure_ev": 8.0}, "too_bright"),
        ({"blur_px": 6.0}, "blurred"),
        ({"blur_px": 15.0}, "blurred"),
        ({"covered_cards": 2}, "cards_missing"),
        ({"covered_cards": 3}, "cards_missing"),
        ({"covered_cards": 4}, "no_cards"),
    ],
    ids=str,
)
def test_a_spoiled_picture_is_named(painter, opening, judge, seed, change, expected):
    room = replace(Misbehaviour.default(seed), **{"covered_cards": 0, **change})
    assert code(judge(painter.paint(opening, room))) == expected


@pytest.mark.parametrize("seed", range(12))
def test_a_cat_is_no_table(judge, seed):
    assert code(judge(draw_cat(seed))) == "no_cards"


@pytest.mark.parametrize("surface", ["wood", "cloth", "plain"])
def test_a_bare_table_has_no_cards(judge, surface):
    for seed in range(6):
        assert code(judge(surface_texture(surface, 1080, 1920, seed))) in ("no_cards", "too_dark")


@pytest.mark.parametrize("size", [(64, 48), (640, 480), (3840, 2160)])
def test_pictures_of_any_size_are_judged(judge, size):
    width, height = size
    for level, expected in ((0, "too_dark"), (128, "no_cards"), (255, "too_bright")):
        assert code(judge(np.full((height, width, 3), level, np.uint8))) == expected


def test_the_missing_cards_are_named(painter, judge):
    trouble = judge(painter.paint({}, CALM, Moment(covered=frozenset({1, 2}))))
    assert trouble.cards == (2, 3)
    said = load("en", CORE).say(f"trouble.{trouble.code}", trouble.fields)
    assert said.startswith("Not in view: card 2 (top right), card 3 (bottom right). Turn the")


def shifted(bgr, x_px, y_px):
    """The same view with the camera turned away."""
    size = bgr.shape[1], bgr.shape[0]
    return cv2.warpAffine(bgr, np.array([[1.0, 0, x_px], [0, 1, y_px]]), size)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_half_out_of_view_is_named(painter, opening, judge, seed):
    rng = Random(seed)
    bgr = painter.paint(opening, replace(Misbehaviour.default(seed), covered_cards=0))
    by = rng.choice((-1, 1)) * rng.uniform(0.4, 0.6)
    half = rng.choice((shifted(bgr, by * 1920, 0), shifted(bgr, 0, by * 1080)))
    trouble = judge(half)
    assert trouble.code in ("cards_missing", "out_of_view")
    assert trouble.cards or trouble.sites


def test_sites_out_of_view_are_named_though_three_cards_are_seen(draughts, painter, opening):
    whole = painter.paint(opening, CALM)
    image = rectify(Frame(whole, 0), draughts, px_per_mm=2)
    x, _ = project(image.homography, np.array([[draughts.places["a1"].x_mm, 200.0]]))[0]
    cut = Frame(whole[:, int(x) :], 0)
    moved = replace(
        image, homography=np.array([[1, 0, -int(x)], [0, 1, 0], [0, 0, 1]]) @ image.homography
    )
    trouble = examine(cut, Cards(), moved, draughts)
    assert trouble.code == "out_of_view"
    assert set(trouble.sites) == {s for s in draughts.sites if s[1] == "1"}


@pytest.mark.parametrize("number", range(4))
def test_a_card_that_was_moved_is_named(draughts, painter, opening, judge, number):
    bgr = painter.paint(opening, CALM).copy()
    flat = painter.pose(CALM).homography()
    paper = card_corners_mm(draughts.size_mm)[number]
    inwards = np.sign(np.array(draughts.size_mm) / 2 - paper.mean(axis=0))
    cv2.fillConvexPoly(bgr, np.rint(project(flat, paper)).astype(np.int32), (70, 100, 140))
    texture = card_texture(number, 4.0)
    side = texture.shape[0]
    corners = np.array([(0, 0), (side, 0), (side, side), (0, side)], np.float32)
    there = project(flat, paper + inwards * (26, 9)).astype(np.float32)
    warp = cv2.getPerspectiveTransform(corners, there)
    laid = cv2.warpPerspective(texture, warp, (1920, 1080))
    bgr[laid[:, :, 3] > 127] = laid[laid[:, :, 3] > 127][:, :3]
    trouble = judge(bgr)
    assert trouble.code == "cards_moved"
    assert number + 1 in trouble.cards


def test_swapped_cards_are_named(draughts, painter, judge):
    bgr = painter.paint({}, CALM)
    assert code(judge(np.ascontiguousarray(np.roll(bgr, 960, axis=1)))) == "cards_moved"


class TestGlare:
    @pytest.fixture
    def read(self, draughts, painter, observer):
        def read(layout, room):
            bgr = painter.paint(layout, room)
            image = rectify(Frame(bgr, 0), draughts, px_per_mm=reading_scale(draughts))
            return image, observer.observe(image)

        return read

    @pytest.mark.parametrize("seed", range(300, 312))
    def test_no_reflection_is_invented(self, draughts, opening, read, seed):
        room = replace(Misbehaviour.default(seed), glare=0.0)
        assert find_glare(read(opening, room)[0], draughts) == frozenset()

    @pytest.mark.parametrize("seed", range(300, 312))
    def test_what_a_reflection_hides_is_not_taken_for_bare(self, draughts, read, seed):
        rng = Random(seed)
        room = replace(Misbehaviour.default(seed), covered_cards=0, glare=1.0)
        layout = {
            s: Face(rng.choice(("white", "red"))) for s in draughts.sites if rng.random() < 0.6
        }
        image, seen = read(layout, room)
        cleared, trouble = doubt(image, draughts, seen)
        wrong = [s for s in cleared.beliefs if cleared.best(s) != layout.get(s, EMPTY)]
        assert wrong == []
        if set(find_glare(image, draughts)) - set(cleared.beliefs):
            assert trouble.code in ("glare", "foreign")


class TestForeign:
    THINGS = {  # noqa: RUF012
        "coin": ((150, 165, 170), 11),
        "bottle top": ((40, 40, 170), 14),
        "eraser": ((190, 170, 220), 13),
        "key ring": ((140, 140, 140), 12),
        "leaf": ((40, 140, 60), 15),
    }

    @pytest.mark.parametrize("thing", THINGS)
    def test_a_foreign_thing_is_never_taken_for_nothing(
        self, draughts, painter, observer, opening, thing
    ):
        colour, radius_mm = self.THINGS[thing]
        for seed, site in enumerate(("d4", "e7", "d1")):
            room = replace(Misbehaviour.default(seed), covered_cards=0, glare=0.0)
            bgr = painter.paint(opening, room).copy()
            place = draughts.places[site]
            angles = np.linspace(0, 2 * np.pi, 40)
            ring = radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])
            outline = project(
                painter.pose(room).homography(), ring + np.array([place.x_mm, place.y_mm])
            )
            cv2.fillPoly(bgr, [np.rint(outline).astype(np.int32)], colour, cv2.LINE_AA)
            image = rectify(Frame(bgr, 0), draughts, px_per_mm=reading_scale(draughts))
            seen, trouble = doubt(image, draughts, observer.observe(image))
            assert site not in seen.beliefs or seen.best(site) != EMPTY
            if site not in seen.beliefs:
                assert trouble.code == "foreign"
                assert site in trouble.sites


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_trouble_has_a_sentence(language):
    texts = load(language, CORE)
    codes = TroubleCode.__args__
    said = {c: texts.say(f"trouble.{c}", {"cards": ("card_1",), "sites": ("h8",)}) for c in codes}
    assert not [c for c in codes if "[" in said[c]]
    assert all("h8" in said[c] for c in ("glare", "foreign", "out_of_view"))
    assert {k.split(".")[1] for k in list(texts.keys()) if k.startswith("trouble.")} == set(codes)
