"""One picture as the camera gave it, and pictures read from files."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from .errors import NotAPicture

Pixels: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.float64]

MOST_PIXELS = 40_000_000
"""More than any camera here gives; a larger picture would only fill the memory of a Pi."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture, and when it was taken on the clock of its camera."""

    bgr: Pixels
    at_s: float
    name: str = ""


def read_picture(path: Path) -> Frame:
    """A JPEG or PNG file as a frame, upright; ``NotAPicture`` names the file and the reason."""
    expected = f"{path}: expected a JPEG or PNG picture"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotAPicture(f"{expected}, got {error.strerror}") from error
    size = _size(data)
    if size is None:
        raise NotAPicture(f"{expected}, got {data[:8]!r}")
    width, height = size
    if width * height > MOST_PIXELS:
        most = MOST_PIXELS // 1_000_000
        raise NotAPicture(f"{expected} of at most {most} megapixels, got {width} x {height}")
    try:
        bgr = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        bgr = None
    if bgr is None:
        raise NotAPicture(f"{expected}, got a broken one of {len(data)} bytes")
    return Frame(bgr.astype(np.uint8, copy=False), path.stat().st_mtime, path.name)


def _size(data: bytes) -> tuple[int, int] | None:
    """Width and height as the header states them, before anything is decoded."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        else:
            at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None
