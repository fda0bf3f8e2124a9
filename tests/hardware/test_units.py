"""The systemd units as systemd itself reads them, and what they leave open."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = sorted((Path(__file__).parents[2] / "systemd").glob("*.service"))

pytestmark = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze"
)


def installed(unit: Path, folder: Path) -> Path:
    """The unit with a program that exists on this machine in place of ours."""
    text = unit.read_text("utf-8")
    changed = re.sub(r"/opt/tafelmaat/venv/bin/tafelmaat", "/bin/true", text)
    assert changed != text
    copy = folder / unit.name
    copy.write_text(changed)
    return copy


def test_there_are_two_units():
    assert [u.stem for u in UNITS] == ["tafelmaat-table", "tafelmaat-web"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: u.stem)
def test_systemd_has_nothing_to_complain(unit, tmp_path):
    for other in UNITS:
        installed(other, tmp_path)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / unit.name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about_us = [line for line in done.stderr.splitlines() if "tafelmaat" in line]
    assert (done.returncode, about_us) == (0, [])


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: u.stem)
def test_the_exposure_stays_low(unit, tmp_path):
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20"]
    done = subprocess.run(
        [*command, str(installed(unit, tmp_path))], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode()[-200:]
