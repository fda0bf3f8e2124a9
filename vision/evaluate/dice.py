"""Measures the dice finder on a set of photographs: dice, totals, questions and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..cards import BORDER_MM, MARKER_MM, Cards, find_cards
from ..dice.colour import WHITE, Bgr, name_colour
from ..dice.find import WEIGHTS, Die, Sight, load_nets, search
from ..frame import Pixels, read_picture
from . import Summary
from .change import change_picture

PIP_MARGIN_PX = 12.0
"""A box around the pips only is widened by this before a found middle must lie inside it."""
GREEN, RED, YELLOW = (60, 200, 60), (40, 40, 230), (40, 220, 240)


@dataclass(frozen=True)
class Labelled:
    """A die as the truth states it."""

    value: int
    box_px: tuple[float, float, float, float]
    colour: str | None = None
    """The name of its body colour, where the truth tells that."""

    def holds(self, die: Die, margin_px: float) -> bool:
        """Whether the middle of a found die lies in the box."""
        x0, y0, x1, y1 = self.box_px
        across = x0 - margin_px <= die.x_px <= x1 + margin_px
        return across and y0 - margin_px <= die.y_px <= y1 + margin_px

    def distance(self, die: Die) -> float:
        """From the middle of the box to the middle of a found die."""
        x0, y0, x1, y1 = self.box_px
        return float(np.hypot(die.x_px - (x0 + x1) / 2, die.y_px - (y0 + y1) / 2))


@dataclass(eq=False)
class Photo:
    """What was found in one photo, beside its truth."""

    name: str
    labelled: list[Labelled]
    sight: Sight
    white_bgr: Bgr = WHITE
    pairs: list[tuple[Labelled, Die]] = field(default_factory=list)
    colours: list[str] = field(default_factory=list)
    """The body colours read, one per pair, where the truth tells them."""

    def match(self, margin_px: float) -> None:
        """Pair labels and found dice, nearest first."""
        possible = [
            (label.distance(die), row, column)
            for row, label in enumerate(self.labelled)
            for column, die in enumerate(self.sight.dice)
            if label.holds(die, margin_px)
        ]
        rows: set[int] = set()
        columns: set[int] = set()
        for _, row, column in sorted(possible):
            if row not in rows and column not in columns:
                self.pairs.append((self.labelled[row], self.sight.dice[column]))
                rows.add(row)
                columns.add(column)

    @property
    def right(self) -> int:
        """Dice found with their value."""
        return sum(label.value == die.value for label, die in self.pairs)

    @property
    def right_with_colour(self) -> int:
        """Dice found with their value and their body colour."""
        read = zip(self.pairs, self.colours, strict=True) if self.colours else ()
        return sum(
            label.value == die.value and label.colour == colour for (label, die), colour in read
        )

    @property
    def missed(self) -> int:
        """Dice of the truth that were not found."""
        return len(self.labelled) - len(self.pairs)

    @property
    def false(self) -> int:
        """Found dice that the truth does not know."""
        return len(self.sight.dice) - len(self.pairs)

    @property
    def total(self) -> int:
        """The sum of the truth."""
        return sum(label.value for label in self.labelled)

    @property
    def found_total(self) -> int:
        """The sum that was read."""
        return sum(die.value for die in self.sight.dice)

    @property
    def exact(self) -> bool:
        """Whether the sums agree."""
        return self.total == self.found_total

    @property
    def asked(self) -> bool:
        """Whether the finder would ask before it believes its own sum."""
        return not self.sight.sure

    def row(self) -> dict[str, object]:
        """One line of the CSV."""
        counts = {"dice": len(self.labelled), "right": self.right, "missed": self.missed}
        sums = {"false": self.false, "total": self.total, "found_total": self.found_total}
        flags = {"exact": int(self.exact), "asked": int(self.asked)}
        times = {f"{stage}_ms": round(ms, 1) for stage, ms in self.sight.ms.items()}
        return {"image": self.name, **counts, **sums, **flags, **times}


def measure(
    truth: Mapping[str, Any],
    folder: Path,
    out: Path,
    teach_from: Sequence[str] = (),
    weights: Path = WEIGHTS,
    change: str | None = None,
) -> Summary:
    """Read every photo; dice need no teaching.

    ``teach_from`` is there because sets of tiles need it; photos named in it are read as well.
    A picture of every photo with a mistake goes to ``out``.
    """
    nets = load_nets(weights)
    margin_px = PIP_MARGIN_PX if "pips" in str(truth.get("box", "")) else 0.0
    photos = []
    for entry in truth["photos"]:
        name = str(entry["image"])
        bgr, scale = change_picture(read_picture(folder / name).bgr, change)
        labelled = [_read_label(die, scale) for die in entry["dice"]]
        cards = find_cards(bgr)
        photo = Photo(name, labelled, search(bgr, nets, cards))
        photo.match(margin_px * scale)
        if any(label.colour for label in labelled):
            photo.white_bgr = find_white(bgr, cards)
        photos.append(photo)
        if not photo.exact or photo.right < len(labelled) or photo.false:
            out.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(out / f"{Path(name).stem}.jpg"), draw_mistakes(bgr, photo))
    read_colours(photos)
    return _sum_up(photos)


def _read_label(die: Mapping[str, Any], scale: float = 1.0) -> Labelled:
    x0, y0, x1, y1 = (float(side) * scale for side in die["box_px"])
    return Labelled(int(die["value"]), (x0, y0, x1, y1), die.get("colour"))


def find_white(bgr: Pixels, cards: Cards) -> Bgr:
    """The paper of the corner cards, as the table sees it; plain white where there are none."""
    outwards = 1 + BORDER_MM / MARKER_MM
    samples = []
    for corners in cards.corners_px.values():
        middle = corners.mean(axis=0)
        ring = middle + outwards * (corners - middle)
        sides = np.linspace(ring, np.roll(ring, -1, axis=0), 20).reshape(-1, 2)
        x, y = np.round(sides).astype(int).T
        inside = (x >= 0) & (y >= 0) & (x < bgr.shape[1]) & (y < bgr.shape[0])
        samples.append(bgr[y[inside], x[inside]])
    if not samples:
        return WHITE
    blue, green, red = np.median(np.vstack(samples), axis=0).tolist()
    return blue, green, red


def read_colours(photos: Sequence[Photo]) -> None:
    """Name the body colours in every photo; the others teach how each name looks."""
    seen: dict[str, list[tuple[int, Bgr]]] = {}
    for number, photo in enumerate(photos):
        for label, die in photo.pairs:
            if label.colour is not None:
                blue, green, red = (
                    255 * c / max(1.0, w)
                    for c, w in zip(die.colour_bgr, photo.white_bgr, strict=True)
                )
                seen.setdefault(label.colour, []).append((number, (blue, green, red)))
    for number, photo in enumerate(photos):
        palette = {}
        for name, samples in seen.items():
            if others := [bgr for origin, bgr in samples if origin != number]:
                blue, green, red = np.median(others, axis=0).tolist()
                palette[name] = (blue, green, red)
        if palette and all(label.colour is not None for label in photo.labelled):
            photo.colours = [
                name_colour(die.colour_bgr, palette, photo.white_bgr)[0] for _, die in photo.pairs
            ]


def _sum_up(photos: Sequence[Photo]) -> Summary:
    dice = sum(len(photo.labelled) for photo in photos)
    right = sum(photo.right for photo in photos)
    missed = sum(photo.missed for photo in photos)
    false = sum(photo.false for photo in photos)
    exact = [photo for photo in photos if photo.exact]
    wrong = [photo for photo in photos if not photo.exact]
    caught = sum(photo.asked for photo in wrong)
    needless = sum(photo.asked for photo in exact)
    stages = {
        stage: float(np.mean([photo.sight.ms[stage] for photo in photos]))
        for stage in (photos[0].sight.ms if photos else ())
    }
    figures: dict[str, float] = {
        "dice": dice, "right": right, "missed": missed, "false": false,
        "photos": len(photos), "exact_totals": len(exact), "wrong_totals_flagged": caught,
        "ms_per_photo": round(sum(stages.values()), 1),
    }  # fmt: skip
    told = sum(len(photo.labelled) for photo in photos if photo.colours)
    if told:
        figures["right_with_colour"] = sum(p.right_with_colour for p in photos if p.colours)
    lines = [
        f"dice           {right} of {dice} right ({_percent(right, dice)}), "
        f"{dice - right - missed} wrong value, {missed} missed, {false} false",
        f"totals         {len(exact)} of {len(photos)} exact ({_percent(len(exact), len(photos))})",
        f"wrong totals   {caught} of {len(wrong)} asked, {len(wrong) - caught} silent",
        f"right totals   {needless} of {len(exact)} asked without need",
        "ms per photo   " + ", ".join(f"{stage} {ms:.0f}" for stage, ms in stages.items()),
        *_show_confusion(photos),
    ]
    if told:
        both = round(figures["right_with_colour"])
        line = f"with colour    {both} of {told} right in value and colour ({_percent(both, told)})"
        lines.insert(1, line)
    return Summary(lines, [photo.row() for photo in photos], figures)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _show_confusion(photos: Sequence[Photo]) -> list[str]:
    """Rows: the value of the truth; columns: the value read, or missed."""
    table = np.zeros((7, 7), np.int64)
    for photo in photos:
        for label, die in photo.pairs:
            table[label.value, die.value] += 1
        for label in photo.labelled:
            if all(label is not paired for paired, _ in photo.pairs):
                table[label.value, 0] += 1
    head = "truth \\ read" + "".join(f"{value:6}" for value in range(1, 7)) + "  missed"
    body = [
        f"{value:12}" + "".join(f"{table[value, read]:6}" for read in range(1, 7))
        + f"{table[value, 0]:8}"
        for value in range(1, 7)
    ]  # fmt: skip
    return [head, *body]


def draw_mistakes(bgr: Pixels, photo: Photo) -> Pixels:
    """The photo with right dice green, wrong or false ones red, missed ones as yellow boxes."""
    picture = bgr.copy()
    labels = {id(die): label for label, die in photo.pairs}
    for die in photo.sight.dice:
        label = labels.get(id(die))
        colour = GREEN if label and label.value == die.value else RED
        middle = (round(die.x_px), round(die.y_px))
        cv2.circle(picture, middle, round(die.size_px * 0.7), colour, 2, cv2.LINE_AA)
        text = f"{die.value}" + ("" if die.sure else "?")
        corner = (middle[0] + round(die.size_px * 0.6), middle[1])
        cv2.putText(picture, text, corner, cv2.FONT_HERSHEY_SIMPLEX, 0.6, colour, 2, cv2.LINE_AA)
    for label in photo.labelled:
        if all(label is not paired for paired, _ in photo.pairs):
            x0, y0, x1, y1 = (round(side) for side in label.box_px)
            cv2.rectangle(picture, (x0, y0), (x1, y1), YELLOW, 2)
    return picture
