"""What the teaching page shows of one game: what is taught, what the draft still asks."""

from dataclasses import dataclass
from pathlib import Path

from rules import games
from rules.errors import InvalidValue
from rules.lessons import Lessons
from rules.status import Status, Teaching
from rules.table import EMPTY, Face, Plan
from rules.teaching import Cut, Lesson, allowed_faces, missing

STRIP = 12
"""So many cut-outs of a group are shown; more of the same tell nothing new."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cut-outs that look alike: one question."""

    number: int
    cuts: tuple[Cut, ...]
    proposed: Face | None
    faces: tuple[Face, ...]
    """The possible answers."""

    @property
    def names(self) -> str:
        return " ".join(cut.name for cut in self.cuts)

    @property
    def shown(self) -> tuple[Cut, ...]:
        return self.cuts[:STRIP]


@dataclass(frozen=True, slots=True)
class Version:
    """A lesson that was kept; without faces its file cannot be read."""

    number: int
    made_at: str = ""
    faces: int = 0
    cuts: int = 0
    by: str = "owner"


@dataclass(frozen=True, slots=True)
class Classroom:
    """Everything on the page."""

    game: str
    plan: Plan
    draft: Lesson | None
    problem: str
    """Why the draft cannot be read, in the words of the file."""
    groups: tuple[Group, ...]
    missing: tuple[Face, ...]
    """Not taught yet, pieces only."""
    bare: bool
    """Whether the bare table is known."""
    versions: tuple[Version, ...]
    """Newest first."""
    teaching: Teaching | None
    view: bool = False
    """Whether there is a picture of the whole table."""
    tapped: bool = False
    """Whether somebody has shown on it where the board lies."""

    @property
    def sure(self) -> str:
        """All proposals as one answer: ``name:face``, to be confirmed with a single tap."""
        return " ".join(
            f"{cut.name}:{group.proposed}"
            for group in self.groups
            if group.proposed is not None
            for cut in group.cuts
        )


def visit(state_dir: Path, game: str, status: Status | None) -> Classroom:
    """The classroom of a game at this moment."""
    plan, lessons = games.find(game).plan, Lessons(state_dir, game)
    draft, problem = None, ""
    try:
        draft = lessons.draft()
    except InvalidValue as error:
        problem = str(error)
    gaps = missing(plan, draft) if draft else tuple(plan.piece_of)
    teaching = status.teaching if status else None
    return Classroom(
        game,
        plan,
        draft,
        problem,
        _groups(plan, draft) if draft else (),
        tuple(face for face in gaps if face != EMPTY),
        draft is not None and EMPTY not in gaps,
        tuple(_version(lessons, number) for number in reversed(lessons.numbers())),
        teaching if teaching and teaching.game == game else None,
        lessons.has_view,
        bool(lessons.taps(plan)),
    )


def _groups(plan: Plan, draft: Lesson) -> tuple[Group, ...]:
    found = []
    for number, cuts in draft.questions().items():
        best = max(cuts, key=lambda cut: cut.belief)
        allowed = [set(allowed_faces(plan, cut.site)) for cut in cuts]
        faces = tuple(f for f in (EMPTY, *plan.piece_of) if all(f in a for a in allowed))
        found.append(Group(number, cuts, best.proposed, faces))
    return tuple(found)


def _version(lessons: Lessons, number: int) -> Version:
    try:
        lesson = lessons.load(number)
    except InvalidValue:
        return Version(number)
    faces = [face for face in lesson.examples() if face != EMPTY]
    return Version(number, lesson.made_at, len(faces), len(lesson.cuts), lesson.by)
