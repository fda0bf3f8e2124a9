"""Finds six-sided dice in a picture and reads them: one net says where, a second one says what.

The locator sees the whole picture at a usual or a coarse scale and, where the dice it found are
small or large, once more at the scale that suits them. The reader looks at each candidate in
a crop of one size, from the full picture, and four times where it is not clear. Both name a value.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..cards import CARD_MM, MARKER_MM, Cards
from ..frame import Numbers, Pixels

WEIGHTS = Path(__file__).parent / "weights"
STRIDE_PX = 4
"""A cell of the locator's answer."""
USUAL_PX = 32.0
"""The size of a die whose logarithm the locator calls 0."""
MIDDLE, SPREAD = 127.5, 64.0
"""Pixels reach the nets less the first, divided by the second."""
CROP_PX = 64
CROP_SIZE_PX = 38.0
"""The top face in the reader's crop; the rest shows what surrounds it."""

FIRST_SIDE_PX = 640
MOST_SIDE_PX = 1920
"""Longer sides are shrunk for the first look, and no look is larger than the second figure."""
COARSER = 3
LARGE_PX = 26.0
"""A look this much smaller costs little and finds large dice; it counts if its best peak beats
that of the usual one, and what is small in it never does."""
WANTED_PX = 38.0
"""Another look brings the median die to this size, if it differs much from it."""
MUCH = 1.5
CANDIDATE = 0.22
CLEAR = 0.45
"""Peaks of the locator that are looked at again, and those that tell the scale."""
DOUBT = 0.2
LIKELY = 0.5
ACCEPT = 0.64
"""Scores from which a place may be a die, is worth further views, and is taken for a die."""
MISTAKE_BY_BELIEF, MISTAKE_BY_SCORE, MISTAKE = -0.9, -1.72, 2.28
MISSED_BY_SCORE, MISSED = 2.85, -2.8
"""Log odds that a die is wrong, from those of its value and its score, and that a place which is
not taken for a die is one; fitted to photographs of which the nets had seen none."""
MOST_MISTAKES = 0.06
"""Expected in one picture before something is asked."""
READER_SHARE = 0.85
"""The reader sees more of a die than the locator; measured against a half and against all."""
MOST_CANDIDATES = 60
APART = 0.58
"""Two top faces are at least this part of their size apart."""
CLEAR_VIEW = 0.95
"""Where the reader's first view is so certain, and the locator agrees, one view will do."""
VIEWS = ((1, 0.0, 1.0), (-1, 0.0, 1.0), (1, 8.0, 0.9), (1, -8.0, 1.12))
"""Mirror, turn in degrees and scale of the crops of one candidate."""


@dataclass(frozen=True)
class Die:
    """A die that lies with ``value`` on top; ``size_px`` is the edge of that face."""

    value: int
    x_px: float
    y_px: float
    size_px: float
    colour_bgr: tuple[int, int, int]
    beliefs: dict[int, float]
    score: float
    """How certainly there is a top face at all, from 0 to 1."""
    doubt: float
    """How probably it spoils the total: read wrongly, no die, or a die that was not counted."""

    @property
    def sure(self) -> bool:
        """Whether this die alone gives no reason to ask."""
        return self.doubt < MOST_MISTAKES


@dataclass(frozen=True)
class Sight:
    """All that was seen: dice, places where there might be one more, and the time it took."""

    dice: tuple[Die, ...]
    doubts: tuple[Die, ...]
    ms: dict[str, float]

    @property
    def sure(self) -> bool:
        """Whether nothing needs to be asked; nobody looks for dice where there are none."""
        expected = sum(die.doubt for die in (*self.dice, *self.doubts))
        return bool(self.dice) and expected < MOST_MISTAKES


@dataclass(frozen=True, eq=False)
class _Candidate:
    x_px: float
    y_px: float
    size_px: float
    heat: float
    """How certain the locator is, from 0 to 1."""
    named: Numbers
    """The locator's shares of the six values."""
    score: float
    beliefs: Numbers
    views: Numbers = field(default_factory=lambda: np.zeros((0, 7)))
    """What the reader said, a row per view."""


@dataclass(frozen=True, eq=False)
class Nets:
    """The nets; the locator twice, since a net that is given another size starts anew."""

    locator: cv2.dnn.Net
    coarse_locator: cv2.dnn.Net
    reader: cv2.dnn.Net


@lru_cache(maxsize=2)
def load_nets(folder: Path = WEIGHTS) -> Nets:
    """The nets of a folder."""
    names = ("locator", "locator", "reader")
    return Nets(*(cv2.dnn.readNetFromONNX(str(folder / f"{name}.onnx")) for name in names))


def find_dice(bgr: Pixels) -> tuple[Die, ...]:
    """The dice of a picture; ``search`` also tells where there might be one more."""
    return search(bgr).dice


