"""Cameras: found by name, and lost with a reason."""

import errno
import os
import struct
import threading
import zlib
from contextlib import suppress

import cv2
import numpy as np
import pytest

from vision import cameras
from vision.cameras import kinds, open_camera
from vision.cameras.folder import FolderCamera
from vision.cameras.virtual import VirtualCamera, VirtualTable
from vision.cameras.webcam import Webcam
from vision.errors import CameraLost, NotAPicture, UnknownCamera
from vision.frame import Frame, read_picture
from vision.stillness import Stillness


def write_picture(path, level=100, size=(32, 24)):
    cv2.imwrite(str(path), np.full((size[1], size[0], 3), level, np.uint8))
    return path


def test_every_module_is_a_kind_of_camera():
    assert {"folder", "virtual", "webcam"} <= set(kinds())
    for kind in ("folder", "virtual", "webcam"):
        module = __import__(f"vision.cameras.{kind}", fromlist=["connect"])
        assert callable(module.connect)


@pytest.mark.parametrize("spec", ["", "telescope", "telescope:1", "folder.x:1", "../folder"])
def test_an_unknown_kind_is_refused_with_those_there_are(spec):
    with pytest.raises(UnknownCamera, match=r"expected one of .*folder.*virtual.*webcam, got "):
        open_camera(spec)


def test_virtual_needs_a_table(draughts):
    with pytest.raises(CameraLost, match="no virtual table"):
        open_camera("virtual")
    assert isinstance(open_camera("virtual", VirtualTable(draughts)), VirtualCamera)
    with pytest.raises(UnknownCamera, match="expected one of wild, calm, got 'stormy'"):
        open_camera("virtual:stormy", VirtualTable(draughts))


def test_a_broken_import_in_a_camera_is_not_hidden(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'picamera2'")

    monkeypatch.setattr(cameras, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="picamera2"):
        open_camera("webcam:0")


class TestFolder:
    def test_pictures_come_in_the_order_of_their_names(self, tmp_path):
        for name, level in (("b.png", 20), ("a.jpg", 10), ("c.JPEG", 30)):
            target = tmp_path / name
            write_picture(tmp_path / "x.png", level).rename(target)
        (tmp_path / "notes.txt").write_text("no picture")
        camera = open_camera(f"folder:{tmp_path}")
        names = [camera.read().name for _ in range(9)]
        assert names == ["a.jpg"] * 3 + ["b.png"] * 3 + ["c.JPEG"] * 3
        with pytest.raises(CameraLost, match="no more pictures"):
            camera.read()

    def test_each_picture_counts_as_a_still_table(self, tmp_path):
        for n in range(3):
            write_picture(tmp_path / f"{n}.png", 60 * n, size=(640, 360))
            picture = cv2.imread(str(tmp_path / f"{n}.png"))
            cv2.circle(picture, (100 * n + 100, 180), 60, (255, 255, 255), -1)
            cv2.imwrite(str(tmp_path / f"{n}.png"), picture)
        camera, stillness = FolderCamera(tmp_path), Stillness()
        seen = [stillness.feed(camera.read()) for _ in range(9)]
        assert seen == ["moving", "still", "still"] * 3

    def test_a_missing_or_empty_folder_says_so(self, tmp_path):
        with pytest.raises(CameraLost, match="nowhere: No such file"):
            open_camera(f"folder:{tmp_path}/nowhere")
        with pytest.raises(CameraLost, match=r"expected pictures \(\*\.jpg.*got none"):
            open_camera(f"folder:{tmp_path}")

    def test_a_foreign_file_is_named(self, tmp_path):
        (tmp_path / "a.png").write_bytes(b"GIF89a not a PNG at all")
        with pytest.raises(NotAPicture, match=r"a\.png: expected a JPEG or PNG picture, got b'GIF"):
            FolderCamera(tmp_path).read()

    def test_a_closed_one_gives_nothing(self, tmp_path):
        write_picture(tmp_path / "a.png")
        camera = FolderCamera(tmp_path)
        camera.close()
        with pytest.raises(CameraLost):
            camera.read()


def png_header(width, height):
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


class TestReadPicture:
    @pytest.mark.parametrize("suffix", [".png", ".jpg"])
    def test_a_picture_is_a_frame(self, tmp_path, suffix):
        frame = read_picture(write_picture(tmp_path / f"a{suffix}", 77))
        assert isinstance(frame, Frame)
        assert (frame.bgr.shape, frame.bgr.dtype) == ((24, 32, 3), np.uint8)
        assert frame.bgr.mean() == pytest.approx(77, abs=1)
        assert frame.name == f"a{suffix}"

    @pytest.mark.parametrize("gray", [True, False])
    def test_gray_and_transparent_pictures_become_bgr(self, tmp_path, gray):
        shape = (24, 32) if gray else (24, 32, 4)
        cv2.imwrite(str(tmp_path / "a.png"), np.full(shape, 90, np.uint8))
        assert read_picture(tmp_path / "a.png").bgr.shape == (24, 32, 3)

    def test_a_huge_picture_is_refused_by_its_header(self, tmp_path):
        (tmp_path / "bomb.png").write_bytes(png_header(60_000, 60_000) + bytes(100))
        with pytest.raises(NotAPicture, match="at most 40 megapixels, got 60000 x 60000"):
            read_picture(tmp_path / "bomb.png")

    def test_a_huge_jpeg_is_refused_by_its_header(self, tmp_path):
        write_picture(tmp_path / "a.jpg")
        data = bytearray((tmp_path / "a.jpg").read_bytes())
        at = data.index(b"\xff\xc0")
        data[at + 5 : at + 9] = struct.pack(">HH", 65_000, 65_000)
        (tmp_path / "a.jpg").write_bytes(data)
        with pytest.raises(NotAPicture, match="got 65000 x 65000"):
            read_picture(tmp_path / "a.jpg")

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\xff\xd8",
            b"\xff\xd8\xff\xff\xff\xff",
            b"\xff\xd8\xff\xe0\x00\x00" + bytes(20),
            b"\x89PNG\r\n\x1a\n",
            png_header(20, 20),
            b"<svg/>",
        ],
    )
    def test_no_broken_file_gets_through(self, tmp_path, data):
        (tmp_path / "x.png").write_bytes(data)
        with pytest.raises(NotAPicture, match=r"x\.png: expected a JPEG or PNG"):
            read_picture(tmp_path / "x.png")

    def test_every_truncation_is_refused_or_read_but_never_crashes(self, tmp_path):
        data = write_picture(tmp_path / "a.jpg").read_bytes()
        for length in range(0, len(data), 7):
            (tmp_path / "cut.jpg").write_bytes(data[:length])
            with suppress(NotAPicture):
                assert read_picture(tmp_path / "cut.jpg").bgr.shape == (24, 32, 3)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(NotAPicture, match=r"gone\.png.*No such file"):
            read_picture(tmp_path / "gone.png")

    def test_a_folder_is_no_picture(self, tmp_path):
        with pytest.raises(NotAPicture, match="directory"):
            read_picture(tmp_path)


