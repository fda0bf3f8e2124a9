"""Sheets to print at true scale: the corner cards that tell the camera where the table lies, and
the sheet on which pieces are laid to be taught.

The sheets carry pictures and numbers only, so that one sheet serves every language.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rules.drawing import corners
from rules.table import Face, Piece, Place, Plan
from vision.cards import BORDER_MM, CARD_MM, DICTIONARY, IDS, MARKER_MM, card_corners_mm
from vision.teaching.sheet import (
    EDGE_MM,
    GAP_MM,
    LABEL_MM,
    PAGE_MM,
    SIZE_MM,
    Page,
    lay_out,
    mark_cells,
)
from vision.textures import face_texture

from .errors import FirmwareError

RULER_MM = 100
"""Measured after printing: if it is not this long, the printer has scaled the page."""

LABEL_PX_PER_MM = 20.0

_INNER = {0: (1, 0), 1: (0, 0), 2: (0, 1), 3: (1, 1)}
"""Which corner of a card touches the table, as (right, top)."""


def print_cards(path: Path) -> None:
    """Write the four corner cards, with cutting lines and a ruler, as an A4 page."""
    page = Canvas(str(path), pagesize=A4, invariant=1)
    page.setTitle("Tafelmaat corner cards")
    width, height = A4
    gap = 24 * mm
    left = (width - 2 * CARD_MM * mm - gap) / 2
    top = height - 40 * mm
    for number in IDS:
        column, row = (0, 1, 1, 0)[number], (0, 0, 1, 1)[number]
        x = left + column * (CARD_MM * mm + gap)
        y = top - CARD_MM * mm - row * (CARD_MM * mm + gap)
        _draw_card(page, number, x, y)
    _draw_example(page, width / 2, 88 * mm)
    _draw_ruler(page, (width - RULER_MM * mm) / 2, 30 * mm)
    page.save()


def print_sheet(path: Path, plan: Plan) -> int:
    """Write the teaching sheet of a game, with a place for every face; how many pages it has."""
    pages = lay_out(plan)
    if not pages:
        raise FirmwareError(f"{path}: no piece of this game fits on a page; teach on the table")
    canvas = Canvas(str(path), pagesize=A4, invariant=1)
    canvas.setTitle("Tafelmaat teaching sheet")
    for page in pages:
        _draw_page(canvas, plan, page)
        canvas.showPage()
    canvas.save()
    return len(pages)


def _draw_page(canvas: Any, plan: Plan, page: Page) -> None:
    papers = card_corners_mm(SIZE_MM)
    for number in IDS:
        x, y = _on_page(*papers[number][3])
        marker = page.first_card + number
        _draw_marker(canvas, marker, x + BORDER_MM * mm, y + BORDER_MM * mm, MARKER_MM * mm)
    for place in page.plan.places.values():
        face = page.faces[place.site]
        kinds = [page.plan.piece_of[face]] if face else list(page.plan.pieces.values())
        _draw_place(canvas, place, kinds[0])
        if face:
            _draw_label(canvas, plan, place, face)


def _on_page(x_mm: float, y_mm: float) -> tuple[float, float]:
    """Where a point of the sheet's own table is on the page, from its bottom left corner."""
    inset_mm = EDGE_MM + CARD_MM
    return (x_mm + inset_mm) * mm, (PAGE_MM[1] - y_mm - inset_mm) * mm


def _draw_place(canvas: Any, place: Place, piece: Piece) -> None:
    """The outline of the piece, and the mark that shows that nothing lies there."""
    canvas.saveState()
    canvas.translate(*_on_page(place.x_mm, place.y_mm))
    canvas.setLineWidth(0.3)
    canvas.setStrokeGray(0.6)
    outline = canvas.beginPath()
    points = corners(piece.outline, piece.width_mm)
    outline.moveTo(points[0][0] * mm, points[0][1] * mm)
    for x, y in points[1:]:
        outline.lineTo(x * mm, y * mm)
    outline.close()
    canvas.drawPath(outline)
    for left_mm, top_mm, side_mm in mark_cells(place.pitch_mm):
        side = side_mm * mm
        canvas.rect(left_mm * mm, -top_mm * mm - side, side, side, stroke=0, fill=1)
    canvas.restoreState()


