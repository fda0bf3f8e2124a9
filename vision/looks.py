"""How faces look: small pictures of every face and of every bare site, relative to white paper.

Looks are drawn from the game's own art here; looks taught from photographs keep the same protocol.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import cv2
import numpy as np
import resvg_py
from numpy.typing import NDArray

from rules import drawing
from rules.table import Face, Plan, Site

Patch: TypeAlias = NDArray[np.float32]
"""A picture of ``SPAN_PX`` squared around the middle of a site, BGR; 1 is white paper."""

PATCH_PX = 20
"""Pixels along one pitch."""

BORDER_PX = 5
"""So much more on each side, to find pieces that lie beside the middle of their site."""

SPAN_PX = PATCH_PX + 2 * BORDER_PX

FINE = 4
"""Drawings are made so many times larger and then averaged, as the pixels of a camera do."""

PAPER = 242
"""White paper on the scale of the drawings: printed white is not the white of a screen."""

SAME = 0.02
"""Turned looks that differ by less on average are one look."""


class Looks(Protocol):
    """All that is known about how the things of one plan look."""

    def faces(self, pitch_mm: float) -> Mapping[Face, Sequence[Patch]]:
        """One or more looks of every face on sites of this pitch, the piece in the middle."""
        ...

    def bare(self) -> Mapping[Site, Patch]:
        """Every site with nothing on it."""
        ...


class DrawnLooks:
    """Looks as the drawings of the plan show them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def faces(self, pitch_mm: float) -> dict[Face, tuple[Patch, ...]]:
        """Each face in all turns that look different."""
        pieces = {p for a in self._plan.areas.values() if a.pitch_mm == pitch_mm for p in a.pieces}
        return {
            face: self._turned(face, pitch_mm)
            for name in sorted(pieces)
            for face in self._plan.pieces[name].faces
        }

    def bare(self) -> dict[Site, Patch]:
        boards: dict[float, Patch] = {}
        found = {}
        side = FINE * SPAN_PX
        for site, place in self._plan.places.items():
            pitch_mm = place.pitch_mm
            if pitch_mm not in boards:
                width, height = self._plan.size_mm
                box = (-pitch_mm, -pitch_mm, width + 2 * pitch_mm, height + 2 * pitch_mm)
                boards[pitch_mm] = self._draw(drawing.ground(self._plan), box, pitch_mm)
            px_per_mm = FINE * PATCH_PX / pitch_mm
            x, y = ((mm + pitch_mm) * px_per_mm - 0.5 for mm in (place.x_mm, place.y_mm))
            found[site] = _shrink(cv2.getRectSubPix(boards[pitch_mm], (side, side), (x, y)))
        return found

    def _turned(self, face: Face, pitch_mm: float) -> tuple[Patch, ...]:
        piece = self._plan.piece_of[face]
        half = pitch_mm * SPAN_PX / PATCH_PX / 2
        box = (-half, -half, 2 * half, 2 * half)
        # What lies around a piece is not known; its own colour says the least about it.
        around = f'<rect x="{-half}" y="{-half}" width="100%" height="100%" fill="{piece.colour}"/>'
        found: list[Patch] = []
        for turn in range(piece.turns):
            laid = f'<use href="#face-{face}" transform="rotate({360 * turn / piece.turns})"/>'
            patch = _shrink(self._draw(around + laid, box, pitch_mm))
            if all(float(np.abs(patch - other).mean()) > SAME for other in found):
                found.append(patch)
        return tuple(found)

    def _draw(self, content: str, box: tuple[float, float, float, float], pitch_mm: float) -> Patch:
        """Pixels of a drawing, ``FINE`` times as fine as a patch; ``box`` in millimetres."""
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{" ".join(map(str, box))}">'
            f"{drawing.symbols(self._plan)}{content}</svg>"
        )
        width = round(box[2] * FINE * PATCH_PX / pitch_mm)
        png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width))
        bgr = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
        assert bgr is not None
        return (bgr / np.float32(PAPER)).astype(np.float32)


def _shrink(patch: NDArray[np.floating | np.integer]) -> Patch:
    small = cv2.resize(patch, (SPAN_PX, SPAN_PX), interpolation=cv2.INTER_AREA)
    return small.astype(np.float32, copy=False)
