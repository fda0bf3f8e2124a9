"""The acceptance tests IN-T1 to IN-T20 of the rules reference, by their ids."""

import pytest

from rules.games.ingenious.box import KINDS, VALUES
from rules.games.ingenious.scoring import rank


def test_in_t01_the_bag_holds_120_tiles_of_21_kinds():
    bag = dict(zip(KINDS, VALUES.bag, strict=True))
    assert sum(bag.values()) == 120
    assert len(bag) == 21
    for colour in range(6):
        assert sum(n for kind, n in bag.items() if colour in kind) == 35
        assert sum(n * kind.count(colour) for kind, n in bag.items()) == 40


@pytest.mark.parametrize(("seats", "pairs"), [(2, 222), (3, 306), (4, 426)])
def test_in_t02_free_pairs_on_the_starting_board(desk, seats, pairs):
    assert len(desk(seats=seats).later().legal_pairs()) == pairs


@pytest.mark.parametrize(("seats", "pairs", "per_symbol"), [(2, 54, 9), (3, 102, 17), (4, 144, 24)])
def test_in_t03_first_round_pairs(desk, naive, seats, pairs, per_symbol):
    legal = desk(seats=seats).legal_pairs()
    assert len(legal) == pairs
    for symbol in naive.PRINTED:
        around = {naive.site(field) for field in naive.beside(symbol)}
        assert sum(not around.isdisjoint(pair) for pair in legal) == per_symbol


@pytest.mark.parametrize(("seats", "pairs"), [(2, 45), (3, 85), (4, 120)])
def test_in_t04_first_round_pairs_after_one_symbol_is_claimed(desk, seats, pairs):
    claimed = desk.game.plan.sites.index("c8")
    assert len(desk(seats=seats).set(turn=1, claimed=frozenset({claimed})).legal_pairs()) == pairs


OPENING = [
    (((1, -5), "red"), ((1, -4), "blue")),
    (((0, -4), "red"), ((-1, -4), "red")),
    (((2, -4), "blue"), ((2, -5), "red")),
    (((3, -5), "red"), ((3, -4), "yellow")),
]


def play_opening(desk, tiles):
    """Points of the first tiles, laid in the second round: two of them touch the same symbol."""
    table = desk().later()
    return [table.lay(*tile) for tile in OPENING[:tiles]]


def test_in_t05_red_one_blue_nothing(desk):
    assert play_opening(desk, 1) == [(1, 0)]


def test_in_t06_a_double_scores_each_half(desk):
    assert play_opening(desk, 2)[1] == (2, 1)


def test_in_t07_blue_one_red_two(desk):
    assert play_opening(desk, 3)[2] == (1, 2)


def test_in_t08_red_three_yellow_nothing(desk):
    assert play_opening(desk, 4)[3] == (3, 0)


BEGUN = {(-1, 0): "red", (2, 0): "blue", (3, 0): "blue"}


def test_in_t09_one_red_two_blue(desk):
    table = desk().put(BEGUN).later()
    assert table.lay(((0, 0), "red"), ((1, 0), "blue")) == (1, 2)


def test_in_t10_two_red_four_blue(desk):
    more = {(0, -1): "red", (1, 1): "blue", (2, -1): "blue"}
    table = desk().put(BEGUN | more).later()
    assert table.lay(((0, 0), "red"), ((1, 0), "blue")) == (2, 4)


def test_in_t11_twelve_green(desk):
    fields = [(-1, 0), (-2, 0), (-1, 1), (-2, 2), (0, 1), (0, 2)]
    fields += [(2, 0), (3, 0), (2, -1), (3, -2), (1, 1)]
    table = desk().put(dict.fromkeys(fields, "green")).later()
    assert table.lay(((0, 0), "green"), ((1, 0), "green")) == (6, 6)
    assert table.peg("green") == 12


def test_in_t12_a_line_stops_at_another_symbol(desk):
    table = desk().put({(-1, 0): "red", (-2, 0): "green", (-3, 0): "red"}).later()
    assert table.lay(((0, 0), "red"), ((1, 0), "blue")) == (1, 0)


