"""Lessons on disk: one archive a version, which is also what is exported and imported."""

import json
import logging
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from .codec import decode, encode
from .errors import InvalidValue, LessonLost
from .table import Plan
from .teaching import Cut, Lesson, Point, begin, digest, finish

log = logging.getLogger(__name__)

FORMAT = 1
MANIFEST = "lesson.json"
BOARD = "board.png"
NUMBER = re.compile(r"[0-9]{4,8}")
NAME = re.compile(r"[0-9a-f]{16}")
LONGEST_MANIFEST = 8 << 20
LONGEST_PNG = 64 << 10
LONGEST_BOARD = 8 << 20
MOST_CUTS = 20_000
WIDEST_MM = 2000.0
KEPT_OF_PLAY = 5
"""Versions that came from play alone; what the owner has kept is never thrown away."""

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    LookupError,
    ValueError,
    EOFError,
    OSError,
    RuntimeError,
)
"""What the standard library raises for files that are no archives, or damaged ones."""

PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class _Manifest:
    format: int
    game: str
    plan: str
    made_at: str
    by: Literal["owner", "play"]
    cuts: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class _Taps:
    plan: str = ""
    taps_mm: tuple[Point, ...] = ()


class Lessons:
    """The versions of one game's lessons at one table, and the draft of the next one.

    ``<state>/taught/<game>/0001.zip``, … and ``draft.zip``; whoever writes one writes it whole.
    """

    def __init__(self, state_dir: Path, game: str) -> None:
        self.folder = state_dir / "taught" / game

    def numbers(self) -> tuple[int, ...]:
        """The versions there are, oldest first, readable or not."""
        found = (p.stem for p in self.folder.glob("*.zip"))
        return tuple(sorted(int(stem) for stem in found if NUMBER.fullmatch(stem)))

    def load(self, number: int) -> Lesson:
        """One version; ``InvalidValue`` says what is wrong with its file."""
        return unpack(_read(self._path(number)), str(self._path(number)))

    def newest(self, plan: Plan) -> tuple[int, Lesson] | None:
        """The version to read with: the newest one that can be used with this plan."""
        for number in reversed(self.numbers()):
            try:
                lesson = self.load(number)
            except InvalidValue as error:
                log.warning("%s", error)
                continue
            if lesson.plan == digest(plan):
                return number, lesson
            log.warning("%s: was taught for another plan of the table", self._path(number))
        return None

    def save(self, lesson: Lesson) -> int:
        """Write a lesson as the next version; its number."""
        number = max(self.numbers(), default=0)
        while True:
            number += 1
            with _disk(self._path(number)):
                self.folder.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    # Claimed first, so that two who save at once do not take the same number.
                    os.close(os.open(self._path(number), os.O_CREAT | os.O_EXCL, 0o600))
                    break
        write_whole(self._path(number), pack(lesson))
        self._thin_out()
        return number

    def use(self, number: int) -> int:
        """Make an older version the newest one again, under a new number."""
        return self.save(self.load(number))

    def draft(self) -> Lesson | None:
        """The lesson being worked on; None if there is none, ``InvalidValue`` if it is broken."""
        return unpack(_read(self._draft), str(self._draft)) if self._draft.exists() else None

    def work_on(self, game: str, plan: Plan, anew: bool = False) -> Lesson:
        """The draft there is, else a new one: with what is taught already, or ``anew``."""
        draft = self.draft()
        if draft is not None:
            return adopt(draft, game, plan, str(self._draft))
        newest = None if anew else self.newest(plan)
        return begin(game, plan, newest[1] if newest else None)

    def keep(self, draft: Lesson, by: Literal["owner", "play"] = "owner") -> int:
        """Make what is confirmed the newest version; its number. There is no draft then."""
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        number = self.save(replace(finish(draft), made_at=made_at, by=by))
        if by == "owner":
            self.save_draft(None)
        return number

    def save_draft(self, lesson: Lesson | None) -> None:
        """Write the draft; None removes it."""
        if lesson is None:
            with _disk(self._draft):
                self._draft.unlink(missing_ok=True)
        else:
            self._write(self._draft, pack(lesson))

    def taps(self, plan: Plan) -> tuple[Point, ...]:
        """Where the board lies, as it was tapped; nothing: as planned."""
        try:
            data = json.loads(_read(self._taps)) if self._taps.exists() else {}
            found = decode(_Taps, data, str(self._taps))
        except ValueError as error:  # a lost file costs four taps, not the game
            log.warning("%s: %s", self._taps, error)
            return ()
        return found.taps_mm if found.plan == digest(plan) else ()

    def save_taps(self, plan: Plan, taps_mm: tuple[Point, ...]) -> None:
        self._write(self._taps, json.dumps(encode(_Taps(digest(plan), taps_mm))).encode())

    @property
    def has_view(self) -> bool:
        return self._view.exists()

    def view(self) -> bytes | None:
        """The picture of the whole table as a PNG, if one was taken."""
        return _read(self._view) if self.has_view else None

    def save_view(self, png: bytes) -> None:
        self._write(self._view, png)

    def png(self, name: str, number: int | None = None) -> bytes:
        """The picture of one cut-out of a version, or of the draft; ``LookupError`` if none."""
        path = self._draft if number is None else self._path(number)
        try:
            with _opened(path, str(path)) as archive:
                return _member(archive, f"{name}.png", LONGEST_PNG)
        except InvalidValue as error:
            raise LookupError(f"{path}: {name}: {error}") from error

    @property
    def _draft(self) -> Path:
        return self.folder / "draft.zip"

    @property
    def _taps(self) -> Path:
        return self.folder / "board.json"

    @property
    def _view(self) -> Path:
        return self.folder / "table.png"

    def _write(self, path: Path, data: bytes) -> None:
        with _disk(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:04}.zip"

    def _thin_out(self) -> None:
        of_play = []
        for number in self.numbers():
            path = self._path(number)
            with suppress(InvalidValue), _opened(path, str(path)) as archive:
                if _read_manifest(archive, str(path)).by == "play":
                    of_play.append(number)
        for number in of_play[:-KEPT_OF_PLAY]:
            self._path(number).unlink(missing_ok=True)


