"""Teaching at the terminal: photographs in, a contact sheet and labels out, a lesson kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from rules.codec import load_toml
from rules.errors import InvalidValue
from rules.game import AnyGame
from rules.lessons import Lessons, adopt, pack, unpack, write_whole
from rules.table import Face
from rules.teaching import (
    Cut,
    Lesson,
    allowed_faces,
    label,
    lacks,
    missing,
)
from rules.texts import CORE, load
from vision.cameras import open_camera
from vision.frame import Frame, Pixels, read_picture
from vision.observe import reading_scale
from vision.rectify import TableImage
from vision.stillness import Gate
from vision.teaching.cutting import from_png
from vision.teaching.learning import add_bare, add_pieces, add_sheet
from vision.teaching.reading import list_boards, read_place

from .errors import FirmwareError
from .look import save_picture

Prompt = Callable[[str, str], str]
"""Asks a person: text and default to answer."""

UNSAID = "?"
"""In the file of labels: somebody has to say."""
NOTHING = ""
"""In the file of labels: nothing of this game."""

PROBLEMS = {
    "no_bare": "the bare table must be known first: give a picture of it with --bare",
    "nothing": "no piece is seen on it",
}

ENLARGED = 2
CAPTION_PX = 22
ACROSS = 12
"""Cut-outs in a row of the contact sheet."""

WARMING_UP = 6
"""Frames that a camera may take to find its exposure and to forget what it held ready."""


@dataclass(frozen=True, slots=True)
class _Group:
    face: str
    cuts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Labels:
    groups: tuple[_Group, ...] = ()


class Desk:
    """One game's lessons, worked on at the terminal; the draft is the same as on the phone."""

    def __init__(self, lessons: Lessons, game: AnyGame) -> None:
        self._lessons = lessons
        self._game = game
        self._plan = game.plan
        self._name = game.info.name

    def draft(self, anew: bool = False) -> Lesson:
        """The draft there is, else a new one."""
        return self._lessons.work_on(self._name, self._plan, anew)

    @property
    def has_draft(self) -> bool:
        return self._lessons.draft() is not None

    def add(self, draft: Lesson, frame: Frame, bare: bool = False) -> Lesson:
        """The draft with one more picture, written down; of the sheet if its markers are seen."""
        outcome: Lesson | str = "sheet_lost"
        if not bare:
            outcome = add_sheet(self._plan, draft, frame)
        if outcome == "sheet_lost":
            image = self._see(frame, draft)
            add = add_bare if bare else add_pieces
            outcome = add(self._plan, draft, image)
        if isinstance(outcome, str):
            raise FirmwareError(f"{frame.name}: {PROBLEMS[outcome]}")
        self._lessons.save_draft(outcome)
        return outcome

    def _see(self, frame: Frame, draft: Lesson) -> TableImage:
        """The table in a picture; what is wrong with it is said in a sentence."""
        # Nobody's hand is waited for here: a single picture is still.
        scale, boards = reading_scale(self._plan), list_boards(self._plan, draft)
        place = read_place(self._plan, self._lessons.taps(self._plan))
        gate = Gate(self._plan, px_per_mm=scale, settle_s=0.0, place=place, boards=boards)
        gate.feed(frame)
        seen = gate.feed(frame)
        if seen.trouble:
            text = load("en", CORE).say(f"trouble.{seen.trouble.code}", seen.trouble.fields)
            raise FirmwareError(f"{frame.name}: {text}")
        assert seen.image is not None
        return seen.image

    def apply(self, draft: Lesson, path: Path) -> Lesson:
        """The draft with the labels of a file that a person has gone through."""
        said: dict[str, Face | None] = {}
        known = {cut.name for cut in draft.cuts}
        for i, group in enumerate(load_toml(_Labels, path).groups):
            if group.face == UNSAID:
                continue
            for name in group.cuts:
                if name not in known:
                    where = f"{path}: groups[{i}].cuts"
                    raise InvalidValue(f"{where}: expected cut-outs of the draft, got {name!r}")
                said[name] = Face(group.face) if group.face != NOTHING else None
        draft = label(self._plan, draft, said)
        self._lessons.save_draft(draft)
        return draft

    def ask(self, draft: Lesson, prompt: Prompt) -> Lesson:
        """The draft with every group confirmed by whoever answers ``prompt(text, default)``."""
        for number, cuts in enumerate(draft.questions().values(), 1):
            allowed = allowed_faces(self._plan, cuts[0].site)
            text = f"group {number}, {_count(cuts)} ({', '.join(allowed)}, or - for none of them)"
            face = ""
            while face not in (*allowed, "-"):
                face = prompt(text, cuts[0].proposed or "").strip()
            said = dict.fromkeys((c.name for c in cuts), None if face == "-" else Face(face))
            draft = label(self._plan, draft, said)
            self._lessons.save_draft(draft)
        return draft

    def report(self, draft: Lesson) -> Iterator[str]:
        """What is taught, what is open, what is missing."""
        for face, cuts in sorted(draft.examples().items()):
            yield f"{face}: {_count(cuts)}"
        for number, cuts in enumerate(draft.questions().values(), 1):
            proposed = (
                f"{cuts[0].proposed}, {cuts[0].belief:.0%} sure" if cuts[0].proposed else UNSAID
            )
            yield f"group {number}: {_count(cuts)}, not confirmed: {proposed}"
        absent = missing(self._plan, draft)
        if absent:
            yield f"not taught: {', '.join(absent)}"

    def keep(self, draft: Lesson, gaps: bool) -> int | None:
        """Keep the draft as a version, if nothing is open or that is all right; its number."""
        complete = draft.confirmed() and (gaps or not lacks(self._plan, draft))
        return self._lessons.keep(draft) if complete else None

    def versions(self) -> Iterator[str]:
        newest = self._lessons.newest(self._plan)
        for number in self._lessons.numbers():
            try:
                lesson = self._lessons.load(number)
            except InvalidValue as error:
                yield f"{number}: cannot be used: {error}"
                continue
            faces = lesson.examples()
            used = ", used for reading" if newest and newest[0] == number else ""
            source = "from play" if lesson.by == "play" else "by the owner"
            taught = f"{_count(lesson.cuts)} of {len(faces)} faces"
            yield f"{number}: {lesson.made_at}, {source}, {taught}{used}"

    def use(self, number: int) -> int:
        adopt(self._lessons.load(number), self._name, self._plan, f"lesson {number}")
        return self._lessons.use(number)

    def export(self, path: Path) -> int:
        """Write the lesson that is read with into a file; its number."""
        newest = self._lessons.newest(self._plan)
        if newest is None:
            raise FirmwareError(f"{self._name}: nothing has been taught yet")
        write_whole(path, pack(newest[1]))
        return newest[0]

    def bring(self, path: Path) -> int:
        """Take a lesson from a file as the newest version; its number."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise FirmwareError(f"{path}: {error.strerror}") from error
        return self._lessons.save(adopt(unpack(data, str(path)), self._name, self._plan, str(path)))

    def forget(self) -> None:
        """Throw the draft away."""
        self._lessons.save_draft(None)


@dataclass(frozen=True, slots=True)
class Task:
    """What somebody wants taught at the terminal."""

    pictures: tuple[Path, ...] = ()
    bare: tuple[Path, ...] = ()
    camera: str | None = None
    labels: Path | None = None
    ask: bool = False
    gaps: bool = False
    anew: bool = False
    out: Path = Path()


def work(desk: Desk, task: Task, prompt: Prompt) -> Iterator[str]:
    """Teach what the task says, and say what came of it."""
    if task.anew:
        desk.forget()
    draft = desk.draft(task.anew)
    for path in task.bare:
        draft = desk.add(draft, read_picture(path), bare=True)
    for path in task.pictures:
        draft = desk.add(draft, read_picture(path))
    if task.camera:
        draft = _photograph(desk, draft, task.camera, prompt)
    if task.labels:
        draft = desk.apply(draft, task.labels)
    if task.ask:
        yield from _write_down(draft, task.out)
        draft = desk.ask(draft, prompt)
    yield from desk.report(draft)
    if not desk.has_draft:
        yield "nothing new: give pictures, or a camera to take them with"
        return
    number = desk.keep(draft, task.gaps)
    if number is not None:
        yield f"lesson {number} is kept"
        return
    yield from _write_down(draft, task.out)
    yield "nothing is kept yet: confirm the labels, teach what is missing, or say --gaps"


def _photograph(desk: Desk, draft: Lesson, spec: str, prompt: Prompt) -> Lesson:
    """Picture after picture, as long as somebody wants more."""
    camera = open_camera(spec)
    try:
        while True:
            said = prompt("b: the bare table, p: pieces on it or on the sheet, d: done", "d")
            if said not in ("b", "p"):
                return draft
            for _ in range(WARMING_UP):
                frame = camera.read()
            try:
                draft = desk.add(draft, frame, bare=said == "b")
            except FirmwareError as error:
                prompt(f"{error}; press Enter", "")
    finally:
        camera.close()


def _write_down(draft: Lesson, folder: Path) -> Iterator[str]:
    """What is open, for a person to go through: a contact sheet, and labels to edit."""
    if not draft.questions():
        return
    picture, labels = folder / f"teach-{draft.game}.png", folder / f"teach-{draft.game}.toml"
    save_picture(picture, draw_contact_sheet(draft))
    write_labels(labels, draft)
    yield f"{picture}: the cut-outs, group by group"
    yield f"{labels}: go through it, then: tafelmaat teach {draft.game} --labels {labels}"


def write_labels(path: Path, draft: Lesson) -> None:
    """What is open, as a file for a person to go through."""
    lines = [
        "# What do the cut-outs of each group show? The contact sheet beside this file shows them.",
        f'# face = "{UNSAID}": not said; face = "{NOTHING}": nothing of this game;',
        '# face = "empty": the bare table.',
        "# A cut-out that does not belong to its group gets a [[groups]] of its own.",
    ]
    for number, cuts in enumerate(draft.questions().values(), 1):
        lines += [
            "",
            f"# group {number}, {_count(cuts)}",
            "[[groups]]",
            f'face = "{cuts[0].proposed or UNSAID}"',
            "cuts = [",
            *(f'    "{cut.name}",  # {cut.site}' for cut in cuts),
            "]",
        ]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def draw_contact_sheet(draft: Lesson) -> Pixels:
    """All open groups as a picture: a line of text, and under it the cut-outs with their names."""
    strips = [_draw_group(draft, n, c) for n, c in enumerate(draft.questions().values(), 1)]
    width = max((strip.shape[1] for strip in strips), default=1)
    whole = [
        cv2.copyMakeBorder(s, 0, 4, 0, width - s.shape[1], cv2.BORDER_CONSTANT, value=(255,) * 3)
        for s in strips
    ]
    return np.concatenate(whole).astype(np.uint8) if whole else np.full((1, 1, 3), 255, np.uint8)


def _draw_group(draft: Lesson, number: int, cuts: Sequence[Cut]) -> Pixels:
    proposed = f"{cuts[0].proposed} {cuts[0].belief:.0%}" if cuts[0].proposed else UNSAID
    tiles = [_draw_cut(draft, cut) for cut in cuts]
    blank = np.full_like(tiles[0], 255)
    rows = [tiles[i : i + ACROSS] for i in range(0, len(tiles), ACROSS)]
    filled = [np.concatenate([*row, *[blank] * (ACROSS - len(row))], axis=1) for row in rows]
    head = np.full((CAPTION_PX + 6, filled[0].shape[1], 3), 230, np.uint8)
    _write(head, f"group {number}: {proposed}", CAPTION_PX, 0.6)
    return np.concatenate([head, *filled]).astype(np.uint8)


def _draw_cut(draft: Lesson, cut: Cut) -> Pixels:
    bgr = cv2.resize(from_png(draft.pngs[cut.name]), None, fx=ENLARGED, fy=ENLARGED)
    framed = cv2.copyMakeBorder(bgr, 2, CAPTION_PX, 2, 2, cv2.BORDER_CONSTANT, value=(255,) * 3)
    tile = framed.astype(np.uint8, copy=False)
    _write(tile, f"{cut.name[:4]} {cut.site}", tile.shape[0] - 7, 0.42)
    return tile


def _write(bgr: Pixels, text: str, y: int, scale: float) -> None:
    cv2.putText(bgr, text, (4, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), 1, cv2.LINE_AA)


def _count(cuts: Sequence[Cut]) -> str:
    return f"{len(cuts)} cut-out{'s' * (len(cuts) != 1)}"
