"""The plan of a table: where things may lie (in millimetres), what they are, how they look.

One description, ``table.toml`` and ``art/`` in a game's folder, feeds the camera's expectation,
the board on the phone, the virtual table and the printable sheets.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import hypot, sqrt
from pathlib import Path
from typing import Literal, NewType

from .codec import load_toml
from .errors import BrokenGame, InvalidValue

Site = NewType("Site", str)
"""A named place on the table where the camera looks."""

Face = NewType("Face", str)
"""What is visible on a site: one face of one piece, or ``EMPTY``."""

EMPTY = Face("empty")
"""Nothing lies here: the bare table or board, which may look different on every site."""

Layout = Mapping[Site, Face]
"""What lies where, site by site."""

Outline = Literal["hex", "square", "round"]

ROWS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Piece:
    """A kind of component: its body, and the faces it can show."""

    outline: Outline
    width_mm: float
    """Across the flats of a hexagon or square, or the diameter."""
    thickness_mm: float
    faces: Mapping[Face, str] = field(hash=False)
    """Face -> the letter shown beside its colour. Its drawing is ``art/<face>.svg``."""
    turns: int = 1
    """In how many steps of a full turn it may be laid; the turn carries no meaning."""
    colour: str = "#222222"
    """Of the body: what the side of a thick piece looks like."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How the bare board looks on some sites; of several that fit, the last one counts."""

    art: str
    within: int | None = None
    """On a hex grid: all sites at most this far from the centre."""
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Area:
    """A group of sites of one shape.

    ``hex``: rows of pointed-top hexagons; a row is a letter, a diagonal a number, so ``h8`` is
    the centre of radius 7. ``square``: a row is a letter, a column a number, ``a1`` is top left.
    ``spots``: single named places.
    """

    grid: Literal["hex", "square", "spots"]
    at_mm: tuple[float, float] = (0.0, 0.0)
    """Centre of a hex grid; centre of the first site of a square one; origin of spots."""
    pitch_mm: float = 0.0
    """Distance of neighbouring centres; for spots, the diameter of one."""
    radius: int = 0
    rows: int = 0
    columns: int = 0
    spots: Mapping[Site, tuple[float, float]] = field(default_factory=dict, hash=False)
    pieces: tuple[str, ...] = ()
    """What may lie here."""
    prefix: str = ""
    """Before every name, where two areas would give the same ones."""
    cells: tuple[Cell, ...] = ()

    def places(self) -> Iterator[tuple[Site, float, float]]:
        x0, y0 = self.at_mm
        if self.grid == "spots":
            for site, (x, y) in self.spots.items():
                yield Site(self.prefix + site), x0 + x, y0 + y
        elif self.grid == "square":
            for row in range(self.rows):
                for column in range(self.columns):
                    name = Site(f"{self.prefix}{ROWS[row]}{column + 1}")
                    yield name, x0 + column * self.pitch_mm, y0 + row * self.pitch_mm
        else:
            for q, r in hexes(self.radius):
                name = Site(f"{self.prefix}{hex_name(q, r, self.radius)}")
                yield name, x0 + self.pitch_mm * (q + r / 2), y0 + self.pitch_mm * r * sqrt(3) / 2


def changes(before: Layout, after: Layout) -> Layout:
    """The sites on which another face lies now."""
    return {site: face for site, face in after.items() if before.get(site, EMPTY) != face}


def hexes(radius: int) -> Iterator[tuple[int, int]]:
    """Axial coordinates (q to the right, r down) of a hexagon of hexagons, row by row.

    >>> len(list(hexes(7)))
    169
    """
    for r in range(-radius, radius + 1):
        for q in range(max(-radius, -radius - r), min(radius, radius - r) + 1):
            yield q, r


def hex_name(q: int, r: int, radius: int) -> str:
    """
    >>> hex_name(0, 0, 7), hex_name(0, -5, 7)
    ('h8', 'c8')
    """
    return f"{ROWS[r + radius]}{q + radius + 1}"


@dataclass(frozen=True, slots=True)
class Place:
    """A site with its place and shape on the table."""

    site: Site
    x_mm: float
    y_mm: float
    pitch_mm: float
    grid: Literal["hex", "square", "spots"]
    faces: tuple[Face, ...]
    """What can be seen here, ``EMPTY`` first."""
    cell: str
    """Art of the bare board here, or nothing."""


@dataclass(frozen=True, slots=True)
class _TableToml:
    size_mm: tuple[float, float]
    areas: Mapping[str, Area] = field(hash=False)
    pieces: Mapping[str, Piece] = field(hash=False)
    ground: str = "#f2ead8"
    board: str = ""


