"""A folder of pictures as a camera."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CameraLost
from ..frame import Frame, read_picture

if TYPE_CHECKING:
    from .virtual import VirtualTable

PICTURES = (".jpg", ".jpeg", ".png")


def connect(which: str, table: "VirtualTable | None" = None) -> "FolderCamera":
    return FolderCamera(Path(which))


class FolderCamera:
    """The pictures of a folder in the order of their names; after the last one it is lost.

    Frames are one second apart: whoever reads them need not wait for the table to be still.
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
        self._waiting = iter(found)
        self._at_s = 0.0

    def read(self) -> Frame:
        path = next(self._waiting, None)
        if path is None:
            raise CameraLost(f"{self.name}: no more pictures")
        self._at_s += 1.0
        return Frame(read_picture(path).bgr, self._at_s, path.name)

    def close(self) -> None:
        self._waiting = iter(())
