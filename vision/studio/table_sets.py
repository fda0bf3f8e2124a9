"""Pictures of a game's table in several rooms with their truth, from its plan alone."""

from dataclasses import replace
from random import Random
from typing import Any

from rules.table import EMPTY, Area, Face, Layout, Place, Plan, Site

from .prints import PRINTS, draw_print
from .room import Room
from .sets import Entry, PictureSet
from .studio import Shot

ROOMS = 4
SIZES = ((1280, 960), (1640, 1232), (1152, 864), (1920, 1080))
"""Of the pictures, room after room."""


def make_set(plan: Plan, photos: int, foreign: bool, first_room: int = 0) -> PictureSet:
    """So many photos in each room; with ``foreign``, each room has a printed board of its own."""

    def draw(seed: int) -> Entry:
        number, photo = divmod(seed, photos)
        return draw_table(plan, first_room + number, photo, foreign)

    grid, names = _describe_grid(plan)
    turns = max(piece.turns for piece in plan.pieces.values())
    head = {
        "kind": "sites",
        "board": list(plan.size_mm),
        "grid": grid,
        "complete": False,
        "empty": "every site not listed",
        "turns": turns,
    }

    def named(seed: int) -> Entry:
        shot, truth = draw(seed)
        truth["sites"] = {names[s]: f for s, f in shot.layout.items() if f != EMPTY}
        return shot, truth

    return PictureSet(named, head, ROOMS * photos, 0)


def draw_table(plan: Plan, number: int, photo: int, foreign: bool) -> Entry:
    """One photo in a room: pieces lie at random, and the camera was touched since the last one."""
    rng = Random(f"table {number} {photo}")
    room = Room.draw(number, SIZES[number % len(SIZES)])
    (across, down), roll = room.habits.aim_mm, room.habits.roll_deg
    habits = replace(
        room.habits,
        aim_mm=(across + rng.uniform(-3, 3), down + rng.uniform(-3, 3)),
        roll_deg=roll + rng.uniform(-0.5, 0.5),
    )
    laid = draw_layout(plan, rng)
    under = lay_print(plan, number) if foreign else plan
    shot = Shot(under, replace(room, habits=habits), 1000 * number + photo, laid)
    corners = [[round(float(v), 2) for v in corner] for corner in shot.corners_px]
    return shot, {"game": f"room {number}", "corners_px": corners}


def draw_layout(plan: Plan, rng: Random) -> Layout:
    """Pieces on a random share of the sites, all faces about equally often."""
    share = rng.uniform(0.15, 0.6)
    stock: dict[tuple[Face, ...], list[Face]] = {}
    laid: dict[Site, Face] = {}
    for site, place in plan.places.items():
        if len(place.faces) > 1 and rng.random() < share:
            faces = stock.setdefault(place.faces, [])
            if not faces:
                faces += rng.sample(place.faces[1:], len(place.faces) - 1)
            laid[site] = faces.pop()
    return laid


def lay_print(plan: Plan, seed: int) -> Plan:
    """The same sites and pieces on another printed board."""
    art = draw_print(sorted(PRINTS)[seed % len(PRINTS)], seed, plan.size_mm)
    areas = {name: replace(area, cells=()) for name, area in plan.areas.items()}
    return replace(plan, areas=areas, art={**plan.art, "print": art}, board="print")


def _describe_grid(plan: Plan) -> tuple[dict[str, Any], dict[Site, str]]:
    """The grid of the truth, and the names its sites have there."""
    areas = list(plan.areas.values())
    if len(areas) == 1 and areas[0].grid == "square":
        return _describe_square(areas[0]), {site: site.upper() for site in plan.sites}
    pitch = min(area.pitch_mm for area in areas)
    places = {place.site: _round(place) for place in plan.places.values()}
    return {"pitch": pitch, "places": places}, {site: str(site) for site in plan.sites}


def _describe_square(area: Area) -> dict[str, Any]:
    corner = [mm - area.pitch_mm / 2 for mm in area.at_mm]
    pitch = [area.pitch_mm, area.pitch_mm]
    return {"origin": corner, "pitch": pitch, "rows": area.rows, "cols": area.columns}


def _round(place: Place) -> list[float]:
    return [round(place.x_mm, 3), round(place.y_mm, 3)]
