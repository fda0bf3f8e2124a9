"""What the virtual table and its camera can do wrong; every effect has its own switch."""

from dataclasses import dataclass
from random import Random

from ..textures import Surface


@dataclass(frozen=True)
class Misbehaviour:
    """One table in one room under one camera. Zero switches an effect off."""

    seed: int = 0
    """Of everything that is drawn by chance: grain, noise, places of shadows, misplacement."""

    tilt_deg: float = 0.0
    """How far the camera leans over; the design allows 15."""
    tilt_towards_deg: float = 0.0
    roll_deg: float = 0.0
    aim_mm: tuple[float, float] = (0.0, 0.0)
    """How far the camera looks past the middle of the table."""
    fill: float = 0.94
    """Share of the frame that the table with its cards fills, on the tighter side."""
    focal: float = 0.85
    """Focal length as a share of the longer side of the frame."""

    light_k: float = 5000.0
    """Colour temperature of the light; 2700 is a lamp, 6500 a window."""
    white_balance: float = 0.6
    """Share of the light's colour that the camera takes out."""
    exposure_ev: float = 0.0
    """Stops too bright or, negative, too dark."""
    gradient: float = 0.0
    """How much more light falls on one side than on the other."""
    gradient_towards_deg: float = 0.0
    vignette: float = 0.0
    big_shadow: float = 0.0
    """Depth of a soft shadow, as of a person, over part of the table."""
    glare: float = 0.0
    """Strength of the reflection of a lamp."""

    shadow: float = 0.0
    """Depth of the shadows of the pieces."""
    raised: bool = True
    """Pieces are as thick as the plan says; else flat, without parallax."""
    misplaced_mm: float = 0.0
    turned_deg: float = 0.0
    surface: Surface = "wood"
    covered_cards: int = 0
    board_moved_mm: tuple[float, float] = (0.0, 0.0)
    """How far the board with all that lies on it was pushed; the cards stay where they are."""
    board_turned_deg: float = 0.0
    """About its middle."""

    blur_px: float = 0.0
    noise: float = 0.0
    """Of the sensor; 1 is a webcam in a living room."""

    hands_per_min: float = 0.0
    bumps_per_min: float = 0.0
    """How often somebody knocks against the camera."""
    lost_frames: float = 0.0
    """Share of the frames that never arrive."""

    @classmethod
    def default(cls, seed: int) -> "Misbehaviour":
        """A random room within the range in which reading has to work."""
        rng = Random(seed)
        between = rng.uniform
        return cls(
            seed=seed,
            tilt_deg=between(0, 15),
            tilt_towards_deg=between(0, 360),
            roll_deg=between(-6, 6),
            aim_mm=(between(-15, 15), between(-15, 15)),
            fill=between(0.86, 0.95),
            focal=between(0.75, 1.0),
            light_k=between(2700, 6500),
            white_balance=between(0.4, 0.9),
            exposure_ev=between(-0.7, 0.3),
            gradient=between(0, 0.4),
            gradient_towards_deg=between(0, 360),
            vignette=between(0, 0.3),
            big_shadow=between(0, 0.5) * (rng.random() < 0.5),
            glare=between(0.1, 0.5) * (rng.random() < 0.4),
            shadow=between(0.1, 0.5),
            misplaced_mm=between(0, 0.8),
            turned_deg=between(0, 3),
            surface=rng.choice(("wood", "cloth", "plain")),
            covered_cards=int(rng.random() < 0.1),
            blur_px=between(0.4, 1.1),
            noise=between(0.3, 1.5),
        )


CALM = Misbehaviour(blur_px=0.5, noise=0.3, shadow=0.2)
"""A camera straight above, in even daylight."""

DEFAULT = Misbehaviour(
    tilt_deg=8.0,
    tilt_towards_deg=70.0,
    roll_deg=2.0,
    aim_mm=(6.0, -4.0),
    light_k=3500.0,
    exposure_ev=-0.2,
    gradient=0.2,
    gradient_towards_deg=200.0,
    vignette=0.15,
    big_shadow=0.2,
    glare=0.2,
    shadow=0.35,
    misplaced_mm=0.5,
    turned_deg=1.5,
    blur_px=0.7,
    noise=0.8,
    hands_per_min=4.0,
    bumps_per_min=0.5,
    lost_frames=0.002,
)
"""An evening in a living room."""
