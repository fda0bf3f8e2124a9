"""What the dice nets learn from: drawn and photographed tables, cut into patches and crops."""

import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..frame import Numbers, Pixels, read_picture
from .cube import Floats
from .find import CROP_PX, CROP_SIZE_PX, STRIDE_PX, USUAL_PX
from .render import WARMTH, Drawn, Scene, draw_scene

PATCH_PX = 160
NO_COLOUR = (0.0, 0.0, 0.0)
NOISE_LEVELS = 1_000_000
"""Sensor noise that is drawn once and cut from."""
UPRIGHT_SHARE = 0.8
DRAWN = ""
"""The name of the set of drawn lessons."""
DRAWN_SHARE = 0.4
"""Of all that is shown, where there are photos as well; each set of those has an equal part."""


@dataclass(eq=False)
class Lesson:
    """A scene, how hard each of its dice is, and places that were taken for a die wrongly."""

    scene: Scene
    origin: str = DRAWN
    down: Numbers | None = None
    """The direction in the picture that is down on the table, where it is known."""
    hard: Numbers = field(init=False)
    ghosts: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hard = np.ones(len(self.scene.dice))
        sizes = [d.size_px for d in self.scene.dice]
        usual = float(np.median(sizes)) if sizes else USUAL_PX
        self.ghosts.extend((x, y, usual) for x, y in self.scene.sides_px)


def draw_lessons(seed: int, count: int, pictures: Sequence[Pixels], cores: int) -> list[Lesson]:
    """Drawn tables, the same ones for the same seed; ``pictures`` are surfaces for some of them."""
    draw = partial(_draw_numbered, seed, tuple(pictures))
    # A forked process would inherit the locks of OpenCV's threads.
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return [recall(scene) for scene in pool.map(draw, range(count), chunksize=20)]


def recall(scene: Scene) -> Lesson:
    """A drawn scene as a lesson."""
    return Lesson(scene, DRAWN, find_down(scene))


def _draw_numbered(seed: int, pictures: Sequence[Pixels], number: int) -> Scene:
    cv2.setNumThreads(1)
    return draw_scene(np.random.default_rng((seed, number)), pictures=pictures)


def read_photos(
    folder: Path,
    hold_out: int | None = None,
    left_out: frozenset[str] = frozenset(),
    upright: bool = True,
) -> list[Lesson]:
    """The photos of one set; box sizes become sizes of the top face as well as they can.

    ``upright`` tells whether the camera was held so.
    """
    down = np.array([0.0, 1.0]) if upright else None
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    pips_only = "pips" in truth.get("box", "")
    lessons = []
    for number, photo in enumerate(truth["photos"]):
        if hold_out is not None and number // 10 % 2 == hold_out:
            continue
        if Path(photo["image"]).stem in left_out:
            continue
        sizes = [_guess_size(pips_only, die) for die in photo["dice"]]
        known = [s for s in sizes if s is not None]
        usual = float(np.median(known)) if known else 56.0
        dice = tuple(
            Drawn(die["value"], *_find_middle(die), size or usual, NO_COLOUR)
            for die, size in zip(photo["dice"], sizes, strict=True)
        )
        bgr = read_picture(folder / photo["image"]).bgr
        lessons.append(Lesson(Scene(bgr, dice, ()), folder.name, down))
    return lessons


def _find_middle(die: Mapping[str, Any]) -> tuple[float, float]:
    x0, y0, x1, y1 = die["box_px"]
    return (x0 + x1) / 2, (y0 + y1) / 2


def _guess_size(pips_only: bool, die: Mapping[str, Any]) -> float | None:
    """Edge of the top face; none where the box of a single pip tells nothing."""
    x0, y0, x1, y1 = die["box_px"]
    if corners := die.get("top_px"):
        return math.sqrt(cv2.contourArea(np.array(corners, np.float32)))
    if not pips_only:
        return 0.82 * math.sqrt((x1 - x0) * (y1 - y0))
    if die["value"] == 1:
        return None
    return math.hypot(x1 - x0, y1 - y0) / (0.95 if die["value"] < 4 else 1.1)


