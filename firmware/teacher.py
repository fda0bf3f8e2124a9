"""Teaching on the loop's thread: requests of the host to pictures, drafts and kept lessons."""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from rules import games
from rules.commands import (
    Command,
    Correct,
    DropDraft,
    DropPicture,
    KeepLesson,
    LabelCuts,
    PlayMoves,
    StartGame,
    TakePicture,
    TapBoard,
    Teach,
    UseLesson,
)
from rules.errors import LessonLost, StaleCommand
from rules.game import AnyGame
from rules.lessons import Lessons, adopt
from rules.session import Session
from rules.status import Teaching, Trouble
from rules.table import changes
from rules.teaching import Lesson, PictureKind, Point, drop_picture, label, lacks

from .errors import Unavailable
from .eyes import CameraEyes
from .inbox import Code


class Teacher:
    """Works on the draft of one game at a time; what it does shows in ``status`` and on disk."""

    def __init__(self, eyes: CameraEyes, lessons: Callable[[str], Lessons]) -> None:
        self.status: Teaching | None = None
        self._eyes = eyes
        self._lessons = lessons
        self._pictures = 0
        self._looks: dict[int, int] = {}
        """Number of a ply -> the look whose picture it was booked from."""

    @property
    def busy(self) -> bool:
        return self.status is not None and self.status.taking is not None

    def perform(self, request: Teach) -> tuple[Code, str]:
        """Do what the host asks; the lessons' files are written when it returns."""
        game = games.find(request.game)
        lessons = self._lessons(game.info.name)
        if self.busy:
            raise Unavailable("a picture is being taken")
        try:
            match request:
                case TakePicture(_, kind, anew):
                    self._take(game, lessons, kind, anew)
                    return "done", ""
                case LabelCuts(_, faces):
                    draft = label(game.plan, self._draft(game, lessons), faces)
                    lessons.save_draft(draft)
                case DropPicture(_, picture):
                    lessons.save_draft(drop_picture(self._draft(game, lessons), picture))
                case DropDraft():
                    lessons.save_draft(None)
                case KeepLesson(_, gaps):
                    refusal = self._keep(game, lessons, gaps)
                    if refusal:
                        return "refused", refusal
                case TapBoard(_, taps_mm):
                    refusal = _misses(game, taps_mm)
                    if refusal:
                        self.status = Teaching(game.info.name, self._revision, problem="taps")
                        return "refused", refusal
                    lessons.save_taps(game.plan, taps_mm)
                    self._eyes.study()
                case UseLesson(_, number):
                    adopt(lessons.load(number), game.info.name, game.plan, f"lesson {number}")
                    lessons.use(number)
                    self._eyes.study()
                case _:
                    assert_never(request)
        except LessonLost as error:
            raise Unavailable(str(error)) from error
        self._changed(game)
        return "done", ""

    def heed(
        self, before: Session | None, after: Session, command: Command, look: int, asked: bool
    ) -> None:
        """Learn from a command that was carried out, if a person spoke about the picture of a look.

        Nothing is learnt from moves nobody was asked about and nobody corrected.
        """
        game = after.game
        match command:
            case StartGame():
                self._looks.clear()
                self._eyes.conclude()
                return
            case PlayMoves(source="camera") if before:
                plies = [ply for ply in after.backwards() if ply.number > before.number]
                self._looks |= {ply.number: look for ply in plies}
                if asked and plies:
                    laid = changes(game.layout(before.state), game.layout(after.state))
                    self._eyes.learn(look, laid)
            case Correct(number) if number in self._looks:
                ply = next((p for p in after.backwards() if p.number == number), None)
                if ply:
                    earlier = ply.previous.state if ply.previous else after.beginning
                    laid = changes(game.layout(earlier), game.layout(ply.state))
                    self._eyes.learn(self._looks[number], laid)
        ended = game.standings(after.state).over
        if ended and before and not game.standings(before.state).over:
            self._eyes.conclude()

    def take(self, number: int, outcome: Lesson | bytes | Trouble | str) -> None:
        """The picture that was asked for, or what was in its way."""
        if not self.busy or number != self._pictures or self.status is None:
            return
        if isinstance(outcome, str):
            self.fail(outcome)
            return
        if isinstance(outcome, Trouble):
            self.fail("trouble", outcome)
            return
        lessons = self._lessons(self.status.game)
        try:
            if isinstance(outcome, bytes):
                lessons.save_view(outcome)
            else:
                lessons.save_draft(outcome)
        except LessonLost:
            self.fail("disk")
        else:
            self._changed(games.find(self.status.game))

    def fail(self, problem: str, trouble: Trouble | None = None) -> None:
        """No picture comes, and why."""
        if self.busy and self.status is not None:
            self._eyes.forget_picture()
            self.status = replace(self.status, taking=None, problem=problem, trouble=trouble)

    def _take(self, game: AnyGame, lessons: Lessons, kind: PictureKind, anew: bool) -> None:
        draft = lessons.work_on(game.info.name, game.plan, anew)
        self._pictures += 1
        self.status = Teaching(game.info.name, self._revision, kind)
        self._eyes.photograph(self._pictures, game.plan, kind, draft)

    def _keep(self, game: AnyGame, lessons: Lessons, gaps: bool) -> str:
        """Keep the draft; else why not."""
        draft = self._draft(game, lessons)
        if not draft.confirmed():
            return "nothing is confirmed"
        reason = "" if gaps else lacks(game.plan, draft)
        if not reason:
            lessons.keep(draft)
            self._eyes.study()
        return reason

    def _draft(self, game: AnyGame, lessons: Lessons) -> Lesson:
        if lessons.draft() is None:
            raise StaleCommand(f"{game.info.name}: there is no draft")
        return lessons.work_on(game.info.name, game.plan)

    @property
    def _revision(self) -> int:
        return self.status.revision if self.status else 0

    def _changed(self, game: AnyGame) -> None:
        self.status = Teaching(game.info.name, self._revision + 1)


def _misses(game: AnyGame, taps_mm: tuple[Point, ...]) -> str:
    """Why these taps do not show where the board lies; nothing if they do."""
    from vision.board import place_by_taps
    from vision.errors import BoardUnclear

    try:
        if taps_mm:
            place_by_taps(game.plan, taps_mm)
    except BoardUnclear as error:
        return str(error)
    return ""
