"""Book, refuse or ask: decisions on hand-made observations of a real game."""

from dataclasses import replace
from math import hypot
from random import Random

import pytest

from firmware.choose import CHOICES, MARGIN, Ask, Book, Refuse, choose
from firmware.turns import draw_session
from rules import games
from rules.events import GameStarted, MovePlayed
from rules.game import Seat
from rules.session import Session, replay
from rules.status import Difference
from rules.table import EMPTY, Face, Site
from vision.matching import ILLEGAL_COST
from vision.observation import Observation

GAME = games.find("ingenious")
FACES = (EMPTY, *(Face(f) for f in ("red", "green", "blue", "orange", "yellow", "purple")))
OPENING = ("red@c9 blue@c10", "green@d13 green@e12")


def play(*moves: str, variant: str = "basic", seats: int = 2) -> Session:
    names = tuple("ABCD"[:seats])
    events = [GameStarted("ingenious", GAME.info.version, variant, names)]
    events += [MovePlayed(m, "web") for m in moves]
    session = replay(enumerate(events, 1))
    assert session is not None
    return session


def see(session: Session, sure: float = 0.995, **laid) -> Observation:
    """The table as the game says, except on the sites named; None is a site that is covered."""
    beliefs = {}
    for site, face in GAME.layout(session.state).items():
        face = laid.get(site, face)
        if isinstance(face, str):
            rest = (1 - sure) / (len(FACES) - 1)
            beliefs[site] = {f: sure if f == face else rest for f in FACES}
        elif face is not None:
            beliefs[site] = {Face(f): p for f, p in face.items()}
    return Observation(beliefs)


def press(session: Session, seen: Observation, seat: int | None = None):
    to_act = GAME.standings(session.state).to_act
    return choose(session, seen, Seat(seat) if seat is not None else to_act)


def test_a_clear_legal_move_is_booked():
    session = play(*OPENING)
    assert press(session, see(session, h8="red", h9="blue")) == Book(("red@h8 blue@h9",))


def test_a_clear_illegal_move_is_refused_with_its_reason():
    session = play(*OPENING)
    decision = press(session, see(session, c10="yellow", c11="red"))
    assert isinstance(decision, Refuse)
    assert [(v.code, v.sites) for v in decision.verdict.violations] == [("occupied", ("c10",))]


def test_legality_alone_never_decides_between_two_readings():
    """The other half is covered and may lie beside the symbol, as it must at first, or not."""
    assert MARGIN > ILLEGAL_COST
    session = play()
    decision = press(session, see(session, d9="red", c9=None, e9=None))
    assert isinstance(decision, Ask)


def test_a_doubtful_colour_is_asked_with_the_likeliest_first():
    session = play(*OPENING)
    doubt = dict.fromkeys(FACES, 0.01) | {"orange": 0.55, "yellow": 0.40}
    decision = press(session, see(session, h8="red", h9=doubt))
    assert isinstance(decision, Ask)
    assert decision.code == "unclear"
    assert [c.moves for c in decision.choices[:2]] == [("red@h8 orange@h9",), ("red@h8 yellow@h9",)]
    assert decision.choices[0].likelihood == pytest.approx(0.55, abs=0.05)
    assert len(decision.choices) <= CHOICES


def test_a_covered_half_is_asked_not_guessed():
    session = play(*OPENING)
    decision = press(session, see(session, h8="red", h9=None))
    assert isinstance(decision, Ask)
    assert decision.code == "unclear"
    assert len(decision.choices) == CHOICES


def test_a_hidden_tile_is_unclear_rather_than_unchanged():
    session = play(*OPENING)
    decision = press(session, see(session, h8=None, h9=None))
    assert isinstance(decision, Ask)
    assert decision.code == "unclear"


def test_nothing_changed_offers_the_quiet_moves_of_the_seat_that_pressed():
    session = play(*OPENING)
    decision = press(session, see(session), seat=1)
    assert isinstance(decision, Ask)
    assert decision.code == "nothing_changed"
    assert [c.moves for c in decision.choices] == [("exchange",)]
    assert press(session, see(session), seat=0) == Ask("nothing_changed")


