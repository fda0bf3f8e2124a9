"""The plan of a table and its drawing; a wrong one is refused with the reason."""

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from rules import drawing, games
from rules.errors import BrokenGame
from rules.table import EMPTY, Plan

TOY = Path(__file__).parents[1] / "toys" / "noughts"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(TOY, tmp_path / "toy")


def spoil(folder: Path, old: str, new: str) -> Path:
    file = folder / "table.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return folder


def test_a_square_grid_is_named_like_a_chessboard_and_lies_in_millimetres(folder):
    plan = Plan.load(folder)
    assert plan.sites == tuple(r + c for r in "abc" for c in "123")
    place = plan.places["b3"]
    assert (place.x_mm, place.y_mm) == (115, 75)
    assert place.faces == (EMPTY, "cross", "nought")
    assert place.cell == "cell"
    assert plan.letters == {"cross": "X", "nought": "O"}


def test_spots_and_prefixes_stand_beside_a_grid(folder):
    extra = '\n[areas.hand]\ngrid = "spots"\npitch_mm = 20\nprefix = "hand-"\n'
    extra += "at_mm = [10, 10]\nspots = { left = [0, 0], right = [50, 0] }\n\n[pieces.mark]"
    plan = Plan.load(spoil(folder, "\n[pieces.mark]", extra))
    assert plan.places["hand-right"].x_mm == 60
    assert plan.places["hand-right"].faces == (EMPTY,)
    assert len(plan.sites) == 11


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "pitch_mm = 40",
            'pitch_mm = "wide"',
            "areas.board.pitch_mm: expected a number, got 'wide'",
        ),
        ("pitch_mm = 40", "pitch_mm = 0", "areas.board.pitch_mm: expected more than 0"),
        ("pitch_mm = 40", "pitch = 40", "did you mean pitch_mm"),
        ("pitch_mm = 40", "pitch_mm = 90", "a3: expected a place within"),
        ("rows = 3", "rows = 0", "expected at least one site"),
        ("rows = 3", "rows = 30", "at most 26 rows"),
        ('"square"', '"round"', "grid: expected one of hex, square, spots"),
        ('pieces = ["mark"]', 'pieces = ["token"]', "expected one of mark, got 'token'"),
        ('art = "cell"', 'art = "none"', r"a drawing in art/, got 'none.svg'"),
        ('cross = "X"', 'kross = "X"', r"a drawing in art/, got 'kross.svg'"),
        ("turns = 4", "turns = 0", "positive sizes and turns"),
        ("[pieces.mark]", "[pieces.mark", "line"),
        ("size_mm = [150, 150]", "", "expected a value for size_mm"),
    ],
)
def test_a_wrong_plan_names_file_place_expected_and_got(folder, old, new, says):
    with pytest.raises(BrokenGame, match=says) as caught:
        Plan.load(spoil(folder, old, new))
    assert "table.toml" in str(caught.value)


def test_two_areas_may_not_share_a_name(folder):
    twin = '\n[areas.twin]\ngrid = "square"\nat_mm = [9, 9]\npitch_mm = 9\nrows = 1\ncolumns = 1\n'
    with pytest.raises(BrokenGame, match="names other than those of board, got 'a1'"):
        Plan.load(spoil(folder, "\n[pieces.mark]", twin + "\n[pieces.mark]"))


def test_one_broken_folder_does_not_hide_the_other_games(toy_folder, tmp_path, monkeypatch):
    for name, line in (("torn", "size_mm = ["), ("raising", None)):
        home = shutil.copytree(TOY, tmp_path / name)
        start = "from .game import Noughts\nGAME = Noughts()\n" if line else "1 / 0\n"
        (home / "__init__.py").write_text(start)
        if line:
            (home / "table.toml").write_text(line)
    paths = [*games.__path__, str(toy_folder), str(tmp_path)]
    monkeypatch.setattr(games, "__path__", paths)
    games._search.cache_clear()
    try:
        assert "noughts" in games.installed()
        assert "torn" not in games.installed()
        assert "table.toml" in games.broken()["torn"]
        assert games.broken()["raising"].startswith("ZeroDivisionError")
        with pytest.raises(BrokenGame, match="table.toml"):
            games.find("torn")
    finally:
        games._search.cache_clear()


def test_the_drawing_shows_every_cell_and_every_piece(folder):
    plan = Plan.load(folder)
    layout = plan.bare() | {"b2": "cross", "a1": "nought"}
    picture = ET.fromstring(drawing.table(plan, layout))
    assert picture.get("viewBox") == "0 0 150 150"
    used = [u.get("href") for u in picture.iter("{http://www.w3.org/2000/svg}use")]
    assert used.count("#cell-cell") == 9
    assert used.count("#face-cross") == 1
    assert used.count("#face-nought") == 1
    defined = {g.get("id") for g in picture.iter("{http://www.w3.org/2000/svg}g")}
    assert {u.removeprefix("#") for u in used} <= defined
