"""Cut-outs of sites, and the forms in which they are compared: grey pictures and colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import Face, Site

Floats: TypeAlias = NDArray[np.floating[Any]]
Flags: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.intp]
Patch: TypeAlias = NDArray[np.float32]
"""A picture of ``SPAN_PX`` squared around the middle of a site, BGR from 0 to 1."""

PITCH_PX = 32
"""Pixels along one pitch."""

BORDER_PX = 8
"""So much more on each side, to find pieces that lie beside the middle of their site."""

SPAN_PX = PITCH_PX + 2 * BORDER_PX

WINDOW_PX = 28
RADIUS_PX = 13.0
"""A round window is compared: a piece without its rim and corners, where neighbours lean in."""

GRAY = np.array([0.114, 0.587, 0.299], np.float32)

SAMPLES = 12
"""Places along each side of a site where its colours are looked at."""

LEVELS = (np.linspace(0.06, 0.94, 9) * (SAMPLES**2 - 1)).round().astype(np.intp)
"""Ranks among the sorted samples by which the colours of a cut-out are described."""

ALL_LEVELS = tuple(range(54))
OUTER_LEVELS = tuple(9 * part + level for part in range(5) for level in (0, 1, 7, 8))
"""Columns of the description of colours: all, or the darkest and brightest levels alone."""

SAME = 0.04
"""Cut-outs of one face on one site that differ by less on average are one example."""

MOST_ON_A_SITE = 3

LOCAL = 1.3
LOCAL_COST = 0.1
"""One place of the table may be lit so much better than another, but it is less likely."""

ALIKE = 0.5
"""Pieces that correlate so well with their common mean have a body to be centred by."""

CENTRE_PX = 4


@dataclass(frozen=True, eq=False)
class Example:
    """One cut-out with its truth."""

    site: Site
    face: Face
    patch: Patch


def stack_patches(patches: Sequence[Patch]) -> Floats:
    """All cut-outs in one array: cut-out, row, column, channel."""
    return np.stack(patches).astype(np.float32, copy=False)


def keep_distinct(examples: Sequence[Example], same: float = SAME) -> list[Example]:
    """Without those that show a face on a site as others before did."""
    kept: dict[tuple[Site, Face], list[Example]] = {}
    for example in examples:
        mine = kept.setdefault((example.site, example.face), [])
        if len(mine) < MOST_ON_A_SITE and all(
            float(
                np.abs(example.patch - e.patch)[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX].mean()
            )
            > same
            for e in mine
        ):
            mine.append(example)
    return [e for found in kept.values() for e in found]


def halve(pictures: Floats) -> Floats:
    """All pictures at half their size; as one tall picture, which is much faster than in turn."""
    count, side = pictures.shape[:2]
    if not count:
        return pictures[:, ::2, ::2]
    tall = pictures.reshape(count * side, side, -1)
    small = cv2.resize(tall, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    half: Floats = small.astype(np.float32, copy=False)
    return half.reshape(count, side // 2, side // 2, *pictures.shape[3:])


def transform_colours(pictures: Floats, matrix: Floats) -> Floats:
    """All pictures with their channels changed by a matrix; a fourth column is added."""
    count, side = pictures.shape[:2]
    tall = cv2.transform(pictures.reshape(count * side, side, 3), matrix)
    changed: Floats = tall.astype(np.float32, copy=False)
    return changed.reshape(count, side, side, *tall.shape[2:])


def to_gray(pictures: Floats) -> Floats:
    """The grey pictures of pictures in BGR."""
    return transform_colours(pictures, GRAY[None])


def describe_colours(half: Floats) -> Floats:
    """How the colours in the middle of cut-outs at half size are spread, wherever they lie.

    One row each: nine levels of blue, green, red, red against green, yellow against blue, and
    of how steep the grey picture is. All of them grow with the light.
    """
    start = (half.shape[1] - SAMPLES) // 2
    inner = half[:, start - 1 : start + SAMPLES + 1, start - 1 : start + SAMPLES + 1]
    gray = inner @ GRAY
    steep = np.abs(gray[:, 1:-1, 2:] - gray[:, 1:-1, :-2])
    steep += np.abs(gray[:, 2:, 1:-1] - gray[:, :-2, 1:-1])
    b, g, r = np.moveaxis(inner[:, 1:-1, 1:-1], -1, 0)
    parts = np.stack([b, g, r, r - g, (r + g) / 2 - b, steep / 2], axis=1)
    parts = np.sort(parts.reshape(len(half), 6, -1), axis=2)[:, :, LEVELS]
    return parts.reshape(len(half), -1).astype(np.float32)


def spread_colours(a: Floats, b: Floats) -> Floats:
    """How far the colours of each cut-out in ``a`` are from its partner in ``b``.

    One side of the table may be lit better than the other, which is not another colour.
    """
    along, mine, other = (x.sum(axis=-1) for x in (a * b, a * a, b * b))
    return _leave_after_light(along, mine, other, a.shape[-1])


def spread_all_colours(a: Floats, b: Floats) -> Floats:
    """The same for each cut-out in ``a`` and each in ``b``."""
    mine, other = (a**2).sum(axis=1)[:, None], (b**2).sum(axis=1)
    return _leave_after_light(a @ b.T, mine, other, a.shape[-1])


def measure_local_light(a: Floats, b: Floats) -> Floats:
    """By how much each row of ``a`` is to be multiplied to be as bright as its partner."""
    light: Floats = ((a * b).sum(axis=-1) / ((a * a).sum(axis=-1) + 1e-6)).clip(1 / LOCAL, LOCAL)
    return light


def _leave_after_light(along: Floats, mine: Floats, other: Floats, count: int) -> Floats:
    light = (along / (mine + 1e-6)).clip(1 / LOCAL, LOCAL)
    squares = other - 2 * light * along + light**2 * mine
    unlikely = (LOCAL_COST * np.log(light)) ** 2
    left: Floats = np.sqrt(squares.clip(min=0) / count + unlikely).astype(np.float32)
    return left


def channel_levels(colours: Floats) -> Floats:
    """The levels of blue, green and red alone: cut-out, level, channel."""
    return colours.reshape(len(colours), 6, -1)[:, :3].transpose(0, 2, 1)


def turn_picture(picture: Floats, deg: float) -> Floats:
    """The picture turned about its middle."""
    if deg == 0:
        return picture
    middle = (len(picture) - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), deg, 1.0)
    turned = cv2.warpAffine(picture, matrix, picture.shape[:2], borderMode=cv2.BORDER_REPLICATE)
    return turned.astype(np.float32, copy=False)


def draw_window(side: int, radius: float) -> Flags:
    """Which pixels of a square belong to the round window in it."""
    away = np.arange(side) - (side - 1) / 2
    window: Flags = np.hypot(away[:, None], away) <= radius
    return window


def centre_pieces(patches: Floats) -> Floats:
    """Pieces moved so that their bodies lie in the middle, if they have a body in common."""
    side = WINDOW_PX - 2
    start = (SPAN_PX - side) // 2
    views = np.lib.stride_tricks.sliding_window_view(patches @ GRAY, (side, side), axis=(1, 2))
    reach = np.arange(start - CENTRE_PX, start + CENTRE_PX + 1)
    near = views[:, reach][:, :, reach]
    flat = near.reshape(len(patches), len(reach) ** 2, -1)
    flat -= flat.mean(axis=2, keepdims=True)
    flat /= np.linalg.norm(flat, axis=2, keepdims=True) + 1e-3
    chosen = np.full(len(patches), len(reach) ** 2 // 2)
    rows = np.arange(len(patches))
    for _ in range(3):
        mean = flat[rows, chosen].mean(axis=0)
        likeness = flat @ (mean / (np.linalg.norm(mean) + 1e-6))
        chosen = likeness.argmax(axis=1)
    if float(likeness.max(axis=1).mean()) < ALIKE:
        return patches
    shifts = np.stack(np.divmod(chosen, len(reach)), axis=1) - CENTRE_PX
    moved = [
        cv2.warpAffine(
            patch,
            np.array([[1, 0, -dx], [0, 1, -dy]], np.float32),
            (SPAN_PX, SPAN_PX),
            borderMode=cv2.BORDER_REPLICATE,
        )
        for patch, (dy, dx) in zip(patches, shifts, strict=True)
    ]
    return np.stack(moved).astype(np.float32)
