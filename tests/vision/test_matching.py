"""Matching on hand-made observations of a toy game: dominoes on a small square board."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from rules.errors import IllegalMove
from rules.game import Applied, GameInfo, Seat, Variant
from rules.table import EMPTY, Area, Face, Piece, Plan, Site
from rules.verdict import Verdict, Violation
from vision.matching import ILLEGAL_COST, differ, match, taken_back
from vision.observation import Observation, average

COLOURS = (Face("red"), Face("blue"), Face("green"))
PIECE = Piece("square", 9.0, 2.0, {f: f[0].upper() for f in COLOURS})
PLAN = Plan(
    (50.0, 50.0),
    {"board": Area("square", (5.0, 5.0), 10.0, rows=5, columns=5, pieces=("half",))},
    {"half": PIECE},
    dict.fromkeys(COLOURS, "<svg></svg>"),
    "#ffffff",
)


@dataclass(frozen=True)
class State:
    lying: frozenset[tuple[Site, Face]] = frozenset()
    to_act: int = 0
    tiles: tuple[int, int] = (0, 0)
    """Points: a double is worth 2 and gives another turn, anything else is worth 1."""


@dataclass(frozen=True)
class Domino:
    sites: tuple[Site, Site]
    faces: tuple[Face, Face]


class Dominoes:
    info = GameInfo("dominoes", 1, (Variant("basic", (2,)),))
    plan = PLAN

    def candidates(self, state: State, near=None) -> Iterator[Domino]:
        for a in PLAN.sites:
            right = Site(f"{a[0]}{int(a[1]) + 1}")
            below = Site(f"{chr(ord(a[0]) + 1)}{a[1]}")
            for b in (right, below):
                if b in PLAN.places and (near is None or near & {a, b}):
                    yield from (Domino((a, b), (f, g)) for f in COLOURS for g in COLOURS)

    def check(self, state: State, move: Domino) -> Verdict:
        taken = dict(state.lying)
        hit = tuple(s for s in move.sites if s in taken)
        return Verdict((Violation("occupied", "T-1", hit),) if hit else ())

    def apply(self, state: State, move: Domino) -> Applied:
        if not self.check(state, move).legal:
            raise IllegalMove(self.notate(move))
        double = move.faces[0] == move.faces[1]
        tiles = list(state.tiles)
        tiles[state.to_act] += 2 if double else 1
        lying = state.lying | set(zip(move.sites, move.faces, strict=True))
        return Applied(State(lying, state.to_act if double else 1 - state.to_act, tuple(tiles)))

    def mover(self, state: State, move: Domino) -> Seat:
        return Seat(state.to_act)

    def layout(self, state: State):
        return PLAN.bare() | dict(state.lying)

    def footprint(self, state: State, move: Domino):
        return dict(zip(move.sites, move.faces, strict=True))

    def describe(self, move: Domino):
        return "lay", {}

    def notate(self, move: Domino) -> str:
        return " ".join(f"{f}@{s}" for s, f in zip(move.sites, move.faces, strict=True))


GAME = Dominoes()
START = State()


def see(state: State, sure: float = 0.99, **laid: dict[str, float] | str) -> Observation:
    """The table as the state says, but for the sites named."""
    layout = GAME.layout(state) | {Site(s): Face(f) for s, f in laid.items() if isinstance(f, str)}
    beliefs = {}
    for site, face in layout.items():
        rest = (1 - sure) / len(COLOURS)
        beliefs[site] = {f: sure if f == face else rest for f in (EMPTY, *COLOURS)}
    for site, belief in laid.items():
        if isinstance(belief, dict):
            beliefs[Site(site)] = {Face(f): p for f, p in belief.items()}
    return Observation(beliefs)


def without(seen: Observation, *sites: str) -> Observation:
    return replace(seen, beliefs={s: b for s, b in seen.beliefs.items() if s not in sites})


def play(state: State, *moves: Domino) -> State:
    for move in moves:
        state = GAME.apply(state, move).state
    return state


def domino(text: str) -> Domino:
    halves = [half.split("@") for half in text.split()]
    return Domino(
        tuple(Site(s) for _, s in halves),
        tuple(Face(f) for f, _ in halves),
    )


def likeliest(explanations):
    """The explanations that fit as well as the best one."""
    return [e for e in explanations if e.score > explanations[0].score - 1e-6]


def test_an_unchanged_table_needs_no_explanation():
    assert match(GAME, START, see(START)) == ()
    assert differ(GAME.layout(START), see(START)) == ()


def test_a_laid_tile_is_read():
    best = match(GAME, START, see(START, b2="red", b3="blue"))[0]
    assert best.moves == ("red@b2 blue@b3",)
    assert best.verdict.legal
    assert not best.unexplained
    assert best.movers == (Seat(0),)
    assert best.outcome == play(START, domino("red@b2 blue@b3"))


def test_a_doubtful_half_leaves_a_close_second():
    seen = see(START, b2="red", b3={"blue": 0.5, "green": 0.4, "empty": 0.1, "red": 0.0})
    first, second = match(GAME, START, seen)[:2]
    assert (first.moves, second.moves) == (("red@b2 blue@b3",), ("red@b2 green@b3",))
    assert 0 < first.score - second.score < 1


def test_a_covered_half_fits_every_colour_alike():
    seen = without(see(START, b2="red", b3="blue"), "b3", "a2", "c2", "b1")
    tied = [e for e in match(GAME, START, seen) if not e.unexplained]
    assert len({round(e.score, 9) for e in tied[:12]}) == 1
    assert len({e.outcome for e in tied}) == 12


def test_an_illegal_placement_is_not_repaired_into_a_legal_one():
    state = play(START, domino("red@b2 blue@b3"))
    best = match(GAME, state, see(state, b3="green", b4="green"))[0]
    assert best.moves == ("green@b3 green@b4",)
    assert [(v.code, v.sites) for v in best.verdict.violations] == [("occupied", ("b3",))]


def test_a_doubtful_illegal_reading_yields_to_the_legal_one():
    state = play(START, domino("red@b2 blue@b3"))
    doubtful = {"empty": 0.0, "red": 0.0, "blue": 0.3, "green": 0.7}
    scores = {
        e.moves[0]: e
        for e in match(GAME, state, see(state, b3=doubtful, b4="green", c4="green"))
        if not e.unexplained
    }
    legal, illegal = scores["green@b4 green@c4"], scores.get("green@b3 green@b4")
    assert legal.verdict.legal
    assert illegal is None or legal.score > illegal.score


def test_a_change_that_no_move_makes_is_left_unexplained():
    state = play(START, domino("red@b2 blue@b3"))
    best = match(GAME, state, see(state, b2="empty", d4="green", d5="red"))[0]
    assert best.moves == ("green@d4 red@d5",)
    assert best.unexplained == {"b2"}


def test_a_removed_piece_alone_has_no_explanation():
    state = play(START, domino("red@b2 blue@b3"))
    seen = see(state, b2="empty")
    assert match(GAME, state, seen) == ()
    assert [(d.site, d.seen, d.expected) for d in differ(GAME.layout(state), seen)] == [
        ("b2", "empty", "red")
    ]


def test_two_tiles_in_one_press_are_tried_in_both_orders():
    seen = see(START, 0.99, a1="red", b1="red", d4="green", d5="blue")
    full = likeliest(match(GAME, START, seen))
    assert {e.moves for e in full} == {
        ("red@a1 red@b1", "green@d4 blue@d5"),
        ("green@d4 blue@d5", "red@a1 red@b1"),
    }
    assert {e.movers for e in full} == {(0, 0), (0, 1)}


def test_the_less_clear_tile_may_have_been_the_first():
    green = {"empty": 0.15, "red": 0.01, "blue": 0.01, "green": 0.83}
    blue = {"empty": 0.15, "red": 0.01, "blue": 0.83, "green": 0.01}
    seen = see(START, 0.9999, a1="red", b1="red", d4=green, d5=blue)
    assert {e.moves for e in likeliest(match(GAME, START, seen))} == {
        ("red@a1 red@b1", "green@d4 blue@d5"),
        ("green@d4 blue@d5", "red@a1 red@b1"),
    }


def test_lines_with_an_equal_outcome_count_once():
    """Two doubles of one seat come to the same in either order and either pairing."""
    seen = see(START, a1="red", a2="red", b1="red", b2="red")
    (only,) = likeliest(match(GAME, START, seen))
    assert only.outcome.tiles == (4, 0)


def test_different_pairings_with_different_outcomes_are_both_kept():
    seen = see(START, a1="red", a2="red", b1="blue", b2="blue")
    full = likeliest(match(GAME, START, seen))
    assert {e.outcome.tiles for e in full} == {(4, 0), (1, 1)}
    assert not any(e.unexplained for e in full)


def test_three_tiles_in_one_press():
    seen = see(START, a1="red", a2="red", c1="blue", c2="blue", e4="green", e5="red")
    best = match(GAME, START, seen)[0]
    assert not best.unexplained
    assert len(best.moves) == 3
    assert match(GAME, START, seen, steps=2)[0].unexplained


def test_only_the_last_move_of_a_line_can_be_illegal():
    state = play(START, domino("red@b2 blue@b3"))
    seen = see(state, a1="red", a2="red", b3="green", b4="green")
    best = match(GAME, state, seen)[0]
    assert best.moves == ("red@a1 red@a2", "green@b3 green@b4")
    assert [v.code for v in best.verdict.violations] == ["occupied"]
    for e in match(GAME, state, seen):
        assert len(e.moves) == 1 or GAME.check(state, domino(e.moves[0])).legal


def test_legality_costs_but_does_not_exclude():
    state = play(START, domino("red@b2 blue@b3"))
    seen = see(state, b3="green", b4="green")
    best = match(GAME, state, seen)[0]
    gain = differ(GAME.layout(state), seen)
    assert len(gain) == 2
    legal_twin = match(GAME, START, see(START, b3="green", b4="green"))[0]
    assert legal_twin.score - best.score == pytest.approx(ILLEGAL_COST)


def test_a_table_as_before_the_last_move_is_a_take_back():
    before = play(START, domino("green@d4 red@d5"))
    state = play(before, domino("red@b2 blue@b3"))
    back = taken_back(GAME, before, state, see(before))
    assert back is not None
    assert back.takes_back
    assert not back.unexplained
    assert back.outcome == before
    assert taken_back(GAME, before, state, see(state)) is None


def test_a_take_back_with_another_change_leaves_that_open():
    state = play(START, domino("red@b2 blue@b3"))
    back = taken_back(GAME, START, state, see(START, e1="red"))
    assert back.unexplained == {"e1"}


def test_the_average_evens_out_one_bad_frame():
    good = see(START, b2="red")
    bad = see(START, b2={"red": 0.05, "blue": 0.9, "green": 0.03, "empty": 0.02})
    mean = average([good, good, bad])
    assert mean.frames == 3
    assert mean.best(Site("b2")) == "red"
    assert mean.beliefs[Site("b2")]["red"] < good.beliefs[Site("b2")]["red"]
    assert sum(mean.beliefs[Site("b2")].values()) == pytest.approx(1)


def test_frames_are_not_counted_as_independent_witnesses():
    one = see(START, b2={"red": 0.8, "blue": 0.2})
    assert average([one] * 10).beliefs[Site("b2")]["red"] == pytest.approx(0.8)


def test_a_site_read_in_too_few_frames_is_absent_from_the_average():
    seen = see(START)
    assert "b2" not in average([seen, without(seen, "b2"), without(seen, "b2")]).beliefs
    assert "b2" in average([seen, seen, without(seen, "b2")]).beliefs


def test_many_unreadable_sites_do_not_stall_the_search():
    flat = dict.fromkeys((EMPTY, *COLOURS), 0.25)
    laid = dict.fromkeys(PLAN.sites[:20], flat)
    began = time.perf_counter()
    found = match(GAME, START, see(START, **laid))
    assert time.perf_counter() - began < 1.0
    assert found == ()


@dataclass(frozen=True)
class Dealt(State):
    pending: tuple[Site, ...] = ()
    """Sites on which a half is still to be turned up."""


@dataclass(frozen=True)
class TurnUp:
    site: Site
    face: Face


class Lottery(Dominoes):
    """Dominoes after which chance turns up a half on some sites, one after the other."""

    info = GameInfo("lottery", 1, (Variant("basic", (2,)),), chance=("turn_up",))

    def candidates(self, state, near=None):
        if isinstance(state, Dealt) and state.pending:
            return [TurnUp(state.pending[0], f) for f in COLOURS]
        return super().candidates(state, near)

    def check(self, state, move):
        return Verdict() if isinstance(move, TurnUp) else super().check(state, move)

    def apply(self, state, move):
        if isinstance(move, Domino):
            after = super().apply(state, move).state
            return Applied(Dealt(after.lying, after.to_act, after.tiles, (Site("e5"),)))
        lying = state.lying | {(move.site, move.face)}
        return Applied(Dealt(lying, state.to_act, state.tiles, state.pending[1:]))

    def footprint(self, state, move):
        if isinstance(move, TurnUp):
            return {move.site: move.face}
        return super().footprint(state, move)

    def describe(self, move):
        return ("turn_up" if isinstance(move, TurnUp) else "lay"), {}

    def notate(self, move):
        if isinstance(move, TurnUp):
            return f"{move.face}@{move.site}"
        return super().notate(move)


def test_what_chance_turns_up_belongs_to_the_move_before_it():
    seen = see(START, b2="red", b3="blue", e5="green")
    best = match(Lottery(), Dealt(), seen)[0]
    assert best.moves == ("red@b2 blue@b3", "green@e5")
    alone = match(Lottery(), Dealt(), see(START, b2="red", b3="blue"))[0]
    assert alone.moves == ("red@b2 blue@b3",)
    assert best.score > alone.score


def test_a_whole_table_is_dealt_at_one_press():
    sites = [Site(f"a{n}") for n in range(1, 6)]
    faces = ["red", "green", "green", "blue", "red"]
    seen = see(START, **dict(zip(sites, faces, strict=True)))
    best = match(Lottery(), Dealt(pending=tuple(sites)), seen, steps=1)[0]
    assert best.moves == tuple(f"{f}@{s}" for f, s in zip(faces, sites, strict=True))
    assert not best.unexplained
