"""When the table may be read: nothing moves, and no hand or other foreign thing is over it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.status import Trouble
from rules.table import Plan

from .board import AS_PLANNED, BoardPicture, BoardPlace, BoardWatch
from .cards import Cards, find_cards
from .frame import Frame, Pixels
from .rectify import MARGIN_MM, TableImage, rectify
from .trouble import examine, explain_lost

Floats: TypeAlias = NDArray[np.float32]
Activity = Literal["still", "moving"]

SETTLE_S = 0.4
SMALL_PX = 180
"""Height to which a frame is shrunk before it is compared."""
MOVED_LEVELS = 7.0
MOVED_SPOTS = 6
"""So many spots of the small picture must differ: fewer are a reflection or noise."""


class Stillness:
    """Says of each frame whether the picture has been the same for a while."""

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        self._settle_s = settle_s
        self._anchor: Floats | None = None
        self._since_s = 0.0

    def feed(self, frame: Frame) -> Activity:
        small = _shrink(frame.bgr)
        # Compared with the first frame of the still time, not the last: slow motion adds up.
        if self._anchor is None or _moved(self._anchor, small):
            self._anchor, self._since_s = small, frame.at_s
            return "moving"
        return "still" if frame.at_s - self._since_s >= self._settle_s else "moving"

    def still_s(self, at_s: float) -> float:
        """For how long nothing has moved."""
        return at_s - self._since_s


def _shrink(bgr: Pixels) -> Floats:
    # Whole factors only: area averaging is several times slower with others.
    factor = max(bgr.shape[0] // SMALL_PX, 1)
    size = bgr.shape[1] // factor, bgr.shape[0] // factor
    whole = bgr[: size[1] * factor, : size[0] * factor]
    small = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)
    # The noise of a poor sensor is no motion, and what moves is larger than a few spots.
    return cv2.blur(gray, (3, 3)).astype(np.float32, copy=False)


def _moved(before: Floats, now: Floats) -> bool:
    if before.shape != now.shape:
        return True
    # The camera's exposure wanders; that is no motion.
    gain = (float(np.median(before)) + 1) / (float(np.median(now)) + 1)
    different = np.abs(now * gain - before) > MOVED_LEVELS
    return int(different.sum()) >= MOVED_SPOTS


COARSE_PX_PER_MM = 1.0
MOST_SITES = 6
"""A change that covers more sites than this at once is no move."""
COLOUR_CHANGE = 0.14
LIGHT_CHANGE = 0.55
"""Natural logarithms of pixel values: what shadows and lamps may do to them."""
WEAK, STRONG = 0.002, 0.006
"""Structure, as the variance of the logarithms within a window."""
WINDOW_PX = 13
NEAR_PX = 31
RIM_MM = 8.0
OVER_RIM_MM2, OVER_TABLE_MM2 = 200.0, 100.0
"""How much of a change lies over the rim and over the table when something reaches in."""


def hands_over(
    image: TableImage,
    clear: TableImage,
    plan: Plan,
    most_sites: int = MOST_SITES,
) -> bool:
    """Whether something foreign is over the table that was not there in ``clear``.

    A hand, sleeve, cup or cat: a change that reaches in over the edge of the table, or that covers
    many sites at once. What was laid on sites does neither, and changes of light are not counted.
    When the board has moved in between, what is around it has changed and is left out.
    """
    changed = _changes(image, clear)
    px_per_mm = changed.shape[1] / (plan.size_mm[0] + 2 * image.margin_mm)
    # Skin on wood can be hard to see in between: what is near belongs together.
    near = cv2.dilate(changed, np.ones((NEAR_PX, NEAR_PX), np.uint8))
    count, labels = cv2.connectedComponents(near)
    table, rim = _zones(plan, image.margin_mm, px_per_mm, changed.shape)
    over_table = np.bincount(labels[table & (changed > 0)], minlength=count)[1:]
    over_rim = np.bincount(labels[rim & (changed > 0)], minlength=count)[1:]
    px_per_mm2 = px_per_mm**2
    enough = (over_rim > OVER_RIM_MM2 * px_per_mm2) & (over_table > OVER_TABLE_MM2 * px_per_mm2)
    if enough.any() and image.place == clear.place:
        return True
    count, labels = cv2.connectedComponents(changed)
    places = np.array([(p.x_mm, p.y_mm) for p in plan.places.values()])
    columns, rows = ((places + image.margin_mm) * px_per_mm - 0.5).round().astype(int).T
    covered = np.bincount(labels[rows, columns], minlength=count)[1:]
    return bool((covered > most_sites).any())


def _changes(image: TableImage, clear: TableImage) -> Pixels:
    """Where other things are seen than before, as a mask, whatever the light does."""
    (now, gray_now), (before, gray_before) = _logarithms(image), _logarithms(clear)
    light = gray_now - gray_before
    changed = np.abs(light) > LIGHT_CHANGE
    for channel_now, channel_before in zip(now, before, strict=True):
        changed |= np.abs(channel_now - channel_before - light) > COLOUR_CHANGE
    # Shadows and reflections let the structure show through; things hide it or bring their own.
    structure, likeness = _compare(gray_now, gray_before)
    changed &= (structure < WEAK) | (likeness < 0.85)
    changed |= (structure > STRONG) & (likeness < 0.5)
    mask = changed.astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _disc(9)).astype(np.uint8)
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, _disc(5)).astype(np.uint8)


@lru_cache(maxsize=4)
def _logarithms(image: TableImage) -> tuple[tuple[Floats, ...], Floats]:
    """Channels and gray of the image, small, relative to white; light now adds, not multiplies."""
    factor = max(round(image.px_per_mm / COARSE_PX_PER_MM), 1)
    size = image.bgr.shape[1] // factor, image.bgr.shape[0] // factor
    whole = image.bgr[: size[1] * factor, : size[0] * factor]
    small = cv2.blur(cv2.resize(whole, size, interpolation=cv2.INTER_AREA), (3, 3))
    # The offset keeps the noise of dark places small.
    table = np.log(np.arange(256)[:, None] / image.white_bgr + 0.15).astype(np.float32)
    logarithms = cv2.LUT(small, table[None]).astype(np.float32, copy=False)
    blue, green, red = (np.ascontiguousarray(logarithms[:, :, c]) for c in range(3))
    return (blue, green, red), (blue + green + red) / np.float32(3)


def _compare(now: Floats, before: Floats) -> tuple[Floats, Floats]:
    """Around each place: the stronger of the two structures, and how well they correlate."""

    def mean(values: Floats) -> Floats:
        return cv2.blur(values, (WINDOW_PX, WINDOW_PX)).astype(np.float32, copy=False)

    mean_now, mean_before = mean(now), mean(before)
    spread_now = mean(now * now) - mean_now**2
    spread_before = mean(before * before) - mean_before**2
    shared = mean(now * before) - mean_now * mean_before
    likeness = shared / np.sqrt(np.maximum(spread_now * spread_before, np.float32(1e-8)))
    return np.maximum(spread_now, spread_before), likeness.astype(np.float32, copy=False)


def _zones(
    plan: Plan, margin_mm: float, px_per_mm: float, shape: tuple[int, ...]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The table, and its rim with what is around it, where no site is near and nothing lies."""
    rows, columns = shape
    x = (np.arange(columns) + 0.5) / px_per_mm - margin_mm
    y = (np.arange(rows) + 0.5) / px_per_mm - margin_mm
    width, height = plan.size_mm

    def within(edge_mm: float) -> NDArray[np.bool_]:
        rows_in = (y > edge_mm) & (y < height - edge_mm)
        columns_in = (x > edge_mm) & (x < width - edge_mm)
        return rows_in[:, None] & columns_in[None]

    pieces = np.zeros((rows, columns), np.uint8)
    for place in plan.places.values():
        centre = [round((v + margin_mm) * px_per_mm) for v in (place.x_mm, place.y_mm)]
        cv2.circle(pieces, centre, round(place.pitch_mm * 0.75 * px_per_mm) + WINDOW_PX // 2, 1, -1)
    return within(0), ~within(RIM_MM) & (pieces == 0)


def _disc(side: int) -> Pixels:
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)).astype(np.uint8)


