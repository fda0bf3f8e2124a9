"""A board that was never taught: the light is known by the pieces alone, and bare is no piece."""

from itertools import product

import numpy as np

from .light import (
    BRIGHTNESS,
    CASTS,
    EXPLAINED,
    ROUNDS,
    Light,
    find_light,
    fit_channels,
    fit_rows,
)
from .patches import Flags, Floats, measure_local_light, spread_all_colours

STARTS_KEPT = 4
"""So many of the lights tried first are fitted."""

ALIKE = 0.1
"""A site whose colours are so near to those of another bare one looks like it."""

LONE_DOUBT = 0.15
"""A site that is no piece and unlike all others is taken for something at least so likely."""


def fit_to_pieces(levels: Floats, taught: Floats, allowed: Flags) -> Light:
    """The light under which sites (channel levels) look like examples allowed for them."""
    starts = [np.float32(s) * np.array(c, np.float32) for s, c in product(BRIGHTNESS, CASTS)]
    zero = np.zeros(3, np.float32)
    costs = [_cost(_nearest(levels, taught, allowed, s, zero)[0], float(s.mean())) for s in starts]
    best = min(
        (_refine(levels, taught, allowed, starts[k]) for k in np.argsort(costs)[:STARTS_KEPT]),
        key=lambda fitted: _cost(fitted[2], float(fitted[0].mean())),
    )
    scale, haze, distance, target = best
    mixed, added = fit_rows(levels, target, np.ones(len(levels)), np.diag(scale), haze)
    return find_light(mixed, added, distance / float(scale.mean()), levels)


def _cost(distance: Floats, scale: float) -> float:
    """Sites that look like no piece in any light must not decide."""
    return float(np.minimum(distance / scale, EXPLAINED).mean())


def _refine(
    levels: Floats, taught: Floats, allowed: Flags, scale: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    scale, haze = scale.copy(), np.zeros(3, np.float32)
    for _ in range(ROUNDS):
        _, target = _nearest(levels, taught, allowed, scale, haze)
        scale, haze = fit_channels(levels, target, np.ones(len(levels)), scale, haze)
    return scale, haze, *_nearest(levels, taught, allowed, scale, haze)


def _nearest(
    levels: Floats, taught: Floats, allowed: Flags, scale: Floats, haze: Floats
) -> tuple[Floats, Floats]:
    """For each site how far the nearest example is, and its levels where the site is lit so."""
    expected = (taught * scale + haze).clip(0, 1)
    flat, seen = expected.reshape(len(taught), -1), levels.reshape(len(levels), -1)
    away = np.where(allowed, spread_all_colours(seen, flat), np.inf)
    nearest = away.argmin(axis=1)
    local = 1 / measure_local_light(seen, flat[nearest])
    local /= np.median(local)
    return away[np.arange(len(seen)), nearest], taught[nearest] * local[:, None, None]


def doubt_lone_sites(taken: Floats, colours: Floats) -> Floats:
    """The same likelihoods, but a bare site must look like another bare one to be sure."""
    bare = np.flatnonzero(taken < LONE_DOUBT)
    if len(bare) < 2:
        return np.maximum(taken, LONE_DOUBT)
    away = spread_all_colours(colours[bare], colours[bare])
    np.fill_diagonal(away, np.inf)
    doubted = taken.copy()
    lone = bare[away.min(axis=1) > ALIKE]
    doubted[lone] = np.maximum(doubted[lone], LONE_DOUBT)
    return doubted