def _draw_label(canvas: Any, plan: Plan, place: Place, face: Face) -> None:
    """Below a place, small: the drawing of the face to be laid there, and its letter."""
    bgra = face_texture(plan, face, LABEL_PX_PER_MM).astype(np.uint16)
    bgr = np.minimum(bgra[:, :, :3] + (255 - bgra[:, :, 3:]), 255).astype(np.uint8)
    picture = ImageReader(BytesIO(cv2.imencode(".png", bgr)[1].tobytes()))
    side = (LABEL_MM - 1) * mm
    below_mm = place.y_mm + (place.pitch_mm + GAP_MM) / 2 + LABEL_MM - GAP_MM / 2
    x, y = _on_page(place.x_mm, below_mm)
    canvas.drawImage(picture, x - side, y, side, side)
    canvas.setFont("Helvetica", 11)
    canvas.drawString(x + 1 * mm, y + side / 2 - 4, plan.letters[face])


def _draw_card(page: Any, number: int, x: float, y: float) -> None:
    card = CARD_MM * mm
    page.setLineWidth(0.3)
    page.setDash(2, 2)
    page.rect(x, y, card, card)
    page.setDash()
    _draw_marker(page, number, x + BORDER_MM * mm, y + BORDER_MM * mm, MARKER_MM * mm)
    _draw_corner(page, x, y, *_INNER[number])
    page.setFont("Helvetica", 7)
    page.drawString(x + 3 * mm, y + card - 5 * mm, f"{number + 1}")


def _draw_marker(page: Any, number: int, x: float, y: float, size: float) -> None:
    """The ArUco marker as filled squares: sharp on every printer."""
    dictionary = cv2.aruco.getPredefinedDictionary(DICTIONARY)
    cells = dictionary.markerSize + 2
    bits = cv2.aruco.generateImageMarker(dictionary, number, cells)
    step = size / cells
    page.rect(x, y, size, size, stroke=0, fill=1)
    page.setFillGray(1)
    for row, line in enumerate(bits):
        for column, value in enumerate(line):
            if value:
                page.rect(x + column * step, y + size - (row + 1) * step, step, step, 0, 1)
    page.setFillGray(0)


def _draw_corner(page: Any, x: float, y: float, right: int, top: int) -> None:
    """A triangle in the corner of the card that touches the corner of the board."""
    card, size = CARD_MM * mm, 5 * mm
    cx, cy = x + right * card, y + top * card
    dx, dy = (-size if right else size), (-size if top else size)
    path = page.beginPath()
    path.moveTo(cx, cy)
    path.lineTo(cx + dx, cy)
    path.lineTo(cx, cy + dy)
    path.close()
    page.drawPath(path, stroke=0, fill=1)


def _draw_example(page: Any, x: float, y: float) -> None:
    """How the cards lie: outside, each with its triangle at a corner of the board."""
    board_width, board_height, card = 56 * mm, 40 * mm, 9 * mm
    left, bottom = x - board_width / 2, y - board_height / 2
    page.setLineWidth(0.8)
    page.rect(left, bottom, board_width, board_height)
    corners = (
        (left - card, bottom + board_height),
        (left + board_width, bottom + board_height),
        (left + board_width, bottom - card),
        (left - card, bottom - card),
    )
    page.setLineWidth(0.4)
    for number, (cx, cy) in enumerate(corners):
        page.rect(cx, cy, card, card)
        page.setFont("Helvetica", 9)
        page.drawCentredString(cx + card / 2, cy + card / 2 - 3, f"{number + 1}")


def _draw_ruler(page: Any, x: float, y: float) -> None:
    page.setLineWidth(0.4)
    page.line(x, y, x + RULER_MM * mm, y)
    for millimetre in range(0, RULER_MM + 1):
        size = 5 if millimetre % 10 == 0 else 3.5 if millimetre % 5 == 0 else 2
        page.line(x + millimetre * mm, y, x + millimetre * mm, y + size * mm)
    page.setFont("Helvetica", 8)
    page.drawString(x, y - 4 * mm, "0")
    page.drawRightString(x + RULER_MM * mm, y - 4 * mm, f"{RULER_MM} mm")
