"""The contract of a game, tested for every game that is installed.

A game lists its codes in ``codes.py``, one ``StrEnum`` for each section of its texts.
"""

import random
import tomllib
from collections import Counter, defaultdict
from importlib import import_module
from string import Formatter

import pytest

from rules import games, session, texts
from rules.errors import IllegalMove, InvalidNotation, InvalidSetup
from rules.events import GameStarted, MovePlayed, MoveTakenBack
from rules.table import EMPTY

SECTIONS = {
    "violation": "Rule",
    "unchecked": "Unchecked",
    "line": "Line",
    "notice": "Notice",
    "ended": "Ended",
}
LANGUAGES = pytest.mark.parametrize("language", texts.LANGUAGES)
MOST_CANDIDATES = 20_000


def test_games_were_found():
    assert games.installed()
    assert games.broken() == {}


def test_a_game_ends_and_has_a_legal_move_until_then(played):
    assert played.steps
    assert played.game.standings(played.end).over


def test_notation_round_trips(played):
    for step in played.steps:
        for move in (step.move, *step.sample):
            text = played.game.notate(move)
            assert played.game.parse(text) == move
            assert text == text.strip()
            assert "\n" not in text


@pytest.mark.parametrize("text", ["", "?", "x@z9", "\0", "a" * 10_000])
def test_what_is_no_move_is_refused_by_name(name, text):
    with pytest.raises(InvalidNotation, match="expected"):
        games.find(name).parse(text)


def test_a_wrong_set_up_is_refused(name):
    info = games.find(name).info
    assert info.name == name
    with pytest.raises(InvalidSetup):
        info.setup(info.variants[0].name, 99)


def test_apply_refuses_what_check_forbids(played):
    refused = 0
    for step in played.steps:
        for move in step.sample[:10]:
            if not played.game.check(step.before, move).legal:
                refused += 1
                with pytest.raises(IllegalMove):
                    played.game.apply(step.before, move)
    assert refused


def test_a_game_that_is_over_allows_nothing(played):
    moves = {step.move for step in played.steps}
    assert not any(played.game.check(played.end, move).legal for move in moves)
    assert played.game.standings(played.end).to_act is None


def test_states_and_moves_are_values(played):
    for step in played.steps:
        shown = repr(step.before)
        again = played.game.apply(step.before, step.move)
        assert repr(step.before) == shown
        assert again == step.applied
        assert hash(again.state) == hash(step.applied.state)
        hash(step.move)
    assert played.game.start(played.setup) == played.steps[0].before


def test_a_move_changes_the_layout_by_its_footprint(played):
    game = played.game
    assert game.layout(played.steps[0].before).keys() == game.plan.places.keys()
    for step in played.steps:
        expected = {**game.layout(step.before), **game.footprint(step.before, step.move)}
        assert game.layout(step.applied.state) == expected


def test_only_faces_of_the_plan_lie_on_sites_of_the_plan(played):
    game = played.game
    for step in played.steps:
        for move in step.sample:
            for site, face in game.footprint(step.before, move).items():
                assert face in game.plan.places[site].faces
            for violation in game.check(step.before, move).violations:
                assert set(violation.sites) <= game.plan.places.keys()
        for line in step.applied.lines:
            assert set(line.sites) <= game.plan.places.keys()
    for site, face in game.layout(played.end).items():
        assert face in game.plan.places[site].faces


def test_score_lines_sum_up_to_the_change_of_the_tracks(played):
    for step in played.steps:
        before = tracks(played.game.standings(step.before))
        after = tracks(played.game.standings(step.applied.state))
        side_of = {seat: seats for seats, _ in after for seat in seats}
        told = defaultdict(int)
        for line in step.applied.lines:
            told[side_of[line.seat], line.track] += line.points
        changed = {key: after[key] - before[key] for key in after}
        assert {k: v for k, v in told.items() if v} == {k: v for k, v in changed.items() if v}


def tracks(standings):
    return {(s.seats, t.name): t.value for s in standings.scores for t in s.tracks}


def test_standings_name_every_seat_once(played):
    seats = list(range(played.setup.seats))
    for step in played.steps:
        standings = played.game.standings(step.before)
        assert sorted(seat for s in standings.scores for seat in s.seats) == seats
        assert standings.to_act in seats
        assert standings.winners is None
        for score in standings.scores:
            assert all(t.limit is None or t.value <= t.limit for t in score.tracks)
    final = played.game.standings(played.end)
    best = sorted(seat for s in final.scores if s.rank == 1 for seat in s.seats)
    assert sorted(final.winners) == best


def test_every_move_has_a_mover(played):
    for step in played.steps:
        for move in (step.move, *step.sample):
            assert played.game.mover(step.before, move) in range(played.setup.seats)


