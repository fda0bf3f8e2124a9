"""Dice as bodies: rounded edges, drilled pips, any colour; and throwing them onto a table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import cos, radians, sin
from random import Random
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from ..dice.cube import PIPS
from ..frame import Numbers, Pixels
from .meshes import Mesh, join

TILE_PX = 128
FLAT_STEPS, ROUND_STEPS = 30, 3
"""Into how many squares the flat part of a face and its rounded rim are divided."""
APART = 1.004
"""Dice that touch are this many times as far from each other as if they did."""
STANDS = {1: (0, 0, 1), 2: (1, 0, 0), 3: (0, 1, 0), 4: (0, -1, 0), 5: (-1, 0, 0), 6: (0, 0, -1)}
"""Where each value of a die looks while the one is on top; opposite values make seven."""

Bgr = tuple[int, int, int]
Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True)
class Paint:
    """What dice of one kind look like; lengths are shares of half an edge."""

    colour: str
    """The name of the body's colour."""
    body: Bgr
    pip: Bgr
    pip_radius: float = 0.18
    spread: float = 0.5
    rounding: float = 0.22
    drilled: float = 0.06
    """How deep the pips are."""
    marbling: float = 0.0
    second: Bgr = (0, 0, 0)
    clear: float = 0.0
    """How much light passes the body: its rim is brighter, and the far pips shimmer through."""


@dataclass(frozen=True)
class Die:
    """A die that lies on the table."""

    value: int
    x_mm: float
    y_mm: float
    turn_deg: float
    edge_mm: float
    paint: Paint
    mirrored: bool = False
    seed: int = 0
    """Of its marbling, and of how the pips of each face are turned."""

    @property
    def top_mm(self) -> Numbers:
        """The corners of the top face as if it had no rounding, (4, 2)."""
        c, s = cos(radians(self.turn_deg)), sin(radians(self.turn_deg))
        square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * self.edge_mm / 2
        corners: Numbers = square @ np.array([[c, s], [-s, c]]) + (self.x_mm, self.y_mm)
        return corners

    def faces(self) -> dict[tuple[int, int, int], int]:
        """Direction (before the die is turned) -> the value on that face."""
        up = np.array(STANDS[self.value])
        aside = next(np.array(d) for d in STANDS.values() if up @ np.array(d) == 0)
        ahead = np.cross(up, aside) * (-1 if self.mirrored else 1)
        axes = np.array([aside, ahead, up])
        return {_direction(axes @ np.array(d)): value for value, d in STANDS.items()}


def build_dice(dice: tuple[Die, ...], up_mm: float) -> tuple[Mesh, Pixels]:
    """All dice as one body, and its picture: a row for each die, a tile for each face."""
    bodies, rows = [], []
    for row, die in enumerate(dice):
        faces = die.faces()
        half = die.edge_mm / 2
        for column, (direction, value) in enumerate(faces.items()):
            face = _point(_make_face(die.paint, value, _is_turned(die, value)), direction)
            shown = face.textured(face.places / 2 + 0.5).in_tile(column, row, len(faces), len(dice))
            bodies.append(shown.scaled(half).laid(die.x_mm, die.y_mm, die.turn_deg, up_mm + half))
        rows.append(np.hstack([_draw_face(die, value) for value in faces.values()]))
    return join(bodies), np.vstack(rows)


def throw(
    rng: Random,
    count: int,
    edge_mm: float,
    paints: Callable[[], Paint],
    fits: Callable[[Die], bool],
    touching: float = 0.35,
) -> tuple[Die, ...]:
    """Dice in random places where they fit; some of them touch another one."""
    lying: list[Die] = []
    for _ in range(count * 60):
        if len(lying) == count:
            break
        near = rng.choice(lying) if lying and rng.random() < touching else None
        die = Die(
            rng.randint(1, 6),
            rng.uniform(-1, 1),
            rng.uniform(-1, 1),
            rng.uniform(0, 360),
            edge_mm,
            paints(),
            rng.random() < 0.5,
            rng.randrange(10**6),
        )
        die = _push_against(near, die, rng) if near else _scatter(die, rng, fits)
        if fits(die) and not any(_overlap(die, other) for other in lying):
            lying.append(die)
    return tuple(lying)


def _scatter(die: Die, rng: Random, fits: Callable[[Die], bool]) -> Die:
    """The die in some place where it fits, if one is soon found."""
    reach_mm = 40 * die.edge_mm
    for _ in range(400):
        x_mm, y_mm = (rng.uniform(-reach_mm, reach_mm) for _ in range(2))
        moved = _moved(die, x_mm, y_mm)
        if fits(moved):
            return moved
    return die


def _push_against(near: Die, die: Die, rng: Random) -> Die:
    """The die moved straight towards another one until they touch."""
    towards = radians(rng.uniform(0, 360))
    low, high = 0.0, 2 * die.edge_mm
    for _ in range(20):
        middle = (low + high) / 2
        moved = _moved(die, near.x_mm + middle * cos(towards), near.y_mm + middle * sin(towards))
        low, high = (middle, high) if _overlap(moved, near) else (low, middle)
    away = high * APART
    return _moved(die, near.x_mm + away * cos(towards), near.y_mm + away * sin(towards))


