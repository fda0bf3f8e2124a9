"""From a photograph to the draft of a lesson: cuts it out, finds what is alike, proposes faces."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Literal

import numpy as np

from rules.status import Trouble
from rules.table import EMPTY, Face, Plan, Site
from rules.teaching import (
    VIEW_MARGIN_MM,
    VIEW_PX_PER_MM,
    Cut,
    Lesson,
    Origin,
    allowed_faces,
)

from ..cards import find_cards
from ..errors import NothingTaught
from ..frame import Frame, Pixels
from ..looks import DrawnLooks
from ..observation import Observation
from ..observe import Observer
from ..rectify import TableImage, rectify
from ..taught import Patch, TaughtReader
from ..trouble import explain_lost
from .cutting import cut_board, cut_out, inner, to_patch, to_png
from .grouping import group
from .reading import list_examples, read_patch, turns_of
from .sheet import find_pages, is_free, lay_out

Problem = Literal["sheet_lost", "no_bare", "nothing"]
"""Why a picture teaches nothing: the sheet is not in view, the bare table is not known yet, nothing
was laid."""

LAID = 0.06
"""Mean difference from the bare site, with 1 the step from black to white, from which something
lies there. Shadows of neighbours stay below it, pieces are far above."""

SHADOW = 1.6
"""How many times darker or brighter a bare site may have become as a whole."""

BLACK = 1e-3
"""Below every brightness that is divided by."""

GIVEN = 1.0
BELOW_GIVEN = 0.99
"""Belief in what the person was asked to lay; what merely looks so is believed less."""

SURE = 0.9
"""Groups that are proposed as the same face at least this surely are one question."""


def add_bare(plan: Plan, draft: Lesson, image: TableImage) -> Lesson:
    """The draft with a picture of the table on which nothing lies."""
    cuts = cut_out(image, plan, list(plan.places.values()))
    bare = dict.fromkeys(cuts, (EMPTY, GIVEN))
    draft = replace(draft, board=to_png(cut_board(image, plan)))
    return regroup(plan, add_cuts(plan, draft, image, cuts, "bare", bare))


def add_pieces(plan: Plan, draft: Lesson, image: TableImage) -> Lesson | Problem:
    """The draft with a picture of pieces on sites of the table; bare sites are left out."""
    known = bare_patches(draft)
    if not known:
        return "no_bare"
    cuts = cut_out(image, plan, list(plan.places.values()))
    laid = {site: cut for site, cut in cuts.items() if _laid(cut, image, known.get(site, ()))}
    if not laid:
        return "nothing"
    drawn = _best(Observer(plan, DrawnLooks(plan)).observe(image))
    return regroup(plan, add_cuts(plan, draft, image, laid, "pieces", drawn))


def add_sheet(plan: Plan, draft: Lesson, frame: Frame) -> Lesson | Problem:
    """The draft with a picture of the teaching sheet and what lies on it."""
    found = find_pages(frame, lay_out(plan))
    if not found:
        return "sheet_lost"
    before = draft
    for page, image in found:
        places = list(page.plan.places.values())
        cuts = cut_out(image, page.plan, places)
        laid = {
            site: cut for site, cut in cuts.items() if not is_free(to_patch(cut, image.white_bgr))
        }
        if laid:
            proposed = _best(Observer(page.plan, DrawnLooks(page.plan)).observe(image))
            proposed |= {s: (f, GIVEN) for s, f in page.faces.items() if f is not None}
            draft = add_cuts(page.plan, draft, image, laid, "sheet", proposed)
    return regroup(plan, draft) if draft is not before else "nothing"


def show_table(plan: Plan, frame: Frame) -> bytes | Trouble:
    """The whole table from straight above as a PNG, wherever its board lies."""
    cards = find_cards(frame.bgr)
    image = rectify(frame, plan, px_per_mm=VIEW_PX_PER_MM, margin_mm=VIEW_MARGIN_MM, cards=cards)
    return explain_lost(frame, cards, plan) if image is None else to_png(image.bgr)


def learn(plan: Plan, lesson: Lesson, image: TableImage, faces: Mapping[Site, Face]) -> Lesson:
    """The lesson with what a person has said, during play, about some sites of a picture."""
    cuts = cut_out(image, plan, [plan.places[site] for site in faces])
    return add_cuts(plan, lesson, image, cuts, "play", {}, faces)


def add_cuts(
    plan: Plan,
    lesson: Lesson,
    image: TableImage,
    cuts: Mapping[Site, Pixels],
    origin: Origin,
    proposed: Mapping[Site, tuple[Face, float]],
    faces: Mapping[Site, Face] | None = None,
) -> Lesson:
    """The lesson with these cut-outs, as another picture."""
    picture = max(lesson.pictures, default=0) + 1
    white = tuple(round(float(v), 2) for v in image.white_bgr)
    added, pngs = [], {}
    for site, bgr in cuts.items():
        png = to_png(bgr)
        name = sha256(f"{site} ".encode() + png).hexdigest()[:16]
        if name in lesson.pngs:
            continue  # the same photograph again
        face, belief = proposed.get(site, (None, 0.0))
        added.append(
            Cut(
                name,
                site,
                picture,
                origin,
                plan.places[site].pitch_mm,
                (white[0], white[1], white[2]),
                (faces or {}).get(site),
                face,
                round(belief, 4),
            )
        )
        pngs[name] = png
    return replace(lesson, cuts=(*lesson.cuts, *added), pngs={**lesson.pngs, **pngs})


def bare_patches(lesson: Lesson) -> dict[Site, list[Patch]]:
    """How each site looks with nothing on it, confirmed or about to be."""
    found: defaultdict[Site, list[Patch]] = defaultdict(list)
    for cut in lesson.cuts:
        if cut.face == EMPTY or (cut.face is None and cut.origin == "bare"):
            found[cut.site].append(read_patch(lesson, cut, cut.pitch_mm))
    return dict(found)


def regroup(plan: Plan, draft: Lesson) -> Lesson:
    """The draft with new proposals by what is confirmed, and with alike cut-outs grouped."""
    open_cuts = [c for c in draft.cuts if c.face is None]
    looked = [c for c in open_cuts if c.belief < GIVEN]
    groups = _alike(plan, draft, _propose(plan, draft, looked))
    for face in dict.fromkeys(c.proposed for c in open_cuts if c.belief == GIVEN):
        groups.append([c for c in open_cuts if c.belief == GIVEN and c.proposed == face])
    numbered = {c.name: replace(c, group=n) for n, cuts in enumerate(groups, 1) for c in cuts}
    return replace(draft, cuts=tuple(numbered.get(c.name, c) for c in draft.cuts))


def _laid(cut: Pixels, image: TableImage, bare: Sequence[Patch]) -> bool:
    patch = inner(to_patch(cut, image.white_bgr))
    for known in map(inner, bare):
        gain = np.clip(known.mean() / max(patch.mean(), BLACK), 1 / SHADOW, SHADOW)
        if float(np.abs(patch * gain - known).mean()) <= LAID:
            return False
    return True


def _best(seen: Observation) -> dict[Site, tuple[Face, float]]:
    faces = {site: seen.best(site) for site in seen.beliefs}
    return {s: (f, min(seen.beliefs[s][f], BELOW_GIVEN)) for s, f in faces.items()}


def _propose(plan: Plan, draft: Lesson, cuts: Sequence[Cut]) -> list[Cut]:
    """The cut-outs with proposals by what is confirmed already, where that says something."""
    kinds: defaultdict[tuple[float, tuple[Face, ...]], list[Cut]] = defaultdict(list)
    for cut in cuts:
        kinds[cut.pitch_mm, allowed_faces(plan, cut.site)].append(cut)
    found: dict[str, tuple[Face, float]] = {}
    for (pitch_mm, faces), here in kinds.items():
        try:
            reader = TaughtReader(list_examples(draft, pitch_mm, faces), turns_of(plan, faces))
        except NothingTaught:
            continue
        for picture in sorted({c.picture for c in here}):
            mine = {c.site: c for c in here if c.picture == picture}
            seen = reader.observe({s: read_patch(draft, c, pitch_mm) for s, c in mine.items()})
            found |= {mine[site].name: best for site, best in _best(seen).items()}
    return [
        replace(c, proposed=found[c.name][0], belief=round(found[c.name][1], 4))
        if c.name in found
        else c
        for c in cuts
    ]


def _alike(plan: Plan, draft: Lesson, cuts: Sequence[Cut]) -> list[list[Cut]]:
    """Groups of cut-outs that show the same, each with one proposal for all of it."""
    kinds: defaultdict[tuple[float, int], list[Cut]] = defaultdict(list)
    for cut in cuts:
        kinds[cut.pitch_mm, turns_of(plan, allowed_faces(plan, cut.site))].append(cut)
    groups: dict[tuple[object, ...], list[Cut]] = {}
    for (pitch_mm, turns), here in kinds.items():
        numbers = group([read_patch(draft, c, pitch_mm) for c in here], turns)
        for number in dict.fromkeys(numbers):
            members = [c for c, n in zip(here, numbers, strict=True) if n == number]
            face, belief = _agree(members)
            key = (face,) if belief >= SURE else (pitch_mm, turns, number)
            members = [replace(c, proposed=face, belief=round(belief, 4)) for c in members]
            groups.setdefault(key, []).extend(members)
    return list(groups.values())


def _agree(cuts: Sequence[Cut]) -> tuple[Face | None, float]:
    """What a group is taken for, by all of its members."""
    votes: defaultdict[Face, float] = defaultdict(float)
    for cut in cuts:
        if cut.proposed is not None:
            votes[cut.proposed] += cut.belief
    if not votes:
        return None, 0.0
    face = max(votes, key=lambda f: votes[f])
    return face, votes[face] / len(cuts)
