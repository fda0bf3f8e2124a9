"""The printed corner cards, looked at as the camera and a ruler would."""

import cv2
import numpy as np
import pypdfium2
import pytest

from firmware.printing import RULER_MM, print_cards
from vision.cards import CARD_MM, IDS, MARKER_MM, find_cards

DPI = 300
MM = DPI / 25.4


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> np.ndarray:
    path = tmp_path_factory.mktemp("print") / "cards.pdf"
    print_cards(path)
    document = pypdfium2.PdfDocument(path)
    assert len(document) == 1
    assert [round(s * 25.4 / 72) for s in document[0].get_size()] == [210, 297]
    bgr = document[0].render(scale=DPI / 72).to_numpy()
    document.close()
    return np.ascontiguousarray(bgr[..., :3])


def test_every_marker_is_found_at_its_true_size(page):
    found = find_cards(page).corners_px
    assert sorted(found) == list(IDS)
    for corners in found.values():
        sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) / MM
        assert sides == pytest.approx([MARKER_MM] * 4, abs=0.15)


def test_the_cards_lie_on_the_sheet_as_around_a_board(page):
    centre = {i: c.mean(axis=0) for i, c in find_cards(page).corners_px.items()}
    assert centre[0][0] < centre[1][0]
    assert centre[0][1] < centre[3][1]
    assert centre[2][0] > centre[3][0]
    assert centre[2][1] > centre[1][1]
    assert (centre[1][0] - centre[0][0]) / MM > CARD_MM


def test_the_ruler_is_as_long_as_it_says(page):
    gray = cv2.cvtColor(page, cv2.COLOR_BGR2GRAY)
    row = round((297 - 30) * MM)
    dark = np.nonzero((gray[row - 3 : row + 4] < 160).any(axis=0))[0]
    assert (dark[-1] - dark[0]) / MM == pytest.approx(RULER_MM, abs=0.3)


def test_the_same_sheet_is_made_every_time(tmp_path):
    print_cards(tmp_path / "a.pdf")
    print_cards(tmp_path / "b.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
