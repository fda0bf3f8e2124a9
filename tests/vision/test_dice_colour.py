"""Body colours: named among those of a game, whatever the light."""

import numpy as np
import pytest

from vision.dice.colour import name_colour

PALETTE = {
    "green": (60, 130, 30),
    "blue": (180, 80, 25),
    "orange": (25, 110, 235),
    "yellow": (35, 200, 245),
    "smoke": (100, 95, 90),
}


@pytest.mark.parametrize("name", PALETTE)
@pytest.mark.parametrize("level", [0.45, 0.7, 1.0])
def test_a_colour_keeps_its_name_when_the_light_gets_weaker(name, level):
    seen = tuple(level * channel for channel in PALETTE[name])
    found, belief = name_colour(seen, PALETTE)
    assert found == name
    assert belief > 0.5


@pytest.mark.parametrize("name", PALETTE)
def test_white_paper_takes_a_strong_cast_away(name):
    cast = np.array([0.4, 0.75, 1.0])
    seen = tuple(cast * PALETTE[name])
    assert name_colour(seen, PALETTE, tuple(255 * cast))[0] == name


def test_a_cast_without_white_paper_is_doubted_more_than_with_it():
    cast = np.array([0.55, 0.8, 1.0])
    seen = tuple(cast * PALETTE["smoke"])
    _, blind = name_colour(seen, PALETTE)
    _, told = name_colour(seen, PALETTE, tuple(255 * cast))
    assert blind < told


def test_a_colour_between_two_is_believed_half():
    between = tuple(np.sqrt(np.multiply(PALETTE["yellow"], PALETTE["orange"])))
    _, belief = name_colour(between, {n: PALETTE[n] for n in ("yellow", "orange")})
    assert belief < 0.75


def test_the_only_colour_is_believed():
    assert name_colour((1, 2, 3), {"red": (20, 20, 200)}) == ("red", 1.0)


def test_black_and_white_are_told_apart():
    palette = {"black": (25, 25, 25), "white": (235, 235, 235)}
    assert name_colour((40, 38, 41), palette)[0] == "black"
    assert name_colour((180, 190, 200), palette)[0] == "white"


def test_a_palette_must_not_be_empty():
    with pytest.raises(ValueError, match="at least one colour"):
        name_colour((1, 2, 3), {})
