"""Sets of photographs are measured from the command line, and bad ones named in a sentence."""

import csv
import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from vision.evaluate.__main__ import main

COLOURS = {"red": (40, 40, 200), "blue": (200, 60, 30), "white": (230, 230, 230)}


def make_set(folder, wrong=()):
    """Two games of two photos with coloured tiles on a green board of 3 x 3 sites."""
    photos = []
    for number, game in enumerate(("one", "one", "two", "two")):
        rng = np.random.default_rng(number)
        board = np.full((180, 180, 3), (60, 110, 40), np.uint8)
        sites = {}
        for place, face in zip(rng.permutation(9).tolist(), [*COLOURS, *COLOURS], strict=False):
            row, column = divmod(place, 3)
            x, y = 60 * column, 60 * row
            cv2.rectangle(board, (x + 5, y + 5), (x + 54, y + 54), COLOURS[face], -1)
            sites[f"{'ABC'[row]}{column + 1}"] = face
        cv2.imwrite(str(folder / f"{number}.png"), board)
        corners = [[0, 0], [180, 0], [180, 180], [0, 180]]
        photos.append(
            {"image": f"{number}.png", "game": game, "corners_px": corners, "sites": sites}
        )
    for number, site, face in wrong:
        photos[number]["sites"][site] = face
    grid = {"origin": [0, 0], "pitch": [60, 60], "rows": 3, "cols": 3, "names": "letters"}
    truth = {"kind": "sites", "board": [180, 180], "grid": grid, "photos": photos}
    (folder / "truth.json").write_text(json.dumps(truth), "utf-8")


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


def test_each_game_teaches_once_and_every_other_photo_has_a_line(tmp_path):
    make_set(tmp_path)
    done = run(tmp_path, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    figures = json.loads(done.output)[tmp_path.name]
    assert (figures["sites"], figures["right"], figures["silent"]) == (36, 36, 0)
    with (tmp_path / "out" / tmp_path.name / "photos.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["image"] for r in rows] == ["2.png", "3.png", "0.png", "1.png"]


def test_a_mistake_is_counted_and_drawn(tmp_path):
    make_set(tmp_path)
    truth = json.loads((tmp_path / "truth.json").read_text("utf-8"))
    site, face = next((s, f) for s, f in truth["photos"][3]["sites"].items() if f == "red")
    make_set(tmp_path, wrong=[(3, site, "blue")])
    done = run(tmp_path, "--out", tmp_path / "out", "--teach-from", "one")
    assert done.exit_code == 0, done.output
    pictures = [p.name for p in (tmp_path / "out" / tmp_path.name).glob("*.png")]
    assert len(pictures) == 1
    assert f"3-{site}-" in pictures[0]
    assert f"read-{face}-true-blue" in pictures[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "expected a set of photographs with truth"),
        ("{", "expected a set of photographs with truth"),
        ('{"kind": "cats"}', "kind: expected a kind of set that can be measured, got 'cats'"),
        ('{"kind": "sites"}', "expected a set of kind sites"),
    ],
)
def test_a_bad_set_is_named_in_one_sentence(tmp_path, text, sentence):
    if text is not None:
        (tmp_path / "truth.json").write_text(text, "utf-8")
    done = run(tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert sentence in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_teaching_from_nothing_is_refused(tmp_path):
    make_set(tmp_path)
    done = run(tmp_path, "--out", tmp_path / "out", "--teach-from", "three")
    assert done.exit_code == 2
    assert "expected a game or image, got three" in done.output
