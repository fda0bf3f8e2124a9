"""A hand and an arm that reach in over the table."""

from dataclasses import dataclass
from math import cos, radians, sin

import cv2
import numpy as np

from ..frame import Numbers, Pixels
from ..pose import project

Colour = tuple[int, int, int]

SKINS: tuple[Colour, ...] = ((150, 180, 225), (105, 140, 190), (60, 85, 125), (45, 55, 80))
SLEEVES: tuple[Colour, ...] = ((120, 60, 40), (40, 40, 45), (200, 205, 210), (60, 60, 170))

LENGTH_MM = 1000.0
SHADOW_MM = (18.0, 14.0)


@dataclass(frozen=True)
class Arm:
    """Where it comes from, how far it has come, and what it looks like."""

    towards_mm: tuple[float, float]
    """The place on the table that it reaches for."""
    from_deg: float
    reach: float = 1.0
    """0 is just off the table, 1 arrives."""
    skin: Colour = SKINS[0]
    sleeve: Colour = SLEEVES[0]


def draw_arm(bgr: Pixels, arm: Arm, flat: Numbers, size_mm: tuple[float, float]) -> None:
    """Draw the arm and its shadow into a picture that sees the table through ``flat``."""
    hand, sleeve = outlines(arm, size_mm)
    height, width = bgr.shape[:2]
    small = (width // 4, height // 4)
    to_small = np.diag([0.25, 0.25, 1.0]) @ flat
    whole = _mask([*hand, *sleeve], to_small, small)
    if not whole.any():
        return
    shadow = _mask([p + SHADOW_MM for p in (*hand, *sleeve)], to_small, small)
    soft = cv2.GaussianBlur(shadow, (0, 0), 5)
    depth = cv2.distanceTransform(whole, cv2.DIST_L2, 3)
    rounding = np.sqrt(np.clip(depth / max(float(np.percentile(depth[whole > 0], 90)), 1), 0, 1))
    shade = cv2.resize((0.55 + 0.45 * rounding).astype(np.float32), (width, height))
    dim = cv2.resize(255 - soft // 3, (width, height))
    cv2.multiply(bgr, cv2.merge([dim, dim, dim]), dst=bgr, scale=1 / 255)
    for shapes, colour in ((sleeve, arm.sleeve), (hand, arm.skin)):
        mask = _mask(shapes, flat, (width, height))
        x, y, w, h = cv2.boundingRect(mask)
        part = np.s_[y : y + h, x : x + w]
        painted = shade[part][:, :, None] * np.array(colour, np.float32)
        opacity = mask[part][:, :, None].astype(np.float32) / 255
        bgr[part] = (bgr[part] * (1 - opacity) + painted * opacity).astype(np.uint8)


def outlines(arm: Arm, size_mm: tuple[float, float]) -> tuple[list[Numbers], list[Numbers]]:
    """The hand with the wrist, and the sleeve, as polygons in table millimetres."""
    a = radians(arm.from_deg)
    out, side = np.array([cos(a), sin(a)]), np.array([-sin(a), cos(a)])
    start = np.array(arm.towards_mm)
    centre = np.array(size_mm) / 2
    # Far enough outwards that the fingers are off the table, wherever it reaches for.
    back = float(np.hypot(*size_mm) / 2 + np.hypot(*(start - centre)) + 90)
    tip = start + out * back * (1 - arm.reach)

    def bar(from_mm: float, to_mm: float, at: float, slant: float, w0: float, w1: float) -> Numbers:
        p = tip + out * from_mm + side * (at + slant)
        q = tip + out * to_mm + side * at
        body = np.array([p + side * w0, p - side * w0, q - side * w1, q + side * w1])
        angles = np.linspace(0, 2 * np.pi, 16)
        ends = [
            c + r * np.column_stack([np.cos(angles), np.sin(angles)]) for c, r in ((p, w0), (q, w1))
        ]
        hull = cv2.convexHull(np.concatenate([body, *ends]).astype(np.float32))[:, 0]
        return hull.astype(np.float64)

    fingers = [
        bar(reach, 70, at, slant, 6.5, 8)
        for reach, at, slant in ((12, -26, -8), (2, -10, -4), (0, 8, 0), (8, 24, 5))
    ]
    thumb = bar(55, 95, 30, 26, 8, 11)
    palm = bar(75, 125, 0, 0, 36, 30)
    wrist = bar(120, 230, 0, 0, 27, 32)
    return [*fingers, thumb, palm, wrist], [bar(215, LENGTH_MM, 0, 0, 40, 60)]


def _mask(shapes: list[Numbers], homography: Numbers, size: tuple[int, int]) -> Pixels:
    mask = np.zeros((size[1], size[0]), np.uint8)
    for shape in shapes:
        corners = np.rint(project(homography, shape) * 16).astype(np.int32)
        cv2.fillPoly(mask, [corners], 255, cv2.LINE_AA, 4)
    return mask
