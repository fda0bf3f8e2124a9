"""IN-4, IN-5, IN-9: the lines of a symbol, the way of a peg, and what a tile scores."""

from collections.abc import Iterator
from typing import NamedTuple

from rules.game import ScoreLine, Seat

from .board import COLOURS, LINES, SITES
from .codes import Line
from .state import Terms


class Advance(NamedTuple):
    """Where a peg ends up."""

    value: int
    stop: int
    """Where it could have gone at most."""
    surplus: int
    """Points lost beyond the stop."""
    reached: bool
    """It reached the stop just now."""


class Scored(NamedTuple):
    """What a tile brought."""

    values: tuple[int, ...]
    lines: tuple[ScoreLine, ...]
    bonus: int
    """Bonus tiles won."""


def count(cells: bytes, site: int, colour: int) -> Iterator[tuple[int, ...]]:
    """IN-4: of each line leading away from a half, the fields with equal symbols.

    Printed symbols count (IN-A8). ``cells`` is the board without the tile, so the line over its
    other half stops at once: the tile itself never counts.
    """
    for line in LINES[site]:
        n = 0
        for field in line:
            if cells[field] != colour:
                break
            n += 1
        if n:
            yield line[:n]


def advance(value: int, points: int, terms: Terms) -> Advance:
    """IN-5, IN-10: a peg stops at the end of a board; the next symbol may move it on.

    To stand on the end of the first board is to stand on 0 of the second. What goes beyond is
    lost (IN-A1, IN-A5), and a peg on the very end reaches nothing any more (IN-A2).
    """
    stop = min((value // terms.limit + 1) * terms.limit, terms.top)
    end = min(value + points, stop)
    return Advance(end, stop, value + points - end, end == stop != value)


def score(
    cells: bytes,
    halves: tuple[tuple[int, int], tuple[int, int]],
    seat: Seat,
    values: tuple[int, ...],
    terms: Terms,
    most_bonus: int,
) -> Scored:
    """Score both symbols of a tile, one after the other, with a line for every reason.

    ``cells`` is the board without the tile; ``most_bonus`` is how many tiles are left to lay as
    a bonus.
    """
    lines: list[ScoreLine] = []
    bonus = 0
    for site, colour in halves:
        name = COLOURS[colour]
        origin = SITES[site]
        points = 0
        for counted in count(cells, site, colour):
            n = len(counted)
            points += n
            sites = (origin, *[SITES[field] for field in counted])
            fields: dict[str, str | int] = {
                "colour": name,
                "site": origin,
                "end": sites[-1],
                "n": n,
            }
            lines.append(ScoreLine(seat, Line.LINE.value, "IN-4", n, name, sites, fields))
        if not points:
            fields = {"colour": name, "site": origin}
            lines.append(ScoreLine(seat, Line.NOTHING.value, "IN-4", 0, name, (origin,), fields))
            continue
        moved = advance(values[colour], points, terms)
        values = (*values[:colour], moved.value, *values[colour + 1 :])
        if moved.surplus:
            rule = "IN-A1" if moved.stop == terms.top else "IN-A5"
            fields = {"colour": name, "n": moved.surplus, "stop": moved.stop}
            lost = -moved.surplus
            lines.append(ScoreLine(seat, Line.SURPLUS.value, rule, lost, name, (), fields))
        if moved.reached and bonus < most_bonus:
            bonus += 1
            fields = {"colour": name, "stop": moved.stop}
            lines.append(ScoreLine(seat, Line.GENIUS.value, "IN-5", 0, name, (), fields))
        if is_complete(values, terms):
            break
    return Scored(values, tuple(lines), bonus)


def is_complete(values: tuple[int, ...], terms: Terms) -> bool:
    """IN-9, IN-A14: all colours at the very end."""
    return min(values) == terms.top


def rank(scores: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """IN-8: the higher lowest colour is better, then the second lowest, and so on (IN-A13: ties
    are shared).

    >>> rank(((10, 10, 10), (9, 14, 12), (9, 12, 13), (12, 13, 9)))
    (1, 2, 3, 3)
    """
    keys = [sorted(values) for values in scores]
    return tuple(1 + sum(other > key for other in keys) for key in keys)
