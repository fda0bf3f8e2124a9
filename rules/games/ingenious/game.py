"""Ingenious by the rule book: the contract of the game, check by check."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rules.errors import IllegalMove
from rules.game import Applied, GameInfo, Score, Seat, Setup, Standings, Track, Variant
from rules.table import EMPTY, Layout, Plan, Site
from rules.verdict import LEGAL, Verdict, Violation

from . import moves
from .board import COLOURS, FREE, PAIRS_WITHIN, PLAN, PRINTED, RING, SITES, SYMBOLS_BESIDE
from .box import KIND, KINDS, VALUES
from .codes import Ended, Notice, Rule, Unchecked
from .moves import Exchange, Half, Move, Place, Stop
from .scoring import is_complete, rank, score
from .state import State, begin

_PLACED = Verdict(unchecked=(Unchecked.RACK.value,))
_DRAWN = Verdict(unchecked=(Unchecked.DRAW.value,))
_RACK_UNSEEN = Verdict(unchecked=(Unchecked.LOWEST.value,))
_FACES = (*COLOURS, EMPTY)


class Ingenious:
    """States and moves are values; see ``rules.game.Game`` for the contract."""

    info = GameInfo(
        name="ingenious",
        version=1,
        variants=(
            Variant("basic", (2, 3, 4)),
            Variant("teams", (4,)),
            Variant("solitaire", (1,)),
        ),
        lowest_counts=True,
    )
    plan: Plan = PLAN

    def start(self, setup: Setup) -> State:
        return begin(setup)

    def candidates(self, state: State, near: frozenset[Site] | None = None) -> Iterator[Move]:
        return moves.candidates(state, near)

    def check(self, state: State, move: Move) -> Verdict:
        if state.ended_by:
            return Verdict((Rule.GAME_OVER.broken(),))
        match move:
            case Place():
                violations = _check_place(state, move)
                legal = _PLACED if state.terms.rack else _DRAWN
            case Exchange():
                violations = _check_exchange(state, move)
                legal = _RACK_UNSEEN if move.shown is None else LEGAL
            case Stop():
                violations = [] if state.bonus else [Rule.NO_BONUS_PENDING.broken()]
                legal = LEGAL
        return Verdict(tuple(violations)) if violations else legal

    def apply(self, state: State, move: Move) -> Applied:
        verdict = self.check(state, move)
        if not verdict.legal:
            codes = ", ".join(violation.code for violation in verdict.violations)
            raise IllegalMove(f"{moves.notate(move)}: {codes}")
        match move:
            case Place():
                return _place(state, move)
            case Exchange():
                return Applied(replace(state, exchanged=True))
            case Stop():
                return Applied(replace(state, turn=state.turn + 1, bonus=0))

    def mover(self, state: State, move: Move) -> Seat:
        """The seat to act; an exchange belongs to the player who has just finished the turn."""
        if isinstance(move, Exchange) and state.turn and not state.bonus:
            return state.finished
        return state.seat

    def layout(self, state: State) -> Layout:
        laid = {site: _FACES[colour] for site, colour in zip(SITES, state.cells, strict=True)}
        laid.update((SITES[printed], EMPTY) for printed in PRINTED)
        return laid

    def footprint(self, state: State, move: Move) -> Layout:
        if not isinstance(move, Place):
            return {}
        return {SITES[site]: COLOURS[colour] for site, colour in (move.first, move.second)}

    def standings(self, state: State) -> Standings:
        """IN-8: a result is the lowest colour; ties are broken by the next lowest ones."""
        terms = state.terms
        ranks = rank(state.scores)
        scores = tuple(
            Score(
                seats=seats,
                total=min(values),
                tracks=tuple(
                    Track(colour, value, terms.top)
                    for colour, value in zip(COLOURS, values, strict=True)
                ),
                rank=place,
            )
            for seats, values, place in zip(terms.sides, state.scores, ranks, strict=True)
        )
        if state.ended_by:
            winners = sorted(seat for s in scores if s.rank == 1 for seat in s.seats)
            return Standings(scores, None, tuple(winners), state.ended_by)
        notices = []
        if state.first_round:
            notices.append(Notice.FIRST_ROUND.value)
        if state.bonus:
            notices.append(Notice.BONUS.value)
        return Standings(scores, state.seat, notices=tuple(notices))

    def parse(self, text: str) -> Move:
        return moves.parse(text)

    def notate(self, move: Move) -> str:
        return moves.notate(move)

    def describe(self, move: Move) -> tuple[str, Mapping[str, str | int]]:
        match move:
            case Place(first, second):
                return "moves.place", {
                    "first": COLOURS[first.colour],
                    "first_site": SITES[first.site],
                    "second": COLOURS[second.colour],
                    "second_site": SITES[second.site],
                }
            case Exchange(None):
                return "moves.exchange", {}
            case Exchange(shown):
                return "moves.exchange_shown", {"n": len(shown or ())}
            case Stop():
                return "moves.stop", {}


def _check_place(state: State, move: Place) -> list[Violation]:
    """IN-2, IN-3 and the tiles of the box: all that is wrong, the most useful reason first."""
    halves = (move.first, move.second)
    violations: list[Violation] = []
    for site, _ in halves:
        if site in PRINTED:
            symbol = COLOURS[PRINTED[site]]
            violations.append(
                Rule.PRINTED_SYMBOL.broken(SITES[site], site=SITES[site], colour=symbol)
            )
        elif state.cells[site] != FREE:
            lying = COLOURS[state.cells[site]]
            violations.append(Rule.OCCUPIED.broken(SITES[site], site=SITES[site], colour=lying))
        elif RING[site] > state.terms.radius:
            violations.append(
                Rule.OUTSIDE.broken(SITES[site], site=SITES[site], seats=state.terms.seats)
            )
    if state.first_round:
        violations += _check_first_round(state, halves)
    kind = KIND[move.first.colour, move.second.colour]
    if not state.supply[kind]:
        violations.append(_no_tile_left(kind, *(SITES[site] for site, _ in halves)))
    return violations


def _check_first_round(state: State, halves: tuple[Half, Half]) -> list[Violation]:
    """IN-3: beside a printed symbol that no other player has chosen yet."""
    beside = [symbol for site, _ in halves for symbol in SYMBOLS_BESIDE[site]]
    if not beside:
        return [Rule.FIRST_ROUND_SYMBOL.broken(*(SITES[site] for site, _ in halves))]
    if state.claimed.isdisjoint(beside):
        return []
    return [
        Rule.SYMBOL_CLAIMED.broken(
            SITES[symbol], site=SITES[symbol], colour=COLOURS[PRINTED[symbol]]
        )
        for symbol in state.claimed.intersection(beside)
    ]


def _check_exchange(state: State, move: Exchange) -> list[Violation]:
    """IN-7: once (IN-A17), after the turn with its bonus tiles and before refilling (IN-A6)."""
    terms = state.terms
    if not terms.rack:
        return [Rule.EXCHANGE_NO_RACK.broken()]
    if state.bonus:
        return [Rule.EXCHANGE_BONUS_FIRST.broken(n=state.bonus)]
    if not state.turn:
        return [Rule.EXCHANGE_TOO_SOON.broken()]
    if state.exchanged:
        return [Rule.EXCHANGE_TWICE.broken()]
    violations: list[Violation] = []
    bag = max(0, sum(state.supply) - terms.rack * terms.seats + state.laid)
    if bag < terms.rack:
        violations.append(Rule.EXCHANGE_BAG_SMALL.broken(n=bag, needed=terms.rack))
    if move.shown is not None:
        violations += _check_rack(state, move.shown)
    return violations


def _check_rack(state: State, shown: tuple[int, ...]) -> list[Violation]:
    """IN-7: a shown rack holds none of the player's lowest colours."""
    violations: list[Violation] = []
    expected = state.terms.rack - state.laid
    if len(shown) != expected:
        violations.append(Rule.EXCHANGE_RACK_COUNT.broken(n=len(shown), expected=expected))
    values = state.scores[state.side(state.finished)]
    lowest = {colour for colour, value in enumerate(values) if value == min(values)}
    for kind in sorted(set(shown)):
        if shown.count(kind) > state.supply[kind]:
            violations.append(_no_tile_left(kind))
        for colour in sorted(lowest.intersection(KINDS[kind])):
            violations.append(
                Rule.EXCHANGE_LOWEST_ON_RACK.broken(
                    **_tile_fields(kind), colour=COLOURS[colour], value=values[colour]
                )
            )
    return violations


