"""Names what is wrong with a picture, so that the players can be told what to do about it."""

from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.status import Trouble
from rules.table import EMPTY, Plan, Site

from .cards import IDS, Cards
from .frame import Frame, Pixels
from .observation import Observation
from .pose import project
from .rectify import FEWEST_CARDS, WORST_FIT_MM, TableImage, locate

SMALL_PX = 270
"""Height to which a frame without a table is shrunk before it is judged."""

DARK_LEVEL = 45.0
"""White paper darker than this drowns in noise. On 10 virtual tables no site was unreadable with
paper at 70 and more, 0.4 % were at 58, and 14 % at 42."""

LIT_PERCENT = 90.0
"""In a frame without a table, this share is darker than its bright parts, lamps left out."""

BLOWN = 250
"""A pixel with a channel this bright is blown out."""

MOST_BLOWN = 0.35
"""A picture of which this share is blown out in all channels has lost its colours. Virtual tables
have 0.11 at most half a stop above what is right, and 0.36 at least at two stops, where every
twentieth site is unreadable."""

LOOSE_FIT_MM = 0.3
CLEARER = 0.6
"""Four cards fit nearly any four-cornered table a little. One that was moved by 8 mm shows by a fit
worse than the first, which gets better by more than the second without it; the distortion of a
lens makes all fits worse alike."""

SHARPEST_PERCENT = 80.0
EDGES = 0.005
"""The share of a picture that counts as its strongest edges."""
CONTRAST = 4.0
"""Levels per pixel of the strongest edges. With less, as on a bare cloth, nothing can be said."""
SOFT_PX = 2.0
SHARPNESS = 2.2
"""How much steeper the strongest edges are than after a blur of ``SOFT_PX``. 40 virtual tables,
with cards and without, had 2.7 to 3.6, and 1.7 to 2.05 with a lens so far out of focus that no card
is found; photographs of other games 1.9 to 3.8, and 1.2 to 1.8 when blurred as much."""

GLARE = 1.15
"""Nothing printed is brighter than the best lit paper by this factor: it reflects a lamp. 120
virtual tables without a reflection stay below 1.06; between 1.06 and 1.2 no wrongly read site of
147 under a reflection is missed."""
GLARE_REACH = 0.8
"""In pitches: around a reflection there is haze, in which a piece looks like the bare board."""
GLARE_SHARE = 0.2
"""Of the area of a site that has to glare within this reach."""


def explain_lost(frame: Frame, cards: Cards, plan: Plan) -> Trouble:
    """Why the table is not found in a frame in which these cards were."""
    factor = max(frame.bgr.shape[0] // SMALL_PX, 1)
    size = frame.bgr.shape[1] // factor, frame.bgr.shape[0] // factor
    whole = frame.bgr[: size[1] * factor, : size[0] * factor]
    small = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.uint8, copy=False)
    if float(np.percentile(gray, LIT_PERCENT)) < DARK_LEVEL:
        return Trouble("too_dark")
    if float((gray >= BLOWN).mean()) > MOST_BLOWN:
        return Trouble("too_bright")
    if len(cards) >= FEWEST_CARDS:
        moved = _moved(cards, plan.size_mm, WORST_FIT_MM) or set(cards.corners_px)
        return Trouble("cards_moved", cards=_shown(moved))
    if _blurred(gray):
        return Trouble("blurred")
    if not cards.corners_px:
        return Trouble("no_cards")
    return Trouble("cards_missing", cards=_shown(set(IDS) - set(cards.corners_px)))


def examine(frame: Frame, cards: Cards, image: TableImage, plan: Plan) -> Trouble | None:
    """Why this picture of a table must not be read."""
    paper = max(float(white.mean()) for white in image.whites_bgr.values())
    if paper < DARK_LEVEL:
        return Trouble("too_dark")
    if paper >= BLOWN and float((_darkest(image)[0] >= BLOWN).mean()) > MOST_BLOWN:
        return Trouble("too_bright")
    if len(cards) == len(IDS) and image.fit_mm > LOOSE_FIT_MM:
        moved = _moved(cards, plan.size_mm, image.fit_mm)
        if moved:
            return Trouble("cards_moved", cards=_shown(moved))
    hidden = _outside(frame, image, plan)
    return Trouble("out_of_view", sites=hidden) if hidden else None


