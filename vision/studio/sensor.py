"""The camera's part of a picture: lens barrel, vignette, exposure, white balance, noise, JPEG."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..frame import Numbers, Pixels
from ..virtual.lighting import light_colour
from .room import Room

BRIGHTEST = 0.75
"""What a meter makes of the brightest part of a picture, and"""
MIDDLING = 0.25
"""of its mean, whichever is darker."""
SHOT_NOISE, READ_NOISE = 4e-4, 2e-5
"""Variances in full light and in the dark."""
STEPS = 1 << 14
"""Of light that the sensor tells apart."""
SPARK = 1.8
"""A pixel so many times brighter than those around it is an accident of the rays."""


@dataclass(frozen=True)
class Barrel:
    """A lens that draws the corners of a picture inwards; the corners themselves stay in place."""

    strength: float
    size_px: tuple[int, int]

    def straighten(self, seen_px: Numbers) -> Numbers:
        """Where a pixel (n, 2) of the picture would be without the lens's fault."""
        off = seen_px - self._middle
        straight: Numbers = self._middle + off * self._grow((off**2).sum(axis=1))[:, None]
        return straight

    def bend(self, straight_px: Numbers) -> Numbers:
        """Where a straight pixel (n, 2) is seen: the opposite of ``straighten``."""
        seen = straight_px.astype(np.float64)
        for _ in range(12):
            seen = seen + straight_px - self.straighten(seen)
        return seen

    def apply(self, light: NDArray[np.float32]) -> NDArray[np.float32]:
        """The picture as this lens shows it."""
        (width, height), (middle_x, middle_y) = self.size_px, self._middle
        x = (np.arange(width) - middle_x).astype(np.float32)
        y = (np.arange(height) - middle_y).astype(np.float32)[:, None]
        grown = self._grow(x**2 + y**2).astype(np.float32)
        map_x, map_y = x * grown + np.float32(middle_x), y * grown + np.float32(middle_y)
        bent = cv2.remap(light, map_x, map_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return np.maximum(bent, 0).astype(np.float32, copy=False)

    @property
    def _middle(self) -> Numbers:
        return (np.array(self.size_px, np.float64) - 1) / 2

    def _grow(self, squared_px: NDArray[np.floating]) -> NDArray[np.floating]:
        """How many times further out a pixel belongs, by its squared distance from the middle."""
        share = squared_px / float((self._middle**2).sum())
        return (1 + self.strength * share) / (1 + self.strength)


def white_of(room: Room) -> Numbers:
    """The colour of the light in a room, blue, green and red."""
    mixed = sum(share * light_colour(kelvin) for kelvin, share in room.kelvin_shares)
    white: Numbers = np.asarray(mixed) / np.asarray(mixed)[1]
    return white


def develop(light: NDArray[np.float32], room: Room, seed: int) -> bytes:
    """A JPEG of the light that reached the lens."""
    height, width = light.shape[:2]
    habits = room.habits
    bent = Barrel(room.barrel, (width, height)).apply(_put_out_sparks(light))
    if habits.blur_px:
        bent = cv2.GaussianBlur(bent, (0, 0), habits.blur_px).astype(np.float32, copy=False)
    x, y = np.linspace(-1, 1, width), np.linspace(-1, 1, height) * height / width
    fall = (1 - habits.vignette * 0.5 * (x**2 + y[:, None] ** 2)).astype(np.float32)
    balance = (white_of(room) ** -habits.white_balance).astype(np.float32)
    balanced = bent * fall[:, :, None] * balance
    green = balanced[:, :, 1]
    gain = min(BRIGHTEST / float(np.percentile(green, 99)), MIDDLING / float(green.mean()))
    exposed = balanced * np.float32(gain * 2.0**habits.exposure_ev)
    exposed += _draw_noise(exposed, habits.noise, seed)
    steps = (np.clip(exposed, 0, 1) * (STEPS - 1) + 0.5).astype(np.uint16)
    bgr = _curve(room.contrast)[steps]
    _, coded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, room.jpeg_quality])
    return coded.tobytes()


def _put_out_sparks(light: NDArray[np.float32]) -> NDArray[np.float32]:
    """The picture without single pixels that a rare ray made far too bright."""
    around = cv2.medianBlur(light, 5).astype(np.float32, copy=False)
    spark = _brightest(light) > SPARK * _brightest(around) + np.float32(1e-3)
    calm = light.copy()
    calm[spark] = around[spark]
    return calm


def _brightest(light: NDArray[np.floating]) -> NDArray[np.floating]:
    """The strongest colour of each pixel; numpy's own maximum takes ten times as long."""
    blue, green, red = cv2.split(light)
    return np.maximum(np.maximum(blue, green), red)


def _draw_noise(exposed: NDArray[np.float32], strength: float, seed: int) -> NDArray[np.float32]:
    """Shot and read noise; the colour filter of a sensor lets neighbours share it."""
    rng = np.random.default_rng((seed, 5))
    noise = cv2.GaussianBlur(rng.standard_normal(exposed.shape, np.float32), (0, 0), 0.6)
    deviation = np.sqrt(SHOT_NOISE * np.clip(exposed, 0, 1) + READ_NOISE)
    shared = deviation * noise * np.float32(strength / noise.std())
    return np.asarray(shared, np.float32)


def _curve(contrast: float) -> Pixels:
    """The 8-bit value of each step of light: the curve of sRGB, and an S-curve as cameras add."""
    light = np.linspace(0, 1, STEPS)
    level = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    level += contrast * level * (1 - level) * (2 * level - 1)
    return np.asarray(np.rint(np.clip(level, 0, 1) * 255), np.uint8)
