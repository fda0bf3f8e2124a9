"""The lamp grammar: whose lamp says what, and when it is lit."""

from itertools import pairwise

import pytest

from firmware.lamps import lit, patterns

PATTERNS = ("off", "steady", "slow", "double")


def flashes(pattern, from_s, to_s, step_s=0.001):
    """When the lamp goes on."""
    steps = range(round(from_s / step_s), round(to_s / step_s))
    states = [lit(pattern, n * step_s) for n in steps]
    pairs = enumerate(pairwise(states))
    return [steps[i + 1] * step_s for i, (a, b) in pairs if b and not a]


def test_off_is_dark_and_steady_is_lit():
    times = [n * 0.01 for n in range(1000)]
    assert not any(lit("off", t) for t in times)
    assert all(lit("steady", t) for t in times)


def test_slow_blinks_once_a_second_half_of_it_lit():
    assert flashes("slow", 0.5, 10.5) == pytest.approx([float(n) for n in range(1, 11)])
    assert sum(lit("slow", n * 0.01) for n in range(1000)) == 500


def test_double_is_two_short_flashes_every_one_and_a_half_seconds():
    assert flashes("double", 1.0, 4.0) == pytest.approx([1.5, 1.8, 3.0, 3.3])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_never_more_than_three_flashes_in_any_second(pattern):
    times = flashes(pattern, 0, 20)
    for start_s in times:
        assert sum(start_s <= t < start_s + 1 for t in times) <= 3


def test_the_seat_to_act_is_steady():
    assert patterns("ready", None, 1, 3) == ("off", "steady", "off")


def test_the_seat_being_read_blinks_and_the_turn_stays_lit():
    assert patterns("reading", 0, 1, 2) == ("slow", "steady")
    assert patterns("reading", 1, 1, 2) == ("off", "slow")


@pytest.mark.parametrize("mode", ["question", "refused"])
def test_a_seat_that_must_look_at_the_phone_flashes(mode):
    assert patterns(mode, 0, 0, 2) == ("double", "off")


@pytest.mark.parametrize("mode", ["ready", "hands", "camera_lost", "trouble"])
def test_trouble_with_the_camera_leaves_the_turn_visible(mode):
    assert patterns(mode, None, 0, 2) == ("steady", "off")


def test_nobody_acts_when_the_game_is_over():
    assert patterns("ready", None, None, 4) == ("off",) * 4