def test_in_t13_a_line_stops_at_a_gap(desk):
    table = desk().put({(-2, 0): "red"}).later()
    assert table.lay(((0, 0), "red"), ((1, 0), "blue")) == (0, 0)


def test_in_t14_the_lowest_colour_wins_then_the_next(desk):
    a = (10, 11, 12, 13, 14, 15)
    b = (14, 9, 18, 12, 17, 16)
    c = (18, 13, 9, 18, 12, 18)
    assert rank((a, b, c)) == (1, 2, 3)
    table = desk(seats=3).set(scores=(c, a, b), ended_by="board_full")
    assert [s.rank for s in table.standings.scores] == [3, 1, 2]
    assert [s.total for s in table.standings.scores] == [9, 10, 9]
    assert table.standings.winners == (1,)


def test_in_t15_no_exchange_with_one_of_two_lowest_colours_on_the_rack(desk):
    table = desk().later().lay_far().pegs(side=0, others=5, red=3, blue=3)
    rack = "exchange green-blue green-green green-yellow purple-purple orange-yellow"
    assert table.refusals_of(rack) == ["exchange_lowest_on_rack"]
    violation = table.check(rack).violations[0]
    assert violation.fields["colour"] == "blue"
    assert violation.fields["value"] == 3
    without = rack.replace("green-blue", "green-orange")
    assert table.check(without).legal
    assert table.check(without).unchecked == ()


def test_in_t16_two_pegs_reach_the_second_board(desk):
    table = desk("teams", 4).later().pegs(green=16, yellow=14)
    table.put(desk.line("green", (-1, 0), (-1, 0), 2) | desk.line("yellow", (2, 0), (1, 0), 4))
    assert table.lay(((0, 0), "green"), ((1, 0), "yellow")) == (2, 4)
    assert (table.peg("green"), table.peg("yellow")) == (18, 18)
    assert table.state.bonus == 2
    assert table.codes().count("genius") == 2
    assert "surplus" not in table.codes()


def test_in_t17_points_beyond_the_first_board_are_lost(desk):
    table = desk("teams", 4).later().pegs(green=15)
    table.put(desk.line("green", (-1, 0), (-1, 0), 5) | desk.line("green", (0, 1), (0, 1), 4))
    assert table.lay(((0, 0), "green"), ((1, 0), "red")) == (9, 0)
    assert table.peg("green") == 18
    assert [line.points for line in table.lines if line.code == "surplus"] == [-6]
    assert table.state.bonus == 1


def test_in_t18_no_bonus_tile_in_solitaire(desk):
    table = desk("solitaire", 1).later().pegs(green=16)
    table.put(desk.line("green", (-1, 0), (-1, 0), 2))
    table.lay(((0, 0), "green"), ((1, 0), "red"))
    assert table.peg("green") == 18
    assert table.state.bonus == 0
    assert "genius" not in table.codes()
    assert table.standings.notices == ()


def test_in_t19_from_the_second_round_a_tile_may_touch_nothing(desk):
    table = desk()
    assert table.refusals(((0, 0), "red"), ((1, 0), "blue")) == ["first_round_symbol"]
    assert table.later().refusals(((0, 0), "red"), ((1, 0), "blue")) == []


@pytest.mark.parametrize(("order", "total"), [((4, 5), 23), ((5, 4), 22)])
def test_in_t20_the_order_of_a_double_at_the_change_of_boards(desk, order, total):
    table = desk("teams", 4).later().pegs(green=15)
    four, five = ((0, 0), "green"), ((1, 0), "green")
    table.put(desk.line("green", (-1, 0), (-1, 0), 4) | desk.line("green", (2, 0), (1, 0), 3))
    table.put(desk.line("green", (1, 1), (0, 1), 2))
    halves = (four, five) if order == (4, 5) else (five, four)
    assert table.lay(*halves) == order
    assert table.peg("green") == total
    assert table.state.bonus == 1


def test_every_acceptance_test_has_its_id():
    numbers = [int(name[9:11]) for name in globals() if name.startswith("test_in_t")]
    assert numbers == list(range(1, 21))
