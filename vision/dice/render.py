"""Draws tables with six-sided dice and their truth, cheaply, to train and to test the dice nets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from ..frame import Numbers, Pixels
from .cube import REACH, Floats, Light, Paint, Pose, pose_die, shade_die
from .ground import choose_colour, draw_ground

FINER = 2
"""Everything is drawn this many times larger and shrunk at the end: smooth edges for free."""
SMALLEST_PX, LARGEST_PX = 14.0, 76.0
WARMTH = np.array([-1.0, 0.0, 1.0])
"""How much each channel gains, as a logarithm, when the light gets warmer."""


@dataclass(frozen=True)
class Drawn:
    """A die in a picture: the value and middle of its top face, and the edge of that face."""

    value: int
    x_px: float
    y_px: float
    size_px: float
    body_bgr: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture with dice; ``sides_px`` are the middles of faces that do not count.

    Those are the visible sides of the dice, and cubes without pips.
    """

    bgr: Pixels
    dice: tuple[Drawn, ...]
    sides_px: tuple[tuple[float, float], ...]


def draw_scene(
    rng: np.random.Generator,
    width_px: int = 320,
    size_px: float | None = None,
    most: int = 9,
    pictures: Sequence[Pixels] = (),
) -> Scene:
    """A square picture with none to ``most`` dice, all about ``size_px`` large if that is given.

    ``pictures`` are photographed surfaces on which the dice may lie.
    """
    width = width_px * FINER
    size = size_px or float(np.exp(rng.uniform(np.log(SMALLEST_PX), np.log(LARGEST_PX))))
    size *= FINER
    canvas: Floats = draw_ground(rng, width, pictures, size).astype(np.float32) / np.float32(255)
    steep = rng.random() < 0.35
    tilt = float(np.radians(rng.uniform(25, 58) if steep else min(abs(rng.normal(0, 18)), 45)))
    # Cameras stand upright: what is on top of a die is then above its sides in the picture.
    azimuth = float(rng.normal(0, 0.25) if rng.random() < 0.75 else rng.uniform(0, 2 * np.pi))
    far = float(rng.uniform(5, 25))
    up = pose_die(rng, tilt, azimuth, far).turn[:, 2]
    lights, ambient = _choose_lights(rng, up)
    family = choose_paint(rng)
    alike = rng.random() < 0.4
    dice: list[Drawn] = []
    sides: list[tuple[float, float]] = []
    spots = _place(rng, width, size, int(rng.integers(0, most + 1)))
    away = np.array([-np.sin(azimuth), np.cos(azimuth)])
    for x, y in sorted(spots, key=lambda spot: float(away @ spot)):
        paint = family if alike else choose_paint(rng)
        if rng.random() < 0.06:
            paint = _remove_pips(paint)
        pose = pose_die(rng, tilt * float(rng.uniform(0.85, 1.15)), azimuth, far)
        edge = size * float(rng.uniform(0.85, 1.15))
        _blend(rng, canvas, (x, y), pose, paint, edge, lights, ambient)
        middle = (np.array([x, y]) + edge * pose.project(np.array([0, 0, 0.5]))) / FINER
        body = (float(paint.body[0] * 255), float(paint.body[1] * 255), float(paint.body[2] * 255))
        seen = edge * float(np.sqrt(np.cos(tilt))) * far / (far - 0.5) / FINER
        if paint.pips:
            dice.append(Drawn(pose.values[2], float(middle[0]), float(middle[1]), seen, body))
        else:
            sides.append((float(middle[0]), float(middle[1])))
        for axis in np.vstack([np.eye(3)[:2], -np.eye(3)[:2]]):
            if (pose.turn @ axis)[2] > 0.25:
                side = (np.array([x, y]) + edge * pose.project(axis / 2)) / FINER
                sides.append((float(side[0]), float(side[1])))
    return Scene(_photograph(rng, canvas, width_px), tuple(dice), tuple(sides))


def _place(
    rng: np.random.Generator, width: float, size: float, count: int
) -> list[tuple[float, float]]:
    spots: list[tuple[float, float]] = []
    for _ in range(count * 4):
        if spots and rng.random() < 0.4:  # next to another one, touching or nearly
            angle, far = rng.uniform(0, 2 * np.pi), size * rng.uniform(1.12, 1.5)
            near = spots[int(rng.integers(len(spots)))]
            spot = (near[0] + far * np.cos(angle), near[1] + far * np.sin(angle))
        else:
            spot = (float(rng.uniform(0, width)), float(rng.uniform(0, width)))
        inside = all(size * 0.6 < c < width - size * 0.6 for c in spot)
        if inside and all(np.hypot(spot[0] - x, spot[1] - y) > size * 1.1 for x, y in spots):
            spots.append(spot)
        if len(spots) == count:
            break
    return spots


def _brightness(bgr: Numbers) -> float:
    return float(bgr @ [0.114, 0.587, 0.299])


