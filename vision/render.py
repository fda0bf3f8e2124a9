"""Draws a photograph of a table: plan, layout, misbehaviour and seed to pixels, nothing else."""

from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from rules.table import EMPTY, Face, Layout, Plan, Site

from .frame import Pixels
from .pose import Pose
from .virtual.arm import Arm, draw_arm
from .virtual.lighting import add_noise, glare_of, light_of, shine
from .virtual.misbehaviour import Misbehaviour
from .virtual.scene import Scene, pose_of

SIZE = (1920, 1080)


@dataclass(frozen=True)
class Moment:
    """What may differ from one frame to the next on the same table."""

    tick: int = 0
    """Number of the frame: its noise."""
    arm: Arm | None = None
    covered: frozenset[int] = frozenset()
    """Cards on which something lies, besides those of the misbehaviour."""
    bump_deg: tuple[float, float] = (0.0, 0.0)
    """How far the camera was knocked, across and along the table."""


STILL = Moment()


def render(
    plan: Plan,
    layout: Layout,
    misbehaviour: Misbehaviour,
    moment: Moment = STILL,
    size: tuple[int, int] = SIZE,
) -> Pixels:
    """One photograph; whoever needs many of the same table keeps a ``Painter``."""
    return Painter(plan, size).paint(layout, misbehaviour, moment)


class Painter:
    """Draws photographs of one table and keeps what stays the same from one to the next."""

    def __init__(self, plan: Plan, size: tuple[int, int] = SIZE) -> None:
        self._plan = plan
        self._size = size
        # Only the latest of each is kept: a frame of floats takes 25 MB.
        self._scene = lru_cache(maxsize=1)(self._make_scene)
        self._light = lru_cache(maxsize=1)(self._make_light)
        self._photograph = lru_cache(maxsize=1)(self._take)

    def paint(self, layout: Layout, misbehaviour: Misbehaviour, moment: Moment = STILL) -> Pixels:
        """The table with this layout, as the camera sees it at this moment."""
        lying = tuple(sorted((s, f) for s, f in layout.items() if f != EMPTY))
        clean = self._photograph(lying, misbehaviour, replace(moment, tick=0))
        return add_noise(clean, misbehaviour, moment.tick)

    def pose(self, misbehaviour: Misbehaviour, moment: Moment = STILL) -> Pose:
        """Where the camera truly stands: what a measurement is compared with."""
        return pose_of(self._plan, misbehaviour, self._size, moment.bump_deg)

    def _take(
        self, lying: tuple[tuple[Site, Face], ...], misbehaviour: Misbehaviour, moment: Moment
    ) -> Pixels:
        """The photograph before the sensor adds its noise."""
        scene = self._scene(misbehaviour, moment.bump_deg, moment.covered)
        light, glare = self._light(misbehaviour)
        bgr = scene.draw(dict(lying))
        if moment.arm:
            draw_arm(bgr, moment.arm, scene.flat, self._plan.size_mm)
        lit = shine(bgr, light)
        if glare is not None:
            cv2.add(lit, glare, dst=lit)
        if misbehaviour.blur_px:
            cv2.GaussianBlur(lit, (0, 0), misbehaviour.blur_px, dst=lit)
        return lit

    def _make_scene(
        self, misbehaviour: Misbehaviour, bump_deg: tuple[float, float], covered: frozenset[int]
    ) -> Scene:
        return Scene(self._plan, misbehaviour, self._size, bump_deg, covered)

    def _make_light(self, misbehaviour: Misbehaviour) -> tuple[NDArray[np.float32], Pixels | None]:
        return light_of(misbehaviour, self._size), glare_of(misbehaviour, self._size)
