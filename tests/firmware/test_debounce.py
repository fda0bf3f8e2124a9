"""Contacts bounce, stick and are held; presses come out right all the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.debounce import GLITCH_S, Contact, Timing, due_s, look, sync, turn

TIMING = Timing(debounce_s=0.05, long_press_s=1.0)
steady = settings(deadline=None, derandomize=True, max_examples=300)


def play(edges, until_s=None, looks=()):
    """All presses with their times, from edges (time, level) and extra looks in between."""
    contact, found = Contact(), []
    steps = [(t, level) for t, level in edges] + [(t, None) for t in looks]
    steps.sort(key=lambda s: s[0])
    if until_s is not None:
        steps.append((until_s, None))
    for at_s, level in steps:
        if level is None:
            contact, pushes = look(contact, at_s, TIMING)
        else:
            contact, pushes = turn(contact, level, at_s, TIMING)
        found += pushes
    return found


def test_a_press_is_short_and_counts_after_the_release():
    contact, pushes = turn(Contact(), True, 1.0, TIMING)
    assert pushes == ()
    contact, pushes = turn(contact, False, 1.2, TIMING)
    assert pushes == ()
    assert due_s(contact, TIMING) == pytest.approx(1.25)
    contact, pushes = look(contact, 1.25, TIMING)
    assert pushes == ("short",)
    assert due_s(contact, TIMING) is None


def test_a_press_is_long_while_it_is_still_held():
    contact, _ = turn(Contact(), True, 1.0, TIMING)
    assert due_s(contact, TIMING) == 2.0
    contact, pushes = look(contact, 2.0, TIMING)
    assert pushes == ("long",)
    assert due_s(contact, TIMING) is None


def test_held_for_a_minute_is_one_long_press():
    looks = [0.5 * n for n in range(140)]
    assert play([(0.0, True), (60.0, False)], 70.0, looks) == ["long"]


def test_just_below_and_just_at_the_bound():
    assert play([(0.0, True), (0.999, False)], 2.0) == ["short"]
    assert play([(0.0, True), (1.0, False)], 2.0) == ["long"]


def test_a_quick_tap_counts():
    assert play([(0.0, True), (0.02, False)], 1.0) == ["short"]


def test_a_spark_does_not_count():
    assert play([(0.0, True), (GLITCH_S / 2, False)], 1.0) == []


def test_a_button_that_is_down_at_the_start_says_nothing_until_it_is_pressed_again():
    assert play([(5.0, False)], 6.0) == []
    assert play([(5.0, False), (6.0, True), (6.1, False)], 7.0) == ["short"]


def test_two_quick_presses_are_two():
    assert play([(0.0, True), (0.1, False), (0.2, True), (0.3, False)], 1.0) == ["short"] * 2


def test_a_lost_release_does_not_become_a_long_press():
    contact, _ = turn(Contact(), True, 0.0, TIMING)
    contact = sync(contact, False, 0.9)
    contact, pushes = look(contact, 1.5, TIMING)
    assert pushes == ("short",)


def test_sync_invents_no_press():
    assert sync(Contact(), True, 1.0) == Contact()


gaps = st.lists(st.floats(0.001, 0.049), min_size=0, max_size=8)


@st.composite
def bouncing(draw):
    """Edges of some presses whose contact bounces 1 to 50 ms at both ends, and their lengths."""
    at_s, edges, lengths = 1.0, [], []
    for _ in range(draw(st.integers(1, 4))):
        began_s, level = at_s, True
        edges.append((at_s, True))
        for gap in _even(draw(gaps)):
            at_s, level = at_s + gap, not level
            edges.append((at_s, level))
        at_s += draw(st.floats(0.06, 0.5) | st.floats(1.1, 5.0))
        for gap in (0.0, *_even(draw(gaps))):
            at_s, level = at_s + gap, not level
            edges.append((at_s, level))
        lengths.append(at_s - began_s)
        at_s += draw(st.floats(0.06, 2.0))
    return edges, lengths


def _even(gaps):
    return gaps[: len(gaps) // 2 * 2]


@steady
@given(bouncing())
def test_bouncing_never_adds_or_loses_a_press(case):
    edges, lengths = case
    certain = [n for n in lengths if not 0.95 < n < 1.05]
    found = play(edges, edges[-1][0] + 1)
    assert len(found) == len(lengths)
    if len(certain) == len(lengths):
        assert found == ["long" if n > 1 else "short" for n in lengths]


@steady
@given(bouncing(), st.lists(st.floats(0.0, 30.0), max_size=30))
def test_how_often_one_looks_changes_nothing(case, looks):
    edges, _ = case
    end_s = edges[-1][0] + 1
    assert play(edges, end_s, [t for t in looks if t < end_s]) == play(edges, end_s)


@steady
@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=40))
def test_any_noise_gives_no_more_presses_than_closings(noise):
    edges = sorted(noise, key=lambda e: e[0])
    closings = sum(level for _, level in edges)
    assert len(play(edges, 200.0)) <= closings
