"""The table process: camera, pins, journal and socket put together around the loop."""

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rules.journal import Journal
from rules.lessons import Lessons

from .debounce import Timing
from .errors import BadSettings
from .eyes import CameraEyes
from .inbox import Inbox, Stop
from .loop import Loop
from .panel import open_panel
from .settings import Settings, load_pins
from .teacher import Teacher
from .virtual import TabletopCamera, VirtualTabletop
from .wire import Wire

if TYPE_CHECKING:
    from vision.cameras import Camera

log = logging.getLogger(__name__)

VIRTUAL = "virtual"


def run_table(settings: Settings, *, demo: bool = False) -> None:
    """Work until SIGTERM or SIGINT comes."""
    inbox = Inbox()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: inbox.put(Stop()))
    settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    camera = VIRTUAL if demo and settings.camera == "auto" else choose_camera(settings.camera)
    kind, _, which = camera.partition(":")
    tabletop = VirtualTabletop() if kind == VIRTUAL else None
    if demo and not tabletop:
        raise BadSettings(f"--demo: expected the camera {VIRTUAL}, got {camera}")
    panel_settings = settings.panel
    own_map = Path(panel_settings.pin_map).expanduser() if panel_settings.pin_map else None
    with ExitStack() as stack:
        journal = Journal(settings.journal)
        stack.callback(journal.close)
        panel = open_panel(panel_settings.pins, load_pins(own_map), inbox.put)
        if panel:
            stack.callback(panel.close)
        lessons = partial(Lessons, settings.state_dir)
        eyes = CameraEyes(
            _opener(camera, tabletop, which), inbox.put, settings.reading, lessons=lessons
        )
        loop = Loop(
            journal,
            inbox,
            eyes,
            panel=panel,
            tabletop=tabletop,
            teacher=Teacher(eyes, lessons),
            timing=Timing(panel_settings.debounce_s, panel_settings.long_press_s),
        )
        wire = Wire(settings.socket, inbox, loop.status)
        stack.callback(wire.close)
        loop.observe(lambda session, status: wire.publish(status))
        eyes.start()
        stack.callback(eyes.stop)
        if demo and tabletop:
            from .demo import Demo

            players = Demo(inbox, tabletop)
            loop.observe(players.observe)
            players.start()
            stack.callback(players.stop)
        log.info("table ready: %s, journal %s", camera, settings.journal)
        try:
            loop.run()
        except Exception:
            # Not an error to be explained, but a bug: whoever supervises us starts us again.
            log.exception("the table ends because of a bug")
            sys.exit(1)


def choose_camera(spec: str) -> str:
    """The camera to use: for ``auto`` the first one of the system that gives a picture, else the
    virtual one."""
    kind = spec.partition(":")[0]
    if kind == VIRTUAL:
        return spec
    if kind != "auto":
        from vision.cameras import kinds

        if kind not in kinds():
            expected = ", ".join(("auto", *kinds()))
            raise BadSettings(f"camera: expected one of {expected}, got {spec!r}")
        return spec
    for path in _video_devices():
        from vision.cameras import open_camera
        from vision.errors import CameraLost

        try:
            camera = open_camera(f"webcam:{path}")
            try:
                camera.read()
            finally:
                camera.close()
        except CameraLost as error:
            log.info("%s", error)
        else:
            return f"webcam:{path}"
    return VIRTUAL


def _video_devices() -> Iterator[Path]:
    # Only the first ten: on a Pi the higher ones are decoders, not cameras.
    return (path for n in range(10) if (path := Path(f"/dev/video{n}")).exists())


def _opener(spec: str, tabletop: VirtualTabletop | None, which: str) -> "Callable[[], Camera]":
    if tabletop:
        return partial(TabletopCamera, tabletop, which)

    def connect() -> "Camera":
        from vision.cameras import open_camera

        return open_camera(spec)

    return connect