class FakeCapture:
    """Stands for a device that this machine does not have."""

    frames: list
    opened = True

    def __init__(self, device, api):
        self.device = device
        self.settings = {}
        self.released = threading.Event()

    def isOpened(self):
        return self.opened

    def set(self, setting, value):
        self.settings[setting] = value
        return True

    def read(self):
        return self.frames.pop(0)() if self.frames else (False, None)

    def release(self):
        self.released.set()


class TestWebcam:
    @pytest.fixture
    def capture(self, monkeypatch):
        monkeypatch.setattr(cv2, "VideoCapture", FakeCapture)
        monkeypatch.setattr(Webcam, "_check", lambda self, device: None)
        monkeypatch.setattr(FakeCapture, "opened", True)
        return FakeCapture

    def test_a_missing_one_says_so(self):
        with pytest.raises(CameraLost, match=r"webcam /dev/video97: not found; is it plugged in"):
            open_camera("webcam:97")

    @pytest.mark.parametrize(
        ("number", "reason"),
        [
            (errno.EACCES, "no permission; the user must be in the group video"),
            (errno.EBUSY, "in use by another program"),
            (errno.EIO, "Input/output error"),
        ],
    )
    def test_the_system_knows_why(self, monkeypatch, number, reason):
        def refuse(path, flags):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(CameraLost, match=f"webcam /dev/video0: {reason}"):
            open_camera("webcam:0")

    def test_one_that_does_not_open_is_lost(self, capture, monkeypatch):
        monkeypatch.setattr(capture, "opened", False)
        with pytest.raises(CameraLost, match="opened by another program, or not a camera"):
            Webcam("/dev/video0")

    def test_the_latest_frame_wins_and_the_end_is_told(self, capture):
        all_taken = threading.Event()

        def give(level):
            return lambda: (True, np.full((4, 4, 3), level, np.uint8))

        def end():
            all_taken.set()
            return False, None

        capture.frames = [*(give(level) for level in range(5)), end]
        camera = Webcam("/dev/video0")
        assert all_taken.wait(5)
        camera._thread.join(5)
        assert camera.read().bgr[0, 0, 0] == 4
        with pytest.raises(CameraLost, match="stopped giving pictures"):
            camera.read()
        camera.close()
        assert camera._capture.released.is_set()
        assert camera._capture.settings[cv2.CAP_PROP_FRAME_WIDTH] == 1920

    def test_a_silent_one_is_lost_in_time(self, capture):
        hold = threading.Event()

        def wait():
            hold.wait(5)
            return False, None

        capture.frames = [wait]
        camera = Webcam("/dev/video0", timeout_s=0.05)
        with pytest.raises(CameraLost, match=r"silent for 0\.05 s"):
            camera.read()
        hold.set()
        camera.close()

    @pytest.mark.parametrize(
        ("spec", "device"),
        [
            ("webcam", "/dev/video0"),
            ("webcam:2", "/dev/video2"),
            ("webcam:/dev/v4l/x", "/dev/v4l/x"),
        ],
    )
    def test_a_device_is_a_number_or_a_path(self, capture, spec, device):
        capture.frames = []
        camera = open_camera(spec)
        camera.close()
        assert camera._capture.device == device
        assert camera.name == f"webcam {device}"