def test_candidates_near_sites_are_those_that_touch_them_and_the_quiet_ones(played):
    game = played.game
    rng = random.Random(7)
    for step in rng.sample(played.steps, 2):
        everything = list(game.candidates(step.before))
        assert len(everything) <= MOST_CANDIDATES
        assert len({game.notate(m) for m in everything}) == len(everything)
        near = frozenset(rng.sample(game.plan.sites, min(3, len(game.plan.sites))))
        prints = {m: game.footprint(step.before, m).keys() for m in everything}
        quiet = [m for m in everything if not prints[m]]
        touching = [m for m in everything if near & prints[m]]
        assert Counter(game.candidates(step.before, near)) == Counter(touching + quiet)
        assert Counter(game.candidates(step.before, frozenset())) == Counter(quiet)


def test_the_total_is_the_lowest_track_where_the_game_says_so(played):
    if played.game.info.lowest_counts:
        for step in played.steps:
            for score in played.game.standings(step.before).scores:
                assert score.total == min(track.value for track in score.tracks)


def test_a_replayed_game_is_the_same_game(played):
    game = played.game
    names = tuple(f"P{n}" for n in range(played.setup.seats))
    opening = GameStarted(game.info.name, game.info.version, played.setup.variant, names)
    moves = [MovePlayed(game.notate(step.move), "camera") for step in played.steps]
    replayed = session.replay(enumerate([opening, *moves], 1))
    assert replayed.state == played.end
    back = session.evolve(replayed, MoveTakenBack(len(moves), "web"), len(moves) + 2)
    assert back.state == played.steps[-1].before


def test_every_code_that_is_said_is_listed(played):
    name, game = played.game.info.name, played.game
    said = {section: set() for section in SECTIONS}
    for step in played.steps:
        for move in (step.move, *step.sample):
            verdict = game.check(step.before, move)
            said["violation"] |= {violation.code for violation in verdict.violations}
            said["unchecked"] |= set(verdict.unchecked)
        said["line"] |= {line.code for line in step.applied.lines}
        said["notice"] |= set(game.standings(step.before).notices)
    said["ended"] = {game.standings(played.end).ended_by}
    for section, codes in said.items():
        assert codes <= listed(name, section), section


@LANGUAGES
def test_everything_that_is_said_has_words(played, language):
    game = played.game
    speak = games.speak(game.info.name, language)
    for step in played.steps:
        for move in (step.move, *step.sample[:5]):
            sentences = [speak.say(*game.describe(move))]
            verdict = game.check(step.before, move)
            sentences += [speak.say(f"violation.{v.code}", v.fields) for v in verdict.violations]
            assert not [s for s in sentences if "[" in s or "{" in s]
        for line in step.applied.lines:
            sentence = speak.say(f"line.{line.code}", line.fields)
            assert "[" not in sentence
            assert f"words.{line.track}" in speak


@LANGUAGES
def test_every_code_has_a_text_and_every_text_a_code(name, language):
    for section in SECTIONS:
        assert read(name, language)[section].keys() == listed(name, section), section


@LANGUAGES
def test_title_variants_faces_and_options_have_words(name, language):
    game, catalogue = games.find(name), read(name, language)
    assert catalogue["title"]
    assert catalogue["about"]
    variants = {variant.name for variant in game.info.variants}
    assert catalogue["variants"].keys() == catalogue["variants_about"].keys() == variants
    assert {EMPTY, *game.plan.piece_of} <= catalogue["words"].keys()
    options = {option.name for option in game.info.options}
    assert catalogue.get("options", {}).keys() == options


def test_the_languages_say_the_same_with_the_same_fields(name):
    compare([read(name, language) for language in texts.LANGUAGES])


def test_the_refusals_of_the_session_have_the_same_fields_in_all_languages():
    compare([load(texts.CORE / f"{language}.toml") for language in texts.LANGUAGES])


def compare(catalogues):
    first, *others = map(flatten, catalogues)
    assert first
    for other in others:
        assert other.keys() == first.keys()
        for key in first:
            assert {f for f, _ in fields(other[key])} == {f for f, _ in fields(first[key])}, key


@LANGUAGES
def test_counted_nouns_have_every_plural_form(name, language):
    catalogue = read(name, language)
    plurals = catalogue["plurals"]
    counted = {spec for text in flatten(catalogue).values() for _, spec in fields(text)}
    assert counted - {"", "word"} == plurals.keys()
    for forms in plurals.values():
        assert forms.keys() == set(texts.PLURALS[language])
        assert all("{n}" in form for form in forms.values())


def listed(name, section):
    codes = import_module(f"rules.games.{name}.codes")
    return {code.value for code in getattr(codes, SECTIONS[section])}


def read(name, language):
    return load(games.folder(name) / "texts" / f"{language}.toml")


def load(path):
    return tomllib.loads(path.read_text("utf-8"))


def flatten(catalogue):
    """All texts by key, but the plural forms, which differ from language to language."""
    sections = {key: value for key, value in catalogue.items() if isinstance(value, dict)}
    return {
        f"{section}.{key}": text
        for section, entries in sections.items()
        if section != "plurals"
        for key, text in entries.items()
    }


def fields(text):
    """The fields of a text with how they are said."""
    return {(name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None}