def search(bgr: Pixels, nets: Nets | None = None, cards: Cards | None = None) -> Sight:
    """Look once or twice for candidates, read them, and keep one top face per die.

    ``cards`` are the corner cards in the picture, if any: their markers look much like dice.
    """
    nets = nets or load_nets()
    start = time.perf_counter()
    candidates = _leave_cards_out(_locate(bgr, nets), cards or Cards())
    located = time.perf_counter()
    read = _keep_apart(_read(bgr, candidates, nets))
    dice = tuple(_judge(bgr, one) for one in read if one.score >= ACCEPT)
    doubts = tuple(_judge(bgr, one) for one in read if DOUBT <= one.score < ACCEPT)
    done = time.perf_counter()
    ms = {"locate": 1000 * (located - start), "read": 1000 * (done - located)}
    return Sight(dice, doubts, ms)


def scale_values(bgr: Pixels) -> NDArray[np.float32]:
    """Pixels as the nets take them."""
    return np.asarray((bgr.astype(np.float32) - MIDDLE) / SPREAD, np.float32)


def _locate(bgr: Pixels, nets: Nets) -> list[_Candidate]:
    longest = max(bgr.shape[:2])
    usual = min(1.0, FIRST_SIDE_PX / longest)
    coarse = usual / COARSER
    large = [c for c in _look(bgr, coarse, nets.coarse_locator) if c.size_px * coarse > LARGE_PX]
    looks = (_look(bgr, usual, nets.locator), large)
    candidates = max(looks, key=lambda seen: max((c.score for c in seen), default=0.0))
    clear = [c.size_px for c in candidates if c.score > CLEAR]
    if clear:
        better = min(WANTED_PX / float(np.median(clear)), MOST_SIDE_PX / longest)
    else:  # perhaps there are dice, but too small to be seen at this scale
        better = min(1.0, 2 * usual)
    if max(better / usual, usual / better) > MUCH:
        candidates += _look(bgr, better, nets.locator)
    return _keep_apart(candidates)[:MOST_CANDIDATES]


def _leave_cards_out(candidates: list[_Candidate], cards: Cards) -> list[_Candidate]:
    papers = []
    for corners in cards.corners_px.values():
        middle = corners.mean(axis=0)
        papers.append((middle + CARD_MM / MARKER_MM * (corners - middle)).astype(np.float32))
    return [
        one
        for one in candidates
        if all(cv2.pointPolygonTest(p, (one.x_px, one.y_px), False) < 0 for p in papers)
    ]