@dataclass(frozen=True)
class Plan:
    """A game's table. The corner cards stand at the corners of ``size_mm``."""

    size_mm: tuple[float, float]
    areas: Mapping[str, Area]
    pieces: Mapping[str, Piece]
    art: Mapping[str, str]
    """Name -> SVG text; the origin is the centre of the site, the unit a millimetre."""
    ground: str
    """Colour of the board around the sites."""
    board: str = ""
    """Art drawn under all sites, its origin at the top left corner of the table."""

    @classmethod
    def load(cls, folder: Path) -> "Plan":
        """Read and check ``table.toml`` and ``art/``; ``BrokenGame`` says what is wrong where."""
        path = folder / "table.toml"
        try:
            toml = load_toml(_TableToml, path)
        except InvalidValue as error:
            raise BrokenGame(str(error)) from error
        art = {f.stem: f.read_text("utf-8") for f in sorted((folder / "art").glob("*.svg"))}
        plan = cls(toml.size_mm, toml.areas, toml.pieces, art, toml.ground, toml.board)
        plan._validate(path)
        return plan

    @cached_property
    def places(self) -> Mapping[Site, Place]:
        """All sites, in the order of ``table.toml``."""
        found: dict[Site, Place] = {}
        for area in self.areas.values():
            faces = (EMPTY, *(f for p in area.pieces for f in self.pieces[p].faces))
            centre = area.at_mm
            for site, x, y in area.places():
                cell = ""
                for c in area.cells:
                    ring = round(_hex_distance(x - centre[0], y - centre[1], area.pitch_mm))
                    near = c.within is None or ring <= c.within
                    if near and (c.site is None or area.prefix + c.site == site):
                        cell = c.art
                found[site] = Place(site, x, y, area.pitch_mm, area.grid, faces, cell)
        return found

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        return tuple(self.places)

    @cached_property
    def piece_of(self) -> Mapping[Face, Piece]:
        return {face: piece for piece in self.pieces.values() for face in piece.faces}

    @cached_property
    def letters(self) -> Mapping[Face, str]:
        return {face: letter for p in self.pieces.values() for face, letter in p.faces.items()}

    def bare(self) -> dict[Site, Face]:
        """The layout on which nothing lies."""
        return dict.fromkeys(self.sites, EMPTY)

    def _validate(self, path: Path) -> None:
        def wrong(where: str, expected: str, got: object) -> BrokenGame:
            return BrokenGame(f"{path}: {where}: expected {expected}, got {got!r}")

        seen: dict[Site, str] = {}
        width, height = self.size_mm
        for name, area in self.areas.items():
            where = f"areas.{name}"
            if area.pitch_mm <= 0:
                raise wrong(f"{where}.pitch_mm", "more than 0", area.pitch_mm)
            if max(area.rows, 2 * area.radius + 1) > len(ROWS):
                raise wrong(where, f"at most {len(ROWS)} rows", max(area.rows, 2 * area.radius + 1))
            for kind in area.pieces:
                if kind not in self.pieces:
                    raise wrong(f"{where}.pieces", f"one of {', '.join(self.pieces)}", kind)
            for cell in area.cells:
                if cell.art not in self.art:
                    raise wrong(f"{where}.cells", "a drawing in art/", f"{cell.art}.svg")
            empty = True
            for site, x, y in area.places():
                empty = False
                if site in seen:
                    raise wrong(where, f"names other than those of {seen[site]}", site)
                if not (0 <= x <= width and 0 <= y <= height):
                    raise wrong(f"{where} {site}", f"a place within {self.size_mm} mm", (x, y))
                seen[site] = name
            if empty:
                raise wrong(where, "at least one site", "none")
        owner: dict[Face, str] = {}
        for name, piece in self.pieces.items():
            if min(piece.width_mm, piece.turns) <= 0 or piece.thickness_mm < 0:
                raise wrong(f"pieces.{name}", "positive sizes and turns", piece.width_mm)
            for face in piece.faces:
                if face in owner or face == EMPTY:
                    raise wrong(f"pieces.{name}.faces", "a new name", face)
                if face not in self.art:
                    raise wrong(f"pieces.{name}.faces", "a drawing in art/", f"{face}.svg")
                owner[face] = name
        if self.board and self.board not in self.art:
            raise wrong("board", "a drawing in art/", f"{self.board}.svg")


def _hex_distance(dx: float, dy: float, pitch_mm: float) -> float:
    """Steps between the centres of two hexagons of a grid."""
    r = dy / (pitch_mm * sqrt(3) / 2)
    q = dx / pitch_mm - r / 2
    return max(abs(q), abs(r), abs(q + r)) if hypot(dx, dy) else 0.0
