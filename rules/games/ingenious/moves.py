"""The moves, how they are written, and which of them the table could show.

A tile is written half by half in the order of scoring: ``red@h8 blue@h9``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rules.errors import InvalidNotation
from rules.table import Site

from .board import COLOURS, FREE, NEIGHBOURS, NUMBER, PAIRS, SITES
from .box import KIND, KINDS
from .scoring import advance, count
from .state import State


class Half(NamedTuple):
    """One symbol of a tile on its field."""

    site: int
    colour: int


@dataclass(frozen=True, slots=True)
class Place:
    """IN-2: lay a tile; ``first`` is scored first (IN-A4)."""

    first: Half
    second: Half


@dataclass(frozen=True, slots=True)
class Exchange:
    """IN-7: change the rack, after the turn and before refilling."""

    shown: tuple[int, ...] | None = None
    """Kinds of the tiles shown, if somebody entered them."""


@dataclass(frozen=True, slots=True)
class Stop:
    """IN-A12: decline the bonus tiles that are left."""


Move = Place | Exchange | Stop

_HALVES = tuple(
    tuple(Half(site, colour) for colour in range(len(COLOURS))) for site in range(len(SITES))
)
_HALF_WRITTEN = {
    f"{COLOURS[half.colour]}@{SITES[half.site]}": half for halves in _HALVES for half in halves
}
_WRITTEN = {half: text for text, half in _HALF_WRITTEN.items()}
_TILE_WRITTEN = {f"{COLOURS[a]}-{COLOURS[b]}": kind for (a, b), kind in KIND.items()}


def notate(move: Move) -> str:
    """The move as text; ``parse`` reads it back."""
    match move:
        case Place(first, second):
            return f"{_WRITTEN[first]} {_WRITTEN[second]}"
        case Exchange(None):
            return "exchange"
        case Exchange(shown):
            tiles = (f"{COLOURS[a]}-{COLOURS[b]}" for a, b in (KINDS[k] for k in shown or ()))
            return " ".join(("exchange", *tiles))
        case Stop():
            return "stop"


def parse(text: str) -> Move:
    """The move written as ``text``.

    >>> notate(parse("Red@h8  blue@h9"))
    'red@h8 blue@h9'
    >>> parse("red@h8 blue@h10")
    Traceback (most recent call last):
        ...
    rules.errors.InvalidNotation: expected two neighbouring fields like 'red@h8 blue@h9', \
got 'red@h8 blue@h10'
    """
    words = text.lower().split()
    if words == ["stop"]:
        return Stop()
    if words[:1] == ["exchange"]:
        return _parse_exchange(words[1:], text)
    halves = [_HALF_WRITTEN[word] for word in words if word in _HALF_WRITTEN]
    if not len(halves) == len(words) == 2:
        raise InvalidNotation(f"expected like 'red@h8 blue@h9', 'exchange' or 'stop', got {text!r}")
    first, second = halves
    if second.site not in NEIGHBOURS[first.site]:
        raise InvalidNotation(
            f"expected two neighbouring fields like 'red@h8 blue@h9', got {text!r}"
        )
    return Place(first, second)


def _parse_exchange(tiles: list[str], text: str) -> Exchange:
    for tile in tiles:
        if tile not in _TILE_WRITTEN:
            raise InvalidNotation(
                f"expected tiles like 'exchange red-blue green-green', got {tile!r} in {text!r}"
            )
    return Exchange(tuple(sorted(_TILE_WRITTEN[tile] for tile in tiles)) or None)


def candidates(state: State, near: frozenset[Site] | None) -> Iterator[Move]:
    """Every tile on every two neighbouring fields, legal or not; then the quiet moves."""
    numbers = None if near is None else {NUMBER[site] for site in near if site in NUMBER}
    for a, b in PAIRS:
        if numbers is not None and a not in numbers and b not in numbers:
            continue
        for first in _HALVES[a]:
            for second in _HALVES[b]:
                yield Place(first, second)
                if first.colour == second.colour and _order_matters(state, first, second):
                    yield Place(second, first)
    yield Exchange()
    yield Stop()


def _order_matters(state: State, first: Half, second: Half) -> bool:
    """IN-A4: on a double score board the halves of a double may end on different values."""
    terms, cells = state.terms, state.cells
    if not terms.double or cells[first.site] != FREE or cells[second.site] != FREE:
        return False
    value = state.scores[state.side(state.seat)][first.colour]
    one = sum(map(len, count(cells, first.site, first.colour)))
    two = sum(map(len, count(cells, second.site, second.colour)))
    return (
        advance(advance(value, one, terms).value, two, terms).value
        != advance(advance(value, two, terms).value, one, terms).value
    )
