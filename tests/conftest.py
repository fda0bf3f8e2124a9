"""Shared by all tests: the toy game, installed from a temporary folder as anybody's would be."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rules import games

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