def test_a_doubtful_tile_is_unclear_rather_than_unchanged():
    session = play(*OPENING)
    doubt = dict.fromkeys(FACES, 0.02) | {"empty": 0.2, "red": 0.7}
    decision = press(session, see(session, h8=doubt, h9=doubt))
    assert isinstance(decision, Ask)
    assert decision.code == "unclear"
    assert decision.choices[0].moves == ("red@h8 red@h9",)


def test_a_doubtful_second_tile_keeps_the_clear_one_from_being_booked_alone():
    session = one_before_genius()
    doubt = dict.fromkeys(FACES, 0.01) | {"empty": 0.15, "green": 0.8}
    decision = press(session, see(session, d8="red", e8="blue", j8=doubt, j9=doubt))
    assert isinstance(decision, Ask)
    assert {len(c.moves) for c in decision.choices} >= {1, 2}


def test_a_doubtful_site_that_nobody_touched_does_not_stop_a_clear_move():
    session = play(*OPENING)
    doubt = dict.fromkeys(FACES, 0.01) | {"blue": 0.2, "purple": 0.75}
    assert press(session, see(session, h8="red", h9="blue", c10=doubt)) == Book(("red@h8 blue@h9",))


def test_one_half_alone_is_a_mismatch_that_says_where():
    session = play(*OPENING)
    decision = press(session, see(session, h8="red"))
    assert isinstance(decision, Ask)
    assert decision.code == "mismatch"
    assert decision.differences == (Difference(Site("h8"), Face("red"), EMPTY),)


def test_a_tile_and_a_missing_one_is_a_mismatch_about_the_missing_one():
    session = play(*OPENING)
    decision = press(session, see(session, h8="red", h9="blue", c9="empty"))
    assert isinstance(decision, Ask)
    assert decision.code == "mismatch"
    assert decision.differences == (Difference(Site("c9"), EMPTY, Face("red")),)
    assert decision.choices[0].moves == ("red@h8 blue@h9",)


def test_the_last_tile_removed_is_a_take_back():
    session = play(*OPENING)
    decision = press(session, see(session, d13="empty", e12="empty"))
    assert isinstance(decision, Ask)
    assert decision.code == "taken_back"
    assert [(c.moves, c.takes_back) for c in decision.choices] == [((), True)]


def test_the_last_tile_moved_elsewhere_offers_the_take_back():
    session = play(*OPENING)
    decision = press(session, see(session, d13="empty", e12="empty", d12="green", e11="green"))
    assert isinstance(decision, Ask)
    assert decision.code == "mismatch"
    assert any(c.takes_back for c in decision.choices)


def test_an_earlier_tile_removed_is_not_a_take_back():
    session = play(*OPENING)
    decision = press(session, see(session, c9="empty", c10="empty"))
    assert isinstance(decision, Ask)
    assert decision.code == "mismatch"
    assert {d.site for d in decision.differences} == {"c9", "c10"}
    assert not decision.choices


def test_a_seat_that_is_not_to_act_is_left_to_the_session():
    session = play(*OPENING)
    assert press(session, see(session, h8="red", h9="blue"), seat=1) == Book(("red@h8 blue@h9",))


def test_two_tiles_of_two_players_in_one_press_are_asked():
    """Red beside the printed red scores for whoever has laid it."""
    session = play(*OPENING)
    decision = press(session, see(session, d8="red", e8="blue", j8="green", j9="green"), seat=1)
    assert isinstance(decision, Ask)
    assert decision.code == "several"
    assert {c.moves for c in decision.choices} >= {
        ("red@d8 blue@e8", "green@j8 green@j9"),
        ("green@j8 green@j9", "red@d8 blue@e8"),
    }


def test_two_tiles_of_two_players_are_asked_even_if_the_order_does_not_matter():
    session = play(*OPENING)
    decision = press(session, see(session, h8="red", h9="blue", j8="green", j9="green"), seat=1)
    assert isinstance(decision, Ask)
    assert len(decision.choices[0].moves) == 2


def one_before_genius() -> Session:
    """Seat 0 is to act and needs one more red for a bonus tile."""
    session = play(*OPENING)
    (_, *rest), other = session.state.scores
    assert GAME.standings(session.state).to_act == 0
    state = replace(session.state, scores=((17, *rest), other))
    return Session(GAME, session.opening, state, seq=1)


