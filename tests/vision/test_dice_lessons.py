"""Drawn dice and what is cut out of them for training: truth that fits the pixels."""

import json

import cv2
import numpy as np
import pytest

from vision.dice.cube import PIPS, pose_die, shade_die
from vision.dice.find import CROP_PX, STRIDE_PX, USUAL_PX
from vision.dice.lessons import (
    DRAWN_SHARE,
    PATCH_PX,
    Lesson,
    draw_crop,
    draw_lessons,
    draw_patch,
    read_photos,
    weigh,
)
from vision.dice.render import Scene, choose_paint, draw_scene

FIRST_SEED = 8_000_000


def rng_of(seed):
    return np.random.default_rng(FIRST_SEED + seed)


def lesson_with_dice(origin=""):
    for seed in range(50):
        scene = draw_scene(rng_of(seed), 240, 40, 5)
        if len(scene.dice) >= 3:
            return Lesson(scene, origin)
    raise AssertionError("no scene has three dice")


def test_the_same_seed_draws_the_same_scene():
    one, two = (draw_scene(rng_of(0)) for _ in range(2))
    assert np.array_equal(one.bgr, two.bgr)
    assert one.dice == two.dice


def test_lessons_do_not_depend_on_the_number_of_cores():
    one, two = (draw_lessons(FIRST_SEED, 3, (), cores) for cores in (1, 2))
    assert [lesson.scene.dice for lesson in one] == [lesson.scene.dice for lesson in two]


def test_photographed_surfaces_are_used():
    surface = np.zeros((200, 200, 3), np.uint8)
    surface[:, ::2] = (0, 0, 255)
    plain, used = (
        [draw_scene(rng_of(seed), 64, 20, 0, pictures).bgr for seed in range(30)]
        for pictures in ((), (surface,))
    )
    assert any(not np.array_equal(a, b) for a, b in zip(plain, used, strict=True))


@pytest.mark.parametrize("value", range(1, 7))
def test_a_die_from_above_shows_its_pips(value):
    rng = rng_of(value)
    paint = choose_paint(rng)
    black_on_white = {"body": np.ones(3), "pip": np.zeros(3), "marbling": 0.0, "clear": 0.0}
    paint = type(paint)(**{**vars(paint), **black_on_white, "rounding": 0.1, "radius": 0.08})
    pose = pose_die(rng, 0.0, 0.0, 1000.0, value)
    colour, cover, shade = shade_die(rng, pose, paint, 100, (100, 100), (200, 200), (), np.ones(3))
    assert len(PIPS[value]) == value
    dark = ((colour.mean(axis=2) < 0.3) & (cover > 0.5)).astype(np.uint8)
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark)
    assert sum(stats[1:count, cv2.CC_STAT_AREA] > 60) == value
    assert 0.85 * 100**2 < cover.sum() < 1.05 * 100**2
    assert shade[0, 0] == pytest.approx(1, abs=0.05)
    assert shade[100, 160] < shade[0, 0]


def test_opposite_faces_make_seven_and_the_top_is_named():
    for seed in range(20):
        pose = pose_die(rng_of(seed), 0.3, 1.0, 10.0)
        assert len({min(value, 7 - value) for value in pose.values}) == 3


def test_a_patch_has_its_peaks_where_the_dice_are():
    lesson = lesson_with_dice()
    seen = 0
    for seed in range(40):
        bgr, target = draw_patch(rng_of(seed), lesson)
        assert bgr.shape == (PATCH_PX, PATCH_PX, 3)
        peaks = np.argwhere(target[0] == 1)
        for row, column in peaks:
            seen += 1
            assert int(target[1, row, column]) + 1 in {d.value for d in lesson.scene.dice}
            size_px = USUAL_PX * np.exp(target[2, row, column])
            assert 10 < size_px < 140
            assert target[3, row, column] == 1
    assert target.shape[1:] == (PATCH_PX // STRIDE_PX,) * 2
    assert seen > 20


def test_crops_name_the_value_or_nothing():
    lesson = lesson_with_dice()
    values = []
    for seed in range(60):
        bgr, value, which = draw_crop(rng_of(seed), lesson)
        assert bgr.shape == (CROP_PX, CROP_PX, 3)
        assert (value == 0) == (which < 0)
        if which >= 0:
            assert value == lesson.scene.dice[which].value
        values.append(value)
    assert 0 < values.count(0) < len(values)


def test_sets_of_photos_share_what_drawings_leave():
    drawn, one, two = lesson_with_dice(), lesson_with_dice("one"), lesson_with_dice("two")
    weights = weigh([drawn, drawn, one, two, two])
    assert weights.sum() == pytest.approx(1)
    assert weights[:2].sum() == pytest.approx(DRAWN_SHARE)
    assert weights[2] == pytest.approx(weights[3:].sum())


def test_drawings_alone_have_all_the_weight():
    assert weigh([lesson_with_dice()]) == pytest.approx([1.0])


def write_photos(folder, box, dice, count=1):
    for number in range(count):
        cv2.imwrite(str(folder / f"{number}.png"), np.zeros((40, 40, 3), np.uint8))
    photos = [{"image": f"{number}.png", "dice": dice} for number in range(count)]
    (folder / "truth.json").write_text(json.dumps({"kind": "dice", "box": box, "photos": photos}))


@pytest.mark.parametrize(
    ("box", "die", "size_px"),
    [
        ("whole die as seen", {"value": 2, "box_px": [0, 0, 20, 20]}, 16.4),
        ("pips of the top face", {"value": 6, "box_px": [0, 0, 11, 0]}, 10),
        ("pips of the top face", {"value": 1, "box_px": [0, 0, 3, 3]}, 56),
        (
            "top face",
            {"value": 3, "box_px": [0, 0, 20, 20], "top_px": [[9, 0], [19, 10], [9, 20], [-1, 10]]},
            200**0.5,
        ),
    ],
)  # fmt: skip
def test_the_size_of_the_top_face_follows_from_the_kind_of_box(tmp_path, box, die, size_px):
    write_photos(tmp_path, box, [die])
    (lesson,) = read_photos(tmp_path)
    assert lesson.scene.dice[0].size_px == pytest.approx(size_px)
    assert lesson.origin == tmp_path.name


def test_every_second_ten_photos_are_held_out(tmp_path):
    write_photos(tmp_path, "", [], 25)
    held = {fold: len(read_photos(tmp_path, fold)) for fold in (None, 0, 1)}
    assert held == {None: 25, 0: 10, 1: 15}
    assert len(read_photos(tmp_path, None, frozenset({"3", "4"}))) == 23


def test_a_lesson_without_dice_is_possible():
    empty = Lesson(Scene(np.full((200, 200, 3), 90, np.uint8), (), ()))
    _, target = draw_patch(rng_of(1), empty)
    assert target[0].max() == 0
    assert draw_crop(rng_of(1), empty)[1] == 0
