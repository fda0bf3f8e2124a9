"""Rays: a described scene to the light that reaches each pixel; the only user of Mitsuba."""

import os
from dataclasses import dataclass
from functools import cache
from glob import glob
from math import atan, degrees
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import VisionError
from ..frame import Numbers, Pixels
from ..pose import Pose
from .meshes import Mesh

BOUNCES = 3
"""Light from a lamp to a body, to another body, to the camera."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A body with its picture and how rough it is: 0 is a mirror, 1 is chalk."""

    mesh: Mesh
    bgr: Pixels
    roughness: float
    repeated: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """A flat light; ``bgr`` is its radiance."""

    at_mm: Numbers
    towards_mm: Numbers
    size_mm: tuple[float, float]
    round: bool
    bgr: Numbers


@dataclass(frozen=True, eq=False)
class Scene:
    """All that a ray may meet, and who looks at it."""

    solids: tuple[Solid, ...]
    panels: tuple[Panel, ...]
    ambient_bgr: Numbers
    pose: Pose
    size_px: tuple[int, int]
    aperture_mm: float
    focus_mm: float


def trace(scene: Scene, rays: int, seed: int) -> NDArray[np.float32]:
    """The light of every pixel, blue, green and red, from so many rays each."""
    mi = _load()
    width, height = scene.size_px
    parts: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": BOUNCES},
        "sensor": _describe_camera(mi, scene, rays),
        "ambient": {"type": "constant", "radiance": _light(scene.ambient_bgr)},
    }
    for k, panel in enumerate(scene.panels):
        parts[f"panel{k}"] = _describe_panel(mi, panel)
    for k, solid in enumerate(scene.solids):
        parts[f"solid{k}"] = _build(mi, f"solid{k}", solid)
    built = mi.load_dict(parts)
    _spare_compiling(mi, built)
    rgb = np.array(mi.render(built, spp=rays, seed=seed), np.float32)
    return np.ascontiguousarray(rgb.reshape(height, width, -1)[:, :, 2::-1])


@cache
def _load() -> Any:
    """Mitsuba, with its compiler where that is there and without it, ten times slower, if not.

    ``OMP_NUM_THREADS`` says how many threads it may use; else it is one a core.
    """
    compilers = sorted(glob("/usr/lib/*/libLLVM.so.19*") + glob("/usr/lib/*/libLLVM-19.so"))
    if compilers:
        os.environ.setdefault("DRJIT_LIBLLVM_PATH", compilers[0])
    try:
        import drjit
        import mitsuba
    except ImportError as error:
        raise VisionError("studio: expected the extra 'studio' (make studio), got none") from error
    fast = "DRJIT_LIBLLVM_PATH" in os.environ
    mitsuba.set_variant("llvm_ad_rgb" if fast else "scalar_rgb")
    if fast:
        drjit.set_thread_count(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    return mitsuba


def _spare_compiling(mi: Any, built: Any) -> None:
    """Keep the numbers of a scene out of the compiled code: else each scene is compiled anew."""
    if mi.variant().startswith("scalar"):
        return
    import drjit

    params = mi.traverse(built)
    for name in params.keys():  # noqa: SIM118, it has no iterator of its own
        value = params[name]
        plain = isinstance(value, (bool, int, float)) or "Scalar" in type(value).__name__
        if not plain:
            drjit.make_opaque(value)
            params[name] = value
    params.update()


def _light(bgr: Numbers) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(v) for v in bgr[::-1]]}


def _describe_camera(mi: Any, scene: Scene, rays: int) -> dict[str, Any]:
    width, height = scene.size_px
    eye = -scene.pose.turn.T @ scene.pose.shift
    placed = np.eye(4)
    # Mitsuba looks along z with x to the left and y up; we have x to the right and y down.
    placed[:3, :3] = scene.pose.turn.T @ np.diag([-1.0, -1.0, 1.0])
    placed[:3, 3] = eye
    return {
        "type": "thinlens",
        "fov": degrees(2 * atan(width / 2 / scene.pose.lens[0, 0])),
        "fov_axis": "x",
        "aperture_radius": scene.aperture_mm,
        "focus_distance": scene.focus_mm,
        "near_clip": 10.0,
        "far_clip": 20000.0,
        "to_world": mi.ScalarTransform4f(placed),
        "film": {
            "type": "hdrfilm",
            "width": width,
            "height": height,
            "pixel_format": "rgb",
            # Half the time of a smoother filter; the lens blurs more than that.
            "rfilter": {"type": "box"},
        },
        "sampler": {"type": "multijitter", "sample_count": rays},
    }


def _describe_panel(mi: Any, panel: Panel) -> dict[str, Any]:
    at, towards = panel.at_mm.tolist(), panel.towards_mm.tolist()
    to_world = mi.ScalarTransform4f().look_at(origin=at, target=towards, up=[0.1, 0.2, -1.0])
    width, height = panel.size_mm
    return {
        "type": "disk" if panel.round else "rectangle",
        "to_world": to_world @ mi.ScalarTransform4f().scale([width / 2, height / 2, 1.0]),
        "emitter": {"type": "area", "radiance": _light(panel.bgr)},
    }


def _build(mi: Any, name: str, solid: Solid) -> Any:
    bitmap = {
        "type": "bitmap",
        "bitmap": mi.Bitmap(np.ascontiguousarray(solid.bgr[:, :, ::-1])),
        "wrap_mode": "mirror" if solid.repeated else "clamp",
    }
    finish = {
        "type": "principled",
        "base_color": bitmap,
        "roughness": solid.roughness,
        "specular": 0.5,
    }
    properties = mi.Properties()
    properties["mesh_bsdf"] = mi.load_dict({"type": "twosided", "bsdf": finish})
    mesh, count = solid.mesh, len(solid.mesh.points)
    built = mi.Mesh(
        name,
        vertex_count=count,
        face_count=len(mesh.triangles),
        has_vertex_normals=True,
        has_vertex_texcoords=True,
        props=properties,
    )
    # Table coordinates point down: what is up becomes negative, which also turns the triangles.
    down = np.array([1.0, 1.0, -1.0])
    params = mi.traverse(built)
    params["vertex_positions"] = (mesh.points * down).astype(np.float32).ravel()
    params["vertex_normals"] = (mesh.normals * down).astype(np.float32).ravel()
    params["vertex_texcoords"] = mesh.places.astype(np.float32).ravel()
    params["faces"] = mesh.triangles[:, ::-1].astype(np.uint32).ravel()
    params.update()
    return built
