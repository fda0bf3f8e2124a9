"""Reads the table with a lesson: the taught reader for whatever was taught, drawn looks for the
rest."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from rules.errors import InvalidValue
from rules.table import EMPTY, Face, Place, Plan, Site
from rules.teaching import Cut, Lesson

from .. import looks
from ..board import AS_PLANNED, BoardPicture, BoardPlace, place_by_taps
from ..errors import BoardUnclear, NothingTaught
from ..looks import DrawnLooks
from ..observation import Observation
from ..observe import Observer
from ..rectify import TableImage
from ..taught import PITCH_PX, SPAN_PX, Example, Patch, TaughtReader
from .cutting import BOARD_PX_PER_MM, PAPER, cut_out, from_png, rescale, to_patch, to_patches

log = logging.getLogger(__name__)


class Reader(Protocol):
    """Sees what lies on a table."""

    def observe(self, image: TableImage) -> Observation:
        """What lies on every site that can be read in this picture."""
        ...


class LessonReader:
    """Reads the tables of one plan as a lesson teaches."""

    def __init__(self, plan: Plan, lesson: Lesson) -> None:
        self._plan = plan
        kinds: defaultdict[tuple[float, tuple[Face, ...]], list[Place]] = defaultdict(list)
        for place in plan.places.values():
            kinds[place.pitch_mm, place.faces].append(place)
        self._groups: list[tuple[list[Place], TaughtReader]] = []
        self._drawn: Observer | None = None
        self._untaught: set[Site] = set()
        for (pitch_mm, faces), places in kinds.items():
            try:
                examples = list_examples(lesson, pitch_mm, faces)
                if all(example.face != EMPTY for example in examples):
                    examples += _drawn_bare(plan, places)
                self._groups.append((places, TaughtReader(examples, turns_of(plan, faces))))
            except NothingTaught:
                self._untaught |= {place.site for place in places}
        if self._untaught:
            self._drawn = Observer(plan, DrawnLooks(plan))

    def observe(self, image: TableImage) -> Observation:
        beliefs: dict[Site, Mapping[Face, float]] = {}
        for places, reader in self._groups:
            cuts = cut_out(image, self._plan, places)
            beliefs |= reader.observe(to_patches(cuts, image.white_bgr)).beliefs
        if self._drawn:
            drawn = self._drawn.observe(image).beliefs
            beliefs |= {site: drawn[site] for site in self._untaught & drawn.keys()}
        return Observation(beliefs)


def list_boards(plan: Plan, lesson: Lesson | None) -> list[BoardPicture] | None:
    """By what the board is to be found between the cards; None: by its drawing."""
    if lesson is None or not lesson.board:
        return None
    return [BoardPicture.kept(from_png(lesson.board), BOARD_PX_PER_MM, plan)]


def read_place(plan: Plan, taps_mm: Sequence[tuple[float, float]]) -> BoardPlace:
    """Where the board lies by taps on it; as planned if there are none that fit."""
    if not taps_mm:
        return AS_PLANNED
    try:
        return place_by_taps(plan, taps_mm)
    except BoardUnclear as error:
        log.warning("%s", error)
        return AS_PLANNED


def list_examples(lesson: Lesson, pitch_mm: float, faces: Sequence[Face]) -> list[Example]:
    """The confirmed cut-outs of these faces, as they would look on sites of this pitch."""
    return [
        Example(_place(cut), cut.face, read_patch(lesson, cut, pitch_mm))
        for cut in lesson.cuts
        if cut.face is not None and cut.face in faces
    ]


def _place(cut: Cut) -> Site:
    """A bare site is known by its own look; each photograph of a piece is a place of its own, so
    that the reader can try a face on other places."""
    return cut.site if cut.face == EMPTY else Site(f"{cut.picture} {cut.site}")


def _drawn_bare(plan: Plan, places: Sequence[Place]) -> list[Example]:
    """Where the bare table was not taught, it is taken to look as it is drawn."""
    drawn = DrawnLooks(plan).bare()
    return [Example(p.site, EMPTY, _drawn_patch(drawn[p.site])) for p in places]


def _drawn_patch(look: looks.Patch) -> Patch:
    """A drawn look in the size and light of cut-outs."""
    return rescale(look, PITCH_PX / looks.PATCH_PX) * np.float32(PAPER)


def read_patch(lesson: Lesson, cut: Cut, pitch_mm: float) -> Patch:
    """A stored cut-out as it would look on a site of this pitch."""
    bgr = from_png(lesson.pngs[cut.name])
    if bgr.shape != (SPAN_PX, SPAN_PX, 3):
        expected = f"a cut-out of {SPAN_PX} x {SPAN_PX} pixels"
        raise InvalidValue(f"{lesson.game}: {cut.name}: expected {expected}, got {bgr.shape}")
    return rescale(to_patch(bgr, cut.white_bgr), cut.pitch_mm / pitch_mm)


def turns_of(plan: Plan, faces: Sequence[Face]) -> int:
    """In how many turns pieces with these faces may lie."""
    return max((plan.piece_of[face].turns for face in faces if face != EMPTY), default=1)
