"""Faces taught by a few drawn photographs are read in others, and untaught ones are asked."""

import cv2
import numpy as np
import pytest

from rules.table import EMPTY
from vision.errors import NothingTaught
from vision.taught import PITCH_PX, SPAN_PX, Example, TaughtReader

LETTERS = "AHKTV"
SITES = [f"{row}{column}" for row in "ABCDE" for column in range(1, 6)]


def draw(site, face, rng, gain=(1.0, 1.0, 1.0)):
    """A cut-out with a cream tile and its letter, or the bare board, red on some sites."""
    board = (40, 40, 170) if site[1] in "15" else (60, 110, 40)
    bgr = np.full((SPAN_PX, SPAN_PX, 3), board, np.float32)
    if face != EMPTY:
        middle = SPAN_PX // 2 + rng.integers(-2, 3, 2)
        low, high = (middle - PITCH_PX // 2 + 2).tolist(), (middle + PITCH_PX // 2 - 3).tolist()
        cv2.rectangle(bgr, low, high, (190, 215, 225), -1)
        at = (int(middle[0]) - 8, int(middle[1]) + 8)
        cv2.putText(bgr, face, at, cv2.FONT_HERSHEY_SIMPLEX, 0.75, (30, 30, 30), 2, cv2.LINE_AA)
    bgr = bgr * np.array(gain, np.float32) + rng.normal(0, 3, bgr.shape)
    return (bgr.clip(0, 255) / 255).astype(np.float32)


def lay(seed, letters=LETTERS):
    rng = np.random.default_rng(seed)
    taken = rng.permutation(SITES)[:10]
    return dict.fromkeys(SITES, EMPTY) | dict(zip(taken.tolist(), letters * 2, strict=False))


@pytest.fixture(scope="module")
def reader():
    rng = np.random.default_rng(1)
    taught = [(s, f) for seed in range(4) for s, f in lay(seed).items()]
    return TaughtReader([Example(s, f, draw(s, f, rng)) for s, f in taught])


@pytest.mark.parametrize("gain", [(1, 1, 1), (0.5, 0.5, 0.5), (0.6, 0.85, 1.1)], ids=str)
def test_taught_faces_are_read_in_any_light(reader, gain):
    rng = np.random.default_rng(2)
    layout = lay(20)
    seen = reader.observe({s: draw(s, f, rng, gain) for s, f in layout.items()})
    assert {s: seen.best(s) for s in layout} == layout


def test_an_untaught_face_is_not_believed(reader):
    rng = np.random.default_rng(3)
    layout = lay(21) | {"C3": "O"}
    seen = reader.observe({s: draw(s, f, rng) for s, f in layout.items()})
    assert max(seen.beliefs.get("C3", {"": 0.0}).values()) < 0.9


def test_two_faces_are_the_least_that_can_be_taught():
    rng = np.random.default_rng(4)
    with pytest.raises(NothingTaught, match="two faces or more, got 1"):
        TaughtReader([Example("A1", "A", draw("A1", "A", rng))])
