"""What the owner has taught: cut-outs of photographs with what lies there, and what is missing.

A *lesson* is a set of cut-outs. The one being worked on is the draft, in which some cut-outs are
not confirmed yet; a lesson that is kept becomes a numbered version, see ``lessons``.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal, get_args

from .codec import encode
from .errors import InvalidValue, StaleCommand
from .table import EMPTY, Face, Plan, Site

PictureKind = Literal["bare", "sheet", "pieces", "table"]
"""What is photographed: the table with nothing on it, the printed teaching sheet, pieces laid on
the sites of the table in any order; or the table as a whole, to be shown where its board lies."""

Point = tuple[float, float]

VIEW_PX_PER_MM = 2.0
VIEW_MARGIN_MM = 15.0
"""Of the picture of the whole table, which goes so far beyond the corners that the cards touch."""

PICTURES: tuple[PictureKind, ...] = get_args(PictureKind)

Origin = Literal["bare", "sheet", "pieces", "play"]
"""Where a cut-out comes from; ``play``: a question answered or a move corrected during a game."""

MOST_OF_A_FACE = 24
"""So many cut-outs of a face are kept, at most half of them from play; more only take time."""

MOST_OF_A_SITE = 3
"""So many cut-outs of each bare site."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut-out and what is known of it; its picture is ``Lesson.pngs[name]``."""

    name: str
    """By its contents: another cut-out never has the same name."""
    site: Site
    """Site of the table, or place on the teaching sheet."""
    picture: int
    """Which photograph, counted from 1."""
    origin: Origin
    pitch_mm: float
    """How much of the table the cut-out shows."""
    white_bgr: tuple[float, float, float]
    """White paper in that photograph, from 0 to 255."""
    face: Face | None = None
    """What lies there, confirmed by a person."""
    proposed: Face | None = None
    """What the program takes it for."""
    belief: float = 0.0
    """How sure it is of that, from 0 to 1."""
    group: int = 0
    """Cut-outs of one group look alike: one question for all of them."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Cut-outs of one game's table, oldest first."""

    game: str
    plan: str
    """Digest of the plan they were cut for."""
    cuts: tuple[Cut, ...] = ()
    pngs: Mapping[str, bytes] = field(default_factory=dict, hash=False, repr=False)
    made_at: str = ""
    """When it was kept: ISO 8601 in UTC."""
    by: Literal["owner", "play"] = "owner"
    board: bytes = field(default=b"", repr=False)
    """The bare table from straight above as a PNG, by which a board that was pushed is found."""

    def confirmed(self) -> tuple[Cut, ...]:
        return tuple(c for c in self.cuts if c.face is not None)

    def questions(self) -> dict[int, tuple[Cut, ...]]:
        """The cut-outs that are not confirmed, group by group, the surest proposals first."""
        found: defaultdict[int, list[Cut]] = defaultdict(list)
        for cut in self.cuts:
            if cut.face is None:
                found[cut.group].append(cut)
        sure = {group: max(c.belief for c in cuts) for group, cuts in found.items()}
        return {group: tuple(found[group]) for group in sorted(found, key=lambda g: (-sure[g], g))}

    def examples(self) -> dict[Face, tuple[Cut, ...]]:
        """The confirmed cut-outs of every face."""
        found: defaultdict[Face, list[Cut]] = defaultdict(list)
        for cut in self.cuts:
            if cut.face is not None:
                found[cut.face].append(cut)
        return {face: tuple(cuts) for face, cuts in found.items()}

    @property
    def pictures(self) -> tuple[int, ...]:
        """The numbers of the photographs that cut-outs come from."""
        return tuple(sorted({c.picture for c in self.cuts}))


