"""A thousand seeded games for every number of players, with every invariant checked on the way."""

import random

import pytest

TABLES = [("solitaire", 1), ("basic", 2), ("basic", 3), ("basic", 4), ("teams", 4)]
GAMES = 1000
CHUNK = 250


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(GAMES // CHUNK))
@pytest.mark.parametrize(("variant", "seats"), TABLES)
def test_random_games_keep_all_invariants(desk, naive, variant, seats, chunk):
    happened = set()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        evening = Evening(desk.game, naive, variant, seats, seed)
        evening.play()
        happened |= evening.happened
    expected = {"line", "nothing", "board_full"}
    if variant != "solitaire":
        expected |= {"surplus", "genius", "stop", "exchange", "exchange_lowest_on_rack"}
    assert expected <= happened


class Evening:
    """One game with real racks and a real bag; every tenth is followed by the naive game too.

    One in eight is played greedily, because random play hardly ever reaches the end of a track.
    """

    def __init__(self, game, naive, variant, seats, seed):
        self.game, self.variant, self.seats = game, variant, seats
        self.rng = random.Random(f"{variant}-{seats}-{seed}")
        self.tries = 40 if seed % 8 == 0 else 1
        self.state = game.start(game.info.setup(variant, seats))
        self.naive_module = naive
        self.shadow = naive.Naive(variant, seats) if seed % 10 == 0 else None
        fields = naive.Naive(variant, seats)
        self.room = [tuple(map(naive.site, pair)) for pair in sorted(fields.free_pairs())]
        self.bag = [kind for kind, n in sorted(naive.BAG.items()) for _ in range(n)]
        self.rng.shuffle(self.bag)
        hand = 1 if variant == "solitaire" else 6
        self.hand = hand
        self.racks = [[self.bag.pop() for _ in range(hand)] for _ in range(seats)]
        self.acting, self.tiles = 0, 0
        self.happened = set()

    def play(self):
        game = self.game
        while not self.state.ended_by:
            if self.state.bonus and self.rng.random() < 0.2:
                self.decline()
            else:
                self.lay()
        standings = game.standings(self.state)
        self.happened.add(standings.ended_by)
        assert standings.to_act is None
        assert standings.winners
        assert not self.room or standings.ended_by == "all_colours"
        assert sum(face != "empty" for face in game.layout(self.state).values()) == 2 * self.tiles
        assert sum(self.state.supply) == 120 - self.tiles
        if self.shadow:
            assert self.shadow.over()

    def lay(self):
        game, before, seat = self.game, self.state, self.acting
        assert game.standings(before).to_act == seat
        rack = self.racks[seat]
        move, tile, applied = self.choose(rack)
        after = applied.state
        assert game.mover(before, move) == seat
        rack.remove(tile)
        self.tiles += 1
        laid = game.footprint(before, move)
        self.room = [pair for pair in self.room if laid.keys().isdisjoint(pair)]
        self.check_scores(before, after, applied.lines, seat)
        if self.tiles % 8 == 0:
            assert game.layout(after) == {**game.layout(before), **laid}
        if self.shadow:
            self.compare(move, after)
        self.state = after
        if not after.bonus and not after.ended_by:
            self.finish_turn()

    def choose(self, rack):
        """The best of some random legal tiles, as the rules score them."""
        game, best = self.game, None
        left = self.tries
        while left:
            site, other = self.rng.choice(self.room)
            tile = self.rng.choice(rack)
            colour, other_colour = self.rng.sample(tile, 2)
            move = game.parse(f"{colour}@{site} {other_colour}@{other}")
            if not game.check(self.state, move).legal:
                # free fields and a tile in hand: only the first round can forbid it
                assert self.tiles < self.seats
                continue
            left -= 1
            applied = game.apply(self.state, move)
            gain = sum(line.points for line in applied.lines)
            if best is None or gain > best[0]:
                best = gain, move, tile, applied
        return best[1:]

    def check_scores(self, before, after, lines, seat):
        side = seat % len(before.scores)
        top = 18 if self.variant == "basic" else 36
        for number, (old, new) in enumerate(zip(before.scores, after.scores, strict=True)):
            if number != side:
                assert old == new
        old, new = before.scores[side], after.scores[side]
        names = self.naive_module.COLOURS
        gained = dict.fromkeys(names, 0)
        for line in lines:
            assert line.seat == seat
            gained[line.track] += line.points
            self.happened.add(line.code)
            if line.code == "line":
                assert line.points == len(line.sites) - 1
        assert [b - a for a, b in zip(old, new, strict=True)] == [gained[c] for c in names]
        assert all(a <= b <= top for a, b in zip(old, new, strict=True))

    def compare(self, move, after):
        naive, shadow = self.naive_module, self.shadow
        halves = [half.split("@") for half in self.game.notate(move).split()]
        (colour, site), (other_colour, other) = halves
        shadow.lay(naive.field_of(site), colour, naive.field_of(other), other_colour)
        rows = [tuple(values[c] for c in naive.COLOURS) for values in shadow.values]
        assert tuple(rows) == after.scores
        assert shadow.over() == bool(after.ended_by)
        if not after.ended_by:
            assert (shadow.seat, shadow.bonus) == (after.seat, after.bonus)
        laid = {s: f for s, f in self.game.layout(after).items() if f != "empty"}
        on_tiles = {f: c for f, c in shadow.symbols.items() if f not in naive.PRINTED}
        assert laid == {naive.site(f): c for f, c in on_tiles.items()}

    def decline(self):
        self.happened.add("stop")
        self.state = self.game.apply(self.state, self.game.parse("stop")).state
        if self.shadow:
            self.shadow.stop()
        self.finish_turn()

    def finish_turn(self):
        """Exchange now and then, refill, and let the next player go on."""
        rack = self.racks[self.acting]
        if self.variant != "solitaire" and rack and self.rng.random() < 0.1:
            self.exchange(rack)
        while len(rack) < self.hand:
            rack.append(self.bag.pop())
        self.acting = (self.acting + 1) % self.seats

    def exchange(self, rack):
        game = self.game
        move = game.parse(" ".join(["exchange", *("-".join(tile) for tile in rack)]))
        assert game.mover(self.state, move) == self.acting
        values = self.state.scores[self.acting % len(self.state.scores)]
        lowest = {
            c for c, v in zip(self.naive_module.COLOURS, values, strict=True) if v == min(values)
        }
        shown = {colour for tile in rack for colour in tile}
        codes = {violation.code for violation in game.check(self.state, move).violations}
        assert codes == (set() if lowest.isdisjoint(shown) else {"exchange_lowest_on_rack"})
        self.happened |= codes or {"exchange"}
        if codes:
            return
        self.state = game.apply(self.state, move).state
        old, rack[:] = list(rack), [self.bag.pop() for _ in range(6)]
        self.bag += old
        self.rng.shuffle(self.bag)
