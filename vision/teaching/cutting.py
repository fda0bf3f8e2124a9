"""Cuts the sites out of a picture of the table, as they are taught, stored and read."""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from rules.errors import InvalidValue
from rules.table import EMPTY, Place, Plan, Site

from ..frame import Numbers, Pixels
from ..rectify import TableImage
from ..taught import BORDER_PX, PITCH_PX, SPAN_PX, Patch

BOARD_PX_PER_MM = 1.0

PAPER = 0.9
"""White paper in a patch, whatever the light was."""

BLOWN = 250
"""A channel this bright may have been brighter still; it stays white in a patch."""


def cut_out(image: TableImage, plan: Plan, places: Sequence[Place]) -> dict[Site, Pixels]:
    """Each place with a border around it, seen at the height of what may lie there."""
    found: dict[Site, Pixels] = {}
    for pitch_mm in sorted({place.pitch_mm for place in places}):
        here = [place for place in places if place.pitch_mm == pitch_mm]
        found |= zip((p.site for p in here), _cut(image, plan, here, pitch_mm), strict=True)
    return {place.site: found[place.site] for place in places}


def top_mm(plan: Plan, place: Place) -> float:
    """Height of what may lie on a place: half-way where pieces of several heights may."""
    tops = [plan.piece_of[face].thickness_mm for face in place.faces if face != EMPTY]
    return (min(tops) + max(tops)) / 2 if tops else 0.0


def _cut(
    image: TableImage, plan: Plan, places: Sequence[Place], pitch_mm: float
) -> Sequence[Pixels]:
    # A picture much finer than the cut-outs is averaged first: else pixels would be skipped.
    finer = max(round(pitch_mm * image.px_per_mm / PITCH_PX), 1)
    bgr = image.bgr
    if finer > 1:
        rows, columns = (side // finer * finer for side in bgr.shape[:2])
        small = cv2.resize(
            bgr[:rows, :columns], None, fx=1 / finer, fy=1 / finer, interpolation=cv2.INTER_AREA
        )
        bgr = small.astype(np.uint8, copy=False)
    middles_px = np.array([_middle_px(image, plan, place) for place in places])
    middles_px = (middles_px + 0.5) / finer - 0.5
    step_px = pitch_mm * image.px_per_mm / finer / PITCH_PX
    along = (np.arange(SPAN_PX) - (SPAN_PX - 1) / 2) * step_px
    columns_px = np.broadcast_to(along, (len(places), SPAN_PX, SPAN_PX)) + middles_px[:, :1, None]
    rows_px = along[:, None] + np.zeros(SPAN_PX) + middles_px[:, 1:, None]
    cuts = cv2.remap(
        bgr,
        columns_px.reshape(-1, SPAN_PX).astype(np.float32),
        rows_px.reshape(-1, SPAN_PX).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return list(cuts.astype(np.uint8, copy=False).reshape(-1, SPAN_PX, SPAN_PX, 3))


def _middle_px(image: TableImage, plan: Plan, place: Place) -> tuple[float, float]:
    height_mm = top_mm(plan, place)
    lean_x, lean_y = image.shift_per_mm_height(place.x_mm, place.y_mm)
    return image.to_px(place.x_mm + height_mm * lean_x, place.y_mm + height_mm * lean_y)


def cut_board(image: TableImage, plan: Plan) -> Pixels:
    """The whole table without its margin, small."""
    left, top = image.to_px(0.5 / BOARD_PX_PER_MM, 0.5 / BOARD_PX_PER_MM)
    step = image.px_per_mm / BOARD_PX_PER_MM
    matrix = np.array([[step, 0, left], [0, step, top]])
    size = [round(side * BOARD_PX_PER_MM) for side in plan.size_mm]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(image.bgr, matrix, size, flags=flags).astype(np.uint8, copy=False)


def to_patch(bgr: Pixels, white_bgr: Numbers | Sequence[float]) -> Patch:
    """A cut-out in the light in which white paper is ``PAPER``."""
    levels = np.arange(256)[:, None] * (PAPER / np.maximum(np.asarray(white_bgr), 1))
    levels[BLOWN:] = 1
    table = np.minimum(levels, 1).astype(np.float32)
    return cv2.LUT(bgr, table[None]).astype(np.float32, copy=False)


def to_patches(cuts: Mapping[Site, Pixels], white_bgr: Numbers) -> dict[Site, Patch]:
    """All cut-outs of one picture, at once."""
    whole = to_patch(np.concatenate(list(cuts.values())), white_bgr)
    return dict(zip(cuts, whole.reshape(-1, SPAN_PX, SPAN_PX, 3), strict=True))


def rescale(patch: Patch, factor: float, span_px: int = SPAN_PX) -> Patch:
    """The middle of a patch so many times larger, as a patch of ``span_px``."""
    if abs(factor - 1) < 1e-3 and len(patch) == span_px:
        return patch
    offset = (span_px - 1) / 2 - factor * (len(patch) - 1) / 2
    matrix = np.array([[factor, 0, offset], [0, factor, offset]])
    scaled = cv2.warpAffine(patch, matrix, (span_px, span_px), borderMode=cv2.BORDER_REPLICATE)
    return scaled.astype(np.float32, copy=False)


def to_png(bgr: Pixels) -> bytes:
    _, data = cv2.imencode(".png", bgr)
    return data.tobytes()


def from_png(data: bytes) -> Pixels:
    """The picture in a PNG file; ``InvalidValue`` if there is none."""
    bgr = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if bgr is None:
        raise InvalidValue(f"expected a PNG picture, got {len(data)} bytes of something else")
    return bgr.astype(np.uint8, copy=False)


def inner(patch: Patch, share: float = 0.7) -> Patch:
    """The middle of a patch, without its rim."""
    cut = BORDER_PX + round(PITCH_PX * (1 - share) / 2)
    return patch[cut:-cut, cut:-cut]
