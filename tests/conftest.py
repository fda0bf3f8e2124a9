"""Shared by all tests: the toy game, and the whole program as a player starts it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

from rules import games

# A slow machine is not a wrong program.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

ROOT = Path(__file__).parents[1]
TOYS = Path(__file__).parent / "toys"


def install_toy(folder: Path, name: str = "noughts") -> Path:
    """Put a toy game into ``folder``, as a player would; returns the game's own folder."""
    home = folder / name
    shutil.copytree(TOYS / name, home)
    (home / "__init__.py").write_text("from .game import Noughts\n\nGAME = Noughts()\n")
    return home


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for TAFELMAAT_GAMES that holds the toy game."""
    folder = tmp_path_factory.mktemp("games")
    install_toy(folder)
    return folder


@pytest.fixture
def noughts(toy_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[games.AnyGame]:
    """The toy game, installed in this process for one test."""
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(toy_folder)])
    games._search.cache_clear()
    yield games.find("noughts")
    games._search.cache_clear()


@dataclass(frozen=True)
class Program:
    """A running ``tafelmaat run``."""

    address: str
    state: Path
    process: subprocess.Popen[str]

    @property
    def pin(self) -> str:
        return str(json.loads((self.state / "web-keys.json").read_text())["pin"])

    @property
    def log(self) -> str:
        return (self.state / "log.txt").read_text()


@contextmanager
def running(state: Path, *arguments: str, **environment: str) -> Iterator[Program]:
    """The table on its virtual camera and the pages on a free port, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ["--state", str(state), "--host", "127.0.0.1", "--port", str(port)]
    with (state / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "firmware", "run", "--camera", "virtual", *where, *arguments],
            cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        program = Program(f"http://127.0.0.1:{port}", state, process)
        try:
            deadline_s = time.monotonic() + 60
            while not _listens(port) and time.monotonic() < deadline_s:
                assert process.poll() is None, program.log
                time.sleep(0.1)
            yield program
        finally:
            process.terminate()
            process.wait(20)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def start_program():
    """The function ``running``, for tests that need the program with arguments of their own."""
    return running


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with running(tmp_path) as program:
        yield program