def choose_paint(rng: np.random.Generator) -> Paint:
    """A die of any colour whose pips can be seen."""
    body = choose_colour(rng)
    if rng.random() < 0.75:
        light = _brightness(body) < rng.uniform(90, 190)
        pip = np.full(3, rng.uniform(205, 255) if light else rng.uniform(5, 60))
    else:
        pip = choose_colour(rng)
    for _ in range(20):  # red on black is hard but real; red on the same red is no die
        if abs(_brightness(pip) - _brightness(body)) + 0.5 * np.abs(pip - body).max() > 75:
            break
        pip = choose_colour(rng)
    marbling = float(rng.uniform(0.3, 1)) if rng.random() < 0.3 else 0.0
    second = np.clip(body + rng.normal(0, 45, 3), 0, 255)
    if rng.random() < 0.12:  # the dice that are read worst: dark marble with red pips
        body, pip = rng.uniform(10, 60, 3), np.array([30.0, 25.0, rng.uniform(110, 220)])
        second = np.clip(body + np.array([1, 0.6, 0.6]) * rng.uniform(0, 90), 0, 255)
        marbling = float(rng.uniform(0.4, 1))
    radius = float(rng.uniform(0.065, 0.115))
    return Paint(
        body / 255,
        second / 255,
        pip / 255,
        marbling,
        spread=float(rng.uniform(max(0.19, 1.15 * radius + 0.1), 0.29)),
        radius=radius,
        large_one=float(rng.uniform(1.2, 1.9)) if rng.random() < 0.25 else 1.0,
        rounding=float(rng.uniform(0.04, 0.26)),
        bulge=float(rng.uniform(0, 0.3)),
        drilled=float(rng.uniform(0.2, 1.2)) if rng.random() < 0.7 else 0.0,
        gloss=float(rng.uniform(0.1, 1.2)) if rng.random() < 0.75 else 0.0,
        sharpness=float(np.exp(rng.uniform(np.log(8), np.log(120)))),
        clear=float(rng.uniform(0.3, 1)) if rng.random() < 0.2 else 0.0,
    )


def _remove_pips(paint: Paint) -> Paint:
    return replace(paint, pips=False)


def _choose_lights(rng: np.random.Generator, up: Numbers) -> tuple[tuple[Light, ...], Numbers]:
    """One to three lamps above the table, and the light from everywhere, about 1 together.

    The first one is often where level faces mirror it: the spot that looks like one more pip.
    """
    lights = []
    share = float(rng.uniform(0.25, 0.75))
    count = int(rng.integers(1, 4))
    mirrored = 2 * up[2] * up - [0, 0, 1]
    for number in range(count):
        if number == 0 and rng.random() < 0.5:
            towards = mirrored + rng.normal(0, 0.16, 3)
        else:
            towards = rng.normal(1.2 * up, 1)
        towards = towards + max(0.0, 0.3 - float(towards @ up)) * up
        towards /= np.linalg.norm(towards)
        colour = rng.uniform(0.8, 1.2, 3) * rng.uniform(0.5, 1.5) * (1 - share) / count * 1.5
        wide, tall = np.exp(rng.uniform(np.log(0.02), np.log(0.3), 2))
        lights.append(Light(towards, colour, float(wide), float(tall)))
    return tuple(lights), rng.uniform(0.9, 1.1, 3) * share


def _blend(
    rng: np.random.Generator,
    canvas: Floats,
    spot: tuple[float, float],
    pose: Pose,
    paint: Paint,
    edge: float,
    lights: tuple[Light, ...],
    ambient: Numbers,
) -> None:
    """One die and its shadow drawn into the canvas."""
    left, top = (max(0, int(c - REACH * edge)) for c in spot)
    window = canvas[top : int(spot[1] + REACH * edge), left : int(spot[0] + REACH * edge)]
    offset = (spot[0] - left, spot[1] - top)
    shape = (window.shape[0], window.shape[1])
    colour, cover, shade = shade_die(rng, pose, paint, edge, offset, shape, lights, ambient)
    window *= shade[..., None]
    window += cover[..., None] * (colour - window)


def _photograph(rng: np.random.Generator, canvas: Floats, width_px: int) -> Pixels:
    """Shrunk, lit, smeared, sharpened, with sensor noise and the traces of a JPEG."""
    small = cv2.resize(canvas, (width_px, width_px), interpolation=cv2.INTER_AREA) * 255
    across = np.linspace(-1, 1, width_px)
    slope = rng.normal(0, 0.12, 2)
    lit = small * (1 + slope[0] * across[:, None] + slope[1] * across[None, :])[..., None]
    lit = lit * np.exp(rng.normal(-0.1, 0.3) + rng.normal(0, 0.2) * WARMTH)
    lit = lit * np.exp(rng.normal(0, 0.05, 3))
    lit = 255 * np.clip(lit / 255, 0, 1) ** np.exp(rng.normal(0, 0.15))
    blurred = cv2.GaussianBlur(lit, (0, 0), float(rng.uniform(0.25, 1.1)))
    if rng.random() < 0.12:
        blurred = cv2.filter2D(blurred, -1, _make_smear(rng))
    if rng.random() < 0.3:
        soft = cv2.GaussianBlur(blurred, (0, 0), float(rng.uniform(0.8, 2)))
        blurred = blurred + rng.uniform(0.3, 1.2) * (blurred - soft)
    noisy = blurred + rng.normal(0, rng.uniform(0, 6), blurred.shape)
    bgr = np.clip(noisy, 0, 255).astype(np.uint8)
    _, coded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(40, 98))])
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)


def _make_smear(rng: np.random.Generator) -> Floats:
    """A camera or die that moved a little."""
    kernel = np.zeros((9, 9), np.float32)
    angle, far = rng.uniform(0, np.pi), rng.uniform(1, 3)
    step = np.array([np.cos(angle), np.sin(angle)]) * far
    first, last = (np.round((4 + way * step) * 16).astype(int).tolist() for way in (-1, 1))
    cv2.line(kernel, first, last, 1.0, 1, cv2.LINE_AA, 4)
    return np.asarray(kernel / kernel.sum(), np.float32)
