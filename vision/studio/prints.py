"""Boards drawn by chance, to be laid under dice and tiles: a sea, fields, plain paper."""

from collections.abc import Callable, Mapping
from math import cos, hypot, pi, sin
from random import Random

from rules.table import Plan

Draw = Callable[[Random, float, float], str]


def make_table(print_name: str, seed: int, size_mm: tuple[float, float]) -> Plan:
    """A table with nothing but a printed board on it."""
    art = draw_print(print_name, seed, size_mm)
    return Plan(size_mm, {}, {}, {"board": art}, "#ffffff", "board")


def draw_print(print_name: str, seed: int, size_mm: tuple[float, float]) -> str:
    """One of ``PRINTS`` as SVG, its origin at the top left corner, one unit a millimetre."""
    content = PRINTS[print_name](Random(f"{print_name} {seed}"), *size_mm)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{content}</svg>'


def _draw_sea(rng: Random, width: float, height: float) -> str:
    hue, light = rng.uniform(185, 225), rng.uniform(38, 68)
    parts = [_fill(width, height, _hsl(hue, rng.uniform(35, 65), light))]
    for _ in range(int(width * height / 2600)):
        parts.append(_blot(rng, width, height, rng.uniform(15, 45), _hsl(hue, 45, light + 4), 0.5))
    ink = _hsl(hue, 50, light + rng.choice((-18, 16)))
    for _ in range(int(width * height / 420)):
        parts.append(_wave(rng, rng.uniform(0, width), rng.uniform(0, height), ink))
    for _ in range(rng.randint(3, 6)):
        parts.append(_island(rng, width, height, hue, light))
    for _ in range(rng.randint(3, 7)):
        parts.append(_route(rng, width, height))
    for _ in range(rng.randint(5, 10)):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        parts.append(_glyph(rng, x, y, rng.uniform(5, 13)))
    return "".join(parts)


def _draw_fields(rng: Random, width: float, height: float) -> str:
    """Squares of a few colours with a sign in some of them."""
    hues = [rng.uniform(0, 360) for _ in range(rng.randint(2, 5))]
    strength, light = rng.uniform(10, 60), rng.uniform(35, 80)
    pitch = rng.uniform(18, 45)
    parts = [_fill(width, height, _hsl(rng.choice(hues), strength / 2, light - 10))]
    for row in range(int(height / pitch) + 1):
        for column in range(int(width / pitch) + 1):
            x, y = column * pitch, row * pitch
            colour = _hsl(rng.choice(hues), strength, light + rng.uniform(-8, 8))
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{pitch - 1:.1f}" height="{pitch - 1:.1f}"'
                f' rx="{pitch / 12:.1f}" fill="{colour}"/>'
            )
            if rng.random() < 0.25:
                parts.append(_glyph(rng, x + pitch / 2, y + pitch / 2, pitch / 3))
    return "".join(parts)


def _draw_meadow(rng: Random, width: float, height: float) -> str:
    """Grass, paths and ponds."""
    hue = rng.uniform(60, 140)
    parts = [_fill(width, height, _hsl(hue, 35, rng.uniform(35, 60)))]
    for _ in range(int(width * height / 500)):
        colour = _hsl(hue + rng.uniform(-25, 25), 40, rng.uniform(30, 65))
        parts.append(_blot(rng, width, height, rng.uniform(3, 16), colour, 0.6))
    for _ in range(rng.randint(2, 5)):
        colour = _hsl(rng.choice((40, 200)), 45, 60)
        parts.append(_blot(rng, width, height, rng.uniform(18, 40), colour, 0.9))
    for _ in range(rng.randint(2, 6)):
        parts.append(_route(rng, width, height))
    return "".join(parts)


def _draw_lines(rng: Random, width: float, height: float) -> str:
    """Pale paper with a grid of thin lines and marks."""
    hue = rng.uniform(0, 360)
    parts = [_fill(width, height, _hsl(hue, rng.uniform(5, 30), rng.uniform(75, 94)))]
    ink, pitch = _hsl(hue, 30, rng.uniform(25, 60)), rng.uniform(12, 30)
    for k in range(int(max(width, height) / pitch) + 1):
        at = k * pitch
        parts.append(
            f'<path d="M{at:.1f} 0V{height:g}M0 {at:.1f}H{width:g}" stroke="{ink}"'
            f' stroke-width="{rng.uniform(0.3, 0.9):.2f}"/>'
        )
    for _ in range(rng.randint(4, 20)):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        parts.append(_glyph(rng, x, y, rng.uniform(4, 12)))
    return "".join(parts)


PRINTS: Mapping[str, Draw] = {
    "sea": _draw_sea,
    "fields": _draw_fields,
    "meadow": _draw_meadow,
    "lines": _draw_lines,
}


def _hsl(hue: float, strength: float, light: float) -> str:
    """A colour as SVG knows it.

    >>> _hsl(120, 100, 50)
    '#00ff00'
    """
    saturation, lightness = strength / 100, min(max(light, 0.0), 100.0) / 100
    reach = saturation * min(lightness, 1 - lightness)

    def channel(n: int) -> int:
        k = (n + hue / 30) % 12
        return round(255 * (lightness - reach * max(-1.0, min(k - 3, 9 - k, 1.0))))

    return f"#{channel(0):02x}{channel(8):02x}{channel(4):02x}"


