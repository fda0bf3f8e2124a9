"""Dice: drawn tables with seeds that no net was trained on, read by the nets that ship."""

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from vision.dice import find_dice, search
from vision.dice.find import WEIGHTS
from vision.dice.render import PIPS, draw_scene
from vision.evaluate.__main__ import main
from vision.evaluate.dice import measure

FIRST_SEED = 7_000_000


def draw(seed, width_px, size_px, most):
    return draw_scene(np.random.default_rng(FIRST_SEED + seed), width_px, size_px, most)


def pair(scene, dice):
    """For each drawn die the found one in its middle, or none."""
    return [
        next(
            (
                die
                for die in dice
                if np.hypot(die.x_px - drawn.x_px, die.y_px - drawn.y_px) < 0.4 * drawn.size_px
            ),
            None,
        )
        for drawn in scene.dice
    ]


def count(scenes):
    """Drawn, right and false dice, and how often a sure die was wrong."""
    drawn = right = false = silent = 0
    for scene in scenes:
        found = find_dice(scene.bgr)
        pairs = pair(scene, found)
        drawn += len(scene.dice)
        for truth, die in zip(scene.dice, pairs, strict=True):
            right += die is not None and die.value == truth.value
            silent += die is not None and die.sure and die.value != truth.value
        false += len(found) - sum(die is not None for die in pairs)
    return drawn, right, false, silent


def test_the_same_seed_draws_the_same_scene():
    one, two = (draw_scene(np.random.default_rng(FIRST_SEED)) for _ in range(2))
    assert np.array_equal(one.bgr, two.bgr)
    assert one.dice == two.dice


def test_a_drawn_value_has_as_many_pips():
    assert {value: len(set(pips)) for value, pips in PIPS.items()} == {v: v for v in range(1, 7)}


@pytest.mark.parametrize("size_px", [24, 40, 70])
def test_dice_of_any_colour_are_read_at_many_sizes(size_px):
    scenes = [draw(seed, 320, size_px, 8) for seed in range(16)]
    drawn, right, false, silent = count(scenes)
    assert drawn >= 50
    assert right >= 0.9 * drawn
    assert false <= 0.05 * drawn
    assert silent <= 0.02 * drawn


def test_very_large_dice_are_read():
    scenes = [draw(100 + seed, 480, 140, 3) for seed in range(10)]
    drawn, right, _, _ = count(scenes)
    assert drawn >= 12
    assert right >= 0.85 * drawn


def test_small_dice_in_a_large_picture_are_not_lost():
    scene = draw(200, 1280, 34, 12)
    drawn, right, _, _ = count([scene])
    assert drawn >= 6
    assert right >= 0.9 * drawn


def test_values_survive_another_light():
    scenes = [draw(300 + seed, 320, 42, 6) for seed in range(8)]
    drawn = right = 0
    for scene in scenes:
        warm = np.clip(scene.bgr * np.array([0.45, 0.65, 0.8]), 0, 255).astype(np.uint8)
        for truth, die in zip(scene.dice, pair(scene, find_dice(warm)), strict=True):
            drawn += 1
            right += die is not None and die.value == truth.value
    assert drawn >= 15
    assert right >= 0.85 * drawn


def test_beliefs_are_a_distribution_and_the_value_is_the_strongest():
    scene = draw(400, 320, 40, 9)
    dice = find_dice(scene.bgr)
    assert dice
    for die in dice:
        assert sum(die.beliefs.values()) == pytest.approx(1)
        assert die.value == max(die.beliefs, key=die.beliefs.get)