def _moved(die: Die, x_mm: float, y_mm: float) -> Die:
    return replace(die, x_mm=x_mm, y_mm=y_mm)


def _overlap(one: Die, other: Die) -> bool:
    corners = one.top_mm.astype(np.float32), other.top_mm.astype(np.float32)
    area, _ = cv2.intersectConvexConvex(*corners)
    return area > 1e-3


def _direction(vector: Numbers) -> tuple[int, int, int]:
    x, y, z = (round(v) for v in vector)
    return x, y, z


def _is_turned(die: Die, value: int) -> bool:
    """Whether the pips of a two, three or six run the other way."""
    return Random(f"{die.seed} {value}").random() < 0.5


def _pips(value: int, turned: bool) -> Numbers:
    pips = np.array(PIPS[value], np.float64)
    return pips[:, ::-1] * (-1, 1) if turned else pips


@cache
def _make_face(paint: Paint, value: int, turned: bool) -> Mesh:
    """The face that looks up, of a cube from -1 to 1; places from -1 to 1 as well."""
    flat = 1 - paint.rounding
    rim = np.linspace(flat, 1, ROUND_STEPS + 1)
    steps = np.concatenate([-rim[::-1], np.linspace(-flat, flat, FLAT_STEPS + 1)[1:-1], rim])
    x, y = (axis.ravel() for axis in np.meshgrid(steps, steps))
    cube = np.column_stack([x, y, np.ones_like(x)])
    inner = np.clip(cube, -flat, flat)
    normals = cube - inner
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    points = inner + paint.rounding * normals
    for middle in _pips(value, turned) * paint.spread:
        off = (cube[:, :2] - middle) / paint.pip_radius
        inside = (off**2).sum(axis=1) < 1
        points[inside, 2] -= paint.drilled * (1 - (off[inside] ** 2).sum(axis=1))
        steep = -2 * paint.drilled / paint.pip_radius * off[inside]
        drilled = np.column_stack([steep, np.ones(len(steep))])
        normals[inside] = drilled / np.linalg.norm(drilled, axis=1, keepdims=True)
    n = len(steps)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    triangles = np.concatenate(
        [
            np.column_stack([corner, corner + 1, corner + n + 1]),
            np.column_stack([corner, corner + n + 1, corner + n]),
        ]
    )
    return Mesh(points, normals, cube[:, :2], triangles)


def _point(face: Mesh, direction: tuple[int, int, int]) -> Mesh:
    """A face that looked up, turned to look elsewhere."""
    up = np.array(direction, np.float64)
    aside = np.roll(up, 1) if up.sum() > 0 else np.roll(up, 2)
    turn = np.column_stack([aside, np.cross(up, aside), up])
    return Mesh(face.points @ turn.T, face.normals @ turn.T, face.places, face.triangles)


def _draw_face(die: Die, value: int) -> Pixels:
    paint = die.paint
    face = np.full((TILE_PX, TILE_PX, 3), paint.body, np.float32)
    if paint.marbling:
        rng = np.random.default_rng((die.seed, value))
        coarse = rng.random((6, 6)).astype(np.float32)
        share = cv2.resize(coarse, (TILE_PX, TILE_PX), interpolation=cv2.INTER_CUBIC)
        face = _blend(face, paint.second, np.clip(share, 0, 1) * paint.marbling)
    if paint.clear:
        across = np.linspace(-1, 1, TILE_PX, dtype=np.float32) ** 4
        rim = np.maximum(across, across[:, None])
        face *= (1 - 0.5 * paint.clear + paint.clear * 1.5 * rim)[:, :, None]
        far = cv2.GaussianBlur(_stencil(die, 7 - value, 0.75), (0, 0), TILE_PX / 40)
        face = _blend(face, paint.pip, far * (0.45 * paint.clear))
    face = _blend(face, paint.pip, _stencil(die, value))
    return np.clip(face, 0, 255).astype(np.uint8)


def _blend(bgr: Floats, colour: Bgr, share: Floats) -> Floats:
    """So much of a colour over a picture, pixel by pixel."""
    part = share[:, :, None]
    blended: Floats = bgr * (1 - part) + np.array(colour, np.float32) * part
    return blended


def _stencil(die: Die, value: int, scale: float = 1.0) -> Floats:
    """Where the pips of a face are: 1 there, else 0."""
    half = TILE_PX / 2
    mask = np.zeros((TILE_PX, TILE_PX), np.uint8)
    radius = round(die.paint.pip_radius * scale * half * 16)
    for x, y in _pips(value, _is_turned(die, value)) * (die.paint.spread * scale):
        middle = (round((x * half + half - 0.5) * 16), round((y * half + half - 0.5) * 16))
        cv2.circle(mask, middle, radius, 255, -1, cv2.LINE_AA, 4)
    return (mask / np.float32(255)).astype(np.float32)
