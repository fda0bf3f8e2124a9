"""Photographs of boards with their truth, cut into sites."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import cv2
import numpy as np

from rules.codec import decode
from rules.table import EMPTY, ROWS, Face, Site

from ..errors import VisionError
from ..frame import Pixels, read_picture
from ..taught import BORDER_PX, PITCH_PX, SPAN_PX, Patch
from .change import change_picture


@dataclass(frozen=True)
class Rows:
    """Sites in rows and columns, as the truth describes them."""

    origin: tuple[float, float]
    """The corner of the first site."""
    pitch: tuple[float, float]
    rows: int
    cols: int


@dataclass(frozen=True)
class Places:
    """Sites at any places, as the truth describes them."""

    pitch: float
    """From one site to the next."""
    places: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Grid:
    """Where the middles of the sites lie on the rectified board, in its own units."""

    board: tuple[float, float]
    pitch: tuple[float, float]
    places: Mapping[Site, tuple[float, float]]

    @property
    def corner(self) -> tuple[float, float]:
        """The least coordinates of all middles."""
        x, y = zip(*self.places.values(), strict=True)
        return min(x), min(y)


@dataclass(frozen=True, eq=False)
class Photo:
    """The board of one photo from straight above, and what lies there."""

    name: str
    game: str
    group: str
    board_bgr: Pixels
    """``PITCH_PX`` a pitch, with ``BORDER_PX`` around the sites."""
    starts_px: Mapping[Site, tuple[int, int]]
    """Where each cut-out begins: row, column."""
    truth: Mapping[Site, Face]
    cut_ms: float

    def cut(self) -> dict[Site, Patch]:
        """The cut-outs of all sites."""
        whole = self.board_bgr.astype(np.float32) / np.float32(255)
        return {
            site: whole[y : y + SPAN_PX, x : x + SPAN_PX] for site, (y, x) in self.starts_px.items()
        }


def read_grid(truth: Mapping[str, Any], where: str) -> Grid:
    """The grid of a set: rows and columns, or a place per site."""
    board = decode(tuple[float, float], truth["board"], f"{where}: board")
    described = truth["grid"]
    if "places" in described:
        known = {name: described.get(name) for name in ("pitch", "places")}
        free = decode(Places, known, f"{where}: grid")
        if not free.places:
            raise VisionError(f"{where}: grid: places: expected a place per site, got none")
        places = {Site(s): at for s, at in free.places.items()}
        return Grid(board, (free.pitch, free.pitch), places)
    known = {name: described.get(name) for name in ("origin", "pitch", "rows", "cols")}
    grid = decode(Rows, known, f"{where}: grid")
    if grid.rows > len(ROWS):
        raise VisionError(f"{where}: rows: expected at most {len(ROWS)}, got {grid.rows}")
    (x, y), (across, along) = grid.origin, grid.pitch
    return Grid(
        board,
        grid.pitch,
        {
            Site(f"{ROWS[row].upper()}{column + 1}"): (
                x + (column + 0.5) * across,
                y + (row + 0.5) * along,
            )
            for row in range(grid.rows)
            for column in range(grid.cols)
        },
    )


def load_photos(truth: Mapping[str, Any], folder: Path, change: str | None = None) -> list[Photo]:
    """All photos of a set, possibly changed."""
    grid = read_grid(truth, str(folder / "truth.json"))
    return [_load_photo(entry, folder, grid, change) for entry in truth["photos"]]


def _load_photo(entry: Mapping[str, Any], folder: Path, grid: Grid, change: str | None) -> Photo:
    name = str(entry["image"])
    bgr, scale = change_picture(read_picture(folder / name).bgr, change)
    corners = np.array(entry["corners_px"], np.float32) * scale
    if corners.shape != (4, 2):
        raise VisionError(f"{folder / name}: corners_px: expected four points, got {corners.shape}")
    started_s = perf_counter()
    board_bgr, starts_px = cut_board(bgr, corners.astype(np.float32), grid)
    cut_ms = 1000 * (perf_counter() - started_s)
    lying = {Site(s): Face(f) for s, f in entry["sites"].items()}
    for site in lying:
        if site not in starts_px:
            raise VisionError(f"{folder / name}: sites: expected sites of the grid, got {site!r}")
    return Photo(
        name,
        str(entry.get("game", "")),
        str(entry.get("group", "")),
        board_bgr,
        starts_px,
        {s: lying.get(s, EMPTY) for s in starts_px},
        cut_ms,
    )


def cut_board(
    bgr: Pixels, corners_px: Patch, grid: Grid
) -> tuple[Pixels, dict[Site, tuple[int, int]]]:
    """The board from straight above, and where the cut-out of each site begins in it."""
    scale = PITCH_PX / np.array(grid.pitch)
    starts = {
        site: np.rint((np.array(at) - grid.corner) * scale).astype(int)
        for site, at in grid.places.items()
    }
    width, height = np.max(list(starts.values()), axis=0) + SPAN_PX
    (right, bottom), (left, top) = grid.board, grid.corner
    edges = np.array([[0, 0], [right, 0], [right, bottom], [0, bottom]])
    # Twice as fine and then averaged: a photo usually has more pixels than a cut-out.
    target = 2 * ((edges - (left, top)) * scale + PITCH_PX / 2 + BORDER_PX)
    matrix = cv2.getPerspectiveTransform(corners_px, target.astype(np.float32))
    fine = cv2.warpPerspective(
        bgr, matrix, (2 * int(width), 2 * int(height)), borderMode=cv2.BORDER_REPLICATE
    )
    board = cv2.resize(fine, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return board.astype(np.uint8, copy=False), {
        site: (int(y), int(x)) for site, (x, y) in starts.items()
    }