def test_the_colour_is_that_of_the_body():
    red, white = (30, 30, 190), (235, 235, 235)
    picture = np.full((300, 300, 3), (120, 150, 140), np.uint8)
    for left, body, pip in ((60, red, white), (180, white, (20, 20, 20))):
        cv2.rectangle(picture, (left, 130), (left + 44, 174), body, -1)
        for across, down in PIPS[5]:
            cv2.circle(picture, (left + 22 + 12 * across, 152 + 12 * down), 4, pip, -1, cv2.LINE_AA)
    dice = sorted(find_dice(picture), key=lambda die: die.x_px)
    assert [die.value for die in dice] == [5, 5]
    for die, body in zip(dice, (red, white), strict=True):
        assert np.abs(np.subtract(die.colour_bgr, body)).max() < 12


@pytest.mark.parametrize("shape", [(1, 1), (3, 900), (240, 320), (720, 1280)])
def test_a_picture_without_dice_has_none(shape):
    assert find_dice(np.full((*shape, 3), 128, np.uint8)) == ()


def test_dice_that_cannot_be_read_are_asked_or_refused():
    smeared = 0
    for seed in range(8):
        scene = draw(500 + seed, 320, 30, 6)
        sight = search(cv2.GaussianBlur(scene.bgr, (0, 0), 7))
        smeared += len(scene.dice)
        assert not [die for die in sight.dice if die.sure]
    assert smeared >= 15


def test_the_weights_are_small():
    sizes = [path.stat().st_size for path in WEIGHTS.glob("*.onnx")]
    assert len(sizes) == 2
    assert sum(sizes) < 5_000_000


def write_set(folder, scenes):
    photos = []
    for number, scene in enumerate(scenes):
        cv2.imwrite(str(folder / f"{number}.png"), scene.bgr)
        boxes = [
            {
                "value": die.value,
                "box_px": [
                    die.x_px - die.size_px / 2, die.y_px - die.size_px / 2,
                    die.x_px + die.size_px / 2, die.y_px + die.size_px / 2,
                ],
            }
            for die in scene.dice
        ]  # fmt: skip
        photos.append({"image": f"{number}.png", "dice": boxes})
    return {"kind": "dice", "box": "whole die as seen", "photos": photos}


@pytest.fixture
def easy_set(tmp_path):
    """Photos in which every die is read right, as the first of many seeds that are."""
    scenes = []
    for seed in range(100):
        scene = draw(600 + seed, 320, 44, 4)
        if scene.dice and count([scene]) == (len(scene.dice), len(scene.dice), 0, 0):
            scenes.append(scene)
        if len(scenes) == 3:
            break
    return tmp_path, write_set(tmp_path, scenes)


def test_the_measurement_counts_what_is_right(easy_set):
    folder, truth = easy_set
    figures = measure(truth, folder, folder / "out").figures
    assert figures["photos"] == figures["exact_totals"] == 3
    assert figures["right"] == figures["dice"] > 0
    assert not (folder / "out").exists()


def test_the_measurement_counts_every_kind_of_mistake(easy_set):
    folder, truth = easy_set
    truth = json.loads(json.dumps(truth))
    wrong, unknown, absent = (photo["dice"] for photo in truth["photos"])
    wrong[0]["value"] = wrong[0]["value"] % 6 + 1
    unknown.pop()
    absent.append({"value": 4, "box_px": [0, 0, 3, 3]})
    summary = measure(truth, folder, folder / "out")
    assert summary.figures["exact_totals"] == 0
    assert summary.figures["missed"] == 1
    assert summary.figures["false"] == 1
    assert summary.figures["right"] == summary.figures["dice"] - 2
    assert [row["exact"] for row in summary.rows] == [0, 0, 0]
    assert len(list((folder / "out").iterdir())) == 3


def test_named_photos_are_left_out(easy_set, tmp_path):
    folder, truth = easy_set
    (folder / "truth.json").write_text(json.dumps(truth))
    faults = tmp_path / "faults.txt"
    faults.write_text("1\n")
    done = CliRunner().invoke(
        main, [str(folder), "--without", str(faults), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    rows = (tmp_path / "out" / folder.name / "photos.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in rows[1:]] == ["0.png", "2.png"]