def digest(plan: Plan) -> str:
    """A short name for all of a plan that cut-outs depend on: places and bodies, not drawings."""
    bodies = {
        name: (p.outline, p.width_mm, p.thickness_mm, p.turns, sorted(p.faces))
        for name, p in plan.pieces.items()
    }
    places = [(p.site, p.x_mm, p.y_mm, p.pitch_mm, sorted(p.faces)) for p in plan.places.values()]
    text = json.dumps(encode([plan.size_mm, places, bodies]), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def begin(game: str, plan: Plan, taught: Lesson | None) -> Lesson:
    """A draft: what is taught already, to be added to, or nothing."""
    if taught is None:
        return Lesson(game, digest(plan))
    return replace(taught, made_at="", by="owner")


def tap_sites(plan: Plan) -> tuple[Site, ...]:
    """The four sites that lie furthest out, from the top left one clockwise.

    Their middles are tapped and not the corners of the board: the plan knows where they are on
    every board, a printed field has a middle that is easily hit, and what is right there is right
    where it matters.
    """
    ways = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    places = plan.places.values()
    return tuple(
        max(places, key=lambda p, x=x, y=y: x * p.x_mm + y * p.y_mm).site  # type: ignore[misc]
        for x, y in ways
    )


def view_size(plan: Plan) -> tuple[int, int]:
    """Width and height of the picture of the whole table, in pixels."""
    width, height = (round((mm + 2 * VIEW_MARGIN_MM) * VIEW_PX_PER_MM) for mm in plan.size_mm)
    return width, height


def view_to_mm(x_px: float, y_px: float) -> Point:
    """Where on the table a point of its picture is."""
    return x_px / VIEW_PX_PER_MM - VIEW_MARGIN_MM, y_px / VIEW_PX_PER_MM - VIEW_MARGIN_MM


def missing(plan: Plan, lesson: Lesson) -> tuple[Face, ...]:
    """What has not been taught yet, in the order of the plan; ``EMPTY`` is the bare table."""
    known = lesson.examples()
    return tuple(face for face in (EMPTY, *plan.piece_of) if face not in known)


def lacks(plan: Plan, draft: Lesson) -> str:
    """Why a draft is not complete, in a few words; nothing if it is."""
    absent, unsaid = missing(plan, draft), sum(map(len, draft.questions().values()))
    parts = [f"not taught: {', '.join(absent)}"] * bool(absent)
    parts += [f"not confirmed: {unsaid}"] * bool(unsaid)
    return "; ".join(parts)


def label(plan: Plan, lesson: Lesson, faces: Mapping[str, Face | None]) -> Lesson:
    """The lesson with these cut-outs confirmed; None drops a cut-out that shows nothing of ours.

    ``StaleCommand`` if there is no such cut-out any more; ``InvalidValue`` if that face cannot lie
    there.
    """
    known = {cut.name: cut for cut in lesson.cuts}
    for name, face in faces.items():
        if name not in known:
            raise StaleCommand(f"cut-out {name} is no longer in the draft")
        if face is not None:
            _check(plan, known[name], face)
    changed = (replace(c, face=faces[c.name]) if c.name in faces else c for c in lesson.cuts)
    return keep(lesson, [c for c in changed if c.name not in faces or c.face is not None])


def drop_picture(lesson: Lesson, picture: int) -> Lesson:
    """The lesson without the cut-outs of one photograph."""
    if picture not in lesson.pictures:
        raise StaleCommand(f"picture {picture} is no longer in the draft")
    return keep(lesson, [c for c in lesson.cuts if c.picture != picture])


def keep(lesson: Lesson, cuts: Iterable[Cut]) -> Lesson:
    """The lesson with these of its cut-outs only."""
    kept = tuple(cuts)
    board = lesson.board if any(c.origin == "bare" for c in kept) else b""
    pngs = {c.name: lesson.pngs[c.name] for c in kept}
    return replace(lesson, cuts=kept, pngs=pngs, board=board)


def finish(lesson: Lesson) -> Lesson:
    """What is worth keeping of a draft: confirmed cut-outs, of each kind the newest few."""
    found: defaultdict[tuple[object, ...], list[Cut]] = defaultdict(list)
    for cut in lesson.confirmed():
        bare = cut.face == EMPTY
        found[cut.face, cut.site if bare else None, cut.origin == "play"].append(cut)
    names = set[str]()
    for (face, _, _), cuts in found.items():
        most = MOST_OF_A_SITE if face == EMPTY else MOST_OF_A_FACE // 2
        names |= {c.name for c in cuts[-most:]}
    kept = [replace(c, proposed=None, belief=0.0, group=0) for c in lesson.cuts if c.name in names]
    return keep(lesson, kept)


def allowed_faces(plan: Plan, site: Site) -> tuple[Face, ...]:
    """What a cut-out may show; on a place of the teaching sheet that is anything."""
    place = plan.places.get(site)
    return place.faces if place else (EMPTY, *plan.piece_of)


def _check(plan: Plan, cut: Cut, face: Face) -> None:
    allowed = allowed_faces(plan, cut.site)
    if face not in allowed:
        expected = ", ".join(allowed)
        raise InvalidValue(f"{cut.name} at {cut.site}: expected one of {expected}, got {face!r}")
