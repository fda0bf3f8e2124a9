"""The printed teaching sheet: an A4 page with markers at its corners and a place for every face.

A page is a small table of its own, so that whatever reads tables reads it too.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np

from rules.table import ROWS, Area, Face, Plan, Site

from ..cards import CARD_MM, DICTIONARY, IDS
from ..frame import Frame
from ..observe import reading_scale
from ..rectify import TableImage, rectify
from ..taught import PITCH_PX, SPAN_PX, Patch
from .cutting import PAPER

PAGE_MM = (210.0, 297.0)
EDGE_MM = 6.0
"""Around the page, where many printers cannot print."""
SIZE_MM = (PAGE_MM[0] - 2 * (CARD_MM + EDGE_MM), PAGE_MM[1] - 2 * (CARD_MM + EDGE_MM))
"""Between the four cards."""
GAP_MM = 4.0
LABEL_MM = 8.0
"""Below each place, for the drawing of its face."""

MOST_COPIES = 4
MOST_PAGES = cv2.aruco.getPredefinedDictionary(DICTIONARY).bytesList.shape[0] // len(IDS) - 1
"""Every page has four markers of its own; the first four are those of the table."""

MARK = ("#.##", "..#.", "##.#", ".#..")
"""Printed in the middle of each place: where it is seen, nothing lies. No piece looks like it."""
MARK_SHARE = 0.44
"""Its side, in pitches."""

MARK_SEEN = 0.7
"""Correlation of a place with the mark from which it counts as seen."""
REACH_PX = 4
SOFTNESS_PX = 1.0


@dataclass(frozen=True)
class Page:
    """One page; its plan's origin is the inner corner of the first card."""

    number: int
    plan: Plan
    faces: Mapping[Site, Face | None] = field(hash=False)
    """Which face is to be laid on each place; None: any."""

    @property
    def first_card(self) -> int:
        return self.number * len(IDS)


def lay_out(plan: Plan) -> tuple[Page, ...]:
    """The pages that hold every face of a plan at least once."""
    kinds: defaultdict[float, list[str]] = defaultdict(list)
    for name in plan.pieces:
        pitches = [area.pitch_mm for area in plan.areas.values() if name in area.pieces]
        if pitches:
            kinds[max(pitches)].append(name)
    pages: list[Page] = []
    for pitch_mm, names in kinds.items():
        spots = _spots(pitch_mm)
        wanted = [face for name in names for face in plan.pieces[name].faces]
        if not spots or not wanted:
            continue  # too large for a page: taught on the table itself
        copies = min(len(spots) // len(wanted), MOST_COPIES) // 2 * 2 or 1
        laid: list[Face | None] = [face for face in wanted for _ in range(copies)]
        while laid and len(pages) < MOST_PAGES:
            here, laid = laid[: len(spots)], laid[len(spots) :]
            here += [None] * (len(spots) - len(here))
            pages.append(_page(plan, len(pages) + 1, pitch_mm, names, spots, here))
    return tuple(pages)


def find_pages(frame: Frame, pages: tuple[Page, ...]) -> list[tuple[Page, TableImage]]:
    """The pages that lie in view, each seen from straight above."""
    found = []
    for page in pages:
        scale = reading_scale(page.plan)
        image = rectify(
            frame, page.plan, px_per_mm=scale, margin_mm=CARD_MM, first_card=page.first_card
        )
        if image is not None:
            found.append((page, image))
    return found


def is_free(patch: Patch) -> bool:
    """Whether nothing lies on a place: its mark is seen."""
    side = round(MARK_SHARE * PITCH_PX)
    bits = np.array([[0.1 if c == "#" else PAPER for c in row] for row in MARK], np.float32)
    mark = np.pad(
        cv2.resize(bits, (side, side), interpolation=cv2.INTER_AREA), 2, constant_values=PAPER
    )
    edge = (SPAN_PX - len(mark)) // 2 - REACH_PX
    gray = cv2.cvtColor(patch, cv2.COLOR_BGR2GRAY)[edge:-edge, edge:-edge]
    # Softened, so that half a pixel beside its place does not matter.
    soft = [cv2.GaussianBlur(p, (0, 0), SOFTNESS_PX) for p in (gray, mark)]
    return float(cv2.matchTemplate(soft[0], soft[1], cv2.TM_CCOEFF_NORMED).max()) >= MARK_SEEN


def mark_cells(pitch_mm: float) -> list[tuple[float, float, float]]:
    """The dark squares of the mark around the middle of a place: left, top and side in mm."""
    side_mm = MARK_SHARE * pitch_mm / len(MARK)
    start_mm = -len(MARK) / 2 * side_mm
    return [
        (start_mm + column * side_mm, start_mm + row * side_mm, side_mm)
        for row, line in enumerate(MARK)
        for column, cell in enumerate(line)
        if cell == "#"
    ]


def _page(
    plan: Plan,
    number: int,
    pitch_mm: float,
    names: list[str],
    spots: Mapping[Site, tuple[float, float]],
    faces: list[Face | None],
) -> Page:
    area = Area("spots", pitch_mm=pitch_mm, spots=spots, pieces=tuple(names), prefix=f"{number}-")
    pieces = {name: plan.pieces[name] for name in names}
    sheet = Plan(SIZE_MM, {"sheet": area}, pieces, plan.art, "#ffffff")
    return Page(number, sheet, dict(zip(sheet.sites, faces, strict=True)))


def _spots(pitch_mm: float) -> dict[Site, tuple[float, float]]:
    """Where pieces can lie on a page without touching a card, in pairs: two places are as far
    apart as on the table, so that a piece that covers two sites fits too."""
    width, height = 2 * pitch_mm + GAP_MM, pitch_mm + GAP_MM + LABEL_MM
    pairs, rows = (
        int((inside + 2 * CARD_MM) // side)
        for inside, side in zip(SIZE_MM, (width, height), strict=True)
    )
    left, top = (SIZE_MM[0] - pairs * width) / 2, (SIZE_MM[1] - rows * height) / 2
    found = {}
    for row in range(min(rows, len(ROWS))):
        y = top + row * height
        for pair in range(pairs):
            x = left + pair * width
            between_cards = x >= 0 and x + width <= SIZE_MM[0]
            if between_cards or (y >= 0 and y + height <= SIZE_MM[1]):
                for column in (0, 1):
                    name = Site(f"{ROWS[row]}{2 * pair + column + 1}")
                    middle_mm = x + GAP_MM / 2 + (column + 0.5) * pitch_mm
                    found[name] = middle_mm, y + (GAP_MM + pitch_mm) / 2
    return found
