"""A folder of pictures as a camera."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CameraLost
from ..frame import Frame, Pixels, read_picture

if TYPE_CHECKING:
    from .virtual import VirtualTable

PICTURES = (".jpg", ".jpeg", ".png")
TIMES = 3
PERIOD_S = 0.5


def connect(which: str, table: "VirtualTable | None" = None) -> "FolderCamera":
    return FolderCamera(Path(which))


class FolderCamera:
    """The pictures of a folder in the order of their names; after the last one it is lost.

    Every picture is given three times, half a second apart: as a table that is still.
    """

    def __init__(self, folder: Path) -> None:
        self.name = f"folder {folder}"
        try:
            found = sorted(f for f in folder.iterdir() if f.suffix.lower() in PICTURES)
        except OSError as error:
            raise CameraLost(f"{self.name}: {error.strerror}") from error
        if not found:
            expected = ", ".join(f"*{suffix}" for suffix in PICTURES)
            raise CameraLost(f"{self.name}: expected pictures ({expected}), got none")
        self._waiting = found[::-1]
        self._shown: list[Pixels] = []
        self._path = folder
        self._at_s = 0.0

    def read(self) -> Frame:
        if not self._shown:
            if not self._waiting:
                raise CameraLost(f"{self.name}: no more pictures")
            self._path = self._waiting.pop()
            self._shown = [read_picture(self._path).bgr] * TIMES
        self._at_s += PERIOD_S
        return Frame(self._shown.pop(), self._at_s, self._path.name)

    def close(self) -> None:
        self._waiting, self._shown = [], []
