"""The measurement of dice: counts, colours, flags and pictures of mistakes."""

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from vision.cards import BORDER_MM, DICTIONARY, MARKER_MM, Cards, find_cards
from vision.dice import search
from vision.dice.colour import WHITE
from vision.dice.render import draw_scene
from vision.evaluate.__main__ import main
from vision.evaluate.dice import find_white, measure

FIRST_SEED = 7_000_600
FIGURES = {
    "dice", "right", "missed", "false", "photos", "exact_totals", "wrong_totals_flagged",
    "ms_per_photo",
}  # fmt: skip


def is_read(scene):
    """Whether exactly the drawn dice are found, with their values."""
    found = sorted((die.x_px, die.value) for die in search(scene.bgr).dice)
    drawn = sorted((die.x_px, die.value) for die in scene.dice)
    return [v for _, v in found] == [v for _, v in drawn] and all(
        abs(a - b) < 10 for (a, _), (b, _) in zip(found, drawn, strict=True)
    )


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
        scene = draw_scene(np.random.default_rng(FIRST_SEED + seed), 320, 44, 4)
        if scene.dice and is_read(scene):
            scenes.append(scene)
        if len(scenes) == 3:
            break
    return tmp_path, write_set(tmp_path, scenes)


def test_the_measurement_counts_what_is_right(easy_set):
    folder, truth = easy_set
    figures = measure(truth, folder, folder / "out").figures
    assert figures["photos"] == figures["exact_totals"] == 3
    assert figures["right"] == figures["dice"] > 0
    assert set(figures) == FIGURES
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


def test_a_wrong_total_counts_as_flagged_only_when_the_finder_would_ask(easy_set):
    folder, truth = easy_set
    asked = [not search(cv2.imread(str(folder / photo["image"]))).sure for photo in truth["photos"]]
    truth = json.loads(json.dumps(truth))
    for photo in truth["photos"]:
        photo["dice"][0]["value"] = photo["dice"][0]["value"] % 6 + 1
    figures = measure(truth, folder, folder / "out").figures
    assert figures["exact_totals"] == 0
    assert figures["wrong_totals_flagged"] == sum(asked)


def test_a_set_without_photos_is_measured(tmp_path):
    assert measure({"photos": []}, tmp_path, tmp_path).figures["photos"] == 0


def draw_plain_die(picture, x, y, body, pip, edge=48):
    cv2.rectangle(picture, (x, y), (x + edge, y + edge), body, -1)
    for across, down in ((-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)):
        spot = (x + edge // 2 + 13 * across, y + edge // 2 + 13 * down)
        cv2.circle(picture, spot, 5, pip, -1, cv2.LINE_AA)


def test_colours_are_taught_by_the_other_photos(tmp_path):
    bodies = {"red": (40, 30, 200), "blue": (190, 70, 30), "white": (235, 235, 235)}
    photos = []
    for number, light in enumerate((1.0, 0.9, 0.8, 0.7, 0.65)):
        picture = np.full((240, 360, 3), (120, 150, 140), np.uint8)
        dice = []
        for place, (name, body) in enumerate(bodies.items()):
            x, y = 40 + 105 * place, 90
            draw_plain_die(picture, x, y, body, (20, 20, 20) if name == "white" else (245,) * 3)
            dice.append({"value": 5, "box_px": [x, y, x + 48, y + 48], "colour": name})
        lit = cv2.GaussianBlur((picture * light).astype(np.uint8), (0, 0), 0.7)
        cv2.imwrite(str(tmp_path / f"{number}.png"), lit)
        photos.append({"image": f"{number}.png", "dice": dice})
    summary = measure({"box": "top face", "photos": photos}, tmp_path, tmp_path / "out")
    assert summary.figures["right_with_colour"] == summary.figures["right"] == 15
    assert any(line.startswith("with colour") for line in summary.lines)
    photos[0]["dice"][0]["colour"], photos[0]["dice"][1]["colour"] = "blue", "red"
    summary = measure({"box": "top face", "photos": photos}, tmp_path, tmp_path / "out")
    assert summary.figures["right_with_colour"] == 13


def test_white_is_taken_from_the_cards():
    picture = np.full((400, 400, 3), (60, 90, 70), np.uint8)
    marker = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(DICTIONARY), 1, 90)
    border = round(90 * BORDER_MM / MARKER_MM)
    picture[100 : 190 + 2 * border, 150 : 240 + 2 * border] = (150, 200, 230)
    lit = marker[..., None] / 255 * np.array([150, 200, 230])
    picture[100 + border : 190 + border, 150 + border : 240 + border] = lit.astype(np.uint8)
    assert find_white(picture, find_cards(picture)) == pytest.approx((150, 200, 230), abs=4)
    assert search(picture, cards=find_cards(picture)).dice == ()


def test_without_cards_white_is_white():
    assert find_white(np.full((100, 100, 3), 90, np.uint8), Cards()) == WHITE
