"""The bare board: how each site looks when nothing lies on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rules.table import Site

from .light import Light
from .patches import (
    RADIUS_PX,
    WINDOW_PX,
    Example,
    Flags,
    Floats,
    Rows,
    channel_levels,
    describe_colours,
    draw_window,
    halve,
    spread_all_colours,
    spread_colours,
    stack_patches,
    to_gray,
)
from .shapes import measure_misfit

PEERS = 4
PEER_COLOUR = 0.1
"""A bare site may also look like so many others whose taught colours are so near to its own."""

REACH_HALF_PX = 1
"""The board lies where it lay; only its corners may be found a little beside."""

_WINDOW = draw_window(WINDOW_PX // 2, RADIUS_PX / 2)


@dataclass(frozen=True, eq=False)
class Board:
    """The taught looks of bare sites."""

    looks: dict[Site, list[int]]
    half: Floats
    """Cut-outs at half size."""
    shapes: Floats
    power: Floats
    colours: Floats

    @classmethod
    def of(cls, examples: Sequence[Example]) -> "Board | None":
        """From examples of bare sites; None if there are none."""
        if not examples:
            return None
        looks: dict[Site, list[int]] = {}
        for number, example in enumerate(examples):
            looks.setdefault(example.site, []).append(number)
        return cls._of(looks, halve(stack_patches([e.patch for e in examples])))

    @classmethod
    def _of(cls, looks: dict[Site, list[int]], half: Floats) -> "Board":
        inside = _WINDOW.ravel()
        shapes = _cut_windows(to_gray(half), 0, 0)
        shapes = (shapes - shapes[:, inside].mean(axis=1, keepdims=True)) * inside
        return cls(looks, half, shapes, (shapes**2).sum(axis=1), describe_colours(half))

    def under(self, light: Light) -> "Board":
        """The same board without what is blown or black in this light."""
        return self._of(self.looks, light.blow(self.half))

    def levels_at(self, sites: Sequence[Site]) -> tuple[Floats, Flags]:
        """The channel levels of the bare sites, and which sites were taught bare."""
        known = np.array([s in self.looks for s in sites])
        first = np.array([self.looks[s][0] if s in self.looks else 0 for s in sites])
        return channel_levels(self.colours)[first], known

    @cached_property
    def _peers(self) -> dict[Site, list[int]]:
        """For each site the looks of others that are most like its own.

        A neighbour may have leaned in or thrown its shadow when a site was taught.
        """
        away = spread_all_colours(self.colours, self.colours)
        found: dict[Site, list[int]] = {}
        for site, own in self.looks.items():
            nearest = away[own].min(axis=0)
            nearest[own] = np.inf
            best = np.argsort(nearest)[:PEERS]
            found[site] = [*own, *best[nearest[best] < PEER_COLOUR].tolist()]
        return found

    def compare(
        self, sites: Sequence[Site], half_gray: Floats, colours: Floats, peers: bool = False
    ) -> tuple[Rows, Floats, Floats]:
        """Misfit of the shape and of the colours, for pairs of a site (given first) and a look.

        The looks are those of the site itself, or also those of its peers.
        """
        every = range(len(self.half))
        looks = self._peers if peers else self.looks
        pairs = [(i, j) for i, s in enumerate(sites) for j in looks.get(s, every)]
        mine, look = np.array(pairs, np.intp).reshape(-1, 2).T
        inside = _WINDOW.ravel().astype(np.float32)
        total = inside.sum()
        shapes, power = self.shapes[look], self.power[look]
        best = np.full(len(pairs), np.inf, np.float32)
        reach = range(-REACH_HALF_PX, REACH_HALF_PX + 1)
        for dy in reach:
            for dx in reach:
                windows = _cut_windows(half_gray, dy, dx)
                powers = (windows**2) @ inside - (windows @ inside) ** 2 / total
                products = np.einsum("ij,ij->i", windows[mine], shapes)
                misfit = measure_misfit(products, powers.clip(min=0)[mine], power, total)
                best = np.minimum(best, misfit)
        return mine, best, spread_colours(colours[mine], self.colours[look])


def _cut_windows(half_gray: Floats, dy: int, dx: int) -> Floats:
    side = WINDOW_PX // 2
    start = (half_gray.shape[1] - side) // 2
    y, x = start + dy, start + dx
    return half_gray[:, y : y + side, x : x + side].reshape(len(half_gray), -1)
