"""Three languages, one mechanism."""

import pytest

from rules.errors import BrokenGame
from rules.texts import CORE, LANGUAGES, PLURALS, Texts, load, plural


def texts(language="en", **entries: str) -> Texts:
    return Texts(language, entries)


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", {0: "other", 1: "one", 2: "other", 21: "other"}),
        ("nl", {0: "other", 1: "one", 2: "other", 21: "other"}),
        ("ru", {0: "many", 1: "one", 2: "few", 4: "few", 5: "many", 11: "many", 12: "many",
                14: "many", 21: "one", 22: "few", 25: "many", 101: "one", 111: "many"}),
    ],
)  # fmt: skip
def test_plurals_follow_the_language(language, forms):
    assert {n: plural(language, n) for n in forms} == forms
    assert set(forms.values()) == set(PLURALS[language])


def test_fields_words_and_counts_are_filled_in():
    said = Texts(
        "ru",
        {
            "line": "{n:points} за {colour:word}: {sites}",
            "words.red": "красный",
            "plurals.points.few": "{n} очка",
        },
    )
    assert said.say("line", n=3, colour="red", sites=("h8", "h9")) == "3 очка за красный: h8, h9"


def test_names_are_data_never_templates():
    said = texts(hello="Hello {name}")
    assert said.say("hello", name="{0.__class__} {x:points}") == "Hello {0.__class__} {x:points}"
    assert said.say("hello", name="<b>") == "Hello <b>"


def test_what_is_missing_shows_itself():
    said = texts(hello="Hello {name}", score="{n:points}")
    assert said.say("score") == "[n]"
    assert said.say("nope") == "[nope]"
    assert said.say("hello") == "Hello [name]"
    assert said.word("red") == "red"
    assert said.count("points", 2) == "[plurals.points.other]"


def test_the_core_says_the_same_things_in_every_language():
    keys = [set(load(language, CORE).keys()) for language in LANGUAGES]
    assert keys[0]
    assert keys[0] == keys[1] == keys[2]


def test_a_broken_catalogue_is_named(tmp_path):
    (tmp_path / "en.toml").write_text("a = 1")
    with pytest.raises(BrokenGame, match=r"en.toml: a: expected a text, got 1"):
        load("en", tmp_path)
    with pytest.raises(BrokenGame, match=r"nl.toml"):
        load("nl", tmp_path)
