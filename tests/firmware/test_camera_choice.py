"""Which camera the table process takes."""

from pathlib import Path

import pytest

from firmware import table
from firmware.errors import BadSettings
from vision import cameras
from vision.errors import CameraLost


class Picture:
    """A camera that works, or one that opens and then gives nothing."""

    def __init__(self, works):
        self.works = works

    def read(self):
        if not self.works:
            raise CameraLost("silent")

    def close(self): ...


@pytest.fixture
def devices(monkeypatch):
    """What is plugged in: path -> whether it works."""
    plugged = {}
    monkeypatch.setattr(table, "_video_devices", lambda: map(Path, plugged))
    monkeypatch.setattr(
        cameras, "open_camera", lambda spec: Picture(plugged[spec.removeprefix("webcam:")])
    )
    return plugged


def test_without_a_camera_the_table_is_virtual(devices):
    assert table.choose_camera("auto") == "virtual"


def test_the_first_camera_that_gives_a_picture_is_taken(devices):
    devices.update({"/dev/video0": False, "/dev/video1": True, "/dev/video2": True})
    assert table.choose_camera("auto") == "webcam:/dev/video1"


def test_a_camera_that_gives_no_picture_is_none(devices):
    devices["/dev/video0"] = False
    assert table.choose_camera("auto") == "virtual"


@pytest.mark.parametrize("spec", ["virtual", "virtual:calm", "webcam:3", "folder:/somewhere"])
def test_what_was_asked_for_is_taken(devices, spec):
    devices["/dev/video0"] = True
    assert table.choose_camera(spec) == spec


def test_an_unknown_kind_is_said():
    with pytest.raises(BadSettings, match="expected one of auto, .*webcam, got 'telescope'"):
        table.choose_camera("telescope")
