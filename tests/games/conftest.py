"""Every game that is installed, in every variant with every number of seats, played at random."""

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from rules import games
from rules.game import AnyGame, Applied, Setup

SEEDS = (1, 2)
LONGEST = 2000
QUIET_SHARE = 0.1
"""How often a move that leaves the table as it is goes first; there are few among thousands."""


@dataclass(frozen=True)
class Step:
    """One legal move of a random game, with some others that were possible."""

    before: Any
    sample: tuple[Any, ...]
    """Some candidates, legal or not."""
    move: Any
    applied: Applied


@dataclass(frozen=True)
class Walk:
    """A random game from beginning to end."""

    game: AnyGame
    setup: Setup
    steps: tuple[Step, ...]
    end: Any


@cache
def walk(name: str, variant: str, seats: int, seed: int) -> Walk:
    game = games.find(name)
    setup = game.info.setup(variant, seats)
    rng = random.Random(f"{name}-{variant}-{seats}-{seed}")
    state = game.start(setup)
    steps: list[Step] = []
    while not game.standings(state).over:
        candidates = list(game.candidates(state))
        rng.shuffle(candidates)
        if rng.random() < QUIET_SHARE:
            candidates.sort(key=lambda m: len(game.footprint(state, m)))
        move = next((m for m in candidates if game.check(state, m).legal), None)
        assert move is not None, f"no legal move, but not over: {state}"
        applied = game.apply(state, move)
        steps.append(Step(state, tuple(candidates[:40]), move, applied))
        state = applied.state
        assert len(steps) < LONGEST, "the game does not end"
    return Walk(game, setup, tuple(steps), state)


def tables() -> list[Any]:
    return [
        pytest.param((name, variant.name, seats), id=f"{name}-{variant.name}-{seats}")
        for name, game in games.installed().items()
        for variant in game.info.variants
        for seats in variant.seats
    ]


@pytest.fixture(params=tables(), scope="session")
def table(request: pytest.FixtureRequest) -> tuple[str, str, int]:
    return request.param


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}", scope="session")
def played(request: pytest.FixtureRequest, table: tuple[str, str, int]) -> Walk:
    return walk(*table, request.param)


@pytest.fixture(params=list(games.installed()), scope="session")
def name(request: pytest.FixtureRequest) -> str:
    return request.param
