"""What is in the box: the kinds of tiles and the numbers of ``values.toml``."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

from rules.codec import load_toml
from rules.errors import BrokenGame, InvalidValue

from .board import COLOURS, FOLDER, PRINTED, RADIUS, RING

KINDS = tuple(combinations_with_replacement(range(len(COLOURS)), 2))
"""The colours of each kind of tile, a smaller colour number first."""

KIND = {pair: kind for kind, (a, b) in enumerate(KINDS) for pair in ((a, b), (b, a))}
"""Two colours in either order -> the kind of tile."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """How many tiles of a kind there are."""

    mixed: int
    double: int


@dataclass(frozen=True, slots=True)
class Values:
    """The numbers of the box."""

    limit: int
    """End of a track on one score board."""
    rack: int
    """Tiles a player holds."""
    radius: tuple[int, int, int, int]
    """Of the fields in play, for one to four players."""
    tiles: Tiles

    @property
    def bag(self) -> bytes:
        """How many tiles of each kind the bag holds at the start."""
        return bytes(self.tiles.double if a == b else self.tiles.mixed for a, b in KINDS)


def load_values(path: Path) -> Values:
    """Read and check ``values.toml``; ``BrokenGame`` says what is wrong where."""
    try:
        values = load_toml(Values, path)
    except InvalidValue as error:
        raise BrokenGame(str(error)) from error
    ring_of_symbols = max((RING[n] for n in PRINTED), default=0)
    numbers = {
        "limit": (values.limit, 1, 99),
        "rack": (values.rack, 1, 99),
        "tiles.mixed": (values.tiles.mixed, 1, 99),
        "tiles.double": (values.tiles.double, 1, 99),
        **{f"radius[{n}]": (r, ring_of_symbols, RADIUS) for n, r in enumerate(values.radius)},
    }
    for name, (got, least, most) in numbers.items():
        if not least <= got <= most:
            raise BrokenGame(f"{path}: {name}: expected {least} to {most}, got {got}")
    if len(PRINTED) < len(values.radius):
        raise BrokenGame(
            f"{path.with_name('table.toml')}: expected a printed symbol for each of "
            f"{len(values.radius)} players, got {len(PRINTED)}"
        )
    fields = sum(ring <= max(values.radius) for ring in RING) - len(PRINTED)
    if 2 * sum(values.bag) < fields:
        raise BrokenGame(
            f"{path}: tiles: expected enough to cover {fields} fields, got {sum(values.bag)} tiles"
        )
    return values


VALUES = load_values(FOLDER / "values.toml")
