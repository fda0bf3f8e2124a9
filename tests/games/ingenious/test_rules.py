"""The rules IN-1 to IN-11, one after the other, as the rule book has them."""

import pytest

from rules.errors import IllegalMove
from rules.games.ingenious import board

RACK_OF_GREEN = "green-green green-orange green-yellow green-purple yellow-purple"


def test_the_printed_symbols_lie_where_the_reference_says(naive):
    printed = {board.SITES[n]: board.COLOURS[c] for n, c in board.PRINTED.items()}
    assert printed == {naive.site(field): colour for field, colour in naive.PRINTED.items()}
    assert printed["c8"] == "red"
    assert printed["h3"] == "purple"


def test_the_board_has_169_fields_and_462_places_for_a_tile():
    assert len(board.SITES) == 169
    assert len(board.PAIRS) == 462
    assert board.SITES[84] == "h8"


def test_in_1_turns_go_round_clockwise_from_seat_0(desk):
    table = desk(seats=3).later()
    acting = [table.standings.to_act]
    for q in (-4, -2, 0, 2):
        table.lay(((q, 1), "red"), ((q, 2), "blue"))
        acting.append(table.standings.to_act)
    assert acting == [0, 1, 2, 0, 1]


def test_in_2_a_tile_lies_on_free_fields(desk):
    table = desk().later().lay_far()
    assert table.refusals(((0, 0), "red"), ((0, 1), "red")) == ["occupied"]
    violation = table.check("green@h7 green@h8").violations[0]
    assert (violation.rule, violation.sites) == ("IN-2", ("h8",))
    assert violation.fields == {"site": "h8", "colour": "red"}
    assert table.refusals(((0, 0), "red"), ((1, 0), "red")) == ["occupied", "occupied"]


def test_in_2_a_printed_symbol_cannot_be_covered(desk):
    table = desk().later()
    assert table.refusals(((0, -5), "red"), ((1, -5), "red")) == ["printed_symbol"]
    assert table.check("red@c8 red@c9").violations[0].fields["colour"] == "red"


@pytest.mark.parametrize(("seats", "allowed"), [(2, 5), (3, 6), (4, 7)])
def test_in_2_only_the_fields_for_this_number_of_players_are_in_play(desk, seats, allowed):
    table = desk(seats=seats).later()
    for ring in (5, 6, 7):
        expected = [] if ring <= allowed else ["outside"] * 2
        assert table.refusals(((ring, -1), "red"), ((ring, -2), "red")) == expected


def test_in_2_solitaire_uses_the_white_fields_only(desk):
    assert desk("solitaire", 1).later().refusals(((6, -1), "red"), ((5, -1), "red")) == ["outside"]


def test_in_2_no_more_tiles_of_a_kind_than_the_box_holds(desk):
    table = desk().later()
    for q, r in ((-4, 1), (-4, 3), (-2, 1), (-2, 3), (0, 1), (0, 3)):
        assert table.refusals(((q, r), "red"), ((q + 1, r), "blue")) == []
        table.lay(((q, r), "red"), ((q + 1, r), "blue"))
    for halves in (("red", "blue"), ("blue", "red")):
        codes = table.refusals(((2, -2), halves[0]), ((3, -2), halves[1]))
        assert codes == ["supply"]
    assert table.refusals(((2, -2), "red"), ((3, -2), "red")) == []


def test_in_2_there_are_five_of_a_double(desk):
    table = desk().later()
    for q, r in ((-4, 1), (-4, 3), (-2, 1), (-2, 3), (0, 1)):
        table.lay(((q, r), "red"), ((q + 1, r), "red"))
    violation = table.check("red@h8 red@h9").violations[0]
    assert (violation.code, violation.sites) == ("supply", ("h8", "h9"))
    assert violation.fields == {"first": "red", "second": "red", "n": 5}


def test_everything_that_is_wrong_is_said_the_field_first(desk):
    table = desk().set(supply=bytes(21))
    codes = table.refusals(((0, -5), "red"), ((0, -6), "red"))
    assert codes == ["printed_symbol", "outside", "supply"]
    codes = table.refusals(((6, -3), "red"), ((7, -3), "red"))
    assert codes == ["outside", "outside", "first_round_symbol", "supply"]