def _turn(
    rng: np.random.Generator,
    down: Numbers | None,
    x: float,
    y: float,
    scale: float,
    to: tuple[float, float],
) -> Numbers:
    """The matrix that brings a place of the picture to a place of the patch, turned and mirrored.

    Mostly nearly upright where it is known what that is: a steep die tells its top by nothing else.
    """
    mirror = -1 if rng.random() < 0.5 else 1
    angle = rng.uniform(0, 2 * np.pi)
    if down is not None and rng.random() < UPRIGHT_SHARE:
        angle = math.pi / 2 - math.atan2(down[1], mirror * down[0]) + rng.normal(0, 0.25)
    matrix = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:, 0] *= mirror
    return np.hstack([matrix, (np.array(to) - matrix @ [x, y])[:, None]])


def find_down(scene: Scene) -> Numbers | None:
    """Where the sides of the dice appear as seen from their tops; none as seen from above."""
    away = np.zeros(2)
    for x, y in scene.sides_px:
        for die in scene.dice:
            step = np.array([x - die.x_px, y - die.y_px]) / die.size_px
            if np.hypot(*step) < 1:
                away += step / len(scene.sides_px)
    return away if np.hypot(*away) > 0.2 else None


def _cut(rng: np.random.Generator, bgr: Pixels, matrix: Numbers, side: int) -> Pixels:
    border = cv2.BORDER_REPLICATE if rng.random() < 0.5 else cv2.BORDER_CONSTANT
    grey = (float(rng.uniform(0, 255)),) * 3
    patch = cv2.warpAffine(bgr, matrix, (side, side), flags=cv2.INTER_LINEAR,
                           borderMode=border, borderValue=grey)  # fmt: skip
    return _change_light(rng, np.asarray(patch, np.uint8))


