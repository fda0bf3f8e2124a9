"""A table to lay positions on, and the naive second opinion."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from rules import games

GAME = games.find("ingenious")
COLOURS = ("red", "green", "blue", "orange", "yellow", "purple")


def _load(name):
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"ingenious_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAIVE = _load("naive")


class Desk:
    """A position that moves are played on; fields are axial pairs."""

    game = GAME

    def __init__(self, variant="basic", seats=2):
        self.state = GAME.start(GAME.info.setup(variant, seats))
        self.lines = ()

    def put(self, symbols):
        """Lay symbols on the board without playing them."""
        cells = bytearray(self.state.cells)
        for field, colour in symbols.items():
            cells[GAME.plan.sites.index(NAIVE.site(field))] = COLOURS.index(colour)
        return self.set(cells=bytes(cells))

    @staticmethod
    def line(colour, start, step, length):
        """Equal symbols in a row."""
        (q, r), (dq, dr) = start, step
        return {(q + dq * n, r + dr * n): colour for n in range(length)}

    def fill(self, *, but):
        """Cover every free field except some, without equal neighbours."""
        layout = GAME.layout(self.state)
        free = {NAIVE.field_of(site) for site, face in layout.items() if face == "empty"}
        covered = free - NAIVE.PRINTED.keys() - but
        return self.put({(q, r): ("red", "green", "blue")[(q - r) % 3] for q, r in covered})

    def set(self, **changes):
        self.state = replace(self.state, **changes)
        return self

    def later(self):
        """After the first round."""
        return self.set(turn=self.state.terms.seats)

    def pegs(self, side=0, others=0, **values):
        """Set the pegs of a side; those not named stand on ``others``."""
        row = tuple(values.get(colour, others) for colour in COLOURS)
        scores = self.state.scores
        return self.set(scores=(*scores[:side], row, *scores[side + 1 :]))

    def move(self, *halves):
        (field, colour), (other, other_colour) = halves
        return GAME.parse(NAIVE.written(field, colour, other, other_colour))

    def lay(self, *halves):
        """Play a tile and return its points, symbol by symbol, as the lines tell them."""
        applied = GAME.apply(self.state, self.move(*halves))
        self.state, self.lines = applied.state, applied.lines
        sites = [NAIVE.site(field) for field, _ in halves]
        return tuple(sum(x.points for x in self.lines if x.sites[:1] == (s,)) for s in sites)

    def lay_far(self):
        """Somebody lays a tile that scores nothing."""
        assert self.lay(((0, 0), "red"), ((1, 0), "blue")) == (0, 0)
        return self

    def play(self, text):
        applied = GAME.apply(self.state, GAME.parse(text))
        self.state, self.lines = applied.state, applied.lines
        return self

    def check(self, text):
        return GAME.check(self.state, GAME.parse(text))

    def refusals(self, *halves):
        """Codes of everything wrong with laying a tile."""
        return [v.code for v in GAME.check(self.state, self.move(*halves)).violations]

    def refusals_of(self, text):
        return [v.code for v in self.check(text).violations]

    def peg(self, colour, side=0):
        return self.state.scores[side][COLOURS.index(colour)]

    def codes(self):
        return [line.code for line in self.lines]

    @property
    def standings(self):
        return GAME.standings(self.state)

    def legal_pairs(self, first="red", second="blue"):
        """Unordered pairs of fields on which the rules allow this tile."""
        pairs = set()
        for move in GAME.candidates(self.state):
            laid = GAME.footprint(self.state, move)
            if sorted(laid.values()) == sorted((first, second)) and self.allows(move):
                pairs.add(frozenset(laid))
        return pairs

    def allows(self, move):
        return GAME.check(self.state, move).legal


@pytest.fixture
def desk():
    return Desk


@pytest.fixture(scope="session")
def naive():
    return NAIVE
