"""Bodies as triangles: slabs with rounded edges, sheets, and many of them joined into one.

Points are millimetres: across, down and, unlike on a table, up. Texture coordinates run from the
top left corner of a picture, 0 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from ..frame import Numbers

BEVEL_STEPS = 4
CORNER_STEPS = 4


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with a normal and a place in a texture at every point."""

    points: Numbers
    normals: Numbers
    places: Numbers
    """In the texture, (n, 2)."""
    triangles: NDArray[np.int64]

    def laid(self, x_mm: float, y_mm: float, turn_deg: float, up_mm: float = 0.0) -> "Mesh":
        """The same body turned about the vertical and moved to a place."""
        c, s = cos(radians(turn_deg)), sin(radians(turn_deg))
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        points = self.points @ turn.T + (x_mm, y_mm, up_mm)
        return Mesh(points, self.normals @ turn.T, self.places, self.triangles)

    def scaled(self, by: float) -> "Mesh":
        """The same body, so many times as large."""
        return Mesh(self.points * by, self.normals, self.places, self.triangles)

    def textured(self, places: Numbers) -> "Mesh":
        """The same body with other places in its texture."""
        return Mesh(self.points, self.normals, places, self.triangles)

    def in_tile(self, column: int, row: int, columns: int, rows: int) -> "Mesh":
        """The same body, its texture being one tile of a larger one."""
        corner = np.array([column, row], np.float64)
        return self.textured((self.places + corner) / (columns, rows))


def join(meshes: Sequence[Mesh]) -> Mesh:
    """Several bodies as one."""
    starts = np.cumsum([0, *(len(m.points) for m in meshes)])
    return Mesh(
        np.concatenate([m.points for m in meshes]),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.places for m in meshes]),
        np.concatenate([m.triangles + s for m, s in zip(meshes, starts[:-1], strict=True)]),
    )


def make_sheet(left: float, top: float, right: float, bottom: float, up_mm: float = 0.0) -> Mesh:
    """A flat rectangle that shows a whole texture."""
    x, y = np.array([left, right, right, left]), np.array([top, top, bottom, bottom])
    points = np.column_stack([x, y, np.full(4, up_mm)])
    places = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float64)
    normals = np.tile([0.0, 0.0, 1.0], (4, 1))
    return Mesh(points, normals, places, np.array([(0, 1, 2), (0, 2, 3)]))


def make_slab(outline: Numbers, thickness_mm: float, radius_mm: float) -> Mesh:
    """A body with this convex outline and rounded edges; it stands on height 0.

    Places in the texture are left in millimetres, as seen from above.
    """
    corners, towards = _round_corners(outline, radius_mm)
    steps = np.linspace(0, np.pi / 2, BEVEL_STEPS + 1)
    profile = [(radius_mm, 0.0, 0.0)]
    profile += [
        (radius_mm * cos(a), thickness_mm - radius_mm * (1 - sin(a)), float(a)) for a in steps
    ]
    rings, normals = [], []
    for out_mm, up_mm, angle in profile:
        up = np.full((len(corners), 1), up_mm)
        rings.append(np.hstack([corners + out_mm * towards, up]))
        lean = np.full((len(corners), 1), sin(angle))
        normals.append(np.hstack([cos(angle) * towards, lean]))
    middle = np.array([[*outline.mean(axis=0), thickness_mm]])
    points = np.concatenate([*rings, middle])
    n = len(corners)
    here, after = np.arange(n), np.roll(np.arange(n), -1)
    sides = [
        np.concatenate(
            [
                np.column_stack([k * n + here, k * n + after, (k + 1) * n + after]),
                np.column_stack([k * n + here, (k + 1) * n + after, (k + 1) * n + here]),
            ]
        )
        for k in range(len(profile) - 1)
    ]
    last = (len(profile) - 1) * n
    top = np.column_stack([last + here, last + after, np.full(n, len(points) - 1)])
    whole = np.concatenate([*normals, [[0.0, 0.0, 1.0]]])
    return Mesh(points, whole, points[:, :2].copy(), np.concatenate([*sides, top]))


def _round_corners(outline: Numbers, radius_mm: float) -> tuple[Numbers, Numbers]:
    """The outline drawn in by a radius, several times each corner, and where each point looks."""
    back = outline - np.roll(outline, 1, axis=0)
    # Clockwise as drawn (y down): outwards is to the left of the way along an edge.
    outwards = np.column_stack([back[:, 1], -back[:, 0]]) / np.hypot(*back.T)[:, None]
    after = np.roll(outwards, -1, axis=0)
    inner = outline - radius_mm * (outwards + after) / (1 + (outwards * after).sum(axis=1))[:, None]
    shares = np.linspace(0, 1, CORNER_STEPS)[None, :, None]
    fan = outwards[:, None] * (1 - shares) + after[:, None] * shares
    fan /= np.linalg.norm(fan, axis=2, keepdims=True)
    return np.repeat(inner, CORNER_STEPS, axis=0), fan.reshape(-1, 2)
