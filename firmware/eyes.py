"""The thread that owns the camera: looks at the table all the time, reads it when asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

from rules.game import Seat
from rules.lessons import Lessons
from rules.session import Session
from rules.status import Trouble
from rules.table import Face, Plan, Site
from rules.teaching import Lesson, PictureKind

from .choose import Decision, choose
from .inbox import (
    Active,
    Activity,
    CameraBack,
    CameraGone,
    Crashed,
    Message,
    Pictured,
    Seen,
    Unseen,
)
from .memory import give_back
from .pupil import Knowledge, Pupil
from .settings import Reading

if TYPE_CHECKING:  # OpenCV is imported by this thread, so that the table need not wait for it
    from vision.board import BoardPlace
    from vision.cameras import Camera
    from vision.frame import Frame
    from vision.observation import Observation
    from vision.rectify import TableImage
    from vision.stillness import Gate

log = logging.getLogger(__name__)

FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 8.0
"""Before a lost camera is opened again; doubled each time."""
TRIES = 2
"""So many frames in a row must be lost before the camera is."""

PASSING = ("hands", "sheet_lost")
"""What may go away while a picture for a lesson is waited for."""

ACTIVITIES: dict[str, Activity] = {
    "moving": "hands",
    "covered": "hands",
    "clear": "still",
    "lost": "trouble",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """The wish to read the table for a seat."""

    number: int
    session: Session
    seat: Seat
    since_s: float


@dataclass(frozen=True, slots=True)
class _Wish:
    """The wish for a picture to teach from."""

    number: int
    plan: Plan
    kind: PictureKind
    draft: Lesson


class CameraEyes:
    """Sees for the loop; everything it finds out goes to ``tell``, and nothing waits for it."""

    def __init__(
        self,
        open_camera: Callable[[], Camera],
        tell: Callable[[Message], None],
        reading: Reading | None = None,
        clock: Callable[[], float] = monotonic,
        lessons: Callable[[str], Lessons] | None = None,
    ) -> None:
        self._open_camera = open_camera
        self._tell = tell
        self._reading = reading or Reading()
        self._clock = clock
        self._changed = Condition()
        self._running = True
        self._session: Session | None = None
        self._look: _Look | None = None
        self._wish: _Wish | None = None
        self._shutter: _Shutter | None = None
        self._pupil = Pupil(lessons)
        self._errands = SimpleQueue[Callable[[], object]]()
        self._known: Knowledge | None = None
        self._attention: _Attention | None = None
        self._told: Active | None = None
        self._thread = Thread(target=self._run, name="eyes", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self._changed:
            self._running = False
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def follow(self, session: Session | None) -> None:
        with self._changed:
            self._session = session
            self._changed.notify_all()

    def look(self, number: int, session: Session, seat: Seat) -> None:
        with self._changed:
            self._look = _Look(number, session, seat, self._clock())
            self._changed.notify_all()

    def forget(self) -> None:
        with self._changed:
            self._look = None

    def photograph(self, number: int, plan: Plan, kind: PictureKind, draft: Lesson) -> None:
        """Take a picture for a lesson as soon as nothing moves."""
        with self._changed:
            self._wish = _Wish(number, plan, kind, draft)
            self._changed.notify_all()

    def forget_picture(self) -> None:
        with self._changed:
            self._wish = None

    def learn(self, number: int, faces: Mapping[Site, Face]) -> None:
        """Somebody has said what look ``number`` should have seen."""
        self._errands.put(lambda: self._pupil.learn(number, faces))

    def conclude(self) -> None:
        """The game is over: keep what was learnt in it."""
        self._errands.put(self._conclude)

    def study(self) -> None:
        """There is a new lesson: read with it from now on."""
        self._errands.put(self._unlearn)

    def _run(self) -> None:
        try:
            self._see()
            self._run_errands()
        except Exception as error:  # a bug: the loop ends the process, and a new one replays
            self._tell(Crashed(error))

    def _see(self) -> None:
        from vision.errors import VisionError

        delay_s = FIRST_DELAY_S
        while self._running:
            try:
                camera = self._open_camera()
                try:
                    self._tell(CameraBack(camera.name))
                    while self._idle():
                        self.glance(camera)
                        delay_s = FIRST_DELAY_S
                finally:
                    camera.close()
            except VisionError as error:
                level = logging.WARNING if delay_s == FIRST_DELAY_S else logging.DEBUG
                log.log(level, "%s", error)
                self._tell(CameraGone(str(error)))
                self._wait(delay_s)
                delay_s = min(2 * delay_s, LONGEST_DELAY_S)

    def _wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._running, seconds)

    def _idle(self) -> bool:
        """Wait a little unless somebody waits for us; whether to go on."""
        idle_s = 1 / self._reading.idle_fps
        with self._changed:
            self._changed.wait_for(lambda: self._look or self._wish or not self._running, idle_s)
            return self._running

    def _run_errands(self) -> None:
        while not self._errands.empty():
            self._errands.get()()

    def glance(self, camera: Camera) -> None:
        """Look at one frame, tell what happens in it, and read it if a press waits for that."""
        self._run_errands()
        with self._changed:
            session, look, wish = self._session, self._look, self._wish
        if wish is not None:
            self._fulfil(wish, camera)
            return
        if session is None:
            return
        attention = self._attending(session)
        state = attention.feed(_read(camera), look)
        self._tell_news(Active(ACTIVITIES[state], attention.trouble))
        if look is None:
            return
        if attention.ready:
            self._done(look, Seen(look.number, attention.read(look)))
            self._tell_news(Active(ACTIVITIES[state], attention.trouble))
            self._pupil.remember(look.number, attention.images[-1])
        elif self._clock() - look.since_s > self._reading.patience_s:
            if state == "covered":
                attention.give_up()
            reason = "trouble" if state == "lost" else "hands"
            self._done(look, Unseen(look.number, reason, attention.trouble))

    def _tell_news(self, active: Active) -> None:
        if active != self._told:
            self._told = active
            self._tell(active)

    def _done(self, look: _Look, message: Message) -> None:
        with self._changed:
            if self._look is look:
                self._look = None
        self._tell(message)

    def _attending(self, session: Session) -> _Attention:
        """What is known of the table of this game; a new game begins on a new table."""
        if self._known is None or self._known.plan is not session.game.plan:
            self._known, self._attention = self._pupil.study(session.game), None
            give_back()
        if self._attention is None or self._attention.opening is not session.opening:
            self._attention = _Attention(session, self._reading, self._known)
        return self._attention

    def _conclude(self) -> None:
        if self._pupil.conclude():
            self._unlearn()

    def _unlearn(self) -> None:
        """What is known is out of date."""
        self._known = None

    def _fulfil(self, wish: _Wish, camera: Camera) -> None:
        """Take the picture for a lesson if the table lies still, or give up after a while."""
        if self._shutter is None or self._shutter.wish is not wish:
            place = self._pupil.find_place(wish.draft.game, wish.plan)
            self._shutter = _Shutter(wish, place, self._reading, self._clock)
        outcome = self._shutter.feed(_read(camera))
        waited_s = self._clock() - self._shutter.since_s
        passing = isinstance(outcome, Trouble) or outcome in PASSING
        if passing and waited_s < self._reading.patience_s:
            return
        with self._changed:
            if self._wish is not wish:
                return
            self._wish = None
        self._shutter = None
        give_back()
        self._tell(Pictured(wish.number, outcome))


class _Shutter:
    """Waits over a few frames for a picture to teach from."""

    def __init__(
        self, wish: _Wish, place: BoardPlace, reading: Reading, clock: Callable[[], float]
    ) -> None:
        from vision.observe import reading_scale
        from vision.stillness import Gate, Stillness
        from vision.teaching.reading import list_boards

        self.wish = wish
        scale = reading_scale(wish.plan)
        boards = list_boards(wish.plan, wish.draft)
        self._gate = Gate(
            wish.plan, px_per_mm=scale, settle_s=reading.still_s, place=place, boards=boards
        )
        self._stillness = Stillness(reading.still_s)
        self.since_s = clock()  # only now: all this takes a while on a small machine

    def feed(self, frame: Frame) -> Lesson | bytes | Trouble | str:
        """The draft with this frame, or what is in the way."""
        from vision.teaching.learning import add_bare, add_pieces, add_sheet, show_table

        plan, draft = self.wish.plan, self.wish.draft
        if self.wish.kind in ("sheet", "table"):
            if self._stillness.feed(frame) == "moving":
                return "hands"
            if self.wish.kind == "table":
                return show_table(plan, frame)
            return add_sheet(plan, draft, frame)
        sight = self._gate.feed(frame)
        if sight.state != "clear" or sight.image is None:
            return sight.trouble or "hands"
        add = add_bare if self.wish.kind == "bare" else add_pieces
        return add(plan, draft, sight.image)


class _Attention:
    """The table of one game over many frames."""

    def __init__(self, session: Session, reading: Reading, known: Knowledge) -> None:
        from vision.observe import reading_scale
        from vision.stillness import Gate

        self.opening = session.opening
        self._reader = known.reader
        self._plan = session.game.plan
        self._frames = reading.frames
        self._gate: Gate = Gate(
            self._plan,
            px_per_mm=reading_scale(self._plan),
            settle_s=reading.still_s,
            place=known.place,
            boards=known.boards,
        )
        self.images: list[TableImage] = []
        self._look: _Look | None = None
        self._insist = False
        self.trouble: Trouble | None = None
        """What is wrong with the latest picture."""
        self._spoilt: Trouble | None = None
        """What was wrong on some sites when they were read, and may still be."""

    @property
    def ready(self) -> bool:
        return len(self.images) >= self._frames

    def feed(self, frame: Frame, look: _Look | None) -> str:
        """Take a frame; the still and clear ones in a row are kept for the look."""
        if look is not self._look:
            self._look = look
            self.images.clear()
            if look and self._insist:
                self._gate.accept()
                self._insist = False
        sight = self._gate.feed(frame)
        if look and sight.state == "clear" and sight.image is not None:
            self.images.append(sight.image)
        else:
            self.images.clear()
        self.trouble = sight.trouble
        if self._spoilt and sight.state == "clear" and sight.image is not None:
            if self._doubt(sight.image, self._reader.observe(sight.image))[1] is None:
                self._spoilt = None
            self.trouble = self._spoilt
        return sight.state

    def _doubt(self, image: TableImage, seen: Observation) -> tuple[Observation, Trouble | None]:
        from vision.trouble import doubt

        return doubt(image, self._plan, seen)

    def give_up(self) -> None:
        """It stayed covered; who presses again says that what is there belongs there."""
        self._insist = True

    def read(self, look: _Look) -> Decision:
        from vision.observation import average

        seen = average([self._reader.observe(image) for image in self.images])
        self._insist = False
        seen, self._spoilt = self._doubt(self.images[-1], seen)
        self.trouble = self._spoilt
        return choose(look.session, seen, look.seat, self._spoilt)


def _read(camera: Camera) -> Frame:
    from vision.errors import CameraLost

    for _ in range(TRIES - 1):
        try:
            return camera.read()
        except CameraLost as error:
            log.info("a frame was lost: %s", error)
    return camera.read()
