"""Finds the games: every folder here that exports ``GAME`` is one.

Folders named in the environment variable ``TAFELMAAT_GAMES`` (separated as in ``PATH``) are
searched too, so that a game of one's own needs no change in this tree.
"""

import logging
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from .. import texts
from ..errors import BrokenGame, RulesError, UnknownGame
from ..game import AnyGame

log = logging.getLogger(__name__)

__path__ += [p for p in os.environ.get("TAFELMAAT_GAMES", "").split(os.pathsep) if p]


@cache
def _search() -> tuple[dict[str, AnyGame], dict[str, str]]:
    found: dict[str, AnyGame] = {}
    broken: dict[str, str] = {}
    for name in sorted(m.name for m in iter_modules(__path__) if m.ispkg):
        try:
            module = import_module(f"{__name__}.{name}")
            for language in texts.LANGUAGES:
                texts.load(language, _folder(module) / "texts")
            found[name] = module.GAME
        except RulesError as error:
            broken[name] = str(error)
        except Exception as error:  # whatever one folder does wrong, the other games stay playable
            log.exception("game %s cannot be used", name)
            broken[name] = f"{type(error).__name__}: {error}"
    return found, broken


def installed() -> dict[str, AnyGame]:
    """All games that can be played, by name, in alphabetical order."""
    return _search()[0]


def broken() -> dict[str, str]:
    """The folders that hold no usable game, with the reason."""
    return _search()[1]


def find(name: str) -> AnyGame:
    if name in broken():
        raise BrokenGame(broken()[name])
    try:
        return installed()[name]
    except KeyError:
        raise UnknownGame(f"game: expected one of {', '.join(installed())}, got {name!r}") from None


def folder(name: str) -> Path:
    """Where a game keeps its data files."""
    find(name)
    return _folder(import_module(f"{__name__}.{name}"))


def speak(name: str, language: texts.Language) -> texts.Texts:
    """The texts of a game, together with those of the session itself."""
    return texts.load(language, texts.CORE, folder(name) / "texts")


def _folder(module: ModuleType) -> Path:
    assert module.__file__ is not None
    return Path(module.__file__).parent
