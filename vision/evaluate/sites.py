"""Measures taught faces on a set of photographs: sites, photos, moves, questions and time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import cv2
import numpy as np

from rules.codec import decode
from rules.table import EMPTY, ROWS, Face, Site

from ..errors import VisionError
from ..frame import read_picture
from ..observation import Observation
from ..taught import BORDER_PX, PITCH_PX, SPAN_PX, Example, Patch, TaughtReader
from . import Summary

SURE = 0.9
"""A face believed less than this is asked."""

FOLDS = 5
"""So many times a set without games is divided, by boards, into taught and read photos."""


@dataclass(frozen=True)
class Grid:
    """Where the sites lie on the rectified board, in its own units."""

    origin: tuple[float, float]
    pitch: tuple[float, float]
    rows: int
    cols: int


@dataclass(frozen=True, eq=False)
class Photo:
    """The cut-outs of one photo and what lies there."""

    name: str
    game: str
    group: str
    cuts: Mapping[Site, Patch]
    truth: Mapping[Site, Face]
    cut_ms: float


@dataclass(frozen=True, eq=False)
class Reading:
    """One photo read by a teacher's examples; every site is right or not, asked or not."""

    photo: Photo
    taught: str
    read: Mapping[Site, Face | None]
    right: frozenset[Site]
    asked: frozenset[Site]
    read_ms: float

    @property
    def silent(self) -> list[Site]:
        """Wrong and not asked."""
        return [s for s in self.read if s not in self.right and s not in self.asked]

    def row(self) -> dict[str, object]:
        """One line of the CSV."""
        return {
            "image": self.photo.name,
            "taught_from": self.taught,
            "sites": len(self.read),
            "right": len(self.right),
            "silent": len(self.silent),
            "asked": len(self.asked),
            "exact": int(len(self.right) == len(self.read)),
            "cut_ms": round(self.photo.cut_ms, 1),
            "read_ms": round(self.read_ms, 1),
        }


def measure(
    truth: Mapping[str, Any], folder: Path, out: Path, teach_from: Sequence[str] = ()
) -> Summary:
    """Teach from the photos named in ``teach_from`` and read all others.

    Without names, each game teaches once; a set of one game is divided by boards.
    """
    photos = load(truth, folder)
    readings: list[Reading] = []
    teach_ms: list[float] = []
    for name, taught in choose_teachers(photos, teach_from):
        started_s = perf_counter()
        reader = TaughtReader(
            [Example(s, f, photos[i].cuts[s]) for i in taught for s, f in photos[i].truth.items()],
            truth.get("turns"),
        )
        teach_ms.append(1000 * (perf_counter() - started_s))
        others = [p for i, p in enumerate(photos) if i not in taught]
        if not others:
            raise VisionError(f"{folder}: expected photos to read beside the taught ones, got none")
        readings += [_read(reader, p, name) for p in others]
    for reading in readings:
        _draw_mistakes(reading, out)
    return _sum_up(readings, float(np.mean(teach_ms)))


def load(truth: Mapping[str, Any], folder: Path) -> list[Photo]:
    """All photos of a set, cut into sites."""
    known = {name: truth["grid"].get(name) for name in ("origin", "pitch", "rows", "cols")}
    where = str(folder / "truth.json")
    grid = decode(Grid, known, f"{where}: grid")
    board = decode(tuple[float, float], truth["board"], f"{where}: board")
    if grid.rows > len(ROWS):
        raise VisionError(f"{where}: rows: expected at most {len(ROWS)}, got {grid.rows}")
    return [_load_photo(entry, folder, grid, board) for entry in truth["photos"]]


