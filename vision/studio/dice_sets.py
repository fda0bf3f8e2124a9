"""Pictures of thrown dice with their truth, drawn from seeds."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import cv2
import numpy as np

from ..pose import project
from .dice import Bgr, Die, Paint, throw
from .prints import PRINTS, make_table
from .room import Room
from .sets import Entry, PictureSet
from .studio import Shot

DIE_MM = 16.0


def draw_dice_to_learn(seed: int) -> Entry:
    """Dice of any colour and size on anything, seen from anywhere."""
    rng = Random(f"dice to learn {seed}")
    size_px = (480, 480)
    edge_mm = rng.choice((DIE_MM, rng.uniform(12, 20)))
    die_px = 15.0 * 10 ** rng.uniform(0, 1)
    away_mm = rng.uniform(280, 700)
    away_mm = max(away_mm, 0.85 * size_px[0] * edge_mm / die_px)
    focal = die_px * away_mm / edge_mm / size_px[0]
    side_mm = 2.4 * edge_mm * size_px[0] / die_px
    room = Room.draw(seed, size_px)
    habits = replace(
        room.habits,
        focal=focal,
        tilt_deg=min(abs(rng.gauss(0, 24)), 50.0),
        roll_deg=rng.uniform(-180, 180),
        aim_mm=(0.0, 0.0),
        blur_px=rng.uniform(0.2, 1.0),
        exposure_ev=rng.uniform(-1.2, 0.6),
        white_balance=rng.uniform(0.1, 1.0),
    )
    room = replace(
        room,
        habits=habits,
        away_mm=away_mm,
        board_mm=rng.choice((0.0, rng.uniform(0.3, 2.0))),
        aperture_mm=room.aperture_mm * away_mm / 700,
        piece_roughness=rng.uniform(0.08, 0.5),
        jpeg_quality=rng.randint(55, 95),
    )
    plan = make_table(rng.choice(list(PRINTS)), seed, (side_mm, side_mm))
    family = draw_paint(rng)
    alike = rng.random() < 0.35
    most = int(min(14, 0.45 * (size_px[0] / die_px) ** 2))
    count = rng.randint(min(1, most), max(1, most))
    bare = Shot(plan, room, seed, {}, cards=False, rays=16)
    dice = throw(
        rng, count, edge_mm, lambda: family if alike else draw_paint(rng), _in_view_of(bare)
    )
    shot = replace(bare, dice=dice)
    return shot, {"dice": [_tell(shot, die) for die in dice]}


def draw_dice_at_sea(seed: int) -> Entry:
    """Nine to fifteen dice of five colours on a printed sea, between the corner cards."""
    rng = Random(f"dice at sea {seed}")
    width = rng.uniform(240, 380)
    plan = make_table("sea", seed, (width, width * rng.uniform(0.68, 0.78)))
    room = replace(Room.draw(seed, (960, 720)), piece_roughness=rng.uniform(0.1, 0.45))
    paints = [_vary(paint, rng) for paint in draw_five(rng)]
    bare = Shot(plan, room, seed, {}, rays=12)
    fits = _in_view_of(bare)
    dice = throw(rng, rng.randint(9, 15), DIE_MM, lambda: rng.choice(paints), fits)
    shot = replace(bare, dice=dice)
    return shot, {"dice": [_tell(shot, die) for die in dice]}


def _tell(shot: Shot, die: Die) -> dict[str, Any]:
    """The truth about a die."""
    top = shot.top_px(die)
    box = [*top.min(axis=0), *top.max(axis=0)]
    return {
        "value": die.value,
        "box_px": [round(float(v), 1) for v in box],
        "top_px": [[round(float(v), 1) for v in corner] for corner in top],
        "colour": die.paint.colour,
    }


def _in_view_of(shot: Shot) -> Callable[[Die], bool]:
    """Whether all of a die is in the picture, on the board if there is one."""
    width, height = shot.room.size_px
    table = np.array(shot.plan.size_mm)
    pose, board_mm = shot.pose, shot.room.board_mm
    ends = pose.homography(board_mm), pose.homography(board_mm + DIE_MM)

    def fits(die: Die) -> bool:
        corners = die.top_mm
        if (corners < 1).any() or (corners > table - 1).any():
            return False
        seen = np.concatenate([project(end, corners) for end in ends])
        edge = 0.012 * width
        return bool((seen > edge).all() and (seen < np.array([width, height]) - edge).all())

    return fits


def draw_five(rng: Random) -> list[Paint]:
    """Five bodies: green, blue, orange, yellow and smoke, with light or dark pips that show."""
    light, dark = (238, 243, 245), (24, 22, 22)
    shape = _draw_shape(rng)
    bodies: dict[str, tuple[Bgr, tuple[Bgr, ...]]] = {
        "green": ((58, 128, 30), (light, light, dark)),
        "blue": ((178, 78, 26), (light,)),
        "orange": ((24, 108, 236), (light, dark)),
        "yellow": ((36, 200, 246), (dark,)),
        "smoke": ((100, 93, 88), (light,)),
    }
    return [
        replace(shape, colour=name, body=body, pip=rng.choice(pips), clear=0.6 * (name == "smoke"))
        for name, (body, pips) in bodies.items()
    ]


def draw_paint(rng: Random) -> Paint:
    """A body of any colour with pips that can be told from it."""
    name, (hues, strengths, lights) = rng.choice(list(BODIES.items()))
    body = _hsv(rng.uniform(*hues), rng.uniform(*strengths), rng.uniform(*lights))
    while True:
        if rng.random() < 0.8:
            pip = _hsv(0, 0, rng.uniform(*rng.choice(((5, 50), (200, 250)))))
        else:
            pip = _hsv(rng.uniform(0, 180), rng.uniform(120, 255), rng.uniform(60, 250))
        if np.abs(np.subtract(body, pip)).sum() > 220:
            break
    if rng.random() < 0.06:
        name, body, pip = "black", _hsv(0, 0, rng.uniform(10, 45)), (25, 20, rng.randint(130, 220))
    return replace(
        _draw_shape(rng),
        colour=name,
        body=body,
        pip=pip,
        marbling=rng.uniform(0.3, 0.9) if rng.random() < 0.2 else 0.0,
        second=_vary_colour(body, rng, 50),
        clear=rng.uniform(0.3, 0.8) if rng.random() < 0.15 else 0.0,
    )


BODIES = {
    "white": ((0, 180), (0, 25), (205, 245)),
    "ivory": ((18, 28), (30, 70), (205, 240)),
    "black": ((0, 180), (0, 60), (10, 45)),
    "smoke": ((0, 180), (0, 50), (50, 95)),
    "red": ((174, 180), (180, 250), (110, 220)),
    "orange": ((8, 14), (190, 250), (200, 250)),
    "yellow": ((23, 29), (170, 240), (210, 250)),
    "green": ((45, 80), (120, 240), (60, 190)),
    "blue": ((98, 120), (140, 245), (80, 220)),
    "purple": ((130, 150), (90, 220), (70, 190)),
    "pink": ((160, 172), (60, 170), (190, 245)),
    "brown": ((6, 14), (120, 200), (50, 110)),
}
"""Hue (0 to 180), strength and light of each named body."""


def _hsv(hue: float, strength: float, light: float) -> Bgr:
    pixel = np.array([[(hue, strength, light)]], np.uint8)
    blue, green, red = cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0].tolist()
    return blue, green, red


def _draw_shape(rng: Random) -> Paint:
    radius = rng.uniform(0.15, 0.23)
    return Paint(
        "",
        (0, 0, 0),
        (0, 0, 0),
        pip_radius=radius,
        spread=rng.uniform(0.44, 0.55),
        rounding=rng.uniform(0.1, 0.3),
        drilled=radius * rng.uniform(0.15, 0.5),
    )


def _vary(paint: Paint, rng: Random) -> Paint:
    """The same kind of die from another box."""
    return replace(paint, body=_vary_colour(paint.body, rng, 14))


def _vary_colour(bgr: Bgr, rng: Random, by: int) -> Bgr:
    blue, green, red = (min(255, max(0, v + rng.randint(-by, by))) for v in bgr)
    return blue, green, red


SETS = {
    "dice-train": PictureSet(draw_dice_to_learn, {"kind": "dice", "box": "top face"}, 300, 0),
    "dice": PictureSet(draw_dice_at_sea, {"kind": "dice", "box": "top face"}, 300, 10_000),
}
