"""From a frame to a picture of the table seen from straight above, in millimetres."""

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from rules.table import Plan

from .board import AS_PLANNED, BoardPlace
from .cards import BORDER_MM, IDS, Cards, card_corners_mm, find_cards, marker_corners_mm
from .frame import Frame, Numbers, Pixels
from .pose import Pose, lens_of, project

FEWEST_CARDS = 3
MARGIN_MM = 15.0
WORST_FIT_MM = 2.0
"""Cards that lie further than this from where they belong were moved or swapped."""


@dataclass(frozen=True, eq=False)
class TableImage:
    """The table from above, with a margin around it; everything measured is in millimetres."""

    bgr: Pixels
    px_per_mm: float
    margin_mm: float
    white_bgr: Numbers
    """White paper in this light: the median over the cards in view."""
    whites_bgr: Mapping[int, Numbers]
    """The same, card by card: the light may be stronger on one side."""
    cards: int
    """How many of the four cards were in view."""
    fit_mm: float
    """Mean distance of the markers' corners from where they belong."""
    homography: Numbers
    """From millimetres of the plan to pixels of the frame."""
    pose: Pose
    """Where the camera stands, for a lens of common focal length."""
    at_s: float
    name: str = ""
    place: BoardPlace = AS_PLANNED
    """Where on the table the board was taken to lie."""

    def to_px(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Where a place on the table is in ``bgr``; whole numbers are the middles of pixels."""
        k, m = self.px_per_mm, self.margin_mm
        return (x_mm + m) * k - 0.5, (y_mm + m) * k - 0.5

    def shift_per_mm_height(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """How far from its true place (in mm) the top of a piece appears, per mm of height."""
        eye_x, eye_y, eye_z = self.pose.eye_mm
        return (x_mm - eye_x) / eye_z, (y_mm - eye_y) / eye_z


def rectify(
    frame: Frame,
    plan: Plan,
    *,
    px_per_mm: float,
    margin_mm: float = MARGIN_MM,
    first_card: int = 0,
    cards: Cards | None = None,
    place: BoardPlace = AS_PLANNED,
) -> TableImage | None:
    """The table in this frame, or None when fewer than three cards lie where they belong.

    ``cards`` saves looking for them again. What is millimetres afterwards is the plan's, wherever
    on the table the board lies.
    """
    cards = find_cards(frame.bgr, first_card) if cards is None else cards
    located = locate(cards, plan.size_mm)
    if located is None:
        return None
    homography, fit_mm = located
    whites = _whites(frame.bgr, cards, homography, plan.size_mm)
    homography = homography @ place.matrix()
    width, height = (round((side + 2 * margin_mm) * px_per_mm) for side in plan.size_mm)
    offset = 0.5 / px_per_mm - margin_mm
    to_mm = np.array([[1 / px_per_mm, 0, offset], [0, 1 / px_per_mm, offset], [0, 0, 1.0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    bgr = cv2.warpPerspective(frame.bgr, homography @ to_mm, (width, height), flags=flags)
    frame_height, frame_width = frame.bgr.shape[:2]
    return TableImage(
        bgr=bgr.astype(np.uint8, copy=False),
        px_per_mm=px_per_mm,
        margin_mm=margin_mm,
        white_bgr=np.median(np.array(list(whites.values())), axis=0),
        whites_bgr=whites,
        cards=len(cards),
        fit_mm=fit_mm,
        homography=homography,
        pose=Pose.of_homography(homography, lens_of(frame_width, frame_height)),
        at_s=frame.at_s,
        name=frame.name,
        place=place,
    )


def locate(cards: Cards, size_mm: tuple[float, float]) -> tuple[Numbers, float] | None:
    """The homography from table millimetres to pixels and how well it fits (mean error in mm).

    None when fewer than three cards are in view, or when they do not lie at the corners in order.
    """
    if len(cards) < FEWEST_CARDS:
        return None
    truth = marker_corners_mm(size_mm)
    table, seen = [], []
    affine = _affine(cards, truth)
    for number, corners_px in cards.corners_px.items():
        # A card may be laid turned: whichever of its corners comes first is the nearest one.
        expected = truth[number] @ affine[:, :2].T + affine[:, 2]
        turns = [np.roll(corners_px, k, axis=0) for k in range(4)]
        table.append(truth[number])
        seen.append(min(turns, key=lambda turned: float(np.abs(turned - expected).sum())))
    table_mm, seen_px = np.concatenate(table), np.concatenate(seen)
    fitted, _ = cv2.findHomography(table_mm, seen_px, 0)
    if fitted is None or np.linalg.det(fitted[:2, :2]) <= 0:
        return None
    homography = fitted.astype(np.float64)
    back_mm = project(np.asarray(np.linalg.inv(homography)), seen_px)
    fit_mm = float(np.hypot(*(back_mm - table_mm).T).mean())
    return (homography, fit_mm) if fit_mm <= WORST_FIT_MM else None


def _affine(cards: Cards, truth: Mapping[int, Numbers]) -> Numbers:
    """A coarse map from millimetres to pixels, by the middles of the cards alone."""
    middles_mm = np.array([(*truth[i].mean(axis=0), 1.0) for i in cards.corners_px])
    middles_px = np.array([corners.mean(axis=0) for corners in cards.corners_px.values()])
    solution: Numbers = np.linalg.lstsq(middles_mm, middles_px, rcond=None)[0]
    return solution.T


def _whites(
    bgr: Pixels, cards: Cards, homography: Numbers, size_mm: tuple[float, float]
) -> dict[int, Numbers]:
    """The colour of the white border of each card in view."""
    papers = card_corners_mm(size_mm)
    whites = {}
    for number in cards.corners_px:
        points = project(homography, _border_points() + papers[number][0])
        x, y = np.rint(points).astype(int).T
        inside = (x >= 0) & (y >= 0) & (x < bgr.shape[1]) & (y < bgr.shape[0])
        whites[number] = np.median(bgr[y[inside], x[inside]], axis=0).astype(np.float64)
    return whites


def _border_points() -> Numbers:
    """Places in the middle of the white border of a card, all around its marker."""
    side = card_corners_mm((0, 0))[IDS[2]]
    low, high = side.min() + BORDER_MM / 2, side.max() - BORDER_MM / 2
    along = np.linspace(low, high, 41)
    edges = [(along, np.full(41, e)) for e in (low, high)]
    flat = [np.column_stack(p) for e in edges for p in (e, e[::-1])]
    return np.concatenate(flat)