ACCEPT_S = 20.0
"""What has covered the table so long without the least motion belongs to it."""


@dataclass(frozen=True, eq=False)
class Sight:
    """What may be done with a frame; the table may be read only when it is ``clear``."""

    state: Literal["moving", "lost", "covered", "clear"]
    image: TableImage | None = None
    trouble: Trouble | None = None
    """Why it is ``lost``."""


class Gate:
    """Lets through only those frames that show a still table with nothing over it."""

    def __init__(
        self,
        plan: Plan,
        *,
        px_per_mm: float,
        margin_mm: float = MARGIN_MM,
        settle_s: float = SETTLE_S,
        accept_s: float = ACCEPT_S,
        place: BoardPlace = AS_PLANNED,
        boards: Sequence[BoardPicture] | None = None,
    ) -> None:
        self._plan = plan
        self._px_per_mm = px_per_mm
        self._margin_mm = margin_mm
        self._accept_s = accept_s
        self._stillness = Stillness(settle_s)
        self._watch = BoardWatch(plan, place, boards)
        # More than one: after an elbow that was accepted is gone, the table before it counts.
        self._clear: deque[TableImage] = deque(maxlen=3)

    def feed(self, frame: Frame) -> Sight:
        if self._stillness.feed(frame) == "moving":
            return Sight("moving")
        cards = find_cards(frame.bgr)
        image = self._rectify(frame, cards, self._watch.place)
        if image is None:
            return Sight("lost", trouble=explain_lost(frame, cards, self._plan))
        trouble = examine(frame, cards, image, self._plan)
        if trouble:
            return Sight("lost", image, trouble)
        place = self._watch.look(image)
        if place is not None and place != image.place:
            image = self._rectify(frame, cards, place) or image
        known = next((c for c in self._clear if not hands_over(image, c, self._plan)), None)
        if known is None and place is None:
            return Sight("lost", image, Trouble("board_lost"))
        if known is not None:
            self._clear.remove(known)
        elif self._clear and self._stillness.still_s(frame.at_s) < self._accept_s:
            return Sight("covered", image)
        self._clear.appendleft(image)
        self._watch.remember(image)
        return Sight("clear", image)

    def accept(self) -> None:
        """Somebody says that nothing is over the table: begin anew with what is seen next."""
        self._clear.clear()
        self._watch.forget()

    def _rectify(self, frame: Frame, cards: Cards, place: BoardPlace) -> TableImage | None:
        return rectify(
            frame,
            self._plan,
            px_per_mm=self._px_per_mm,
            margin_mm=self._margin_mm,
            cards=cards,
            place=place,
        )