def _change_light(rng: np.random.Generator, bgr: Pixels) -> Pixels:
    """Another lamp, camera and exposure; by tables, since this runs more often than the nets."""
    if rng.random() < 0.08:
        bgr = bgr[..., rng.permutation(3)]
    if rng.random() < 0.06:
        bgr = np.repeat(bgr.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    # Half of the pictures are badly exposed: up to twice too bright, burnt out, or too dark.
    stops = rng.uniform(-0.8, 0.8) if rng.random() < 0.5 else rng.normal(-0.08, 0.3)
    gain = np.exp(stops + rng.normal(0, 0.18) * WARMTH + rng.normal(0, 0.06, 3))
    levels = np.arange(256)[::-1] if rng.random() < 0.04 else np.arange(256)
    curve = np.clip(levels[:, None] * gain / 255, 0, 1) ** np.exp(rng.normal(0, 0.22))
    lit = cv2.LUT(np.ascontiguousarray(bgr), np.round(255 * curve).astype(np.uint8)[None])
    if rng.random() < 0.25:
        lit = cv2.GaussianBlur(lit, (0, 0), rng.uniform(0.4, 1.2))
    if rng.random() < 0.4:
        strength = float(rng.uniform(1, 7))
        start = int(rng.integers(NOISE_LEVELS - lit.size))
        noise = _make_noise()[start : start + lit.size].reshape(lit.shape)
        lit = np.clip(lit + strength * noise, 0, 255)
    return np.asarray(lit, np.uint8)


@cache
def _make_noise() -> Floats:
    return np.random.default_rng(0).standard_normal(NOISE_LEVELS, np.float32)


def _choose_die(rng: np.random.Generator, lesson: Lesson) -> int:
    return int(rng.choice(len(lesson.hard), p=lesson.hard / lesson.hard.sum()))


def weigh(lessons: Sequence[Lesson]) -> Numbers:
    """How often a lesson is drawn: full and oblique ones more often, sets by their shares."""
    weights = np.array([1.0 + len(lesson.scene.dice) ** 0.7 for lesson in lessons])
    weights *= [1.0 if lesson.down is None else 2.0 for lesson in lessons]
    origins = np.array([lesson.origin for lesson in lessons])
    sets = sorted(set(origins.tolist()) - {DRAWN})
    for name in {*origins.tolist()}:
        share = DRAWN_SHARE if name == DRAWN else (1 - DRAWN_SHARE) / len(sets)
        weights[origins == name] *= share / weights[origins == name].sum()
    return np.asarray(weights / weights.sum(), np.float64)


def draw_patch(rng: np.random.Generator, lesson: Lesson) -> tuple[Pixels, Numbers]:
    """A patch for the locator and its target: centre, value, log size, weight per cell."""
    dice = lesson.scene.dice
    height, width = lesson.scene.bgr.shape[:2]
    wanted = float(np.clip(np.exp(rng.normal(math.log(36), 0.45)), 14, 110))
    ghosts, chance = lesson.ghosts, rng.random()
    if ghosts and chance < 0.15:
        x, y, size = ghosts[int(rng.integers(len(ghosts)))]
        scale, to = wanted / size, tuple(rng.uniform(20, PATCH_PX - 20, 2).tolist())
    elif dice and chance < 0.87:
        die = dice[_choose_die(rng, lesson)]
        x, y, scale = die.x_px, die.y_px, wanted / die.size_px
        to = tuple(rng.uniform(-8, PATCH_PX + 8, 2).tolist())
    else:
        usual = float(np.median([d.size_px for d in dice])) if dice else USUAL_PX
        x, y, scale = rng.uniform(0, width), rng.uniform(0, height), wanted / usual
        to = (PATCH_PX / 2, PATCH_PX / 2)
    matrix = _turn(rng, lesson.down, x, y, scale, to)
    cells = PATCH_PX // STRIDE_PX
    target = np.zeros((4, cells, cells))
    rows, columns = np.mgrid[:cells, :cells]
    for die in dice:
        u, v = matrix @ [die.x_px, die.y_px, 1] / STRIDE_PX - 0.5
        size = die.size_px * scale
        sigma = max(0.8, 0.13 * size / STRIDE_PX)
        near = np.exp(-((columns - u) ** 2 + (rows - v) ** 2) / (2 * sigma**2))
        i, j = round(float(v)), round(float(u))
        if 0 <= i < cells and 0 <= j < cells:
            near[i, j] = 1.0
        mine = near > np.maximum(target[0], 0.45)
        target[0] = np.maximum(target[0], near)
        target[1][mine] = die.value - 1
        target[2][mine] = math.log(size / USUAL_PX)
        target[3][mine] = near[mine]
    return _cut(rng, lesson.scene.bgr, matrix, PATCH_PX), target


def draw_crop(rng: np.random.Generator, lesson: Lesson) -> tuple[Pixels, int, int]:
    """A crop for the reader, what it shows (0: no top face) and which die of the lesson it is."""
    dice, ghosts = lesson.scene.dice, lesson.ghosts
    height, width = lesson.scene.bgr.shape[:2]
    value, which = 0, -1
    if dice and rng.random() < 0.68:
        which = _choose_die(rng, lesson)
        die = dice[which]
        value, size = die.value, die.size_px * float(np.exp(rng.normal(0, 0.16)))
        x, y = np.array([die.x_px, die.y_px]) + rng.normal(0, 0.07, 2) * die.size_px
    elif ghosts and rng.random() < 0.6:
        x, y, size = ghosts[int(rng.integers(len(ghosts)))]
        x, y = np.array([x, y]) + rng.normal(0, 0.08, 2) * size
        size *= float(np.exp(rng.normal(0, 0.2)))
    elif dice and rng.random() < 0.6:
        die = dice[int(rng.integers(len(dice)))]
        size = die.size_px * float(np.exp(rng.normal(0, 0.25)))
        angle, far = rng.uniform(0, 2 * np.pi), die.size_px * rng.uniform(0.5, 1.1)
        x, y = die.x_px + far * np.cos(angle), die.y_px + far * np.sin(angle)
    else:
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        size = float(np.exp(rng.uniform(math.log(16), math.log(90))))
    if value == 0 and any(math.hypot(d.x_px - x, d.y_px - y) < 0.42 * d.size_px for d in dice):
        return draw_crop(rng, lesson)
    middle = (CROP_PX / 2, CROP_PX / 2)
    matrix = _turn(rng, lesson.down, x, y, CROP_SIZE_PX / size, middle)
    return _cut(rng, lesson.scene.bgr, matrix, CROP_PX), value, which
