"""Sets of boards: sites at any places, changed photographs, and pictures of mistakes."""

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from vision.errors import VisionError
from vision.evaluate.__main__ import main
from vision.evaluate.change import CHANGES, change_picture
from vision.evaluate.photos import load_photos, read_grid
from vision.taught import SPAN_PX

COLOURS = {"red": (40, 40, 200), "blue": (200, 60, 30), "white": (230, 230, 230)}
PLACES = {
    f"{ring}{k}": [
        float(150 + 50 * ring * np.cos(np.pi / 3 * k)),
        float(150 + 50 * ring * np.sin(np.pi / 3 * k)),
    ]
    for ring in (1, 2)
    for k in range(6)
}


def make_hex_set(folder):
    """Two games of two photos with round pieces at places of a hexagonal board."""
    photos = []
    for number, game in enumerate(("one", "one", "two", "two")):
        rng = np.random.default_rng(number)
        board = np.full((300, 300, 3), (60, 110, 40), np.uint8)
        names = rng.permutation(list(PLACES)).tolist()
        sites = dict(zip(names, [*COLOURS, *COLOURS], strict=False))
        for site, face in sites.items():
            x, y = (round(c) for c in PLACES[site])
            cv2.circle(board, (x, y), 22, COLOURS[face], -1, cv2.LINE_AA)
        cv2.imwrite(str(folder / f"{number}.png"), board)
        corners = [[0, 0], [300, 0], [300, 300], [0, 300]]
        photos.append(
            {"image": f"{number}.png", "game": game, "corners_px": corners, "sites": sites}
        )
    grid = {"pitch": 50, "places": PLACES}
    truth = {"kind": "sites", "board": [300, 300], "grid": grid, "photos": photos}
    (folder / "truth.json").write_text(json.dumps(truth), "utf-8")
    return truth


def run(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


@pytest.mark.parametrize("change", [None, *CHANGES])
def test_sites_at_any_places_are_read_also_in_changed_photos(tmp_path, change):
    make_hex_set(tmp_path)
    changed = ("--change", change) if change else ()
    done = run(tmp_path, "--out", tmp_path / "out", "--json", *changed)
    assert done.exit_code == 0, done.output
    figures = json.loads(done.output)[tmp_path.name]
    assert figures["sites"] == 4 * len(PLACES)
    assert figures["silent"] == 0
    assert figures["right"] >= 0.95 * figures["sites"]
    assert figures["tiles"] == 24


def test_a_cut_out_has_its_site_in_the_middle(tmp_path):
    truth = make_hex_set(tmp_path)
    for photo in load_photos(truth, tmp_path):
        middle = {s: cut[SPAN_PX // 2, SPAN_PX // 2] for s, cut in photo.cut().items()}
        for site, face in truth["photos"][int(photo.name[0])]["sites"].items():
            assert middle[site] * 255 == pytest.approx(np.array(COLOURS[face]), abs=8)


def test_a_grid_without_places_is_refused():
    with pytest.raises(VisionError, match="expected a place per site, got none"):
        read_grid({"board": [1, 1], "grid": {"pitch": 1, "places": {}}}, "truth.json")


def test_changes_do_what_they_say():
    bgr = np.full((40, 60, 3), (100, 120, 160), np.uint8)
    half, scale = change_picture(bgr, "half")
    assert (half.shape, scale) == ((20, 30, 3), 0.5)
    assert change_picture(bgr, "dark")[0][0, 0].tolist() == [50, 60, 80]
    assert change_picture(bgr, "bright")[0][0, 0].tolist() == [200, 240, 255]
    warm = change_picture(bgr, "warm")[0][0, 0]
    assert warm[0] < warm[1] < warm[2]
    assert change_picture(bgr, None) == (bgr, 1.0)


def test_a_mistake_is_drawn_with_its_labels_under_it(tmp_path):
    truth = make_hex_set(tmp_path)
    sites = truth["photos"][3]["sites"]
    site = next(s for s, f in sites.items() if f == "red")
    sites[site] = "blue"
    (tmp_path / "truth.json").write_text(json.dumps(truth), "utf-8")
    done = run(tmp_path, "--out", tmp_path / "out", "--teach-from", "one")
    assert "believed" in done.output
    (drawn,) = (tmp_path / "out" / tmp_path.name).glob("*.png")
    picture = cv2.imread(str(drawn))
    assert picture.shape[0] > picture.shape[1]
    strip = picture[picture.shape[1] :]
    assert strip.min() < 60 < 200 < strip.max()
