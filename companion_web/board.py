"""The board as SVG in layers, drawn from the plan of any game: what lies there, what is marked."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

from rules import drawing, games
from rules.table import EMPTY, Face, Layout, Place, Plan, Site


@dataclass(frozen=True, slots=True)
class Base:
    """What stays the same during a game."""

    box: str
    definitions: Markup
    ground: Markup
    names: Markup
    """The names of the sites, small."""
    targets: Markup
    """What a finger hits: one shape per site."""
    palettes: tuple[tuple[Face, ...], ...]
    """The different choices of faces; a target refers to one by its number."""


@cache
def base(game: str) -> Base:
    plan = games.find(game).plan
    width, height = plan.size_mm
    shapes: dict[str, str] = {}
    palettes: dict[tuple[Face, ...], int] = {}
    targets, names = [], []
    for place in plan.places.values():
        shape = shapes.setdefault(drawing.cell_outline(place), f"site-{len(shapes)}")
        palette = palettes.setdefault(place.faces, len(palettes))
        at = f'x="{place.x_mm:.2f}" y="{place.y_mm:.2f}"'
        targets.append(
            f'<use class="site" href="#{shape}" {at} data-site="{escape(place.site)}" '
            f'data-palette="{palette}"/>'
        )
        names.append(f"<text {at}>{escape(place.site)}</text>")
    outlines = "".join(f'<path id="{name}" d="{path}"/>' for path, name in shapes.items())
    return Base(
        f"0 0 {width:g} {height:g}",
        Markup(drawing.symbols(plan) + f"<defs>{outlines}</defs>"),
        Markup(drawing.ground(plan)),
        Markup("".join(names)),
        Markup("".join(targets)),
        tuple(palettes),
    )


def show_site(plan: Plan, site: Site) -> Markup:
    """The bare board as a small picture, with a ring around one site."""
    place = plan.places[site]
    at = f'cx="{place.x_mm:.2f}" cy="{place.y_mm:.2f}" r="{place.pitch_mm:.2f}"'
    ring = f'<circle class="ring" {at}/>'
    return Markup(drawing.svg(plan, drawing.ground(plan) + ring, attributes='aria-hidden="true"'))


def tint(plan: Plan, face: Face) -> str:
    """The most colourful paint of a face's drawing, for bars beside its symbol."""

    def colourfulness(paint: str) -> int:
        parts = [int(paint[i : i + 2], 16) for i in (1, 3, 5)]
        return max(parts) - min(parts) + max(parts)

    paints = re.findall(r'fill="(#[0-9a-fA-F]{6})"', plan.art.get(face, ""))
    return max(paints, key=colourfulness, default="currentColor")


def icon_box(plan: Plan, face: Face) -> str:
    """The view box in which one piece is shown beside its word."""
    size = plan.piece_of[face].width_mm * 1.16
    return f"{-size / 2:.1f} {-size / 2:.1f} {size:.1f} {size:.1f}"


def pieces(plan: Plan, layout: Layout, ghosts: Layout | None = None) -> Markup:
    """Everything that lies there; ghosts are pieces that should, or that somebody saw."""
    parts = [_piece(plan, site, face) for site, face in layout.items() if face != EMPTY]
    for site, face in (ghosts or {}).items():
        if face != EMPTY:
            parts.append(f'<g class="ghost">{_piece(plan, site, face)}</g>')
    return Markup("".join(parts))


def outlines(plan: Plan, sites: Iterable[Site], name: str) -> Markup:
    """A border around each of the sites."""
    parts = []
    for site in sites:
        place = plan.places.get(site)
        if place is not None:
            path = drawing.cell_outline(place)
            parts.append(f'<path d="{path}" transform="translate({_at(place)})"/>')
    return Markup(f'<g class="{escape(name)}">{"".join(parts)}</g>') if parts else Markup("")


def stroke(plan: Plan, sites: Sequence[Site], number: int, points: int) -> Markup:
    """One score line: from its first site along those that were counted."""
    places = [plan.places[s] for s in sites if s in plan.places]
    if len(places) < 2:
        return Markup("")
    path = "M" + "L".join(_at(place) for place in places)
    end = places[-1]
    dots = "".join(
        f'<circle cx="{p.x_mm:.2f}" cy="{p.y_mm:.2f}" r="{p.pitch_mm * 0.11:.2f}"/>'
        for p in places[1:]
    )
    label = f'<text x="{end.x_mm:.2f}" y="{end.y_mm:.2f}">{points:+d}</text>' if points else ""
    return Markup(
        f'<g class="count" data-line="{number}"><path class="halo" d="{path}"/>'
        f'<path d="{path}"/>{dots}{label}</g>'
    )


def _piece(plan: Plan, site: Site, face: Face) -> str:
    use = drawing.piece(plan.places[site], face)
    return use.replace("<use ", f'<use data-at="{escape(site)}" data-face="{escape(face)}" ', 1)


def _at(place: Place) -> str:
    return f"{place.x_mm:.2f} {place.y_mm:.2f}"
