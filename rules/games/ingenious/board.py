"""The board: its fields by number, which of them are neighbours, and the lines leading away.

Inside this game a field is its number in ``SITES`` and a colour its number in ``COLOURS``.
"""

from pathlib import Path

from rules.errors import BrokenGame
from rules.table import Face, Plan, hexes

FOLDER = Path(__file__).parent

PRINTED_ART = "printed-"
"""So begins the art of a field with a printed symbol; the colour follows."""

DIRECTIONS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))


def load_plan(folder: Path) -> Plan:
    """The table of this game; ``BrokenGame`` if it is no hexagon for tiles with symbols."""
    plan = Plan.load(folder)
    if tuple(plan.areas) != ("board",) or plan.areas["board"].grid != "hex":
        got = ", ".join(f"{name} ({area.grid})" for name, area in plan.areas.items())
        raise BrokenGame(f"{folder / 'table.toml'}: areas: expected only board (hex), got {got}")
    if tuple(plan.pieces) != ("tile",):
        got = ", ".join(plan.pieces)
        raise BrokenGame(f"{folder / 'table.toml'}: pieces: expected only tile, got {got}")
    known = {PRINTED_ART + face for face in plan.pieces["tile"].faces}
    for cell in plan.areas["board"].cells:
        if cell.art.startswith(PRINTED_ART) and cell.art not in known:
            expected = ", ".join(sorted(known))
            raise BrokenGame(
                f"{folder / 'table.toml'}: areas.board.cells: expected {expected}, got {cell.art!r}"
            )
    return plan


PLAN = load_plan(FOLDER)
SITES = PLAN.sites
NUMBER = {site: number for number, site in enumerate(SITES)}
COLOURS: tuple[Face, ...] = tuple(PLAN.pieces["tile"].faces)
FREE = len(COLOURS)
"""Stands for a colour on a field without a symbol."""

RADIUS = PLAN.areas["board"].radius
_AXIAL = tuple(hexes(RADIUS))
_NUMBER_AT = {axial: number for number, axial in enumerate(_AXIAL)}

RING = tuple(max(abs(q), abs(r), abs(q + r)) for q, r in _AXIAL)
"""How far each field is from the centre."""

PRINTED = {
    NUMBER[site]: COLOURS.index(Face(place.cell.removeprefix(PRINTED_ART)))
    for site, place in PLAN.places.items()
    if place.cell.startswith(PRINTED_ART)
}
"""The printed symbols: field -> colour."""


def _line(number: int, direction: tuple[int, int]) -> tuple[int, ...]:
    """The fields in a straight line away from a field, up to the edge."""
    (q, r), (dq, dr) = _AXIAL[number], direction
    steps = [(q + dq * n, r + dr * n) for n in range(1, 2 * RADIUS + 1)]
    return tuple(_NUMBER_AT[step] for step in steps if step in _NUMBER_AT)


LINES = tuple(
    tuple(line for line in (_line(n, d) for d in DIRECTIONS) if line) for n in range(len(SITES))
)
"""The straight lines leading away from each field."""

NEIGHBOURS = tuple(tuple(line[0] for line in lines) for lines in LINES)

PAIRS = tuple((a, b) for a in range(len(SITES)) for b in NEIGHBOURS[a] if a < b)
"""All places for a tile."""

PAIRS_WITHIN = tuple(
    tuple((a, b) for a, b in PAIRS if RING[a] <= radius and RING[b] <= radius)
    for radius in range(RADIUS + 1)
)

SYMBOLS_BESIDE = tuple(tuple(n for n in neighbours if n in PRINTED) for neighbours in NEIGHBOURS)
"""The printed symbols that touch each field."""

BARE = bytes(PRINTED.get(number, FREE) for number in range(len(SITES)))
"""The colours on the board before the first tile."""
