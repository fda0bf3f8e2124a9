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


def test_a_blown_photograph_is_asked_or_right(reader):
    rng = np.random.default_rng(5)
    layout = lay(22)
    seen = reader.observe({s: draw(s, f, rng, (2, 2, 2)) for s, f in layout.items()})
    best = {s: seen.best(s) for s in seen.beliefs}
    wrong = [s for s, f in best.items() if f != layout[s] and seen.beliefs[s][f] >= 0.9]
    assert not wrong
    assert sum(best.get(s) == f for s, f in layout.items()) >= 24


def test_glare_on_a_tile_is_asked(reader):
    rng = np.random.default_rng(6)
    layout = lay(23)
    site = next(s for s, f in layout.items() if f == "K")
    cuts = {s: draw(s, f, rng) for s, f in layout.items()}
    cv2.circle(cuts[site], (SPAN_PX // 2, SPAN_PX // 2), 11, (1.0, 1.0, 1.0), -1)
    belief = reader.observe(cuts).beliefs.get(site, {"": 0.0})
    assert max(belief.values()) < 0.9


def test_a_foreign_object_is_none_of_the_faces(reader):
    rng = np.random.default_rng(7)
    layout = lay(24)
    site = next(s for s, f in layout.items() if f == EMPTY)
    cuts = {s: draw(s, f, rng) for s, f in layout.items()}
    cv2.ellipse(cuts[site], (20, 26), (15, 7), 30, 0, 360, (0.2, 0.75, 0.9), -1)
    belief = reader.observe(cuts).beliefs.get(site, {"": 0.0})
    assert max(belief.values()) < 0.9


def test_beliefs_are_shares_of_one(reader):
    rng = np.random.default_rng(8)
    seen = reader.observe({s: draw(s, f, rng) for s, f in lay(25).items()})
    assert len(seen.beliefs) == len(SITES)
    for belief in seen.beliefs.values():
        assert sum(belief.values()) == pytest.approx(1, abs=1e-3)
        assert min(belief.values()) >= 0


def test_an_empty_board_is_all_bare(reader):
    rng = np.random.default_rng(9)
    seen = reader.observe({s: draw(s, EMPTY, rng) for s in SITES})
    assert {seen.best(s) for s in SITES} == {EMPTY}


INKS = {"red": (0.15, 0.15, 0.8), "green": (0.15, 0.65, 0.2), "blue": (0.8, 0.35, 0.1)}
FORMS = ("disc", "square", "cross")


def draw_form(face, rng, ground, gain):
    """A black tile with a coloured form on a plain board of any colour, or the bare board."""
    bgr = np.full((SPAN_PX, SPAN_PX, 3), ground, np.float32)
    if face != EMPTY:
        x, y = (SPAN_PX // 2 + rng.integers(-1, 2, 2)).tolist()
        cv2.rectangle(bgr, (x - 15, y - 15), (x + 15, y + 15), (0.12, 0.12, 0.12), -1)
        ink, form = face.split("-")
        if form == "disc":
            cv2.circle(bgr, (x, y), 9, INKS[ink], -1, cv2.LINE_AA)
        elif form == "square":
            cv2.rectangle(bgr, (x - 7, y - 7), (x + 7, y + 7), INKS[ink], -1)
        else:
            cv2.rectangle(bgr, (x - 10, y - 3), (x + 10, y + 3), INKS[ink], -1)
            cv2.rectangle(bgr, (x - 3, y - 10), (x + 3, y + 10), INKS[ink], -1)
    lit = cv2.GaussianBlur(bgr, (0, 0), 0.7) * np.array(gain, np.float32)
    return (lit + rng.normal(0, 0.01, bgr.shape)).clip(0, 1).astype(np.float32)


def test_pieces_are_read_on_a_board_and_in_a_light_that_were_never_taught():
    faces = [f"{ink}-{form}" for ink in INKS for form in FORMS]
    rng = np.random.default_rng(10)

    def photograph(seed, ground, gain):
        taken = np.random.default_rng(seed).permutation(SITES)[: len(faces)].tolist()
        layout = dict.fromkeys(SITES, EMPTY) | dict(zip(taken, faces, strict=True))
        return layout, {s: draw_form(f, rng, ground, gain) for s, f in layout.items()}

    examples = []
    for seed in range(4):
        layout, cuts = photograph(seed, (0.6, 0.75, 0.8), (1, 1, 1))
        examples += [Example(s, f, cuts[s]) for s, f in layout.items()]
    other = TaughtReader(examples, turns=1)
    layout, cuts = photograph(30, (0.35, 0.5, 0.2), (0.5, 0.75, 0.95))
    seen = other.observe(cuts)
    assert {s: seen.best(s) for s in seen.beliefs} == layout


def test_a_darker_photograph_is_read_like_the_one_it_was_made_of(reader):
    rng = np.random.default_rng(11)
    cuts = {s: draw(s, f, rng) for s, f in lay(26).items()}
    plain = reader.observe(cuts)
    dark = reader.observe({s: np.float32(0.6) * p for s, p in cuts.items()})
    assert {s: dark.best(s) for s in SITES} == {s: plain.best(s) for s in SITES}
