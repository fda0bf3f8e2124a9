"""Ingenious once more, slow and plain, to compare with: shares no code with the product.

Fields are axial pairs (q, r), colours are words, and everything is worked out from scratch.
"""

from collections import Counter
from itertools import combinations_with_replacement

COLOURS = ("red", "green", "blue", "orange", "yellow", "purple")
PRINTED = {
    (0, -5): "red",
    (5, -5): "green",
    (5, 0): "blue",
    (0, 5): "orange",
    (-5, 5): "yellow",
    (-5, 0): "purple",
}
STEPS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
RADIUS = {1: 5, 2: 5, 3: 6, 4: 7}
BAG = Counter(
    {(a, b): 5 if a == b else 6 for a, b in combinations_with_replacement(sorted(COLOURS), 2)}
)


def site(field):
    """The name of a field: a letter for the row from the top, a number for the diagonal."""
    q, r = field
    return "abcdefghijklmno"[r + 7] + str(q + 8)


def field_of(name):
    return int(name[1:]) - 8, "abcdefghijklmno".index(name[0]) - 7


def written(field, colour, other, other_colour):
    return f"{colour}@{site(field)} {other_colour}@{site(other)}"


def beside(field):
    return [(field[0] + dq, field[1] + dr) for dq, dr in STEPS]


class Naive:
    """One game; it changes with every move."""

    def __init__(self, variant, players):
        self.variant = variant
        self.players = players
        radius = RADIUS[players]
        fields = [(q, r) for q in range(-7, 8) for r in range(-7, 8)]
        self.active = {f for f in fields if max(abs(f[0]), abs(f[1]), abs(f[0] + f[1])) <= radius}
        self.symbols = dict(PRINTED)
        self.unseen = Counter(BAG)
        owners = {"teams": (0, 1, 0, 1)}.get(variant, tuple(range(players)))
        self.owner = owners
        self.values = [dict.fromkeys(COLOURS, 0) for _ in set(owners)]
        self.double = variant in ("teams", "solitaire")
        self.chosen = []
        self.turns = 0
        self.bonus = 0
        self.laid_this_turn = 0
        self.exchanged = False
        self.complete = False

    def copy(self):
        twin = object.__new__(Naive)
        twin.__dict__ = dict(self.__dict__)
        twin.symbols = dict(self.symbols)
        twin.unseen = Counter(self.unseen)
        twin.values = [dict(v) for v in self.values]
        twin.chosen = list(self.chosen)
        return twin

    @property
    def seat(self):
        return self.turns % self.players

    def free_pairs(self):
        """Unordered pairs of free neighbouring fields in play."""
        free = self.active - set(self.symbols)
        return [(a, b) for a in free for b in beside(a) if b in free and a < b]

    def over(self):
        return self.complete or not self.free_pairs()

    def legal_pairs(self):
        """Where a tile may lie now, whatever its colours."""
        pairs = self.free_pairs()
        if self.turns >= self.players:
            return pairs
        good = []
        for a, b in pairs:
            touched = {f for f in beside(a) + beside(b) if f in PRINTED}
            if touched and not touched & set(self.chosen):
                good.append((a, b))
        return good

    def colourings(self):
        """Ordered colours of the tiles not yet on the board."""
        return [(a, b) for a in COLOURS for b in COLOURS if self.unseen[tuple(sorted((a, b)))] > 0]

    def points(self, field, other, colour):
        """Equal symbols in the five lines leading away from a half of a tile."""
        total = 0
        for dq, dr in STEPS:
            if (field[0] + dq, field[1] + dr) == other:
                continue
            q, r = field[0] + dq, field[1] + dr
            while self.symbols.get((q, r)) == colour:
                total += 1
                q, r = q + dq, r + dr
        return total

    def move_peg(self, value, points):
        """(new value, whether the end of a score board was reached)."""
        if not self.double:
            return min(18, value + points), value < 18 <= value + points
        if value < 18:
            return min(18, value + points), value + points >= 18
        return min(36, value + points), value < 36 <= value + points

    def lay(self, field, colour, other, other_colour):
        """Lay a tile and score ``field`` first."""
        values = self.values[self.owner[self.seat]]
        self.laid_this_turn = self.laid_this_turn + 1 if self.bonus else 1
        self.bonus = max(0, self.bonus - 1)
        one = self.points(field, other, colour)
        two = self.points(other, field, other_colour)
        for shown, points in ((colour, one), (other_colour, two)):
            values[shown], reached = self.move_peg(values[shown], points)
            if reached and self.variant != "solitaire":
                self.bonus += 1
            if all(v == (36 if self.double else 18) for v in values.values()):
                self.complete = True
                break
        self.bonus = min(self.bonus, 6 - self.laid_this_turn) if self.bonus else 0
        if self.turns < self.players:
            self.chosen += [f for f in beside(field) + beside(other) if f in PRINTED]
        self.symbols[field] = colour
        self.symbols[other] = other_colour
        self.unseen[tuple(sorted((colour, other_colour)))] -= 1
        self.exchanged = False
        if not self.bonus:
            self.turns += 1
        return one, two

    def stop(self):
        self.bonus = 0
        self.turns += 1

    def may_exchange(self):
        return (
            self.variant != "solitaire"
            and self.turns > 0
            and not self.bonus
            and not self.exchanged
            and not self.over()
        )

    def order_matters(self, a, b, colour):
        """Whether a double scores differently when its halves are scored the other way round."""
        if not self.double:
            return False
        value = self.values[self.owner[self.seat]][colour]
        one, two = self.points(a, b, colour), self.points(b, a, colour)
        there = self.move_peg(self.move_peg(value, one)[0], two)[0]
        back = self.move_peg(self.move_peg(value, two)[0], one)[0]
        return there != back

    def placements(self):
        """Every different way to lay a tile now."""
        if self.over():
            return
        colourings = self.colourings()
        for a, b in self.legal_pairs():
            for x, y in colourings:
                yield a, x, b, y
                if x == y and self.order_matters(a, b, x):
                    yield b, y, a, x

    def count_moves(self):
        """How many legal moves there are now: tiles, exchange, stop."""
        if self.over():
            return 0
        if self.double:
            tiles = sum(1 for _ in self.placements())
        else:  # where a tile may lie does not depend on its colours
            tiles = len(self.legal_pairs()) * len(self.colourings())
        return tiles + self.may_exchange() + (self.bonus > 0)

    def count_lines(self):
        """How many sequences of two legal moves there are."""
        total = 0
        for placement in self.placements():
            after = self.copy()
            after.lay(*placement)
            total += after.count_moves()
        if self.may_exchange():
            after = self.copy()
            after.exchanged = True
            total += after.count_moves()
        if self.bonus and not self.over():
            after = self.copy()
            after.stop()
            total += after.count_moves()
        return total
