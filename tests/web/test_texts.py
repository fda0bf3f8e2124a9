"""What the pages say: the same keys and fields in every language, none missing, none left over."""

import re
import tomllib
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

import companion_web
from companion_web.app import create_app
from companion_web.tell import TEXTS
from rules.commands import Source
from rules.status import Mode, Pattern
from rules.teaching import PICTURES
from rules.texts import LANGUAGES, PLURALS, load, plural

PACKAGE = Path(companion_web.__file__).parent
QUESTIONS = (
    *("unclear", "mismatch", "taken_back", "nothing_changed", "several"),
    *("hands", "trouble", "camera_lost"),
)
SNAGS = ("sheet_lost", "hands", "camera_lost", "nothing", "no_bare", "disk", "taps")
ERRORS = (400, 401, 403, 404, 405, 411, 413, 429, 500, 503)


def sources() -> dict[str, str]:
    paths = [*PACKAGE.glob("*.py"), *PACKAGE.glob("templates/**/*.html")]
    assert len(paths) > 25
    return {p.name: p.read_text("utf-8") for p in paths}


def used_keys() -> set[str]:
    """Every key that a template or a module names, dynamic ones spelled out."""
    found: set[str] = {"and", "skip"}
    for text in sources().values():
        found |= set(re.findall(r"""\bt\(\s*["']([a-z_.]+[a-z_])["']""", text))
        found |= set(re.findall(r"""\bui(?:\(\))?\.say\(\s*["']([a-z_.]+[a-z_])["']""", text))
        for both in re.findall(
            r"""\bt\(["']([a-z_.]+)["'] if [^)]*? else ["']([a-z_.]+)["']""", text
        ):
            found |= {key for key in both if not key.endswith(".")}
        for code in re.findall(r"""InvalidInput\(\s*["']([a-z_]+)["']""", text):
            found.add(f"input.{code}")
        for noun in re.findall(r"""ui\.count\(["']([a-z_]+)["']""", text):
            found.add(f"plurals.{noun}")
    modes = (*get_args(Mode), "away")
    found |= {f"{part}.{mode}" for part in ("state", "state_hint") for mode in modes}
    found |= {f"lamp.{pattern}" for pattern in get_args(Pattern)}
    found |= {f"source.{source}" for source in get_args(Source)}
    found |= {f"question.{code}" for code in QUESTIONS}
    found |= {f"teaching.problem.{code}" for code in SNAGS}
    found |= {f"teach.take.{kind}" for kind in PICTURES}
    found |= {f"question_alone.{code}" for code in ("unclear", "mismatch", "nothing_changed")}
    found |= {f"error.{code}" for code in ERRORS}
    found |= {f"reply.{code}" for code in ("stale", "invalid", "away")}
    found |= {f"nav.{page}" for page in ("board", "history", "setup", "seats")}
    found |= {f"theme.{theme}" for theme in ("auto", "light", "dark")}
    found |= {f"language.{language}" for language in LANGUAGES}
    return found


def entries(language: str) -> dict[str, str]:
    texts = load(language, TEXTS)
    return dict(texts._entries)


def stem(key: str) -> str:
    """A plural counts as one text."""
    return key.rsplit(".", 1)[0] if key.startswith("plurals.") else key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_in_use_has_a_text(language):
    assert used_keys() - {stem(key) for key in entries(language)} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_in_use(language):
    assert {stem(key) for key in entries(language)} - used_keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_plurals_have_all_forms(language):
    toml = tomllib.loads((TEXTS / f"{language}.toml").read_text("utf-8"))
    for noun, forms in toml["plurals"].items():
        assert set(forms) == set(PLURALS[language]), noun


@pytest.mark.parametrize("language", [x for x in LANGUAGES if x != "en"])
def test_texts_have_the_same_fields_as_in_english(language):
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    english, other = entries("en"), entries(language)
    for key in english.keys() & other.keys():
        assert fields(other[key]) == fields(english[key]), key


def test_russian_players_are_counted_rightly():
    texts = load("ru", TEXTS)
    said = [texts.count("players", n) for n in (1, 2, 5, 21)]
    assert said == ["1 игрок", "2 игрока", "5 игроков", "21 игрок"]
    assert plural("ru", 12) == "many"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("nl-BE,nl;q=0.9,en;q=0.5", "nl"), ("ru", "ru"), ("fr,de", "en"), ("", "en")],
)
def test_the_browser_chooses_the_language(phone, asked, expected):
    page = phone().get("/", **{"Accept-Language": asked})
    assert f'<html lang="{expected}"' in page.text


def test_a_chosen_language_is_remembered(phone):
    own = phone()
    answer = own.get("/prefer?language=ru&theme=dark&back=/history", **{"Accept-Language": "nl"})
    assert (answer.status_code, answer.location) == (303, "/history")
    page = own.get("/history", **{"Accept-Language": "nl"})
    assert '<html lang="ru" data-theme="dark"' in page.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_shows_a_key_instead_of_a_text(game, phone, language):
    own = phone().host()
    for path in ("/", "/history", "/history/2", "/setup", "/seats", "/host", "/nowhere"):
        text = own.get(path, **{"Accept-Language": language}).text
        assert re.findall(r"\[[a-z_]+\.[a-z_.0-9]+\]", text) == [], path


def test_every_error_handled_has_a_text(tmp_path):
    app = create_app(tmp_path)
    try:
        handled = set(app.error_handler_spec[None]) - {None}
        assert handled == set(ERRORS)
    finally:
        app.extensions["tafelmaat"].close()
