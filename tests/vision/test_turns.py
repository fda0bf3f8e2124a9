"""Whole turns on virtual tables: laid, photographed, read, judged.

The figures are the product's promise: no wrong move is booked, hardly a legal one is asked about,
and what breaks a rule is refused for the right reason at the right place.
"""

from collections import Counter

import pytest

from firmware.turns import Bench, codes_of, draw_illegal_turn, draw_turn
from rules import games

pytestmark = pytest.mark.slow

GAME = games.find("ingenious")
LEGAL_TURNS = 500
LEGAL_CHUNKS = 10
ILLEGAL_TURNS = 300
CODES = {
    "first_round_symbol",
    "occupied",
    "outside",
    "printed_symbol",
    "supply",
    "symbol_claimed",
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(GAME)


@pytest.mark.parametrize("chunk", range(LEGAL_CHUNKS))
def test_legal_moves_are_booked_as_laid(bench: Bench, chunk: int):
    """All chunks together: 500 turns, none wrong, at most 1 % asked; so at most 1 in 50."""
    size = LEGAL_TURNS // LEGAL_CHUNKS
    seeds = range(20_000 + chunk * size, 20_000 + (chunk + 1) * size)
    readings = [bench.read(draw_turn(GAME, seed), seed) for seed in seeds]
    outcomes = Counter(r.outcome for r in readings)
    assert set(outcomes) <= {"right", "asked"}, [r for r in readings if r.outcome != "right"]
    assert outcomes["asked"] <= 1, [r for r in readings if r.outcome == "asked"]


@pytest.mark.parametrize("code", sorted(CODES))
def test_illegal_placements_are_refused_for_their_reason(bench: Bench, code: str):
    size = ILLEGAL_TURNS // len(CODES)
    seeds = range(30_000, 30_000 + size)
    readings = [bench.read(draw_illegal_turn(GAME, code, seed), seed) for seed in seeds]
    outcomes = Counter(r.outcome for r in readings)
    assert set(outcomes) <= {"right", "asked"}, [r for r in readings if r.outcome != "right"]
    assert outcomes["right"] >= 0.95 * size, [r for r in readings if r.outcome != "right"]


def test_every_reason_that_can_be_laid_on_the_table_is_tried():
    assert set(codes_of(GAME)) == CODES
