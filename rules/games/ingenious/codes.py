"""Every code this game can say, in the order of the rule book; each has a text."""

from enum import StrEnum

from rules.table import Site
from rules.verdict import Violation


class Rule(StrEnum):
    """Why a move is refused, with the id of the rule (text ``violation.<code>``)."""

    rule: str

    def __new__(cls, code: str, rule: str) -> "Rule":
        member = str.__new__(cls, code)
        member._value_ = code
        member.rule = rule
        return member

    OCCUPIED = "occupied", "IN-2"
    PRINTED_SYMBOL = "printed_symbol", "IN-2"
    OUTSIDE = "outside", "IN-2"
    SUPPLY = "supply", "IN-2"
    FIRST_ROUND_SYMBOL = "first_round_symbol", "IN-3"
    SYMBOL_CLAIMED = "symbol_claimed", "IN-3"
    NO_BONUS_PENDING = "no_bonus_pending", "IN-A12"
    EXCHANGE_TOO_SOON = "exchange_too_soon", "IN-7"
    EXCHANGE_BONUS_FIRST = "exchange_bonus_first", "IN-A6"
    EXCHANGE_TWICE = "exchange_twice", "IN-A17"
    EXCHANGE_BAG_SMALL = "exchange_bag_small", "IN-A7"
    EXCHANGE_RACK_COUNT = "exchange_rack_count", "IN-A6"
    EXCHANGE_LOWEST_ON_RACK = "exchange_lowest_on_rack", "IN-7"
    GAME_OVER = "game_over", "IN-8"
    EXCHANGE_NO_RACK = "exchange_no_rack", "IN-11"

    def broken(self, *sites: Site, **fields: str | int) -> Violation:
        return Violation(self.value, self.rule, sites, fields)


class Unchecked(StrEnum):
    """What the table cannot show (text ``unchecked.<code>``)."""

    RACK = "rack"
    DRAW = "draw"
    LOWEST = "lowest"


class Line(StrEnum):
    """Why a score changed (text ``line.<code>``)."""

    LINE = "line"
    NOTHING = "nothing"
    SURPLUS = "surplus"
    GENIUS = "genius"


class Notice(StrEnum):
    """What the acting player should know (text ``notice.<code>``)."""

    FIRST_ROUND = "first_round"
    BONUS = "bonus"


class Ended(StrEnum):
    """Why the game is over (text ``ended.<code>``)."""

    BOARD_FULL = "board_full"
    ALL_COLOURS = "all_colours"