def test_a_bonus_tile_in_the_same_press_is_booked_with_its_tile():
    """Only red first gives a second tile to the same seat, and that seat has pressed."""
    session = one_before_genius()
    seen = see(session, d8="red", e8="blue", j8="green", j9="green")
    assert press(session, seen) == Book(("red@d8 blue@e8", "green@j8 green@j9"))


def test_two_tiles_that_pair_up_in_two_ways_are_asked():
    session = one_before_genius()
    decision = press(session, see(session, d8="red", d9="blue", e7="green", e8="yellow"))
    assert isinstance(decision, Ask)
    assert decision.code == "several"
    pairings = {frozenset(frozenset(m.split()) for m in c.moves) for c in decision.choices}
    assert len(pairings) == 2


def test_a_legal_tile_and_an_illegal_one_in_one_press_are_refused():
    session = one_before_genius()
    decision = press(session, see(session, d8="red", e8="blue", c10="green", c11="green"))
    assert isinstance(decision, Refuse)
    assert len(decision.moves) == 2
    assert [v.code for v in decision.verdict.violations] == ["occupied"]


def test_a_double_whose_halves_score_differently_is_asked():
    """IN-T20: on a double board the order of the two halves changes the score."""
    first_round = ("red@c9 blue@c10", "green@d13 green@e12", "blue@i13 red@j12", "orange@n8 red@n7")
    session = play(*first_round, "red@f8 blue@f9", variant="teams", seats=4)
    scores = tuple((17, *side[1:]) for side in session.state.scores)
    session = Session(GAME, session.opening, replace(session.state, scores=scores), seq=1)
    decision = press(session, see(session, d8="red", e8="red"))
    assert isinstance(decision, Ask)
    assert decision.code == "several"
    assert {c.moves for c in decision.choices} == {("red@d8 red@e8",), ("red@e8 red@d8",)}


def bonus_press(rng: Random) -> tuple[Session, dict, object]:
    """A tile that earns a bonus tile and, touching it, that bonus tile: the session before them,
    what they lay on the table, the state they come to."""
    session = draw_session(GAME, rng)
    scores = tuple(tuple(min(17, v + rng.choice((0, 17))) for v in s) for s in session.state.scores)
    state = replace(session.state, scores=scores)
    seat = GAME.standings(state).to_act
    around = frozenset(rng.sample(GAME.plan.sites, 12))

    def legal(state, near):
        moves = [m for m in GAME.candidates(state, near) if GAME.footprint(state, m)]
        return (m for m in rng.sample(moves, len(moves)) if GAME.check(state, m).legal)

    for first in legal(state, around):
        between = GAME.apply(state, first).state
        if GAME.standings(between).to_act == seat:
            beside = frozenset(neighbours(GAME.footprint(state, first)))
            second = next(legal(between, beside), None)
            if second is not None:
                laid = {**GAME.footprint(state, first), **GAME.footprint(between, second)}
                after = GAME.apply(between, second).state
                return Session(GAME, session.opening, state, seq=1), laid, after
    return bonus_press(rng)


def neighbours(sites):
    places = GAME.plan.places
    for a in sites:
        for b, place in places.items():
            if hypot(place.x_mm - places[a].x_mm, place.y_mm - places[a].y_mm) < 28:
                yield b


def outcome(session: Session, moves: tuple[str, ...]):
    state = session.state
    for move in moves:
        state = GAME.apply(state, GAME.parse(move)).state
    return state


@pytest.mark.parametrize("seed", range(30))
def test_two_tiles_side_by_side_are_booked_right_or_asked_with_the_truth_among_the_answers(seed):
    session, laid, after = bonus_press(Random(seed))
    decision = press(session, see(session, **laid))
    if isinstance(decision, Book):
        assert outcome(session, decision.moves) == after
    else:
        assert isinstance(decision, Ask)
        assert decision.code == "several"
        legal = [c.moves for c in decision.choices if c.verdict.legal]
        assert after in [outcome(session, moves) for moves in legal]
