"""Takes pictures of a table: plan, layout, dice and room to a picture with its truth."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from math import hypot
from pathlib import Path

import cv2
import numpy as np

from rules import drawing
from rules.table import EMPTY, Face, Layout, Plan, Site

from ..cards import IDS, card_corners_mm, marker_corners_mm
from ..frame import Numbers, Pixels
from ..pose import Pose, lens_of, project
from ..textures import board_texture, card_texture, face_texture, surface_texture
from ..virtual.lighting import light_colour
from ..virtual.scene import outline_of, place_mm, pose_of
from .dice import Die, build_dice
from .meshes import Mesh, join, make_sheet, make_slab
from .renderer import Panel, Scene, Solid, trace
from .room import Light, Room
from .sensor import Barrel, develop

LOOK = 1
"""Goes up when the same description gives another picture: older pictures are made again."""
RAYS = 8
FINER = 1.5
"""How many times finer than the picture textures are drawn."""
MOST_PX = 2600
"""Along the longer side of the board's texture."""
TOP_PX = 1350
TOP_FINER = 0.8
TOP_MM = 6300.0
"""The table top is larger than any camera sees; its grain is mirrored again and again."""
CARD_UP_MM = 0.25
CARD_PX_PER_MM = 6.0
BEVEL = 0.15
"""Radius of the edges of a piece, as a share of its thickness."""
UNEVEN_MM = 0.04
"""Pieces that push into each other lie so much higher or lower: no two tops fight for a pixel."""


@dataclass(frozen=True)
class Shot:
    """All that determines one picture, and where things are in it."""

    plan: Plan
    room: Room
    seed: int
    layout: Layout
    dice: tuple[Die, ...] = ()
    cards: bool = True
    rays: int = RAYS

    @property
    def key(self) -> str:
        """Tells this picture from all others."""
        lying = sorted((s, f) for s, f in self.layout.items() if f != EMPTY)
        seen = (LOOK, self.seed, lying, self.cards, self.rays)
        bodies = (_describe(self.room), _describe(self.dice), _describe(self.plan.pieces))
        drawn = drawing.svg(self.plan, drawing.ground(self.plan))
        return sha256(repr((seen, bodies, drawn)).encode()).hexdigest()[:16]

    @property
    def pose(self) -> Pose:
        """Where the camera stands."""
        habits = self.room.habits
        if self.room.away_mm is None:
            return pose_of(self.plan, habits, self.room.size_px)
        x, y = (s / 2 + aim for s, aim in zip(self.plan.size_mm, habits.aim_mm, strict=True))
        return Pose.looking_at(
            x,
            y,
            distance_mm=self.room.away_mm,
            tilt_deg=habits.tilt_deg,
            tilt_towards_deg=habits.tilt_towards_deg,
            roll_deg=habits.roll_deg,
            lens=lens_of(*self.room.size_px, habits.focal),
        )

    def project(self, points_mm: Numbers, up_mm: float = 0.0) -> Numbers:
        """Where points (n, 2) at this height above the table top are in the picture."""
        straight = project(self.pose.homography(up_mm), points_mm)
        return Barrel(self.room.barrel, self.room.size_px).bend(straight)

    @property
    def px_per_mm(self) -> float:
        """In the middle of the picture, about, in steps so that few textures serve many."""
        pose = self.pose
        nearest = FINER * pose.lens[0, 0] / float(np.linalg.norm(pose.shift))
        return min(float(np.ceil(2 * nearest) / 2), MOST_PX / max(self.plan.size_mm))

    @property
    def corners_px(self) -> Numbers:
        """The corners of the board, clockwise from its top left."""
        width, height = self.plan.size_mm
        rim = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
        return self.project(rim, self.room.board_mm)

    @property
    def places_px(self) -> Mapping[Site, tuple[float, float]]:
        """The middles of all sites on the bare board."""
        places = self.plan.places
        if not places:
            return {}
        middles = np.array([(p.x_mm, p.y_mm) for p in places.values()])
        seen = self.project(middles, self.room.board_mm).tolist()
        return {site: (x, y) for site, (x, y) in zip(places, seen, strict=True)}

    @property
    def markers_px(self) -> Mapping[int, Numbers]:
        """The corners of the markers on the cards."""
        return {
            n: self.project(c, CARD_UP_MM) for n, c in marker_corners_mm(self.plan.size_mm).items()
        }

    def top_px(self, die: Die) -> Numbers:
        """The corners of a die's top face."""
        return self.project(die.top_mm, self.room.board_mm + die.edge_mm)


def _describe(value: object) -> object:
    """A value without what is as usual in it: a new switch that is off changes no key."""
    if is_dataclass(value):
        told = {f.name: (getattr(value, f.name), f.default) for f in fields(value)}
        return {n: _describe(here) for n, (here, usual) in told.items() if here != usual}
    if isinstance(value, Mapping):
        return sorted((str(key), _describe(part)) for key, part in value.items())
    if isinstance(value, tuple):
        return [_describe(part) for part in value]
    return value


def photograph(shot: Shot) -> bytes:
    """The picture as a JPEG."""
    light = trace(_build(shot), shot.rays, shot.seed)
    return develop(light, shot.room, shot.seed)


