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

from rules.table import EMPTY, Face, Site

from ..errors import VisionError
from ..frame import Pixels
from ..taught import SPAN_PX, Example, TaughtReader
from . import Summary
from .photos import Photo, load_photos

SURE = 0.9
"""A face believed less than this is asked."""

FOLDS = 5
"""So many times a set without games is divided, by boards, into taught and read photos."""

BINS = (0.0, 0.5, 0.7, 0.8, SURE, 0.95, 0.99)
"""Beliefs from each of these to the next are counted together."""

LARGER = 5
"""How many times larger a mistake is drawn."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One photo read by a teacher's examples; every site is right or not, asked or not."""

    photo: Photo
    taught: str
    read: Mapping[Site, Face | None]
    belief: Mapping[Site, float]
    """How much what was read is believed."""
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
    truth: Mapping[str, Any],
    folder: Path,
    out: Path,
    teach_from: Sequence[str] = (),
    change: str | None = None,
) -> Summary:
    """Teach from the photos named in ``teach_from`` and read all others, possibly changed.

    Without names, each game teaches once; a set of one game is divided by boards.
    """
    photos = load_photos(truth, folder)
    changed = load_photos(truth, folder, change) if change else photos
    readings: list[Reading] = []
    teach_ms: list[float] = []
    for name, taught in choose_teachers(photos, teach_from):
        others = [p for i, p in enumerate(changed) if i not in taught]
        if not others:
            raise VisionError(f"{folder}: expected photos to read beside the taught ones, got none")
        examples = [e for i in sorted(taught) for e in _give_examples(photos[i])]
        started_s = perf_counter()
        reader = TaughtReader(examples, truth.get("turns"))
        teach_ms.append(1000 * (perf_counter() - started_s))
        readings += [_read(reader, p, name) for p in others]
    for reading in readings:
        _draw_mistakes(reading, out)
    return _sum_up(readings, float(np.mean(teach_ms)))


def _give_examples(photo: Photo) -> list[Example]:
    cuts = photo.cut()
    return [Example(site, face, cuts[site]) for site, face in photo.truth.items()]


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
    seen = reader.observe(photo.cut())
    read_ms = 1000 * (perf_counter() - started_s)
    read = {s: seen.best(s) if s in seen.beliefs else None for s in photo.truth}
    belief = {s: seen.beliefs[s][f] if f is not None else 0.0 for s, f in read.items()}
    asked = frozenset(s for s, p in belief.items() if p < SURE)
    right = frozenset(
        s
        for s, face in photo.truth.items()
        if read[s] == face or (face not in reader.faces and s in asked)
    )
    return Reading(photo, taught, read, belief, right, asked, read_ms)


def _sum_up(readings: Sequence[Reading], teach_ms: float) -> Summary:
    lines = [f"{'taught from':20}   sites    right silent   asked  photos  exact   moves r/s/a"]
    for name in dict.fromkeys(r.taught for r in readings):
        lines.append(_line(name, [r for r in readings if r.taught == name]))
    lines.append(_line("all", readings))
    cut_ms = float(np.mean([r.photo.cut_ms for r in readings]))
    read_ms = float(np.mean([r.read_ms for r in readings]))
    lines.append(f"ms: teach {teach_ms:.0f}, cut {cut_ms:.1f}, read {read_ms:.1f} a photo")
    lines += _show_reliability(readings)
    laid = [(r, s) for r in readings for s, face in r.photo.truth.items() if face != EMPTY]
    figures = {
        "sites": sum(len(r.read) for r in readings),
        "right": sum(len(r.right) for r in readings),
        "silent": sum(len(r.silent) for r in readings),
        "asked": sum(len(r.asked) for r in readings),
        "photos": len(readings),
        "exact": sum(len(r.right) == len(r.read) for r in readings),
        "tiles": len(laid),
        "tiles_right": sum(s in r.right for r, s in laid),
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


def _show_reliability(readings: Sequence[Reading]) -> list[str]:
    """How often what was believed so much was right."""
    pairs = [(p, r.read[s] == r.photo.truth[s]) for r in readings for s, p in r.belief.items()]
    believed, right = np.array([p for p, _ in pairs]), np.array([is_right for _, is_right in pairs])
    lines = ["believed          sites   right"]
    for low, high in pairwise((*BINS, 1.0)):
        mine = (believed >= low) & ((believed < high) | (high == 1.0))
        if mine.any():
            lines.append(f"{low:4.2f} to {high:4.2f} {mine.sum():10} {right[mine].mean():7.1%}")
    return lines


def _draw_mistakes(reading: Reading, out: Path) -> None:
    """A picture per wrong site: what was read, what is true, and whether it was asked."""
    for site in reading.read:
        if site in reading.right:
            continue
        out.mkdir(parents=True, exist_ok=True)
        how = "asked" if site in reading.asked else "silent"
        read, true = reading.read[site] or "nothing", reading.photo.truth[site]
        photo = reading.photo.name.rpartition(".")[0].replace("/", "-")
        label = f"{reading.taught}-{photo}-{site}-{how}-read-{read}-true-{true}"
        name = "".join(c if c.isalnum() or c in "-_" else "_" for c in label)
        y, x = reading.photo.starts_px[site]
        cut = reading.photo.board_bgr[y : y + SPAN_PX, x : x + SPAN_PX]
        words = (f"{how} {reading.belief[site]:.2f}", f"read {read}", f"true {true}")
        cv2.imwrite(str(out / f"{name}.png"), _write_under(cut, words))


def _write_under(cut: Pixels, words: Sequence[str]) -> Pixels:
    """The cut-out, larger, with a line of text under it for each of the words."""
    large = cv2.resize(cut, None, fx=LARGER, fy=LARGER, interpolation=cv2.INTER_CUBIC)
    strip = np.full((20 * len(words) + 6, large.shape[1], 3), 255, np.uint8)
    for row, text in enumerate(words):
        # The fonts of OpenCV know no other letters.
        plain = text.encode("ascii", "backslashreplace").decode()
        cv2.putText(
            strip,
            plain,
            (6, 18 + 20 * row),
            cv2.FONT_HERSHEY_SIMPLEX,
            0.5,
            (0, 0, 0),
            1,
            cv2.LINE_AA,
        )
    return np.vstack([large, strip]).astype(np.uint8, copy=False)