def test_in_3_the_first_tile_touches_a_printed_symbol(desk):
    table = desk()
    violation = table.check("red@h8 blue@h9").violations[0]
    assert (violation.code, violation.rule) == ("first_round_symbol", "IN-3")
    assert violation.sites == ("h8", "h9")
    assert table.refusals(((0, -4), "red"), ((0, -3), "blue")) == []
    assert table.standings.notices == ("first_round",)


def test_in_3_every_player_chooses_another_symbol(desk):
    table = desk(seats=3)
    table.lay(((0, -4), "green"), ((0, -3), "blue"))
    violation = table.check("red@c9 blue@d9").violations[0]
    assert (violation.code, violation.sites) == ("symbol_claimed", ("c8",))
    assert violation.fields == {"site": "c8", "colour": "red"}
    table.lay(((4, -4), "red"), ((4, -3), "blue"))
    assert table.refusals(((5, -4), "red"), ((5, -3), "red")) == ["symbol_claimed"]
    table.lay(((4, 0), "red"), ((3, 0), "blue"))
    assert table.standings.notices == ()
    assert table.refusals(((1, -5), "red"), ((1, -4), "blue")) == []


def test_in_4_every_line_is_told_with_its_fields(desk):
    table = desk().later()
    table.put(desk.line("red", (-1, 0), (-1, 0), 2) | {(0, 1): "red"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    told = [(x.code, x.rule, x.points, x.track, x.sites) for x in table.lines]
    assert told == [
        ("line", "IN-4", 2, "red", ("h8", "h7", "h6")),
        ("line", "IN-4", 1, "red", ("h8", "i8")),
        ("nothing", "IN-4", 0, "blue", ("h9",)),
    ]
    assert table.lines[0].fields == {"colour": "red", "site": "h8", "end": "h6", "n": 2}


def test_in_4_neither_the_tile_itself_nor_what_lies_beyond_it_counts(desk):
    table = desk().later().put({(2, 0): "red", (-1, 0): "red"})
    assert table.lay(((0, 0), "red"), ((1, 0), "red")) == (1, 1)


def test_in_4_all_five_lines_count_and_the_sixth_does_not(desk, naive):
    table = desk().later().put({field: "red" for field in naive.beside((0, 0)) if field != (1, 0)})
    assert table.lay(((0, 0), "red"), ((1, 0), "blue")) == (5, 0)


def test_in_5_a_peg_stops_at_18_and_gives_a_bonus_tile(desk):
    table = desk().later().pegs(red=17).put(desk.line("red", (-1, 0), (-1, 0), 3))
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.peg("red") == 18
    assert table.codes() == ["line", "surplus", "genius", "nothing"]
    assert [line.points for line in table.lines] == [3, -2, 0, 0]
    assert table.standings.to_act == 0
    assert table.standings.notices == ("bonus",)
    table.lay(((0, 2), "green"), ((1, 2), "green"))
    assert table.standings.to_act == 1
    assert table.standings.notices == ()


def test_in_6_refilling_is_no_move_and_the_supply_is_what_does_not_lie_on_the_board(desk):
    table = desk().later()
    assert sum(table.state.supply) == 120
    table.lay_far()
    assert sum(table.state.supply) == 119
    assert table.check("red@h5 green@h6").unchecked == ("rack",)


def test_in_7_a_rack_without_the_lowest_colours_may_be_exchanged(desk):
    table = desk().later().lay_far().pegs(others=9, red=2)
    assert table.check("exchange").unchecked == ("lowest",)
    assert table.check(f"exchange {RACK_OF_GREEN}").legal
    rack = RACK_OF_GREEN.replace("yellow-purple", "red-purple")
    violation = table.check(f"exchange {rack}").violations[0]
    assert (violation.code, violation.rule) == ("exchange_lowest_on_rack", "IN-7")
    assert violation.fields == {"first": "red", "second": "purple", "colour": "red", "value": 2}


def test_in_7_the_exchange_belongs_to_the_turn_just_finished(desk):
    table = desk(seats=3).later()
    exchange = table.game.parse("exchange")
    assert table.refusals_of("exchange") == []
    table.lay_far()
    assert table.game.mover(table.state, exchange) == 0
    before = table.state
    table.play("exchange")
    assert table.standings.to_act == 1
    assert table.lines == ()
    assert table.state.supply == before.supply
    assert table.game.layout(table.state) == table.game.layout(before)
    table.lay(((0, 2), "green"), ((1, 2), "green"))
    assert table.game.mover(table.state, exchange) == 1
    assert table.check("exchange").legal


def test_in_7_nobody_exchanges_before_the_first_tile(desk):
    assert desk().refusals_of("exchange") == ["exchange_too_soon"]


def test_in_7_tiles_that_lie_on_the_board_cannot_be_shown(desk):
    table = desk().later()
    for q, r in ((-4, 1), (-4, 3), (-2, 1), (-2, 3)):
        table.lay(((q, r), "green"), ((q + 1, r), "green"))
    table.pegs(side=1, others=9, red=2)
    rack = "exchange green-green green-green green-blue green-blue green-blue"
    assert table.refusals_of(rack) == ["supply"]


def test_in_8_the_game_ends_when_no_tile_fits(desk):
    single = {(-3, 0), (3, 0)}
    table = desk().later().fill(but={(0, 0), (1, 0)} | single)
    assert not table.standings.over
    table.lay(((0, 0), "yellow"), ((1, 0), "purple"))
    assert table.standings.over
    assert table.standings.ended_by == "board_full"
    assert table.standings.to_act is None
    for move in ("red@h8 blue@h9", "exchange", "stop"):
        assert table.refusals_of(move) == ["game_over"]
        with pytest.raises(IllegalMove, match="game_over"):
            table.play(move)


def test_in_8_room_outside_the_fields_in_play_is_no_room(desk):
    table = desk(seats=3).later().fill(but={(0, 0), (1, 0), (7, -1), (7, -2)})
    table.lay(((0, 0), "yellow"), ((1, 0), "purple"))
    assert table.standings.ended_by == "board_full"


def test_in_9_all_six_colours_on_18_win_at_once(desk):
    table = desk().later().pegs(others=18, red=16)
    table.put(desk.line("red", (-1, 0), (-1, 0), 2) | {(2, 0): "blue"})
    table.lay(((0, 0), "red"), ((1, 0), "blue"))
    assert table.standings.ended_by == "all_colours"
    assert table.standings.winners == (0,)
    # the game is over after the first symbol: the second one is not scored any more
    assert table.codes() == ["line", "genius"]


def test_in_10_players_facing_each_other_share_a_double_board(desk):
    table = desk("teams", 4).later()
    assert [s.seats for s in table.standings.scores] == [(0, 2), (1, 3)]
    assert {t.limit for s in table.standings.scores for t in s.tracks} == {36}
    table.put({(-1, 0): "red", (-1, 2): "red", (-1, 4): "red"})
    for r in (0, 2, 4):
        table.lay(((0, r), "red"), ((1, r), "yellow"))
    assert (table.peg("red", 0), table.peg("red", 1)) == (2, 1)
    table.set(ended_by="board_full").pegs(1, others=1)
    assert table.standings.winners == (1, 3)


def test_in_10_the_end_of_the_second_board_gives_another_bonus_tile(desk):
    table = desk("teams", 4).later().pegs(green=35).put({(-1, 0): "green", (-2, 0): "green"})
    table.lay(((0, 0), "green"), ((1, 0), "red"))
    assert table.peg("green") == 36
    assert table.state.bonus == 1
    assert [line.points for line in table.lines if line.code == "surplus"] == [-1]


def test_in_11_solitaire_has_one_player_a_double_board_and_no_rack(desk):
    table = desk("solitaire", 1).later()
    assert table.refusals_of("exchange") == ["exchange_no_rack"]
    assert table.check("red@h8 blue@h9").unchecked == ("draw",)
    assert table.lay_far().standings.to_act == 0
    assert table.standings.scores[0].tracks[0].limit == 36
    assert table.set(ended_by="board_full").standings.winners == (0,)