def pack(lesson: Lesson) -> bytes:
    """A lesson as an archive: ``lesson.json`` and one PNG a cut-out."""
    manifest = _Manifest(FORMAT, lesson.game, lesson.plan, lesson.made_at, lesson.by, lesson.cuts)
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        # Always the same date: equal lessons are equal files.
        _add(archive, MANIFEST, json.dumps(encode(manifest), indent=1).encode(), compress=True)
        for cut in lesson.cuts:
            _add(archive, f"{cut.name}.png", lesson.pngs[cut.name])
        if lesson.board:
            _add(archive, BOARD, lesson.board)
    return data.getvalue()


def unpack(data: bytes, where: str) -> Lesson:
    """The lesson in an archive; ``InvalidValue`` names what is wrong with a torn or foreign one."""
    with _opened(BytesIO(data), where) as archive:
        m = _read_manifest(archive, where)
        pngs = {cut.name: _member(archive, f"{cut.name}.png", LONGEST_PNG) for cut in m.cuts}
        known = BOARD in archive.namelist()
        board = _member(archive, BOARD, LONGEST_BOARD) if known else b""
    for name, png in (*pngs.items(), *([("board", board)] if known else [])):
        if not png.startswith(PNG):
            raise InvalidValue(f"{where}: {name}.png: expected a PNG picture, got {png[:8]!r}")
    return Lesson(m.game, m.plan, m.cuts, pngs, m.made_at, m.by, board)


def adopt(lesson: Lesson, game: str, plan: Plan, where: str) -> Lesson:
    """A lesson from elsewhere, if it was taught for this game and this plan of its table."""
    if lesson.game != game:
        raise InvalidValue(f"{where}: expected a lesson of {game}, got one of {lesson.game}")
    if lesson.plan != digest(plan):
        expected = f"the plan {digest(plan)} of {game}"
        raise InvalidValue(f"{where}: expected a lesson for {expected}, got {lesson.plan}")
    return replace(lesson, by="owner")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that, whatever happens, it holds the old contents or the new ones."""
    with _disk(path):
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.stem}-", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _disk(path: Path) -> Iterator[None]:
    """What the disk refuses is ``LessonLost``, with the place."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise LessonLost(f"{path}: {error.strerror}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidValue(f"{path}: expected a lesson, got {error.strerror}") from error


@contextmanager
def _opened(file: BytesIO | Path, where: str) -> Iterator[zipfile.ZipFile]:
    """An archive to read from; whatever is wrong with it is ``InvalidValue``, with the place."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except InvalidValue:
        raise
    except DAMAGE as error:
        raise InvalidValue(f"{where}: expected a lesson, got {error}") from error


def _read_manifest(archive: zipfile.ZipFile, where: str) -> _Manifest:
    found = json.loads(_member(archive, MANIFEST, LONGEST_MANIFEST))
    if isinstance(found, Mapping) and found.get("format") != FORMAT:
        raise InvalidValue(f"{where}: format: expected {FORMAT}, got {found.get('format')!r}")
    manifest = decode(_Manifest, found, f"{where}: {MANIFEST}:")
    if len(manifest.cuts) > MOST_CUTS:
        raise InvalidValue(f"{where}: expected at most {MOST_CUTS} cuts, got {len(manifest.cuts)}")
    for cut in manifest.cuts:
        if not 0 < cut.pitch_mm < WIDEST_MM:
            expected = f"more than 0 and less than {WIDEST_MM:g}"
            got = f"got {cut.pitch_mm}"
            raise InvalidValue(f"{where}: {cut.name}.pitch_mm: expected {expected}, {got}")
    names = [cut.name for cut in manifest.cuts]
    for name in names:
        if not NAME.fullmatch(name):
            expected = "16 hexadecimal digits"
            raise InvalidValue(f"{where}: {MANIFEST}: name: expected {expected}, got {name!r}")
    if len(set(names)) < len(names):
        raise InvalidValue(f"{where}: {MANIFEST}: expected a name of its own for every cut")
    return manifest


def _member(archive: zipfile.ZipFile, name: str, longest: int) -> bytes:
    """One file of an archive, not more of it than expected; its checksum is checked on the way."""
    info = archive.getinfo(name)
    if info.file_size > longest:
        raise ValueError(f"{name} of {info.file_size} bytes instead of at most {longest}")
    return archive.read(info)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, compress: bool = False) -> None:
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    archive.writestr(zipfile.ZipInfo(name), data, method)
