"""Legal moves counted to depth 2, by the product and by the naive generator; and how fast."""

import random
import time
import tomllib
from pathlib import Path

import pytest

POSITIONS = tomllib.loads(Path(__file__).with_name("counts.toml").read_text("utf-8"))["position"]


def by_name(position):
    return position["name"]


def test_all_numbers_of_players_are_counted_to_depth_two():
    deep = [p for p in POSITIONS if len(p["counts"]) == 2]
    assert {p["seats"] for p in deep if not p["moves"]} == {2, 3, 4}
    assert {p["seats"] for p in deep if p["moves"]} == {1, 2, 3, 4}


@pytest.mark.parametrize("position", POSITIONS, ids=by_name)
def test_the_naive_generator_counts_as_written(naive, position):
    game = replay_naive(naive, position)
    counts = [game.count_moves()]
    if len(position["counts"]) == 2:
        counts.append(game.count_lines())
    assert counts == position["counts"]


@pytest.mark.parametrize("position", POSITIONS, ids=by_name)
def test_the_game_counts_as_written(desk, position):
    table = desk(position["variant"], position["seats"])
    for move in position["moves"]:
        table.play(move)
    game, state = table.game, table.state
    moves = [m for m in game.candidates(state) if game.check(state, m).legal]
    counts = [len(moves)]
    if len(position["counts"]) == 2:
        counter = Counter(game)
        counts.append(sum(counter.count(game.apply(state, m).state) for m in moves))
        counter.verify(random.Random(position["name"]), 8)
    assert counts == position["counts"]


def test_a_move_is_judged_and_scored_in_a_tenth_of_a_millisecond(desk):
    position = next(p for p in POSITIONS if p["name"] == "middle-4")
    best_s = min(seconds_to_play(desk, position) for _ in range(5))
    assert best_s / len(position["moves"]) < 100e-6


def seconds_to_play(desk, position):
    table = desk(position["variant"], position["seats"])
    begin_s = time.perf_counter()
    for move in position["moves"]:
        table.play(move)
    return time.perf_counter() - begin_s


class Counter:
    """Counts the legal moves of a state; states that differ only in the colours of the symbols
    laid are counted once, and a sample of them is counted again to prove that this is right."""

    def __init__(self, game):
        self.game = game
        self.known = {}
        self.spared = []

    def count(self, state):
        key = self.key(state)
        if key not in self.known:
            self.known[key] = self.count_all(state)
        else:
            self.spared.append(state)
        return self.known[key]

    def verify(self, rng, n):
        for state in rng.sample(self.spared, min(n, len(self.spared))):
            assert self.count_all(state) == self.known[self.key(state)]

    def count_all(self, state):
        game = self.game
        return sum(game.check(state, move).legal for move in game.candidates(state))

    def key(self, state):
        if state.terms.double:  # the colours decide whether the order of a double matters
            return state
        taken = bytes(face != "empty" for face in self.game.layout(state).values())
        left = bytes(n > 0 for n in state.supply)
        over = self.game.standings(state).over
        return taken, left, state.turn, state.claimed, state.bonus, state.exchanged, over


def replay_naive(naive, position):
    game = naive.Naive(position["variant"], position["seats"])
    for move in position["moves"]:
        if move == "stop":
            game.stop()
            continue
        halves = [half.split("@") for half in move.split()]
        (colour, site), (other_colour, other) = halves
        game.lay(naive.field_of(site), colour, naive.field_of(other), other_colour)
    return game
