"""What the camera would see in a picture: a table of words, and the picture with it drawn in."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from rules.game import AnyGame
from rules.status import Trouble
from rules.table import EMPTY, Face, Site
from rules.texts import CORE, load
from vision.board import AS_PLANNED, BoardWatch
from vision.cards import Cards, find_cards
from vision.frame import Frame, Numbers, Pixels, read_picture
from vision.looks import DrawnLooks
from vision.observation import Observation
from vision.observe import Observer, reading_scale
from vision.rectify import TableImage, rectify
from vision.trouble import doubt, examine, explain_lost

from .errors import FirmwareError

SURE_BGR = (80, 200, 60)
UNSURE_BGR = (40, 120, 255)
CARD_BGR = (255, 120, 40)
SURE = 0.9


@dataclass(frozen=True, eq=False)
class Sighting:
    """One picture, looked at."""

    frame: Frame
    cards: Cards
    image: TableImage | None
    observation: Observation | None
    trouble: Trouble | None = None


def look_at(path: Path, game: AnyGame) -> Sighting:
    """Read a picture as a table of this game; ``NotAPicture`` for anything else than a picture."""
    frame = read_picture(path)
    plan = game.plan
    cards = find_cards(frame.bgr)
    image = rectify(frame, plan, px_per_mm=reading_scale(plan), cards=cards)
    if image is None:
        return Sighting(frame, cards, None, None, explain_lost(frame, cards, plan))
    place = BoardWatch(plan).look(image)
    if place and place != image.place:
        image = rectify(frame, plan, px_per_mm=reading_scale(plan), cards=cards, place=place)
        assert image is not None
    seen = Observer(plan, DrawnLooks(plan)).observe(image)
    seen, doubtful = doubt(image, plan, seen)
    return Sighting(frame, cards, image, seen, examine(frame, cards, image, plan) or doubtful)


def report(sighting: Sighting, game: AnyGame) -> Iterator[str]:
    """What was seen, line by line."""
    found = ", ".join(str(number + 1) for number in sorted(sighting.cards.corners_px)) or "none"
    yield f"cards: {found}"
    trouble = sighting.trouble
    if trouble:
        yield f"trouble: {load('en', CORE).say(f'trouble.{trouble.code}', trouble.fields)}"
    image, seen = sighting.image, sighting.observation
    if image is None or seen is None:
        yield "table: not in view; at least three corner cards must be, each at its own corner"
        return
    yield f"table: in view, the cards lie true to {image.fit_mm:.2f} mm"
    if image.place != AS_PLANNED:
        gap_mm = image.place.apart_mm(AS_PLANNED, game.plan.size_mm)
        yield f"board: found up to {gap_mm:.0f} mm from its place"
    lying = list(_lying(seen))
    yield f"lying: {len(lying)} of {len(game.plan.sites)} sites"
    yield from (f"  {site:<5} {face:<14} {share:6.1%}" for site, face, share in lying)
    unread = [site for site in game.plan.sites if site not in seen.beliefs]
    if unread:
        yield f"not readable: {' '.join(unread)}"


def _lying(seen: Observation) -> Iterator[tuple[Site, Face, float]]:
    for site, belief in seen.beliefs.items():
        face = seen.best(site)
        if face != EMPTY:
            yield site, face, belief[face]


def draw_over(sighting: Sighting, game: AnyGame) -> Pixels:
    """The picture with the cards and everything that lies on the table marked in it."""
    bgr = sighting.frame.bgr.copy()
    for number, corners in sighting.cards.corners_px.items():
        outline = np.rint(corners).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(bgr, [outline], True, CARD_BGR, 3, cv2.LINE_AA)
        _write(bgr, str(number + 1), corners.mean(axis=0), CARD_BGR)
    image, seen = sighting.image, sighting.observation
    if image is None or seen is None:
        return bgr
    plan = game.plan
    for site, face, share in _lying(seen):
        place = plan.places[site]
        radius_mm = place.pitch_mm * 0.45
        angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
        ring_mm = np.column_stack(
            [place.x_mm + radius_mm * np.cos(angles), place.y_mm + radius_mm * np.sin(angles)]
        )
        ring_px = cv2.perspectiveTransform(ring_mm[None], image.homography)[0]
        colour = SURE_BGR if share >= SURE else UNSURE_BGR
        outline = np.rint(ring_px).astype(np.int32).reshape(-1, 1, 2)
        cv2.polylines(bgr, [outline], True, colour, 2, cv2.LINE_AA)
        _write(bgr, plan.letters[face], ring_px.mean(axis=0), colour)
    return bgr


def _write(bgr: Pixels, text: str, centre: Numbers, colour: tuple[int, int, int]) -> None:
    scale = max(bgr.shape[0] / 1400, 0.4)
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    at = round(float(centre[0]) - width / 2), round(float(centre[1]) + height / 2)
    for ink, thickness in (((0, 0, 0), 5), (colour, 2)):
        cv2.putText(bgr, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, ink, thickness, cv2.LINE_AA)


def save_picture(path: Path, bgr: Pixels) -> None:
    try:
        written = cv2.imwrite(str(path), bgr)
    except cv2.error:  # an ending that is no kind of picture
        written = False
    if not written:
        raise FirmwareError(f"{path}: expected a place for a .png or .jpg picture")