def _load_photo(
    entry: Mapping[str, Any], folder: Path, grid: Grid, board: tuple[float, float]
) -> Photo:
    name = str(entry["image"])
    bgr = read_picture(folder / name).bgr
    started_s = perf_counter()
    corners = np.array(entry["corners_px"], np.float32)
    if corners.shape != (4, 2):
        raise VisionError(f"{folder / name}: corners_px: expected four points, got {corners.shape}")
    edges = np.array([[0, 0], [board[0], 0], board, [0, board[1]]], np.float32)
    # Twice as fine and then averaged: a photo usually has more pixels than a cut-out.
    scale = 2 * PITCH_PX / np.array(grid.pitch)
    target = ((edges - grid.origin) * scale + 2 * BORDER_PX).astype(np.float32)
    size = tuple(2 * (n * PITCH_PX + 2 * BORDER_PX) for n in (grid.cols, grid.rows))
    matrix = cv2.getPerspectiveTransform(corners, target)
    fine = cv2.warpPerspective(bgr, matrix, size, borderMode=cv2.BORDER_REPLICATE)
    half = cv2.resize(fine, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    whole = half.astype(np.float32) / np.float32(255)
    cuts: dict[Site, Patch] = {}
    for row in range(grid.rows):
        for column in range(grid.cols):
            y, x = row * PITCH_PX, column * PITCH_PX
            site = Site(f"{ROWS[row].upper()}{column + 1}")
            cuts[site] = whole[y : y + SPAN_PX, x : x + SPAN_PX]
    lying = {Site(s): Face(f) for s, f in entry["sites"].items()}
    for site in lying:
        if site not in cuts:
            raise VisionError(f"{folder / name}: sites: expected sites of the grid, got {site!r}")
    game = str(entry.get("game", ""))
    cut_ms = 1000 * (perf_counter() - started_s)
    group = str(entry.get("group", ""))
    return Photo(name, game, group, cuts, {s: lying.get(s, EMPTY) for s in cuts}, cut_ms)


def choose_teachers(photos: Sequence[Photo], names: Sequence[str]) -> list[tuple[str, set[int]]]:
    """Which photos teach, by a name for it: one choice, or several in turn."""
    games = sorted({p.game for p in photos})
    if names:
        taught = {i for i, p in enumerate(photos) for n in names if _answers(p, n)}
        if not taught:
            raise VisionError(f"--teach-from: expected a game or image, got {', '.join(names)}")
        return [("+".join(names), taught)]
    if len(games) > 1:
        return [(g, {i for i, p in enumerate(photos) if p.game == g}) for g in games]
    boards: dict[str, list[int]] = {}
    for i, photo in enumerate(photos):
        boards.setdefault(json.dumps(photo.truth, sort_keys=True), []).append(i)
    folds = [{i for b in list(boards.values())[k::FOLDS] for i in b} for k in range(FOLDS)]
    every = set(range(len(photos)))
    return [(f"all but fold {k}", every - fold) for k, fold in enumerate(folds) if fold]


def _answers(photo: Photo, name: str) -> bool:
    """Whether a photo is meant by the name of a game, a group, or the beginning of an image."""
    begins = photo.name.startswith(name) or Path(photo.name).name.startswith(name)
    return name in (photo.game, photo.group) or begins


def _read(reader: TaughtReader, photo: Photo, taught: str) -> Reading:
    started_s = perf_counter()
    seen = reader.observe(photo.cuts)
    read_ms = 1000 * (perf_counter() - started_s)
    read = {s: seen.best(s) if s in seen.beliefs else None for s in photo.cuts}
    asked = frozenset(s for s, face in read.items() if not _sure(seen, s, face))
    right = frozenset(
        s
        for s, face in photo.truth.items()
        if read[s] == face or (face not in reader.faces and s in asked)
    )
    return Reading(photo, taught, read, right, asked, read_ms)


def _sure(seen: Observation, site: Site, face: Face | None) -> bool:
    return face is not None and seen.beliefs[site][face] >= SURE


def _sum_up(readings: Sequence[Reading], teach_ms: float) -> Summary:
    lines = [f"{'taught from':20}   sites    right silent   asked  photos  exact   moves r/s/a"]
    for name in dict.fromkeys(r.taught for r in readings):
        lines.append(_line(name, [r for r in readings if r.taught == name]))
    lines.append(_line("all", readings))
    cut_ms = float(np.mean([r.photo.cut_ms for r in readings]))
    read_ms = float(np.mean([r.read_ms for r in readings]))
    lines.append(f"ms: teach {teach_ms:.0f}, cut {cut_ms:.1f}, read {read_ms:.1f} a photo")
    figures = {
        "sites": sum(len(r.read) for r in readings),
        "right": sum(len(r.right) for r in readings),
        "silent": sum(len(r.silent) for r in readings),
        "asked": sum(len(r.asked) for r in readings),
        "photos": len(readings),
        "exact": sum(len(r.right) == len(r.read) for r in readings),
        "ms_per_photo": round(cut_ms + read_ms, 1),
    }
    return Summary(lines, [r.row() for r in readings], {k: float(v) for k, v in figures.items()})


def _line(name: str, readings: Sequence[Reading]) -> str:
    sites = sum(len(r.read) for r in readings)
    right = sum(len(r.right) for r in readings) / sites
    asked = sum(len(r.asked) for r in readings) / sites
    silent = sum(len(r.silent) for r in readings)
    exact = sum(len(r.right) == len(r.read) for r in readings)
    moves = "/".join(map(str, judge_moves(readings)))
    counts = f"{sites:7} {right:8.3%} {silent:6} {asked:7.2%} {len(readings):7} {exact:6}"
    return f"{name:20} {counts}   {moves}"


def judge_moves(readings: Sequence[Reading]) -> tuple[int, int, int]:
    """Moves from one photo to the next of a game: right, silently wrong, asked.

    A site counts for the move when it changed, or seems to have changed.
    """
    right = silent = asked = 0
    for before, after in pairwise(readings):
        game = after.photo.game
        if not game or (before.photo.game, before.taught) != (game, after.taught):
            continue
        sites = [
            s
            for s in after.read
            if before.photo.truth[s] != after.photo.truth[s] or before.read[s] != after.read[s]
        ]
        if any(s in r.silent for s in sites for r in (before, after)):
            silent += 1
        elif any(s in r.asked for s in sites for r in (before, after)):
            asked += 1
        else:
            right += 1
    return right, silent, asked


def _draw_mistakes(reading: Reading, out: Path) -> None:
    """A cut-out per wrong site; its name says what was read, what is true, and whether asked."""
    for site in reading.read:
        if site in reading.right:
            continue
        out.mkdir(parents=True, exist_ok=True)
        how = "asked" if site in reading.asked else "silent"
        read = reading.read[site] or "nothing"
        photo = reading.photo.name.rpartition(".")[0].replace("/", "-")
        label = f"{photo}-{site}-{how}-read-{read}-true-{reading.photo.truth[site]}"
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in label)
        large = cv2.resize(reading.photo.cuts[site], None, fx=4, fy=4)
        cv2.imwrite(str(out / f"{name}.png"), (large * 255).astype(np.uint8))
