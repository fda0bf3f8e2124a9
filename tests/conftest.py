"""Shared by all tests: the toy game, and the whole program as a player starts it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import hypothesis
import pytest

from rules import games
from rules.table import Plan

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


SYMBOLS = (
    '<rect x="-30" y="-12" width="60" height="24"/>',
    '<path d="M0 -32L28 24H-28Z"/>',
    '<path fill-rule="evenodd" d="M-27 0A27 27 0 0 0 27 0A27 27 0 0 0 -27 0'
    'M-12 0A12 12 0 0 0 12 0A12 12 0 0 0 -12 0"/>',
    '<path d="M-22 -32L0 -10L22 -32L32 -22L10 0L32 22L22 32L0 10L-22 32L-32 22L-10 0L-32 -22Z"/>',
    '<path d="M-26 -28H26V-12H8V28H-8V-12H-26Z"/>',
    '<path d="M-30 -8L0 -32L30 -8V8H-30Z"/><circle cy="24" r="8"/>',
)
INKS = ("#7a4a1e", "#0f6f6f", "#c2186b", "#303a8c", "#5c7a12", "#222222")


def redraw(plan: Plan) -> Plan:
    """The table of a box that looks quite unlike our drawings: other symbols, colours and board."""

    def svg(content: str) -> str:
        return f'<svg xmlns="http://www.w3.org/2000/svg">{content}</svg>'

    art = {**plan.art, "blank": svg("")}
    for k, (face, piece) in enumerate(plan.piece_of.items()):
        size = piece.width_mm / 100
        ink, symbol = INKS[k % len(INKS)], SYMBOLS[k % len(SYMBOLS)]
        art[face] = svg(
            f'<g transform="scale({size})"><circle r="46" fill="#f3ead0"/>'
            f'<g fill="{ink}">{symbol}</g></g>'
        )
    for k, cell in enumerate(sorted({p.cell for p in plan.places.values()} - {""})):
        hue, size = 67 * k % 360, min(p.pitch_mm for p in plan.places.values()) / 100
        art[cell] = svg(
            f'<g transform="scale({size})"><circle r="44" fill="hsl({hue},40%,60%)"/>'
            f'<path d="M-25 {5 * k - 20}L25 12" stroke="#444" stroke-width="5"/></g>'
        )
    pieces = {name: replace(piece, colour="#e0d4b0") for name, piece in plan.pieces.items()}
    return replace(plan, art=art, pieces=pieces, ground="#3d6b4f", board="blank")


@pytest.fixture(scope="session")
def other_box() -> Callable[[Plan], Plan]:
    """The function ``redraw``: from a plan to one of the same pieces with other drawings."""
    return redraw


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