def _no_tile_left(kind: int, *sites: Site) -> Violation:
    return Rule.SUPPLY.broken(*sites, **_tile_fields(kind), n=VALUES.bag[kind])


def _tile_fields(kind: int) -> dict[str, str | int]:
    first, second = KINDS[kind]
    return {"first": COLOURS[first], "second": COLOURS[second]}


def _place(state: State, move: Place) -> Applied:
    """IN-2 to IN-5: lay a tile, score it, and go on with a bonus tile or with the next player."""
    terms, seat = state.terms, state.seat
    side = state.side(seat)
    laid = state.laid + 1 if state.bonus else 1
    pending = state.bonus - 1 if state.bonus else 0
    # IN-A18: a bonus with an empty rack lapses; without racks (IN-11) there is none at all.
    most_bonus = max(0, terms.rack - laid - pending)
    scored = score(
        state.cells, (move.first, move.second), seat, state.scores[side], terms, most_bonus
    )
    cells = bytearray(state.cells)
    supply = bytearray(state.supply)
    for site, colour in (move.first, move.second):
        cells[site] = colour
    supply[KIND[move.first.colour, move.second.colour]] -= 1
    bonus = pending + scored.bonus
    claimed = state.claimed
    if state.first_round:
        claimed = claimed.union(SYMBOLS_BESIDE[move.first.site], SYMBOLS_BESIDE[move.second.site])
    ended_by = _end(bytes(cells), scored.values, state)
    after = State(
        terms=terms,
        cells=bytes(cells),
        scores=(*state.scores[:side], scored.values, *state.scores[side + 1 :]),
        supply=bytes(supply),
        turn=state.turn if bonus and not ended_by else state.turn + 1,
        laid=laid,
        bonus=0 if ended_by else bonus,
        claimed=claimed,
        ended_by=ended_by,
    )
    return Applied(after, scored.lines)


def _end(cells: bytes, values: tuple[int, ...], state: State) -> str:
    """IN-9 before IN-8; bonus tiles that find no room are gone (IN-A11)."""
    if is_complete(values, state.terms):
        return Ended.ALL_COLOURS.value
    for a, b in PAIRS_WITHIN[state.terms.radius]:
        if cells[a] == FREE == cells[b]:
            return ""
    return Ended.BOARD_FULL.value


GAME = Ingenious()
