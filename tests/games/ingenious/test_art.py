"""The drawings: symbols that can be told apart without colour and in every turn of a tile."""

from itertools import combinations

import cv2
import numpy as np
import pytest
import resvg_py

from rules import drawing
from rules.games.ingenious.board import PLAN

FACES = list(PLAN.pieces["tile"].faces)
SIZE_PX = 160
SPAN_MM = 30


def render(face):
    """A face on its tile, in colour."""
    box = f"{-SPAN_MM / 2} {-SPAN_MM / 2} {SPAN_MM} {SPAN_MM}"
    body = drawing.symbols(PLAN) + f'<use href="#face-{face}"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{body}</svg>'
    png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=SIZE_PX, background="#1d1d24"))
    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)


def shape(face):
    """Where the symbol is, whatever its colour."""
    return (render(face).max(axis=2) > 110).astype(np.float32)


@pytest.mark.parametrize("face", FACES)
def test_a_symbol_looks_the_same_after_every_sixth_of_a_turn(face):
    image = render(face)
    centre = ((SIZE_PX - 1) / 2, (SIZE_PX - 1) / 2)
    for sixth in range(1, PLAN.pieces["tile"].turns):
        turn = cv2.getRotationMatrix2D(centre, 60 * sixth, 1)
        turned = cv2.warpAffine(image, turn, (SIZE_PX, SIZE_PX), borderMode=cv2.BORDER_REPLICATE)
        assert cv2.absdiff(image, turned).mean() < 4


@pytest.mark.parametrize(("one", "other"), list(combinations(FACES, 2)))
def test_two_symbols_differ_in_shape(one, other):
    a, b = shape(one), shape(other)
    union = np.maximum(a, b).sum()
    assert np.abs(a - b).sum() > 0.08 * union


@pytest.mark.parametrize("face", FACES)
def test_a_symbol_stands_out_from_the_body(face):
    image = render(face)
    colour = np.median(image[shape(face) > 0], axis=0)
    ratio = (luminance(colour) + 0.05) / (luminance((0x24, 0x1D, 0x1D)) + 0.05)
    assert ratio > 3


def luminance(bgr):
    linear = [(v / 255 / 12.92 if v < 11 else ((v / 255 + 0.055) / 1.055) ** 2.4) for v in bgr]
    return 0.0722 * linear[0] + 0.7152 * linear[1] + 0.2126 * linear[2]
