"""Noughts and crosses: the smallest whole game, one folder, to try the seams with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rules.errors import IllegalMove, InvalidNotation
from rules.game import (
    Applied,
    GameInfo,
    Score,
    ScoreLine,
    Seat,
    Setup,
    Standings,
    Track,
    Variant,
)
from rules.table import EMPTY, Face, Layout, Plan, Site
from rules.verdict import LEGAL, Verdict, Violation

PLAN = Plan.load(Path(__file__).parent)
CELLS = PLAN.sites
MARKS = (Face("cross"), Face("nought"))
LINES = tuple(
    tuple(Site(c) for c in line.split())
    for line in (
        "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b1 c1",
        "a2 b2 c2", "a3 b3 c3", "a1 b2 c3", "a3 b2 c1",
    )
)  # fmt: skip


class Rule(StrEnum):
    CELL_TAKEN = "cell_taken"
    NOT_YOUR_MARK = "not_your_mark"
    GAME_OVER = "game_over"


@dataclass(frozen=True, slots=True)
class Place:
    mark: Face
    cell: Site


@dataclass(frozen=True, slots=True)
class State:
    cells: tuple[Face, ...] = (EMPTY,) * 9

    def at(self, cell: Site) -> Face:
        return self.cells[CELLS.index(cell)]

    @property
    def turn(self) -> Seat:
        return Seat(sum(c != EMPTY for c in self.cells) % 2)

    def rows(self, seat: Seat) -> list[tuple[Site, ...]]:
        return [line for line in LINES if all(self.at(c) == MARKS[seat] for c in line)]


class Noughts:
    info = GameInfo("noughts", 1, (Variant("basic", (2,)),))
    plan = PLAN

    def start(self, setup: Setup) -> State:
        return State()

    def candidates(self, state: State, near: frozenset[Site] | None = None) -> Iterator[Place]:
        return (Place(m, c) for c in CELLS for m in MARKS if near is None or c in near)

    def check(self, state: State, move: Place) -> Verdict:
        broken = []
        if self.standings(state).over:
            broken.append(Violation(Rule.GAME_OVER, "NO-3"))
        if state.at(move.cell) != EMPTY:
            broken.append(Violation(Rule.CELL_TAKEN, "NO-1", (move.cell,)))
        if move.mark != MARKS[state.turn]:
            broken.append(Violation(Rule.NOT_YOUR_MARK, "NO-1", (move.cell,)))
        return Verdict(tuple(broken)) if broken else LEGAL

    def apply(self, state: State, move: Place) -> Applied:
        if not self.check(state, move).legal:
            raise IllegalMove(self.notate(move))
        i = CELLS.index(move.cell)
        after = replace(state, cells=(*state.cells[:i], move.mark, *state.cells[i + 1 :]))
        seat = state.turn
        lines = [ScoreLine(seat, "row", "NO-2", 1, "rows", row) for row in after.rows(seat)]
        return Applied(after, tuple(lines))

    def mover(self, state: State, move: Place) -> Seat:
        return state.turn

    def layout(self, state: State) -> Layout:
        return dict(zip(CELLS, state.cells, strict=True))

    def footprint(self, state: State, move: Place) -> Layout:
        return {move.cell: move.mark}

    def standings(self, state: State) -> Standings:
        rows = [len(state.rows(Seat(s))) for s in (0, 1)]
        scores = tuple(
            Score((Seat(s),), rows[s], (Track("rows", rows[s]),), 1 + (rows[s] < max(rows)))
            for s in (0, 1)
        )
        if any(rows):
            return Standings(scores, None, (Seat(rows.index(max(rows))),), "row")
        if EMPTY not in state.cells:
            return Standings(scores, None, (), "full")
        return Standings(scores, state.turn)

    def parse(self, text: str) -> Place:
        mark, _, cell = text.partition("@")
        if mark not in MARKS or cell not in CELLS:
            raise InvalidNotation(f"expected like 'cross@b2', got {text!r}")
        return Place(Face(mark), Site(cell))

    def notate(self, move: Place) -> str:
        return f"{move.mark}@{move.cell}"

    def describe(self, move: Place) -> tuple[str, Mapping[str, str | int]]:
        return "moves.place", {"mark": move.mark, "site": move.cell}
