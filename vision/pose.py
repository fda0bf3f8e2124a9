"""Where the camera stands: a pinhole camera above the table, for parallax and for drawing.

Table coordinates are millimetres, x to the right and y towards the lower edge; the third axis
points down into the table, so that a height above it is negative there.
"""

from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np

from .frame import Numbers

ASSUMED_FOCAL = 0.85
"""Focal length as a share of the longer side of a frame, between Pi cameras and webcams."""


@dataclass(frozen=True, eq=False)
class Pose:
    """A camera and its place: ``lens`` times (``turn`` times point plus ``shift``) is a pixel."""

    lens: Numbers
    turn: Numbers
    shift: Numbers

    @classmethod
    def looking_at(
        cls,
        x_mm: float,
        y_mm: float,
        *,
        distance_mm: float,
        tilt_deg: float,
        tilt_towards_deg: float,
        roll_deg: float,
        lens: Numbers,
    ) -> "Pose":
        """A camera over a point of the table, leaning over by ``tilt_deg``."""
        towards, tilt = radians(tilt_towards_deg), radians(tilt_deg)
        axis = np.array([-sin(towards), cos(towards), 0.0])
        turn = _rotation(np.array([0.0, 0.0, 1.0]), radians(roll_deg)) @ _rotation(axis, tilt)
        shift = np.array([0.0, 0.0, distance_mm]) - turn @ (x_mm, y_mm, 0.0)
        return cls(lens, turn, shift)

    @classmethod
    def of_homography(cls, to_px: Numbers, lens: Numbers) -> "Pose":
        """The pose that sees the table plane through ``to_px``."""
        columns = np.linalg.inv(lens) @ to_px
        scale = 2 / (np.linalg.norm(columns[:, 0]) + np.linalg.norm(columns[:, 1]))
        scale = scale if columns[2, 2] > 0 else -scale
        right, down = columns[:, 0] * scale, columns[:, 1] * scale
        near = np.column_stack([right, down, np.cross(right, down)])
        u, _, vt = np.linalg.svd(near)
        return cls(lens, u @ vt, columns[:, 2] * scale)

    def knocked(self, across_deg: float, along_deg: float) -> "Pose":
        """The same camera in the same place, looking elsewhere by these angles."""
        knock = _rotation(np.array([0.0, 1.0, 0.0]), radians(across_deg)) @ _rotation(
            np.array([1.0, 0.0, 0.0]), radians(along_deg)
        )
        return Pose(self.lens, knock @ self.turn, knock @ self.shift)

    def homography(self, height_mm: float = 0.0) -> Numbers:
        """From table millimetres to pixels, for the plane at this height above the table."""
        third = self.shift - height_mm * self.turn[:, 2]
        whole: Numbers = self.lens @ np.column_stack([self.turn[:, 0], self.turn[:, 1], third])
        return whole

    @property
    def eye_mm(self) -> tuple[float, float, float]:
        """Where the camera stands: x, y, and its height above the table."""
        x, y, z = -self.turn.T @ self.shift
        return float(x), float(y), float(-z)


def lens_of(width_px: int, height_px: int, focal: float = ASSUMED_FOCAL) -> Numbers:
    """A lens without distortion that looks through the middle of the frame."""
    f = focal * max(width_px, height_px)
    return np.array([[f, 0, (width_px - 1) / 2], [0, f, (height_px - 1) / 2], [0, 0, 1.0]])


def project(homography: Numbers, points: Numbers) -> Numbers:
    """Points (n, 2) through a homography."""
    mapped = np.column_stack([points, np.ones(len(points))]) @ homography.T
    flat: Numbers = mapped[:, :2] / mapped[:, 2:]
    return flat


def _rotation(axis: Numbers, angle: float) -> Numbers:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    whole: Numbers = np.eye(3) + sin(angle) * cross + (1 - cos(angle)) * cross @ cross
    return whole
