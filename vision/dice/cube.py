"""Shades one six-sided die pixel by pixel: rounded edges, drilled pips, gloss, glass and shadow."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..frame import Numbers

Floats: TypeAlias = NDArray[np.float32]

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
STEPS = 9
"""Of the march along a ray; the rounding of the body hides what is left of the way."""
SHADOW_STEPS = 7
REACH = 1.7
"""Half the window that a die with its shadow may touch, in edges of the die."""


@dataclass(frozen=True, eq=False)
class Paint:
    """How all faces of one die look; lengths in edges of the die, colours from 0 to 1."""

    body: Numbers
    second: Numbers
    pip: Numbers
    marbling: float
    spread: float
    radius: float
    large_one: float
    rounding: float
    bulge: float
    drilled: float
    gloss: float
    sharpness: float
    clear: float
    pips: bool = True


@dataclass(frozen=True, eq=False)
class Light:
    """A lamp (or window) far away: direction towards it, colour, and its size as mirrored."""

    towards: Numbers
    colour: Numbers
    wide: float
    tall: float


@dataclass(frozen=True, eq=False)
class Pose:
    """How a die lies and is seen: ``turn`` takes its axes to those of the camera."""

    turn: Numbers
    far: float
    values: tuple[int, int, int]
    """On the positive sides of its axes; the third is on top."""

    def project(self, point: Numbers) -> Numbers:
        """Where a point of the die appears, in edges from the middle of the die."""
        x, y, z = self.turn @ point
        return np.asarray(np.array([x, y]) * self.far / (self.far - z), np.float64)


def pose_die(
    rng: np.random.Generator, tilt: float, azimuth: float, far: float, top: int | None = None
) -> Pose:
    """A die turned at random about the vertical, seen from ``tilt`` off the vertical."""
    yaw = float(rng.uniform(0, 2 * np.pi))
    spin = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    lean = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    roll = np.array(
        [[np.cos(azimuth), -np.sin(azimuth), 0], [np.sin(azimuth), np.cos(azimuth), 0], [0, 0, 1]]
    )
    top = top or int(rng.integers(1, 7))
    first = int(rng.choice([v for v in range(1, 7) if v not in (top, 7 - top)]))
    second = int(rng.choice([v for v in range(1, 7) if v not in (top, 7 - top, first, 7 - first)]))
    return Pose(roll @ lean @ spin, far, (first, second, top))


def shade_die(
    rng: np.random.Generator,
    pose: Pose,
    paint: Paint,
    edge_px: float,
    offset_px: tuple[float, float],
    window_px: tuple[int, int],
    lights: tuple[Light, ...],
    ambient: Numbers,
) -> tuple[Floats, Floats, Floats]:
    """Colour and cover of the die per pixel of a window, and the light that reaches the table.

    ``offset_px`` is the middle of the die in the window of ``window_px`` rows and columns.
    """
    rows, columns = window_px
    across = (np.arange(columns, dtype=np.float32) + 0.5 - offset_px[0]) / edge_px
    down = (np.arange(rows, dtype=np.float32) + 0.5 - offset_px[1]) / edge_px
    grid = np.stack(np.broadcast_arrays(across[None, :], down[:, None]), axis=-1)
    reach = np.hypot(grid[..., 0], grid[..., 1]) < 0.95
    origin, ray = _cast_rays(pose, grid[reach])
    way, near = _march(origin, ray, paint.rounding)
    pixel = 1 / edge_px
    cover = np.zeros((rows, columns), np.float32)
    cover[reach] = np.clip(1 - near / pixel, 0, 1)
    colour = np.zeros((rows, columns, 3), np.float32)
    colour[reach] = _shade(rng, pose, paint, origin + way[:, None] * ray, ray, lights, ambient,
                           pixel)  # fmt: skip
    shade = _shade_table(pose, paint, grid[::2, ::2], lights)
    shade = np.repeat(np.repeat(shade, 2, axis=0), 2, axis=1)[:rows, :columns]
    return colour, cover, shade


def _cast_rays(pose: Pose, grid: Floats) -> tuple[Floats, Floats]:
    """Origin and direction of the rays of view, in the axes of the die."""
    eye = np.array([0, 0, pose.far])
    ray = np.concatenate([grid, np.full((*grid.shape[:-1], 1), -pose.far, np.float32)], axis=-1)
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
    turn = pose.turn.astype(np.float32)
    return (eye @ pose.turn).astype(np.float32), np.asarray(ray @ turn, np.float32)


def _measure_distance(points: Floats, rounding: float) -> Floats:
    """From the surface of the rounded cube."""
    q = np.abs(points) - np.float32(0.5 - rounding)
    x, y, z = q[..., 0], q[..., 1], q[..., 2]  # reductions over so short an axis are slow
    inside = np.minimum(np.maximum(np.maximum(x, y), z), 0)
    x, y, z = np.maximum(x, 0), np.maximum(y, 0), np.maximum(z, 0)
    far = np.sqrt(x * x + y * y + z * z)
    return np.asarray(far + inside - np.float32(rounding), np.float32)


def _march(origin: Floats, ray: Floats, rounding: float) -> tuple[Floats, Floats]:
    """Way to the surface and the least distance met, per ray."""
    way = np.full(ray.shape[0], np.linalg.norm(origin) - 0.87, np.float32)
    near = np.full(ray.shape[0], 9.0, np.float32)
    for _ in range(STEPS):
        gap = _measure_distance(origin + way[:, None] * ray, rounding)
        near = np.minimum(near, gap)
        way += gap
    return way, near


def _find_pips(points: Floats, pose: Pose, paint: Paint, pixel: float) -> tuple[Floats, Floats]:
    """How much of each point is pip, and the slope of the drilled hole there."""
    share = np.zeros(points.shape[0], np.float32)
    slope = np.zeros_like(points)
    if not paint.pips:
        return share, slope
    axis = np.abs(points).argmax(axis=1)
    for side in range(3):
        for sign in (1.0, -1.0):
            mine = np.flatnonzero((axis == side) & (points[:, side] * sign > 0))
            if not mine.size:
                continue
            value = pose.values[side] if sign > 0 else 7 - pose.values[side]
            u, v = (side + 1) % 3, (side + 2) % 3
            radius = paint.radius * (paint.large_one if value == 1 else 1)
            for a, b in PIPS[value]:
                du = points[mine, u] - a * paint.spread
                dv = points[mine, v] - b * paint.spread
                far = np.hypot(du, dv)
                share[mine] = np.maximum(share[mine], np.clip(0.5 + (radius - far) / pixel, 0, 1))
                hole = mine[far < radius]
                slope[hole, u] = -du[far < radius] / radius * paint.drilled
                slope[hole, v] = -dv[far < radius] / radius * paint.drilled
    return share, slope


def _shade(
    rng: np.random.Generator,
    pose: Pose,
    paint: Paint,
    points: Floats,
    ray: Floats,
    lights: tuple[Light, ...],
    ambient: Numbers,
    pixel: float,
) -> Floats:
    q = np.maximum(np.abs(points) - (0.5 - paint.rounding), 0) * np.sign(points)
    normal = q / np.maximum(1e-6, np.linalg.norm(q, axis=1, keepdims=True))
    normal = normal + paint.bulge * points
    share, slope = _find_pips(points, pose, paint, pixel)
    normal = normal + slope
    normal /= np.maximum(1e-6, np.linalg.norm(normal, axis=1, keepdims=True))
    base = _mix_body(rng, paint, points)
    if paint.clear:
        base = _look_through(pose, paint, points, ray, normal, base, pixel)
    base = base * (1 - share[:, None]) + paint.pip * share[:, None]
    up = 0.6 + 0.4 * normal[:, 2:3]
    lit = base * ambient * up
    facing = -np.einsum("ij,ij->i", normal, ray)
    mirrored = ray + 2 * facing[:, None] * normal
    rim = paint.gloss * 0.6 * (1 - np.clip(facing, 0, 1)) ** 4
    lit = lit + rim[:, None] * ambient
    dull = 1 - 0.7 * share * (rng.random() < 0.5)
    for light in lights:
        towards = light.towards @ pose.turn
        lit += base * light.colour * np.maximum(0, normal @ towards)[:, None]
        sideways = np.cross(towards, [0.3, 0.5, 0.8])
        sideways /= np.linalg.norm(sideways)
        off_wide = np.abs(mirrored @ sideways) - light.wide
        off_tall = np.abs(mirrored @ np.cross(towards, sideways)) - light.tall
        off = np.maximum(off_wide, off_tall)
        spot = np.where(mirrored @ towards > 0, 1 / (1 + np.exp(paint.sharpness * off)), 0)
        lit += (2 * paint.gloss * spot * dull)[:, None] * light.colour
    return np.asarray(lit, np.float32)


def _mix_body(rng: np.random.Generator, paint: Paint, points: Floats) -> Numbers:
    """Marble, pearl or grain: waves that bend each other."""
    if not paint.marbling:
        return np.broadcast_to(paint.body, (points.shape[0], 3))
    first, second, third = rng.normal(0, 1, (3, 3))
    bend = np.sin(points @ (5 * first) + 2 * np.sin(points @ (9 * second)))
    wave = np.sin(points @ (rng.uniform(3, 14) * third) + 2.5 * bend + rng.uniform(0, 6))
    share = (paint.marbling * (0.5 + 0.5 * wave))[:, None]
    return np.asarray(paint.body * (1 - share) + paint.second * share, np.float64)


def _look_through(
    pose: Pose, paint: Paint, points: Floats, ray: Floats, normal: Floats, base: Numbers,
    pixel: float,
) -> Numbers:  # fmt: skip
    """Glass: bright where little of it lies behind, and the far pips shine through."""
    inside = ray * 0.65 - normal * 0.35
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        exits = np.where(np.abs(inside) > 1e-3, (0.5 * np.sign(inside) - points) / inside, 9)
    way = np.clip(exits.min(axis=1), 0, 1.8)
    far, _ = _find_pips((points + way[:, None] * inside).astype(np.float32), pose, paint, pixel)
    glow = (1 - paint.clear) + paint.clear * (1.7 - 0.9 * way)
    base = base * glow[:, None]
    seen = (0.35 * paint.clear * far)[:, None]
    return np.asarray(base * (1 - seen) + paint.pip * seen, np.float64)


def _shade_table(pose: Pose, paint: Paint, grid: Floats, lights: tuple[Light, ...]) -> Floats:
    """The part of the light that the die leaves to the table around and under it."""
    origin, ray = _cast_rays(pose, grid)
    fall = np.minimum(ray[..., 2], -0.05)
    table = origin + ((-0.5 - origin[2]) / fall)[..., None] * ray
    total = np.zeros(grid.shape[:2], np.float32)
    whole = 0.0
    for light in lights:
        towards = (light.towards @ pose.turn).astype(np.float32)
        strength = float(light.colour.mean()) * max(0.15, float(towards[2]))
        whole += strength
        part = np.ones(grid.shape[:2], np.float32)
        soft = 1 / (0.12 + 1.5 * (light.wide + light.tall))
        for step in range(SHADOW_STEPS):
            way = 0.06 * 1.6**step
            gap = _measure_distance(table + way * towards, paint.rounding)
            part = np.minimum(part, np.clip(0.5 + soft * gap / way, 0, 1))
        total += strength * part
    close = np.clip(0.45 + 1.6 * _measure_distance(table, paint.rounding), 0, 1)
    ambient = 0.6
    return np.asarray((ambient * close + total) / (ambient + whole), np.float32)