def doubt(image: TableImage, plan: Plan, seen: Observation) -> tuple[Observation, Trouble | None]:
    """What was seen without the sites of which the picture says nothing, and why it does not."""
    glaring = find_glare(image, plan)
    dazzled = [
        site
        for site in plan.sites
        if site in glaring and (site not in seen.beliefs or seen.best(site) == EMPTY)
    ]
    foreign = tuple(s for s in plan.sites if s not in seen.beliefs and s not in glaring)
    if dazzled:
        hidden = set(dazzled)
        beliefs = {site: belief for site, belief in seen.beliefs.items() if site not in hidden}
        seen = replace(seen, beliefs=beliefs)
    if foreign:
        return seen, Trouble("foreign", sites=foreign)
    return seen, Trouble("glare", sites=tuple(dazzled)) if dazzled else None


def find_glare(image: TableImage, plan: Plan) -> frozenset[Site]:
    """The sites on or beside which a lamp is reflected."""
    darkest, px_per_mm = _darkest(image)
    paper = max(float(white.mean()) for white in image.whites_bgr.values())
    bright = (darkest > min(GLARE * paper, BLOWN)).astype(np.uint8)
    if not bright.any():
        return frozenset()
    # Single bright spots are noise, or the edges of white print.
    bright = cv2.morphologyEx(bright, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)).astype(np.uint8)
    found: set[Site] = set()
    for pitch_mm in {place.pitch_mm for place in plan.places.values()}:
        places = [p for p in plan.places.values() if p.pitch_mm == pitch_mm]
        side = int(2 * GLARE_REACH * pitch_mm * px_per_mm) | 1
        area = cv2.boxFilter(bright, cv2.CV_32F, (side, side), normalize=False)
        middles = np.array([(p.x_mm, p.y_mm) for p in places])
        columns, rows = ((middles + image.margin_mm) * px_per_mm).astype(int).T
        share = area[rows, columns] / (np.pi / 4 * (0.8 * pitch_mm * px_per_mm) ** 2)
        found |= {p.site for p, s in zip(places, share, strict=True) if s > GLARE_SHARE}
    return frozenset(found)


def _darkest(image: TableImage) -> tuple[Pixels, float]:
    """The darkest channel in a picture of half the size, and its pixels per millimetre."""
    size = image.bgr.shape[1] // 2, image.bgr.shape[0] // 2
    even = image.bgr[: 2 * size[1], : 2 * size[0]]
    blue, green, red = cv2.split(cv2.resize(even, size, interpolation=cv2.INTER_AREA))
    darkest = cv2.min(cv2.min(blue, green), red)
    return darkest.astype(np.uint8, copy=False), image.px_per_mm / 2


def _outside(frame: Frame, image: TableImage, plan: Plan) -> tuple[Site, ...]:
    """The sites that reach out of the frame."""
    places = list(plan.places.values())
    middles = np.array([(p.x_mm, p.y_mm) for p in places])
    reach = np.array([[0.4 * p.pitch_mm] for p in places])
    inside = np.ones(len(places), bool)
    for towards in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        x, y = project(image.homography, middles + reach * towards).T
        height, width = frame.bgr.shape[:2]
        inside &= (x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)
    return tuple(p.site for p, seen in zip(places, inside.tolist(), strict=True) if not seen)


def _moved(cards: Cards, size_mm: tuple[float, float], fit_mm: float) -> set[int]:
    """The card without which the others fit much better than ``fit_mm``, if there is one."""
    fits_mm = {}
    for number in cards.corners_px:
        others = Cards({k: v for k, v in cards.corners_px.items() if k != number})
        located = locate(others, size_mm)
        if located:
            fits_mm[number] = located[1]
    best = min(fits_mm, key=lambda number: fits_mm[number], default=None)
    return {best} if best is not None and fits_mm[best] < CLEARER * fit_mm else set()


def _blurred(gray: Pixels) -> bool:
    """Whether even the sharpest of the strong edges are soft."""
    steep = _steepness(gray)
    soft = _steepness(cv2.GaussianBlur(gray, (0, 0), SOFT_PX).astype(np.uint8, copy=False))
    edges = soft > max(float(np.percentile(soft, 100 * (1 - EDGES))), CONTRAST)
    if not edges.any():
        return False
    return float(np.percentile(steep[edges] / soft[edges], SHARPEST_PERCENT)) < SHARPNESS


def _steepness(gray: Pixels) -> NDArray[np.float32]:
    across = cv2.Sobel(gray, cv2.CV_32F, 1, 0, scale=1 / 8)
    along = cv2.Sobel(gray, cv2.CV_32F, 0, 1, scale=1 / 8)
    return cv2.magnitude(across, along).astype(np.float32, copy=False)


def _shown(cards: Iterable[int]) -> tuple[int, ...]:
    """Cards by the numbers that are printed on them."""
    return tuple(sorted(number + 1 for number in cards))