class Album:
    """Pictures in a folder; each is made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, shot: Shot) -> Path:
        return self.folder / f"{shot.key}.jpg"

    def picture(self, shot: Shot) -> Path:
        """The file with this picture, made now if it is not there yet."""
        path = self.path(shot)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_bytes(photograph(shot))
            part.replace(path)
        return path


def _build(shot: Shot) -> Scene:
    plan, room, pose = shot.plan, shot.room, shot.pose
    width, height = plan.size_mm
    middle = np.array([width / 2, height / 2, 0.0])
    solids = [_lay_top(shot)]
    if room.board_mm:
        solids.append(_lay_board(shot))
    if shot.cards:
        solids.append(_lay_cards(shot))
    if any(face != EMPTY for face in shot.layout.values()):
        solids.append(_lay_pieces(shot))
    if shot.dice:
        mesh, bgr = build_dice(shot.dice, room.board_mm)
        solids.append(Solid(mesh, bgr, room.piece_roughness))
    x, y = plan.size_mm[0] / 2 + room.habits.aim_mm[0], plan.size_mm[1] / 2 + room.habits.aim_mm[1]
    eye_x, eye_y, eye_z = pose.eye_mm
    return Scene(
        tuple(solids),
        tuple(_hang(light, middle) for light in room.lights),
        room.ambient / np.pi * light_colour(room.ambient_k),
        pose,
        room.size_px,
        room.aperture_mm,
        room.focus * hypot(eye_x - x, eye_y - y, eye_z),
    )


def _hang(light: Light, middle: Numbers) -> Panel:
    """A light of such strength that it gives the table its share."""
    across, down, up = light.at_mm
    away = np.array([across, down, -up])
    width, height = light.size_mm
    area = width * height * (np.pi / 4 if light.round else 1.0)
    distance = float(np.linalg.norm(away))
    strength = light.share * distance**2 / (area * up / distance)
    bgr = strength * light_colour(light.kelvin)
    return Panel(middle + away, middle, light.size_mm, light.round, bgr)


def _lay_top(shot: Shot) -> Solid:
    width, height = shot.plan.size_mm
    x, y, half = width / 2, height / 2, TOP_MM / 2
    sheet = make_sheet(x - half, y - half, x + half, y + half)
    habits = shot.room.habits
    texture = surface_texture(habits.surface, TOP_PX, TOP_PX, habits.seed)
    tile_mm = TOP_PX / max(1.5, shot.px_per_mm / FINER * TOP_FINER)
    tiled = sheet.textured(sheet.places * (TOP_MM / tile_mm))
    return Solid(tiled, texture, shot.room.top_roughness, repeated=True)


def _lay_board(shot: Shot) -> Solid:
    width, height = shot.plan.size_mm
    outline = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
    slab = make_slab(outline, shot.room.board_mm, min(0.3, shot.room.board_mm / 2))
    board = slab.textured(slab.places / (width, height))
    texture = board_texture(shot.plan, shot.px_per_mm)[:, :, :3]
    return Solid(board, texture, shot.room.board_roughness)


def _lay_cards(shot: Shot) -> Solid:
    sheets: list[Mesh] = []
    for k, paper in card_corners_mm(shot.plan.size_mm).items():
        (left, top), (right, bottom) = paper[0], paper[2]
        sheet = make_sheet(left, top, right, bottom, CARD_UP_MM)
        sheets.append(sheet.in_tile(k, 0, len(IDS), 1))
    texture = np.hstack([card_texture(k, CARD_PX_PER_MM)[:, :, :3] for k in IDS])
    return Solid(join(sheets), texture, 0.7)


def _lay_pieces(shot: Shot) -> Solid:
    """All pieces as one body, the pictures of their faces side by side."""
    plan = shot.plan
    lying = sorted((s, f) for s, f in shot.layout.items() if f != EMPTY)
    faces = sorted({face for _, face in lying})
    textures = [_texture_face(plan, face, shot.px_per_mm) for face in faces]
    side = max(t.shape[0] for t in textures)
    atlas = np.hstack([cv2.resize(t, (side, side)) for t in textures]).astype(np.uint8)
    habits = replace(shot.room.habits, seed=shot.seed)
    bodies = []
    for n, (site, face) in enumerate(lying):
        piece = plan.piece_of[face]
        slab = make_slab(
            outline_of(piece.outline, piece.width_mm),
            piece.thickness_mm,
            BEVEL * min(piece.thickness_mm, 6.0),
        )
        whole = slab.textured(slab.places / (1.3 * piece.width_mm) + 0.5)
        shown = whole.in_tile(faces.index(face), 0, len(faces), 1)
        up_mm = shot.room.board_mm + UNEVEN_MM * (n % 7) / 7
        bodies.append(shown.laid(*place_mm(plan, site, face, habits), up_mm))
    return Solid(join(bodies), atlas, shot.room.piece_roughness)


def _texture_face(plan: Plan, face: Face, px_per_mm: float) -> Pixels:
    """The top of a piece; what lies outside of its outline has the colour of its body."""
    bgra = face_texture(plan, face, px_per_mm)
    colour = plan.piece_of[face].colour
    body = np.array([int(colour[i : i + 2], 16) for i in (5, 3, 1)])
    through = 1 - bgra[:, :, 3:] / 255
    return np.rint(bgra[:, :, :3] + body * through).astype(np.uint8)
