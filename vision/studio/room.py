"""A room in which pictures are taken: light, table top, camera and finish, drawn from a seed."""

from dataclasses import dataclass
from math import cos, radians, sin
from random import Random

from ..virtual.misbehaviour import Misbehaviour

DAYLIGHT_K = 6500.0


@dataclass(frozen=True)
class Light:
    """A flat light that shines at the middle of the table."""

    at_mm: tuple[float, float, float]
    """From the middle of the table: across, down, and height."""
    size_mm: tuple[float, float]
    round: bool
    kelvin: float
    share: float
    """Of all the light on the table."""


@dataclass(frozen=True)
class Room:
    """All that is the same for the pictures taken in one room."""

    habits: Misbehaviour
    """How the camera stands and sees, how the pieces lie, and what the table top is."""
    lights: tuple[Light, ...]
    ambient: float
    """Share of the light that comes from everywhere."""
    ambient_k: float
    size_px: tuple[int, int]
    board_roughness: float
    piece_roughness: float
    top_roughness: float
    """Of the table top."""
    board_mm: float
    """Thickness of the board; 0: there is none, everything lies on the table top."""
    aperture_mm: float
    """Radius of the opening of the lens."""
    focus: float
    """At what share of the distance to the table's middle the picture is sharpest."""
    barrel: float
    """How much nearer to the middle the corners of the picture are, as a share."""
    contrast: float
    jpeg_quality: int
    away_mm: float | None = None
    """Distance of the camera from the point it looks at; None: the whole table is in view."""

    @classmethod
    def draw(
        cls, seed: int, size_px: tuple[int, int] = (1280, 960), window: bool | None = None
    ) -> "Room":
        """A random room within the range in which reading has to work."""
        rng = Random(f"room {seed}")
        between = rng.uniform
        has_window = rng.random() < 0.6 if window is None else window
        ambient = between(0.15, 0.4)
        from_window = (1 - ambient) * between(0.2, 0.75) if has_window else 0.0
        lamp_k = between(2700, 5000)
        lights = [_draw_lamp(rng, lamp_k, 1 - ambient - from_window)]
        if has_window:
            lights.append(_draw_window(rng, from_window))
        return cls(
            habits=Misbehaviour.default(seed),
            lights=tuple(lights),
            ambient=ambient,
            ambient_k=between(3000, DAYLIGHT_K) if has_window else lamp_k,
            size_px=size_px,
            board_roughness=rng.choice((between(0.18, 0.3), between(0.4, 0.8))),
            piece_roughness=between(0.25, 0.6),
            top_roughness=between(0.35, 0.9),
            board_mm=between(0.3, 2.0),
            aperture_mm=between(0.4, 1.4),
            focus=between(0.94, 1.06),
            barrel=between(0.0, 0.025),
            contrast=between(0.0, 0.35),
            jpeg_quality=rng.randint(75, 95),
        )

    @property
    def kelvin_shares(self) -> tuple[tuple[float, float], ...]:
        """The colour temperatures in this room with their shares of the light."""
        shares = [(light.kelvin, light.share) for light in self.lights]
        return (*shares, (self.ambient_k, self.ambient))


def _draw_lamp(rng: Random, kelvin: float, share: float) -> Light:
    """A lamp over or beside the table, higher than any camera."""
    towards, away = radians(rng.uniform(0, 360)), rng.uniform(150, 900)
    side = rng.uniform(80, 450)
    at = away * cos(towards), away * sin(towards), rng.uniform(1100, 1800)
    shape = rng.random() < 0.6
    return Light(at, (side, side * (1 if shape else rng.uniform(1, 3))), shape, kelvin, share)


def _draw_window(rng: Random, share: float) -> Light:
    towards, away = radians(rng.uniform(0, 360)), rng.uniform(1300, 2600)
    at = away * cos(towards), away * sin(towards), rng.uniform(900, 1400)
    size = rng.uniform(600, 1400), rng.uniform(900, 1500)
    return Light(at, size, False, rng.uniform(5500, 7500), share)
