"""Draws a photograph of a table: pure functions of plan, layout and misbehaviour.

Light multiplies; with a gamma curve that is a pure power, it may do so after the curve. So the
scene is composed once in plain colours, and light, glare, blur and noise follow in that order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, radians, sin
from random import Random

import cv2
import numpy as np
from numpy.typing import NDArray

from rules import drawing
from rules.table import EMPTY, Face, Layout, Piece, Plan, Site

from .arm import Arm, draw_arm
from .cards import CARD_MM, IDS, card_corners_mm
from .frame import Numbers, Pixels
from .lighting import add_noise, cast_shadow, glare_of, light_of
from .misbehaviour import Misbehaviour
from .pose import Pose, lens_of, project
from .textures import board_texture, card_texture, face_texture, surface_texture

SIZE = (1920, 1080)
LIGHT_FROM_DEG = 225.0
"""Where the lamp stands that throws the shadows of the pieces."""


@dataclass(frozen=True)
class Moment:
    """What differs from one frame to the next on the same table."""

    tick: int = 0
    arm: Arm | None = None
    covered: frozenset[int] = frozenset()
    """Cards on which something lies."""
    bump_deg: tuple[float, float] = (0.0, 0.0)
    """How far the camera was knocked from where it looked at first."""


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
    """Draws photographs of one table and keeps what stays the same between them."""

    def __init__(self, plan: Plan, size: tuple[int, int] = SIZE) -> None:
        self._plan = plan
        self._size = size
        self._textures: dict[tuple[str, float], Pixels] = {}
        self._scene: _Scene | None = None
        self._clean: tuple[object, Pixels] | None = None

    def paint(
        self, layout: Layout, misbehaviour: Misbehaviour, moment: Moment = STILL
    ) -> Pixels:
        """The table with this layout, as the camera sees it at this moment."""
        lying = tuple(sorted((s, f) for s, f in layout.items() if f != EMPTY))
        key = (lying, misbehaviour, replace(moment, tick=0))
        if self._clean is None or self._clean[0] != key:
            self._clean = key, self._develop(dict(lying), misbehaviour, moment)
        return add_noise(self._clean[1], misbehaviour, moment.tick)

    def pose(self, misbehaviour: Misbehaviour, moment: Moment = STILL) -> Pose:
        """Where the camera truly stands: what a measurement is compared with."""
        return _pose(self._plan, misbehaviour, moment, self._size)

    def place_mm(
        self, site: Site, face: Face, misbehaviour: Misbehaviour
    ) -> tuple[float, float, float]:
        """Where a piece truly lies: x, y, and its turn in degrees."""
        return _laid(self._plan, site, face, misbehaviour)

    def _develop(self, lying: Layout, misbehaviour: Misbehaviour, moment: Moment) -> Pixels:
        scene = self._scene
        if scene is None or not scene.fits(misbehaviour, moment):
            scene = self._scene = _Scene(self, misbehaviour, moment)
        bgr = scene.bare.copy()
        scene.draw_pieces(bgr, lying)
        if moment.arm:
            draw_arm(bgr, moment.arm, scene.flat, self._plan.size_mm)
        lit = cv2.multiply(bgr, scene.light, dtype=cv2.CV_8U)
        if scene.glare is not None:
            lit = cv2.add(lit, scene.glare)
        if misbehaviour.blur_px:
            lit = cv2.GaussianBlur(lit, (0, 0), misbehaviour.blur_px)
        return lit.astype(np.uint8, copy=False)

    def texture(self, kind: str, name: str, px_per_mm: float) -> Pixels:
        """A drawing as pixels, its colours already multiplied by their opacity."""
        key = f"{kind}:{name}", px_per_mm
        if key not in self._textures:
            if kind == "face":
                bgra = face_texture(self._plan, Face(name), px_per_mm)
            elif kind == "card":
                bgra = card_texture(int(name), px_per_mm)
            else:
                bgra = board_texture(self._plan, px_per_mm)
            opacity = bgra[:, :, 3:].astype(np.float32) / 255
            bgra[:, :, :3] = np.rint(bgra[:, :, :3] * opacity)
            self._textures[key] = bgra
        return self._textures[key]


class _Scene:
    """Everything that no piece and no hand changes: camera, bare table, light."""

    def __init__(self, painter: Painter, misbehaviour: Misbehaviour, moment: Moment) -> None:
        self._painter = painter
        self._plan = painter._plan
        self._size = painter._size
        self._misbehaviour = misbehaviour
        self._moment = replace(moment, tick=0, arm=None)
        self._pose = painter.pose(misbehaviour, moment)
        self.flat = self._pose.homography()
        here = project(self.flat, np.array([(x, h / 2) for h in [self._plan.size_mm[1]]
                                            for x in (0.0, self._plan.size_mm[0])]))
        self._px_per_mm = float(np.hypot(*(here[1] - here[0]))) / self._plan.size_mm[0]
        self._texture_px_per_mm = float(np.ceil(self._px_per_mm * 2.6) / 2)
