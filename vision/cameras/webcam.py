"""A camera of the system (USB) through OpenCV and V4L2; the latest frame wins."""

import errno
import os
import time
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING

import cv2
import numpy as np

from ..errors import CameraLost
from ..frame import Frame, Pixels

if TYPE_CHECKING:
    from .virtual import VirtualTable

SIZE = (1920, 1080)
TIMEOUT_S = 5.0
"""A webcam that gives nothing for so long has stopped."""


def connect(which: str, table: "VirtualTable | None" = None) -> "Webcam":
    return Webcam(f"/dev/video{which or 0}" if which.isdecimal() or not which else which)


class Webcam:
    """Reads in a thread of its own, so that a frame is never older than the last one taken."""

    def __init__(
        self, device: str, size: tuple[int, int] = SIZE, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.name = f"webcam {device}"
        self._timeout_s = timeout_s
        self._check(device)
        self._capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
        if not self._capture.isOpened():
            raise CameraLost(f"{self.name}: opened by another program, or not a camera")
        # Raw pictures of this size do not fit through USB 2; compressed ones do.
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self._fresh = Condition()
        self._latest: tuple[Pixels, float] | None = None
        self._running = True
        self._thread = Thread(target=self._pump, name=self.name, daemon=True)
        self._thread.start()

    def read(self) -> Frame:
        with self._fresh:
            arrived = self._fresh.wait_for(
                lambda: self._latest is not None or not self._running, self._timeout_s
            )
            if self._latest is None:
                why = "stopped giving pictures" if arrived else f"silent for {self._timeout_s:g} s"
                raise CameraLost(f"{self.name}: {why}")
            bgr, at_s = self._latest
            self._latest = None
        return Frame(bgr, at_s, self.name)

    def close(self) -> None:
        with self._fresh:
            self._running = False
            self._fresh.notify_all()
        self._thread.join(self._timeout_s)

    def _pump(self) -> None:
        while self._running:
            taken, bgr = self._capture.read()
            with self._fresh:
                if taken and bgr is not None:
                    self._latest = bgr.astype(np.uint8, copy=False), time.monotonic()
                else:
                    self._running = False
                self._fresh.notify_all()
        self._capture.release()

    def _check(self, device: str) -> None:
        """OpenCV only says that it failed; the system knows why."""
        try:
            os.close(os.open(Path(device), os.O_RDWR | os.O_NONBLOCK))
        except OSError as error:
            reasons = {
                errno.ENOENT: "not found; is it plugged in?",
                errno.EACCES: "no permission; the user must be in the group video",
                errno.EBUSY: "in use by another program",
            }
            reason = reasons.get(error.errno or 0, error.strerror)
            raise CameraLost(f"{self.name}: {reason}") from error
