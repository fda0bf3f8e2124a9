"""Draws a table as SVG, one unit a millimetre: for the phone, the virtual table and the printer."""

import re
from functools import cache
from html import escape
from math import cos, pi, radians, sin, sqrt

from .table import EMPTY, Face, Layout, Place, Plan


def ground(plan: Plan) -> str:
    """The board on which nothing lies."""
    width, height = plan.size_mm
    parts = [f'<rect width="{width:g}" height="{height:g}" fill="{escape(plan.ground)}"/>']
    if plan.board:
        parts.append(inner(plan.art[plan.board]))
    parts += [
        f'<use href="#cell-{place.cell}" x="{place.x_mm:.2f}" y="{place.y_mm:.2f}"/>'
        for place in plan.places.values()
        if place.cell
    ]
    return "".join(parts)


def symbols(plan: Plan) -> str:
    """Definitions of the cells and faces that ``ground`` and ``piece`` refer to."""
    cells = sorted({p.cell for p in plan.places.values() if p.cell})
    parts = [f'<g id="cell-{name}">{inner(plan.art[name])}</g>' for name in cells]
    for face, piece in plan.piece_of.items():
        body = outline(piece.outline, piece.width_mm)
        parts.append(
            f'<g id="face-{face}"><path d="{body}" fill="{escape(piece.colour)}"/>'
            f"{inner(plan.art[face])}</g>"
        )
    return f"<defs>{''.join(parts)}</defs>"


def piece(place: Place, face: Face) -> str:
    """A piece on its site."""
    return f'<use href="#face-{face}" x="{place.x_mm:.2f}" y="{place.y_mm:.2f}"/>'


def pieces(plan: Plan, layout: Layout) -> str:
    return "".join(piece(plan.places[site], face) for site, face in layout.items() if face != EMPTY)


def svg(plan: Plan, content: str, *, margin_mm: float = 0.0, attributes: str = "") -> str:
    """A whole picture: definitions and content, with a margin around the table."""
    width, height = plan.size_mm
    m = margin_mm
    box = f"{0 - m:g} {0 - m:g} {width + 2 * m:g} {height + 2 * m:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {attributes}>'
        f"{symbols(plan)}{content}</svg>"
    )


def table(plan: Plan, layout: Layout) -> str:
    """The table with everything that lies on it."""
    return svg(plan, ground(plan) + pieces(plan, layout))


def outline(shape: str, width_mm: float) -> str:
    """The path of a body around the origin; hexagons stand on a corner.

    >>> outline("square", 10)
    'M-5.00 -5.00L5.00 -5.00L5.00 5.00L-5.00 5.00Z'
    """
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in corners(shape, width_mm)) + "Z"


def corners(shape: str, width_mm: float) -> list[tuple[float, float]]:
    """The corners of a body around the origin; a round one has many."""
    half = width_mm / 2
    if shape == "square":
        return [(-half, -half), (half, -half), (half, half), (-half, half)]
    if shape == "hex":
        corner = half * 2 / sqrt(3)
        angles = [radians(60 * k - 90) for k in range(6)]
        return [(corner * cos(a), corner * sin(a)) for a in angles]
    return [(half * cos(2 * pi * k / 48), half * sin(2 * pi * k / 48)) for k in range(48)]


def cell_outline(place: Place) -> str:
    """The border of a site around the origin: where a finger or the camera looks."""
    shape = {"hex": "hex", "square": "square", "spots": "round"}[place.grid]
    return outline(shape, place.pitch_mm)


@cache
def inner(art: str) -> str:
    """What stands inside the ``svg`` element of a drawing."""
    found = re.search(r"<svg\b[^>]*>(.*)</svg>", art, re.DOTALL)
    return found.group(1).strip() if found else ""
