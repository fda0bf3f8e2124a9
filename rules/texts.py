"""What the program says, in English, Dutch and Russian: one mechanism for rules and pages.

A catalogue is a folder with ``en.toml``, ``nl.toml`` and ``ru.toml``. A text is found by a dotted
key and may hold fields: ``{name}`` as it is; ``{colour:word}`` the word of that name in the
catalogue; ``{n:points}`` a number with its noun in the right plural; ``{sites}`` a list.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Literal, get_args

from .errors import BrokenGame

Language = Literal["en", "nl", "ru"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

PLURALS: dict[Language, tuple[str, ...]] = {
    "en": ("one", "other"),
    "nl": ("one", "other"),
    "ru": ("one", "few", "many"),
}


def plural(language: Language, n: int) -> str:
    """Which plural form a whole number takes.

    >>> [plural("ru", n) for n in (1, 2, 5, 11, 21, 22, 25)]
    ['one', 'few', 'many', 'many', 'one', 'few', 'many']
    >>> [plural("nl", n) for n in (0, 1, 2)]
    ['other', 'one', 'other']
    """
    n = abs(n)
    if language != "ru":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


class Texts:
    """The texts of one language, from one or more catalogues; later folders add to earlier ones."""

    def __init__(self, language: Language, entries: Mapping[str, str]) -> None:
        self.language = language
        self._entries = entries
        self._formatter = _Speaker(self)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def keys(self) -> Iterable[str]:
        return self._entries.keys()

    def say(self, key: str, fields: Mapping[str, Any] | None = None, **more: Any) -> str:
        """The text of ``key`` with its fields filled in; an unknown key shows itself."""
        text = self._entries.get(key)
        if text is None:
            return f"[{key}]"
        return self._formatter.vformat(text, (), {**(fields or {}), **more})

    def word(self, name: str) -> str:
        """The word for a name of the game (a colour, a face); a name without a word is itself."""
        return self._entries.get(f"words.{name}", name)

    def count(self, noun: str, n: int) -> str:
        """A number with its noun: ``3 points``."""
        key = f"plurals.{noun}.{plural(self.language, n)}"
        text = self._entries.get(key)
        return f"[{key}]" if text is None else text.replace("{n}", str(n))


class _Speaker(Formatter):
    """Fills the fields of a text; values never become templates, so names are only data."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs.get(str(key), f"[{key}]")

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return self.get_value(field_name, args, kwargs), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple | list):
            return ", ".join(self.format_field(v, format_spec) for v in value)
        if format_spec == "word":
            return self._texts.word(str(value))
        if format_spec and isinstance(value, int):
            return self._texts.count(format_spec, value)
        return str(value)


@cache
def load(language: Language, *folders: Path) -> Texts:
    """The texts of a language from these catalogues; a broken file is a ``BrokenGame``."""
    entries: dict[str, str] = {}
    for folder in folders:
        path = folder / f"{language}.toml"
        try:
            data = tomllib.loads(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BrokenGame(f"{path}: {error}") from error
        entries.update(_flatten(data, path))
    return Texts(language, entries)


CORE = Path(__file__).parent / "texts"
"""What the session itself says: refusals that belong to no game."""


def _flatten(data: Mapping[str, Any], path: Path, prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, dict):
            yield from _flatten(value, path, f"{prefix}{key}.")
        elif isinstance(value, str):
            yield f"{prefix}{key}", value
        else:
            raise BrokenGame(f"{path}: {prefix}{key}: expected a text, got {value!r}")