def _look(bgr: Pixels, scale: float, locator: cv2.dnn.Net) -> list[_Candidate]:
    """Peaks of the locator's answer at one scale, in pixels of the picture."""
    height, width = (max(1, round(side * scale)) for side in bgr.shape[:2])
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    sized = bgr if scale == 1 else cv2.resize(bgr, (width, height), interpolation=way)
    padded = cv2.copyMakeBorder(sized, 0, -height % 16, 0, -width % 16, cv2.BORDER_REPLICATE)
    locator.setInput(cv2.dnn.blobFromImage(padded, 1 / SPREAD, mean=(MIDDLE,) * 3))
    answer = np.asarray(locator.forward(), np.float64)[0]
    heat = 1 / (1 + np.exp(-answer[0]))
    peaks = (heat >= cv2.dilate(heat, np.ones((3, 3), np.uint8))) & (heat > CANDIDATE)
    found = []
    for row, column in np.argwhere(peaks):
        around = heat[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
        rows, columns = np.mgrid[: around.shape[0], : around.shape[1]]
        y = max(0, row - 1) + float((rows * around).sum() / around.sum()) + 0.5
        x = max(0, column - 1) + float((columns * around).sum() / around.sum()) + 0.5
        cell = answer[:, row, column]
        size = USUAL_PX * float(np.exp(np.clip(cell[7], -2, 2)))
        values = np.exp(cell[1:7] - cell[1:7].max())
        place = (float(x * STRIDE_PX / scale), float(y * STRIDE_PX / scale), size / scale)
        certain, named = float(heat[row, column]), values / values.sum()
        found.append(_Candidate(*place, certain, named, certain, named))
    return found


def _keep_apart(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The best of those that are too near each other to be two dice, best first."""
    kept: list[_Candidate] = []
    for one in sorted(candidates, key=lambda c: -c.score):
        near = (
            np.hypot(one.x_px - k.x_px, one.y_px - k.y_px) < APART * min(one.size_px, k.size_px)
            for k in kept
        )
        if not any(near):
            kept.append(one)
    return kept


def _read(bgr: Pixels, candidates: Sequence[_Candidate], nets: Nets) -> list[_Candidate]:
    """The candidates that stay possible, with the reader's word in score and beliefs.

    One view is enough where there is hardly a die, and for a die about which both nets agree;
    the other views cost as much each.
    """
    first = _ask_reader(bgr, candidates, VIEWS[:1], nets)
    asked = [_add_word(one, shares) for one, shares in zip(candidates, first, strict=True)]
    kept = [one for one in asked if one.score >= DOUBT]
    unclear = [one for one in kept if one.score >= LIKELY and not _is_clear(one)]
    more = _ask_reader(bgr, unclear, VIEWS[1:], nets)
    again = [_add_word(one, shares) for one, shares in zip(unclear, more, strict=True)]
    return [one for one in kept if one not in unclear] + again


def _is_clear(one: _Candidate) -> bool:
    values = one.views[0, 1:]
    agreed = one.heat > CLEAR and one.named.argmax() == values.argmax()
    return bool(agreed and values.max() > CLEAR_VIEW)


def _add_word(one: _Candidate, shares: Numbers) -> _Candidate:
    """The candidate with further views of the reader: shares of "no top face" and six values."""
    views = np.vstack([one.views, shares])
    mean = views.mean(axis=0)
    values = mean[1:] / max(1e-9, mean[1:].sum())
    beliefs = (1 - READER_SHARE) * one.named + READER_SHARE * values
    score = float(np.sqrt(one.heat * (1 - mean[0])))
    return replace(one, views=views, score=score, beliefs=beliefs)


def _ask_reader(
    bgr: Pixels,
    candidates: Sequence[_Candidate],
    views: Sequence[tuple[int, float, float]],
    nets: Nets,
) -> Numbers:
    """Shares of "no top face" and the six values, per candidate and view."""
    if not candidates:
        return np.zeros((0, len(views), 7))
    crops = [_cut_crop(bgr, one, *view) for one in candidates for view in views]
    nets.reader.setInput(cv2.dnn.blobFromImages(crops, 1 / SPREAD, mean=(MIDDLE,) * 3))
    answer = np.asarray(nets.reader.forward(), np.float64)
    shares = np.exp(answer - answer.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares.reshape(len(candidates), len(views), 7), np.float64)


def _cut_crop(bgr: Pixels, one: _Candidate, mirror: int, turn: float, larger: float) -> Pixels:
    scale = CROP_SIZE_PX / one.size_px * larger
    angle = np.radians(turn)
    matrix = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:, 0] *= mirror
    shift = CROP_PX / 2 - matrix @ [one.x_px, one.y_px]
    window, left, top = _cut_window(bgr, one)
    shift = shift + matrix @ [left, top]
    if scale < 0.5:  # shrinking this much would jump over pixels
        window = np.asarray(cv2.blur(window, (round(0.7 / scale),) * 2), np.uint8)
    crop = cv2.warpAffine(window, np.hstack([matrix, shift[:, None]]), (CROP_PX, CROP_PX),
                          flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # fmt: skip
    return np.asarray(crop, np.uint8)


def _cut_window(bgr: Pixels, one: _Candidate) -> tuple[Pixels, int, int]:
    """The part of the picture that crops of a candidate can touch, and its corner."""
    reach = 1.5 * one.size_px + 2
    height, width = bgr.shape[:2]
    left = int(np.clip(one.x_px - reach, 0, width - 1))
    top = int(np.clip(one.y_px - reach, 0, height - 1))
    return bgr[top : int(one.y_px + reach) + 1, left : int(one.x_px + reach) + 1], left, top


def _judge(bgr: Pixels, one: _Candidate) -> Die:
    beliefs = {value: float(one.beliefs[value - 1]) for value in range(1, 7)}
    value = max(beliefs, key=lambda v: beliefs[v])
    if one.score >= ACCEPT:
        odds = MISTAKE_BY_BELIEF * _log_odds(beliefs[value])
        odds += MISTAKE_BY_SCORE * _log_odds(one.score) + MISTAKE
    else:
        odds = MISSED_BY_SCORE * _log_odds(one.score) + MISSED
    doubt = 1 / (1 + math.exp(-odds))
    colour = _find_colour(bgr, one)
    return Die(value, one.x_px, one.y_px, one.size_px, colour, beliefs, one.score, doubt)


def _log_odds(share: float) -> float:
    share = min(max(share, 1e-4), 1 - 1e-4)
    return math.log(share / (1 - share))


def _find_colour(bgr: Pixels, one: _Candidate) -> tuple[int, int, int]:
    """The median of the top face: pips and glare cover less than half of it."""
    window, left, top = _cut_window(bgr, one)
    rows, columns = np.mgrid[: window.shape[0], : window.shape[1]]
    far = np.hypot(columns + left - one.x_px, rows + top - one.y_px)
    body = window[far <= max(1.5, 0.42 * one.size_px)]
    blue, green, red = np.median(body, axis=0)
    return round(float(blue)), round(float(green)), round(float(red))
