"""Finds out which cut-outs look alike, and which look like the bare table."""

from collections.abc import Sequence

import cv2
import numpy as np

from .. import looks
from ..observe import PRINTED_EVENNESS, Floats, disc_of, features
from ..taught import PITCH_PX, Patch
from .cutting import rescale

ALIKE = 0.1
"""Cut-outs whose misfit (as in ``observe``) is below this show the same face."""

REACH_PX = 3
TILTS_DEG = (-6.0, 0.0, 6.0)
"""How far apart, in pixels of a small patch, and how askew two pieces of one face may be laid."""


def group(patches: Sequence[Patch], turns: int) -> list[int]:
    """A number for each patch, the same for those that look alike in some turn."""
    unlike = misfits(patches, patches, turns)
    unlike = np.minimum(unlike, unlike.T)
    numbers = list(range(len(patches)))
    # Whole groups must be alike, not only two of their members: a chain could lead anywhere.
    for i, j in sorted(zip(*np.nonzero(unlike < ALIKE), strict=True), key=lambda p: unlike[p]):
        if numbers[i] != numbers[j]:
            mine, other = (np.flatnonzero(np.array(numbers) == numbers[k]) for k in (i, j))
            if unlike[np.ix_(mine, other)].mean() < ALIKE:
                numbers = [numbers[i] if n == numbers[j] else n for n in numbers]
    return numbers


def misfits(cuts: Sequence[Patch], known: Sequence[Patch], turns: int = 1) -> Floats:
    """For each cut and each known patch, from 0 (the same) to 1, in the best turn and place."""
    reach = range(-REACH_PX, REACH_PX + 1)
    shifts = [(dx, dy) for dx in reach for dy in reach if dx * dx + dy * dy <= REACH_PX**2]
    seen = _describe([disc_of(_small(p), 0, 0) for p in cuts])
    found = []
    for patch in known:
        small = _small(patch)
        turned = [_turn(small, 360 * k / turns + t) for k in range(turns) for t in TILTS_DEG]
        rows = _describe([disc_of(t, dx, dy) for t in turned for dx, dy in shifts])
        found.append(1 - np.maximum((seen @ rows.T).max(axis=1), 0) ** 2)
    return np.stack(found, axis=1)


def _describe(discs: Sequence[Patch]) -> Floats:
    return features(np.stack(discs), PRINTED_EVENNESS)


def _small(patch: Patch) -> Patch:
    """A patch in the size of drawn looks."""
    return rescale(patch, looks.PATCH_PX / PITCH_PX, looks.SPAN_PX)


def _turn(patch: Patch, deg: float) -> Patch:
    middle = (len(patch) - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), deg, 1.0)
    turned = cv2.warpAffine(patch, matrix, patch.shape[:2], borderMode=cv2.BORDER_REPLICATE)
    return turned.astype(np.float32, copy=False)
