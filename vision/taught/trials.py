"""Taught cut-outs to be read on trial, as another photograph of them might look."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from rules.table import EMPTY, Face, Site

from .patches import BORDER_PX, SPAN_PX, Example, Floats, Patch, stack_patches

MOST_TRIALS = 200
"""More would only take longer."""

CAST = 0.08
BRIGHTER = 0.1
NOISE = 0.01
BLUR_PX = 1.2
"""How much trials differ from the taught cut-outs: what is left after the light was fitted."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Cut-outs with pieces, and of bare sites."""

    piece_sites: list[Site]
    faces: list[Face]
    pieces: Floats
    bare_sites: list[Site]
    bare: Floats
    strange: Floats
    """Bare sites of boards that do not exist."""


def choose_trials(examples: Sequence[Example], seed: int = 1) -> list[Example]:
    """Some examples of every face, of rare ones all, and as many bare sites as pieces."""
    rng = np.random.default_rng(seed)
    face_of = np.array([e.face for e in examples])
    rank = np.zeros(len(examples), np.intp)
    faces = sorted(set(face_of.tolist()))
    for face in faces:
        mine = np.flatnonzero(face_of == face)
        rank[rng.permutation(mine)] = np.arange(len(mine))
    rank[face_of == EMPTY] //= max(len(faces) - 1, 1)
    return [examples[i] for i in np.sort(np.lexsort((face_of, rank))[:MOST_TRIALS])]


def draw_trials(chosen: Sequence[Example], seed: int = 1) -> Trials:
    """The chosen examples as another photograph of them might look, and strange boards."""
    rng = np.random.default_rng(seed)
    laid = [e for e in chosen if e.face != EMPTY]
    bare = [e for e in chosen if e.face == EMPTY]
    return Trials(
        [e.site for e in laid],
        [e.face for e in laid],
        stack_patches([_disturb(e.patch, rng) for e in laid]),
        [e.site for e in bare],
        _disturb_all(bare, rng),
        np.concatenate([_disturb_all(bare, rng), _invent_boards(len(laid), rng)]),
    )


def _disturb_all(examples: Sequence[Example], rng: np.random.Generator) -> Floats:
    none = np.zeros((0, SPAN_PX, SPAN_PX, 3), np.float32)
    return stack_patches([_disturb(e.patch, rng) for e in examples]) if examples else none


def _invent_boards(count: int, rng: np.random.Generator) -> Floats:
    """Plain, grained, lined and dotted cut-outs of any colours."""
    made = []
    for _ in range(count):
        ground, ink = rng.uniform(0.05, 0.95, (2, 3))
        picture = np.tile(ground, (SPAN_PX, SPAN_PX, 1)).astype(np.float32)
        grain = rng.normal(0, 1, (SPAN_PX, SPAN_PX)).astype(np.float32)
        soft = cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.5, 6), sigmaY=rng.uniform(0.5, 6))
        picture += (rng.uniform(0, 0.08) * soft / (soft.std() + 1e-6))[..., None]
        low, high = BORDER_PX, SPAN_PX - BORDER_PX
        kind = rng.integers(4)
        if kind == 1:
            cv2.rectangle(picture, (low, low), (high, high), ink.tolist(), int(rng.integers(1, 4)))
        elif kind == 2:
            at = (rng.integers(low, high, 2)).tolist()
            cv2.circle(picture, at, int(rng.integers(4, 14)), ink.tolist(), -1, cv2.LINE_AA)
        elif kind == 3:
            start, end = rng.integers(0, SPAN_PX, (2, 2)).tolist()
            cv2.line(picture, start, end, ink.tolist(), int(rng.integers(1, 6)), cv2.LINE_AA)
        made.append(cv2.GaussianBlur(picture, (0, 0), rng.uniform(0.3, 1.2)).clip(0, 1))
    return stack_patches(made)


def _disturb(patch: Patch, rng: np.random.Generator) -> Floats:
    gain = np.exp(rng.normal(0, CAST, 3) + rng.normal(0, BRIGHTER)).astype(np.float32)
    blurred = cv2.GaussianBlur(patch * gain, (0, 0), rng.uniform(0.1, BLUR_PX))
    return np.asarray(blurred + rng.normal(0, NOISE, patch.shape)).clip(min=0)
