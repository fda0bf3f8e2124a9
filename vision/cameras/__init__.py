"""Finds the kinds of cameras: every module here that has ``connect`` is one."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Protocol

from ..errors import UnknownCamera
from ..frame import Frame

if TYPE_CHECKING:
    from .virtual import VirtualTable


class Camera(Protocol):
    """Gives one frame after the other."""

    name: str

    def read(self) -> Frame:
        """Wait for the next frame; ``CameraLost`` when none comes."""
        ...

    def close(self) -> None: ...


def kinds() -> tuple[str, ...]:
    """The names of all kinds of cameras."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def open_camera(spec: str, table: "VirtualTable | None" = None) -> Camera:
    """The camera of a specification: its kind, and after a colon which one.

    ``virtual`` looks at ``table``, ``folder:PATH`` at the pictures in a folder, ``webcam:0`` or
    ``webcam:/dev/video0`` through a camera of the system.
    """
    kind, _, which = spec.partition(":")
    if kind not in kinds():
        raise UnknownCamera(f"camera: expected one of {', '.join(kinds())}, got {spec!r}")
    camera: Camera = import_module(f"{__name__}.{kind}").connect(which, table)
    return camera
