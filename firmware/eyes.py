"""The thread that owns the camera: looks at the table all the time, reads it when asked."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

from rules.game import Seat
from rules.session import Session

from .choose import Decision, choose
from .inbox import Active, Activity, CameraBack, CameraGone, Crashed, Message, Seen, Unseen
from .settings import Reading

if TYPE_CHECKING:  # OpenCV is imported by this thread, so that the table need not wait for it
    from vision.cameras import Camera
    from vision.frame import Frame
    from vision.observe import Observer
    from vision.rectify import TableImage
    from vision.stillness import Gate

log = logging.getLogger(__name__)

FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 8.0
"""Before a lost camera is opened again; doubled each time."""
TRIES = 2
"""So many frames in a row must be lost before the camera is."""

ACTIVITIES: dict[str, Activity] = {
    "moving": "hands",
    "covered": "hands",
    "clear": "still",
    "lost": "table_lost",
}


@dataclass(frozen=True, slots=True)
class _Look:
    """The wish to read the table for a seat."""

    number: int
    session: Session
    seat: Seat
    since_s: float


class CameraEyes:
    """Sees for the loop; everything it finds out goes to ``tell``, and nothing waits for it."""

    def __init__(
        self,
        open_camera: Callable[[], Camera],
        tell: Callable[[Message], None],
        reading: Reading | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._open_camera = open_camera
        self._tell = tell
        self._reading = reading or Reading()
        self._clock = clock
        self._changed = Condition()
        self._running = True
        self._session: Session | None = None
        self._look: _Look | None = None
        self._attention: _Attention | None = None
        self._activity: Activity | None = None
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

    def _run(self) -> None:
        try:
            self._see()
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
            self._changed.wait_for(lambda: self._look or not self._running, idle_s)
            return self._running

    def glance(self, camera: Camera) -> None:
        """Look at one frame, tell what happens in it, and read it if a press waits for that."""
        with self._changed:
            session, look = self._session, self._look
        if session is None:
            return
        attention = self._attending(session)
        state = attention.feed(_read(camera), look)
        if ACTIVITIES[state] != self._activity:
            self._activity = ACTIVITIES[state]
            self._tell(Active(self._activity))
        if look is None:
            return
        if attention.ready:
            self._done(look, Seen(look.number, attention.read(look)))
        elif self._clock() - look.since_s > self._reading.patience_s:
            if state == "covered":
                attention.give_up()
            self._done(look, Unseen(look.number, "table_lost" if state == "lost" else "hands"))

    def _done(self, look: _Look, message: Message) -> None:
        with self._changed:
            if self._look is look:
                self._look = None
        self._tell(message)

    def _attending(self, session: Session) -> _Attention:
        """What is known of the table of this game; a new game begins on a new table."""
        if self._attention is None or self._attention.opening is not session.opening:
            self._attention = _Attention(session, self._reading, self._attention)
        return self._attention


class _Attention:
    """The table of one game over many frames."""

    def __init__(
        self, session: Session, reading: Reading, before: _Attention | None = None
    ) -> None:
        from vision.looks import DrawnLooks
        from vision.observe import Observer, reading_scale
        from vision.stillness import Gate

        self.opening = session.opening
        self._plan = session.game.plan
        self._frames = reading.frames
        self._gate: Gate = Gate(
            self._plan, px_per_mm=reading_scale(self._plan), settle_s=reading.still_s
        )
        self._observer: Observer
        if before and before._plan is self._plan:
            self._observer = before._observer
        else:
            self._observer = Observer(self._plan, DrawnLooks(self._plan))
        self._images: list[TableImage] = []
        self._look: _Look | None = None
        self._insist = False

    @property
    def ready(self) -> bool:
        return len(self._images) >= self._frames

    def feed(self, frame: Frame, look: _Look | None) -> str:
        """Take a frame; the still and clear ones in a row are kept for the look."""
        if look is not self._look:
            self._look = look
            self._images.clear()
            if look and self._insist:
                self._gate.accept()
                self._insist = False
        sight = self._gate.feed(frame)
        if look and sight.state == "clear" and sight.image is not None:
            self._images.append(sight.image)
        else:
            self._images.clear()
        return sight.state

    def give_up(self) -> None:
        """It stayed covered; who presses again says that what is there belongs there."""
        self._insist = True

    def read(self, look: _Look) -> Decision:
        from vision.observation import average

        seen = average([self._observer.observe(image) for image in self._images])
        self._insist = False
        return choose(look.session, seen, look.seat)


def _read(camera: Camera) -> Frame:
    from vision.errors import CameraLost

    for _ in range(TRIES - 1):
        try:
            return camera.read()
        except CameraLost as error:
            log.info("a frame was lost: %s", error)
    return camera.read()
