"""The corner cards: where they lie, and that they are found."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.cards import BORDER_MM, DICTIONARY, IDS, MARKER_MM, find_cards, marker_corners_mm
from vision.pose import project
from vision.render import Moment, Painter
from vision.virtual.misbehaviour import CALM, Misbehaviour


@pytest.fixture(scope="module")
def painter(draughts):
    return Painter(draughts)


def test_markers_stand_outside_the_corners_of_the_table_in_order():
    corners = marker_corners_mm((400, 300))
    inner = {0: (0, 0), 1: (400, 0), 2: (400, 300), 3: (0, 300)}
    for number, quad in corners.items():
        gap = np.abs(quad - inner[number]).min(axis=0)
        assert gap == pytest.approx([BORDER_MM, BORDER_MM])
        assert np.hypot(*(quad[1] - quad[0])) == pytest.approx(MARKER_MM)
        assert not ((quad > 0) & (quad < (400, 300))).all(axis=1).any()
    assert tuple(corners) == IDS


@pytest.mark.parametrize("tilt_towards_deg", [0, 90, 135, 300])
@pytest.mark.parametrize("roll_deg", [0, 33, 90, 180])
def test_corners_are_found_to_a_fifth_of_a_pixel(painter, draughts, tilt_towards_deg, roll_deg):
    room = replace(CALM, tilt_deg=15, tilt_towards_deg=tilt_towards_deg, roll_deg=roll_deg)
    cards = find_cards(painter.paint({}, room))
    truth = marker_corners_mm(draughts.size_mm)
    to_px = painter.pose(room).homography()
    assert set(cards.corners_px) == set(IDS)
    for number, corners in cards.corners_px.items():
        error_px = np.hypot(*(corners - project(to_px, truth[number])).T)
        assert error_px.max() < 0.2


@pytest.mark.parametrize("seed", range(20))
def test_all_uncovered_cards_are_found_in_random_rooms(painter, seed):
    room = Misbehaviour.default(seed)
    assert len(find_cards(painter.paint({}, room))) == 4 - room.covered_cards


def test_a_covered_card_is_not_found(painter):
    cards = find_cards(painter.paint({}, CALM, Moment(covered=frozenset({1, 3}))))
    assert set(cards.corners_px) == {0, 2}


def test_foreign_markers_and_copies_are_no_cards():
    page = np.full((600, 900), 255, np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    for number, x in ((2, 50), (0, 350), (0, 650)):
        page[50:150, x : x + 100] = cv2.aruco.generateImageMarker(dictionary, number, 100)
    page[350:450, 50:150] = cv2.aruco.generateImageMarker(dictionary, 17, 100)
    cards = find_cards(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR))
    assert set(cards.corners_px) == {2}


def test_a_marker_at_the_very_edge_of_the_frame_keeps_its_corners():
    page = np.full((400, 400), 255, np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    page[2:122, 2:122] = cv2.aruco.generateImageMarker(dictionary, 1, 120)
    cards = find_cards(cv2.cvtColor(page, cv2.COLOR_GRAY2BGR))
    expected = np.array([(1.5, 1.5), (121.5, 1.5), (121.5, 121.5), (1.5, 121.5)])
    for corners in cards.corners_px.values():
        assert np.abs(corners - expected).max() < 1


@pytest.mark.parametrize("shape", [(1080, 1920, 3), (40, 60, 3), (1, 1, 3)])
def test_an_empty_picture_has_no_cards(shape):
    assert len(find_cards(np.zeros(shape, np.uint8))) == 0
