"""What is installed is ours, and it is all there."""

import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("rules", "vision", "firmware", "companion_web")


@pytest.mark.parametrize("name", PACKAGES)
def test_the_package_of_that_name_is_ours(name):
    """``rules`` is also the import name of a Django library."""
    assert Path(import_module(name).__file__).parent == ROOT / name


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*command, str(folder), str(ROOT)], check=True, capture_output=True)
    (file,) = folder.glob("tafelmaat-*.whl")
    return zipfile.ZipFile(file).namelist()


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(listed) > 50
    missing = {f for f in listed if (ROOT / f).exists()} - set(wheel)
    assert not missing
    for kind in ("table.toml", "en.toml", ".svg", "pins.toml", ".html", ".css", ".js", "py.typed"):
        assert any(name.endswith(kind) for name in wheel), kind


def test_the_wheel_brings_the_command(wheel):
    assert any(name.endswith("entry_points.txt") for name in wheel)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["tafelmaat"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_opencv_stays_below_five():
    """OpenCV 5 drops parts that we rely on; see DESIGN.md."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert any(n.startswith("opencv-python-headless") and n.endswith("<5") for n in needs)
