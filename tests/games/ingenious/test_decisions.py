"""The decisions IN-A1 to IN-A18, where the rule book is silent."""

import pytest

from rules.games.ingenious import board, box

RACK_OF_GREEN = "green-green green-orange green-yellow green-purple yellow-purple"


@pytest.mark.parametrize(("value", "surplus"), [(17, []), (18, [-1])])
def test_in_a1_reaching_18_exactly_is_enough_and_a2_staying_there_is_not(desk, value, surplus):
    table = desk().later().pegs(red=value).put({(-1, 0): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.peg("red") == 18
    assert table.state.bonus == (value == 17)
    assert [line.points for line in table.lines if line.code == "surplus"] == surplus


def test_in_a3_two_colours_give_two_bonus_tiles(desk):
    table = desk().later().pegs(red=17, blue=17).put({(-1, 0): "red", (2, 0): "blue"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.state.bonus == 2
    table.lay(((0, 2), "green"), ((1, 2), "green"))
    assert table.standings.to_act == 0
    table.lay(((0, 4), "green"), ((1, 4), "yellow"))
    assert table.standings.to_act == 1


def test_in_a3_a_bonus_tile_may_win_another_one(desk):
    table = desk().later().pegs(red=17, green=17).put({(-1, 0): "red", (-1, 2): "green"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    table.lay(((0, 2), "green"), ((1, 2), "blue"))
    assert (table.state.bonus, table.standings.to_act) == (1, 0)


def double_orders(table, site, other):
    near = frozenset({site})
    found = [table.game.notate(m) for m in table.game.candidates(table.state, near)]
    return [m for m in found if {h.partition("@")[2] for h in m.split()} == {site, other}]


def test_in_a4_the_other_order_is_a_move_only_where_it_changes_the_score(desk):
    table = desk("teams", 4).later().pegs(green=10)
    table.put(desk.line("green", (-1, 0), (-1, 0), 4) | desk.line("green", (2, 0), (1, 0), 3))
    both = double_orders(table, "h8", "h9")
    assert len(both) == 36  # 17 either way
    assert "green@h9 green@h8" not in both
    table.pegs(green=15)
    both = double_orders(table, "h8", "h9")
    assert len(both) == 37  # 4 first: 18 and 21; 3 first: 18 and 22
    assert {"green@h8 green@h9", "green@h9 green@h8"} < set(both)
    table.put({(0, 0): "green"})
    assert len(double_orders(table, "h8", "h9")) == 36  # there it cannot be laid anyway
    single = desk().later().pegs(green=15)
    single.put(desk.line("green", (-1, 0), (-1, 0), 4) | desk.line("green", (2, 0), (1, 0), 2))
    assert len(double_orders(single, "h8", "h9")) == 36


def test_in_a4_both_orders_of_different_colours_may_be_written(desk):
    there = desk().later().put({(-1, 0): "red"})
    back = desk().later().put({(-1, 0): "red"})
    there.play("red@h8 blue@h9")
    back.play("blue@h9 red@h8")
    assert there.state == back.state
    assert there.lines == back.lines[::-1]


def test_in_a5_the_surplus_at_the_change_of_boards_is_lost(desk):
    table = desk("solitaire", 1).later().pegs(green=17).put({(-1, 0): "green", (0, 1): "green"})
    table.lay(((0, 0), "green"), ((1, 0), "red"))
    surplus = next(line for line in table.lines if line.code == "surplus")
    assert (surplus.rule, surplus.points) == ("IN-A5", -1)
    assert table.peg("green") == 18
    table.put({(-1, 3): "green"}).lay(((0, 3), "green"), ((1, 3), "red"))
    assert table.peg("green") == 19


def test_in_a6_the_rack_is_shown_before_refilling(desk):
    table = desk().later().lay_far().pegs(others=9, red=2)
    six = f"exchange {RACK_OF_GREEN} green-blue"
    violation = table.check(six).violations[0]
    assert (violation.code, violation.fields) == (
        "exchange_rack_count",
        {"n": 6, "expected": 5},
    )


def test_in_a6_bonus_tiles_come_before_the_exchange(desk):
    table = desk().later().pegs(others=3, red=17).put({(-1, 0): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.refusals_of("exchange") == ["exchange_bonus_first"]
    assert table.game.mover(table.state, table.game.parse("exchange")) == 0
    table.lay(((0, 2), "green"), ((1, 2), "blue"))
    assert table.game.mover(table.state, table.game.parse("exchange")) == 0
    table.pegs(others=9, red=2)
    four = RACK_OF_GREEN.split()[:4]
    assert table.check(f"exchange {' '.join(four)}").legal
    assert table.refusals_of(f"exchange {RACK_OF_GREEN}") == ["exchange_rack_count"]


@pytest.mark.parametrize(("unseen", "bag"), [(17, 6), (16, 5)])
def test_in_a7_no_exchange_from_a_bag_that_is_too_small(desk, unseen, bag):
    # two racks: six tiles, and five after laying one
    table = desk().later().lay_far()
    table.set(supply=bytes([unseen] + [0] * 20))
    expected = [] if bag >= 6 else ["exchange_bag_small"]
    assert table.refusals_of("exchange") == expected


def test_in_a7_cannot_happen_with_the_tiles_of_the_box():
    assert sum(box.VALUES.bag) - 81 - 4 * box.VALUES.rack >= box.VALUES.rack


def test_in_a8_printed_symbols_count(desk):
    assert desk().lay(((0, -4), "red"), ((0, -3), "blue")) == (1, 0)


def test_in_a9_no_tile_touches_two_printed_symbols():
    for a, b in board.PAIRS:
        assert len({*board.SYMBOLS_BESIDE[a], *board.SYMBOLS_BESIDE[b]} - {a, b}) <= 1


def test_in_a10_no_bonus_can_be_won_in_the_first_round():
    # Each half of a double counts at most one printed symbol and the three tiles of the others.
    assert box.VALUES.limit > 2 * (1 + 2 * 3)


def test_in_a11_a_full_board_ends_the_game_with_bonus_tiles_pending(desk):
    table = desk().later().fill(but={(0, 0), (1, 0)}).pegs(others=4, yellow=17)
    table.put({(-1, 0): "yellow"}).lay(((0, 0), "yellow"), ((1, 0), "purple"))
    assert "genius" in table.codes()
    assert table.standings.ended_by == "board_full"
    assert table.state.bonus == 0


def test_in_a12_a_tile_must_be_laid_but_a_bonus_tile_may_be_declined(desk):
    table = desk().later()
    assert table.refusals_of("stop") == ["no_bonus_pending"]
    table.pegs(red=17, blue=17).put({(-1, 0): "red", (2, 0): "blue"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    table.play("stop")
    assert (table.state.bonus, table.standings.to_act) == (0, 1)
    assert table.game.mover(table.state, table.game.parse("exchange")) == 0
    assert table.refusals_of("stop") == ["no_bonus_pending"]


def test_in_a13_a_complete_tie_is_shared(desk):
    table = desk(seats=3).set(ended_by="board_full")
    table.pegs(0, others=5, red=3).pegs(1, others=5, blue=3).pegs(2, others=5, red=2)
    assert [s.rank for s in table.standings.scores] == [1, 1, 3]
    assert table.standings.winners == (0, 1)


@pytest.mark.parametrize(("others", "over"), [(18, False), (36, True)])
def test_in_a14_a_team_needs_36_in_all_colours(desk, others, over):
    table = desk("teams", 4).later().pegs(others=others, red=others - 1).put({(-1, 0): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.standings.over == over
    assert table.standings.winners == ((0, 2) if over else None)


def test_in_a15_the_first_tile_of_solitaire_touches_a_symbol(desk):
    table = desk("solitaire", 1)
    assert table.refusals(((0, 0), "red"), ((1, 0), "blue")) == ["first_round_symbol"]
    table.lay(((0, -4), "red"), ((0, -3), "blue"))
    assert table.refusals(((1, -5), "red"), ((1, -4), "blue")) == []


def test_in_a16_the_symbols_stay_for_every_number_of_players(desk):
    for seats in (2, 3, 4):
        assert desk(seats=seats).state.cells == board.BARE


def test_in_a17_one_exchange_in_a_turn(desk):
    table = desk().later().lay_far().play("exchange")
    assert table.refusals_of("exchange") == ["exchange_twice"]
    table.lay(((0, 2), "green"), ((1, 2), "green"))
    assert table.refusals_of("exchange") == []


def test_in_a18_teams_read_the_lowest_colour_on_the_common_board(desk):
    # Seat 2 has finished; blue stands on 0 of the second board, which is more than red 17.
    table = desk("teams", 4).set(turn=7, laid=1).pegs(0, others=20, red=17, blue=18)
    rack = RACK_OF_GREEN.replace("green-yellow", "green-blue")
    assert table.check(f"exchange {rack}").legal
    rack = RACK_OF_GREEN.replace("green-yellow", "red-green")
    assert table.refusals_of(f"exchange {rack}") == ["exchange_lowest_on_rack"]


def test_in_a18_a_bonus_with_an_empty_rack_lapses(desk):
    table = desk("teams", 4).later().set(laid=5, bonus=1).pegs(red=17).put({(-1, 0): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert "genius" not in table.codes()
    assert (table.state.bonus, table.standings.to_act) == (0, 1)
    table = desk("teams", 4).later().set(laid=4, bonus=1).pegs(red=17, blue=17)
    table.put({(-1, 0): "red", (2, 0): "blue"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.codes().count("genius") == table.state.bonus == 1
    # One bonus tile was pending already, and with it two tiles are left on the rack.
    table = desk("teams", 4).later().set(laid=3, bonus=2).pegs(red=17, blue=17)
    table.put({(-1, 0): "red", (2, 0): "blue"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert (table.codes().count("genius"), table.state.bonus) == (1, 2)


def test_in_a18_solitaire_ends_at_36_in_all_colours(desk):
    table = desk("solitaire", 1).later().pegs(others=36, red=35).put({(-1, 0): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.standings.ended_by == "all_colours"
