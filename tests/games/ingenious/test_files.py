"""Notation, values, table and texts: what is written, and what wrong input is told."""

import shutil

import pytest

from rules import texts
from rules.errors import BrokenGame, InvalidNotation
from rules.games.ingenious import board, box
from rules.games.ingenious.codes import Rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "red@h8",
        "red@h8 blue@h10",
        "red@h8 blue@h8",
        "red@h8 blue@h9 green@h10",
        "pink@h8 blue@h9",
        "red@p8 blue@h9",
        "red@a1 blue@a2",
        "exchange red",
        "exchange red-pink",
        "stop it",
        "h8=red",
    ],
)
def test_what_is_no_move_is_named(desk, text):
    with pytest.raises(InvalidNotation, match="expected .*, got ") as error:
        desk.game.parse(text)
    assert "red@h8 blue@h9" in str(error.value) or "exchange red-blue" in str(error.value)


def test_notation_forgives_case_and_spaces_and_sorts_a_rack(desk):
    game = desk.game
    assert game.notate(game.parse(" RED@h8\tblue@H9 ")) == "red@h8 blue@h9"
    shown = "exchange blue-green red-red"
    assert game.notate(game.parse(shown)) == "exchange red-red green-blue"
    assert game.describe(game.parse(shown)) == ("moves.exchange_shown", {"n": 2})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("limit = 18", "limit = 0"), "limit: expected 1 to 99, got 0"),
        (("limit = 18", "limt = 18"), "did you mean limit"),
        (("[5, 5, 6, 7]", "[5, 5, 6, 8]"), r"radius\[3\]: expected 5 to 7, got 8"),
        (("[5, 5, 6, 7]", "[4, 5, 6, 7]"), r"radius\[0\]: expected 5 to 7, got 4"),
        (("mixed = 6", "mixed = 2"), "tiles: expected enough to cover 163 fields, got 60 tiles"),
        (("double = 5", 'double = "5"'), "tiles.double: expected a whole number, got '5'"),
    ],
)
def test_wrong_values_are_named(tmp_path, change, message):
    path = tmp_path / "values.toml"
    good = (board.FOLDER / "values.toml").read_text("utf-8")
    assert change[0] in good
    path.write_text(good.replace(*change), "utf-8")
    with pytest.raises(BrokenGame, match=message) as error:
        box.load_values(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("areas.board", "areas.field"), "areas: expected only board"),
        (("pieces.tile", "pieces.stone"), "one of stone, got 'tile'"),
        (('art = "printed-red"', 'art = "printed-pink"'), "printed-yellow, got 'printed-pink'"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, change, message):
    folder = tmp_path / "ingenious"
    shutil.copytree(board.FOLDER, folder)
    shutil.copy(folder / "art" / "printed-red.svg", folder / "art" / "printed-pink.svg")
    path = folder / "table.toml"
    path.write_text(path.read_text("utf-8").replace(*change), "utf-8")
    with pytest.raises(BrokenGame, match=message):
        board.load_plan(folder)


def test_every_reason_against_a_tile_can_be_laid_on_the_table(desk):
    table = desk()
    found = set(table.refusals_of("red@c8 red@b8"))
    found.update(table.refusals_of("red@h8 red@h9"))
    table.play("red@d8 blue@d9")
    found.update(table.refusals_of("red@c9 red@d9"))
    table.play("red@h12 blue@h11")
    for move in ("red@f8 blue@f9", "red@g8 blue@g9", "red@i8 blue@i9", "red@j8 blue@j9"):
        table.play(move)
    found.update(table.refusals_of("red@k8 blue@k9"))
    about_tiles = {r.value for r in Rule if not r.startswith(("exchange", "no_bonus", "game_over"))}
    assert found == about_tiles


def test_a_refusal_says_what_is_wrong_and_what_to_do():
    for language in texts.LANGUAGES:
        catalogue = texts.load(language, board.FOLDER / "texts")
        for rule in Rule:
            text = catalogue.say(f"violation.{rule}", dict.fromkeys(("n", "seats", "value"), 2))
            assert ". " in text, text
            assert text.endswith("."), text