def _fill(width: float, height: float, colour: str) -> str:
    return f'<rect width="{width:g}" height="{height:g}" fill="{colour}"/>'


def _wave(rng: Random, x: float, y: float, ink: str) -> str:
    step, rise = rng.uniform(2.5, 5), rng.uniform(0.8, 1.8)
    path = f"M{x:.1f} {y:.1f}" + f"q{step / 2:.1f} {-rise:.1f} {step:.1f} 0" * rng.randint(2, 4)
    return f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="0.5" opacity="0.8"/>'


def _outline(rng: Random, x: float, y: float, size: float) -> list[tuple[float, float]]:
    """A lumpy ring of points."""
    phases = [rng.uniform(0, 2 * pi) for _ in range(4)]
    points = []
    for k in range(40):
        a = 2 * pi * k / 40
        lumps = sum(0.22 / (n + 1) * sin((n + 2) * a + p) for n, p in enumerate(phases))
        points.append((x + size * (1 + lumps) * cos(a), y + size * (1 + lumps) * sin(a)))
    return points


def _ring(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def _blot(
    rng: Random, width: float, height: float, size: float, colour: str, opacity: float
) -> str:
    path = _ring(_outline(rng, rng.uniform(0, width), rng.uniform(0, height), size))
    return f'<path d="{path}" fill="{colour}" opacity="{opacity}"/>'


def _island(rng: Random, width: float, height: float, hue: float, light: float) -> str:
    x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(14, 42)
    shore = _outline(rng, x, y, size)

    def shrunk(share: float) -> str:
        return _ring([(x + (a - x) * share, y + (b - y) * share) for a, b in shore])

    shoal = f'fill="none" stroke="{_hsl(hue, 45, light + 14)}" stroke-width="0.6"'
    parts = [f'<path d="{shrunk(1 + k / 9)}" {shoal}/>' for k in (1, 2)]
    sand, grass = _hsl(42, 50, 72), _hsl(rng.uniform(75, 130), 35, rng.uniform(35, 55))
    parts.append(
        f'<path d="{shrunk(1)}" fill="{sand}" stroke="#5d5340" stroke-width="0.7"/>'
        f'<path d="{shrunk(0.78)}" fill="{grass}"/>'
    )
    for _ in range(rng.randint(1, 5)):
        a, b = x + rng.uniform(-0.4, 0.4) * size, y + rng.uniform(-0.4, 0.4) * size
        parts.append(_glyph(rng, a, b, rng.uniform(3, 6)))
    return "".join(parts)


def _route(rng: Random, width: float, height: float) -> str:
    """A dotted line with round stops."""
    x, y = rng.uniform(0, width), rng.uniform(0, height)
    to_x, to_y = rng.uniform(0, width), rng.uniform(0, height)
    ink, radius = rng.choice(("#f4efe2", "#2b2a33", "#b4402e")), rng.uniform(0.5, 1.6)
    count = int(hypot(to_x - x, to_y - y) / (4 * radius + 2))
    dots = [(x + (to_x - x) * k / count, y + (to_y - y) * k / count) for k in range(count)]
    circles = [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius:.1f}"/>' for a, b in dots]
    return f'<g fill="{ink}" opacity="0.85">{"".join(circles)}</g>'


GLYPHS = (
    '<path d="M0 -1L0.22 -0.22L1 0L0.22 0.22L0 1L-0.22 0.22L-1 0L-0.22 -0.22Z"/>',
    '<path d="M-0.12 -0.6H0.12V0.55A0.7 0.7 0 0 0 0.7 0.1L0.9 0.3A1 1 0 0 1 -0.9 0.3L-0.7 0.1'
    'A0.7 0.7 0 0 0 -0.12 0.55Z"/><circle cy="-0.8" r="0.25"/>',
    '<path d="M-0.8 0.5H0.8L0.5 0.9H-0.5ZM-0.05 0.4V-0.9L0.7 0.3Z"/>',
    '<path d="M-0.9 -0.6L-0.6 -0.9L0.9 0.6L0.6 0.9ZM0.9 -0.6L0.6 -0.9L-0.9 0.6L-0.6 0.9Z"/>',
    '<circle r="0.9"/><circle r="0.55" fill="#ffffff" opacity="0.8"/>',
    '<rect x="-0.8" y="-0.8" width="1.6" height="1.6" rx="0.2"/>',
    '<path d="M0 -0.9L0.9 0.7H-0.9Z"/>',
    '<circle r="0.35"/>',
)


def _glyph(rng: Random, x: float, y: float, size: float) -> str:
    colour = _hsl(rng.uniform(0, 360), rng.uniform(0, 60), rng.choice((20, 35, 85, 93)))
    place = f"translate({x:.1f} {y:.1f}) rotate({rng.uniform(0, 360):.0f}) scale({size:.2f})"
    return f'<g transform="{place}" fill="{colour}" opacity="0.9">{rng.choice(GLYPHS)}</g>'
