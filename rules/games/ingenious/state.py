"""Where a game of Ingenious stands."""

from dataclasses import dataclass

from rules.game import Seat, Setup

from .board import BARE, COLOURS
from .box import VALUES

Scores = tuple[tuple[int, ...], ...]
"""Side by side, the value of every colour."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What variant and number of players settle for the whole game."""

    sides: tuple[tuple[Seat, ...], ...]
    """Who plays together: every seat alone, or the teams."""
    seats: int
    radius: int
    """Fields in play, counted from the centre."""
    limit: int
    """Where a peg stops: the end of one score board."""
    top: int
    """The end of the last score board; twice the limit on a double one."""
    rack: int
    """Tiles a player holds; 0 where no rack is used."""

    @property
    def double(self) -> bool:
        return self.top > self.limit


def settle(setup: Setup) -> Terms:
    """The terms of the basic game, of teams (IN-10) and of solitaire (IN-11)."""
    if setup.variant == "teams":
        sides: tuple[tuple[Seat, ...], ...] = ((Seat(0), Seat(2)), (Seat(1), Seat(3)))
    else:
        sides = tuple((Seat(seat),) for seat in range(setup.seats))
    return Terms(
        sides=sides,
        seats=setup.seats,
        radius=VALUES.radius[setup.seats - 1],
        limit=VALUES.limit,
        top=VALUES.limit * (1 if setup.variant == "basic" else 2),
        rack=0 if setup.variant == "solitaire" else VALUES.rack,
    )


@dataclass(frozen=True, slots=True)
class State:
    """Board, pegs and unseen tiles. Racks are hidden, so refilling (IN-6) changes nothing here."""

    terms: Terms
    cells: bytes
    """The colour on every field, printed symbols included, or ``FREE``."""
    scores: Scores
    supply: bytes
    """Tiles of each kind not on the board: in the bag or on a rack."""
    turn: int = 0
    """Finished turns; IN-1: they go round clockwise from seat 0."""
    laid: int = 0
    """Tiles laid in the running turn, or else in the one just finished."""
    bonus: int = 0
    """Bonus tiles the acting player may still lay (IN-5)."""
    claimed: frozenset[int] = frozenset()
    """The printed symbols chosen in the first round (IN-3)."""
    exchanged: bool = False
    """The player of the turn just finished has changed the rack (IN-7)."""
    ended_by: str = ""

    @property
    def seat(self) -> Seat:
        """Whose turn it is."""
        return Seat(self.turn % self.terms.seats)

    @property
    def finished(self) -> Seat:
        """Who played the turn just finished."""
        return Seat((self.turn - 1) % self.terms.seats)

    @property
    def first_round(self) -> bool:
        return self.turn < self.terms.seats

    def side(self, seat: Seat) -> int:
        """The side a seat plays for: teams sit crosswise, so they alternate like single seats."""
        return seat % len(self.terms.sides)


def begin(setup: Setup) -> State:
    """Empty board, all pegs on 0, all tiles unseen."""
    terms = settle(setup)
    return State(terms, BARE, ((0,) * len(COLOURS),) * len(terms.sides), VALUES.bag)
