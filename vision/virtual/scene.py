"""The table under the virtual camera: bare board, cards, pieces, in plain colours without light."""

import re
from functools import cache
from math import cos, hypot, radians, sin
from random import Random

import cv2
import numpy as np

from rules import drawing
from rules.table import Face, Layout, Piece, Plan, Site

from ..board import BoardPlace
from ..cards import CARD_MM, IDS, card_corners_mm
from ..frame import Numbers, Pixels
from ..pose import Pose, lens_of, project
from ..textures import board_texture, card_texture, face_texture, surface_texture
from .misbehaviour import Misbehaviour

SHADOWS_FALL = (0.8, 0.6)
"""Where the shadows of the pieces fall, per millimetre of height."""
BOARD_MM = 2.0
SURFACE_PX_PER_MM = 1.5
FINER = 2
"""How many times finer than the frame things are drawn before they are laid into it."""
COVER_MM = 27.0
"""Radius of the mat that lies on a covered card."""


class Scene:
    """One table under one camera; what no piece changes is drawn only once."""

    def __init__(
        self,
        plan: Plan,
        misbehaviour: Misbehaviour,
        size: tuple[int, int],
        bump_deg: tuple[float, float],
        covered: frozenset[int],
    ) -> None:
        self._plan = plan
        self._misbehaviour = misbehaviour
        self.pose = pose_of(plan, misbehaviour, size, bump_deg)
        self.flat = self.pose.homography()
        self._place = board_place(plan, misbehaviour).matrix()
        self._px_per_mm = _px_per_mm(self.flat, plan.size_mm)
        self._faces: dict[Face, Pixels] = {}
        self._bare = self._draw_bare(size, covered | covered_cards(misbehaviour))

    def draw(self, lying: Layout) -> Pixels:
        """The table with these pieces on it."""
        bgr = self._bare.copy()
        eye = np.array([self.pose.eye_mm[:2]])
        eye_x, eye_y = project(np.asarray(np.linalg.inv(self._place)), eye)[0]
        spots = [
            (self._plan.piece_of[face], face, place_mm(self._plan, site, face, self._misbehaviour))
            for site, face in lying.items()
        ]
        # The nearer piece stands in front of the farther one.
        spots.sort(key=lambda spot: -hypot(spot[2][0] - eye_x, spot[2][1] - eye_y))
        if self._misbehaviour.shadow and spots:
            self._draw_shadows(bgr, [(piece, at) for piece, _, at in spots])
        for piece, face, at in spots:
            self._draw_piece(bgr, piece, face, at)
        return bgr

    def _draw_bare(self, size: tuple[int, int], covered: frozenset[int]) -> Pixels:
        bgr = self._draw_surface(size)
        width, height = self._plan.size_mm
        papers = card_corners_mm(self._plan.size_mm)
        rim = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
        shape = [project(self.flat, project(self._place, rim) + np.array(SHADOWS_FALL) * BOARD_MM)]
        _darken(bgr, shape, 0.5, 1.2 * self._px_per_mm)
        board = board_texture(self._plan, self._texture_px_per_mm)
        _stamp(bgr, board, self.flat @ self._place @ _laid_out(board, 0, 0, width, height))
        for number in IDS:
            card = card_texture(number, self._texture_px_per_mm)
            left, top = papers[number][0]
            _stamp(bgr, card, self.flat @ _laid_out(card, left, top, CARD_MM, CARD_MM))
        for number in covered:
            middle = papers[number].mean(axis=0)
            for radius, colour in ((COVER_MM, (70, 90, 60)), (COVER_MM - 3, (95, 125, 85))):
                mat = _ring(radius) + middle
                _fill(bgr, project(self.flat, mat), colour)
        return bgr

    def _draw_surface(self, size: tuple[int, int]) -> Pixels:
        """The table top as far as the camera sees it."""
        width, height = size
        frame = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64)
        seen = project(np.linalg.inv(self.flat).astype(np.float64), frame)
        (left, top), (right, bottom) = seen.min(axis=0) - 5, seen.max(axis=0) + 5
        rows, columns = (round(side * SURFACE_PX_PER_MM) for side in (bottom - top, right - left))
        m = self._misbehaviour
        texture = surface_texture(m.surface, rows, columns, m.seed)
        placed = self.flat @ _laid_out(texture, left, top, right - left, bottom - top)
        return cv2.warpPerspective(texture, placed, size).astype(np.uint8, copy=False)

    def _draw_shadows(
        self, bgr: Pixels, spots: list[tuple[Piece, tuple[float, float, float]]]
    ) -> None:
        shapes = []
        for piece, at in spots:
            base = project(self._place, _body(piece, at))
            fall = np.array(SHADOWS_FALL) * (piece.thickness_mm + 0.5)
            shapes.append(project(self.flat, _hull(np.concatenate([base, base + fall]))))
        _darken(bgr, shapes, self._misbehaviour.shadow, 0.8 * self._px_per_mm)

    def _draw_piece(
        self, bgr: Pixels, piece: Piece, face: Face, at: tuple[float, float, float]
    ) -> None:
        height_mm = piece.thickness_mm if self._misbehaviour.raised else 0.0
        top = self.pose.homography(height_mm) @ self._place
        if height_mm:
            body = _body(piece, at)
            foot = project(self.flat @ self._place, body)
            sides = _hull(np.concatenate([foot, project(top, body)]))
            _fill(bgr, sides, _side_colour(piece.colour))
        if face not in self._faces:
            self._faces[face] = face_texture(self._plan, face, self._texture_px_per_mm)
        texture = self._faces[face]
        side_mm = texture.shape[0] / self._texture_px_per_mm
        upright = _laid_out(texture, -side_mm / 2, -side_mm / 2, side_mm, side_mm)
        _stamp(bgr, texture, top @ _moved(at) @ upright)

    @property
    def _texture_px_per_mm(self) -> float:
        """A little finer than the frame, in steps, so that few renderings serve many frames."""
        return float(np.ceil(self._px_per_mm * FINER * 2.4) / 2)


def pose_of(
    plan: Plan,
    misbehaviour: Misbehaviour,
    size: tuple[int, int],
    bump_deg: tuple[float, float] = (0.0, 0.0),
) -> Pose:
    """Where the camera stands: as near as it can while the whole table is in view."""
    m = misbehaviour
    width, height = size
    lens = lens_of(width, height, m.focal)
    x, y = (side / 2 + aim for side, aim in zip(plan.size_mm, m.aim_mm, strict=True))
    papers = np.concatenate(list(card_corners_mm(plan.size_mm).values()))

    def from_afar(distance_mm: float) -> Pose:
        return Pose.looking_at(
            x,
            y,
            distance_mm=distance_mm,
            tilt_deg=m.tilt_deg,
            tilt_towards_deg=m.tilt_towards_deg,
            roll_deg=m.roll_deg,
            lens=lens,
        )

    near, far = max(plan.size_mm) / 4, max(plan.size_mm) * 20
    while far - near > 0.5:
        middle = (near + far) / 2
        seen = project(from_afar(middle).homography(), papers) - lens[:2, 2]
        if (np.abs(seen) < np.array([width, height]) / 2 * m.fill).all():
            far = middle
        else:
            near = middle
    pose = from_afar(far)
    return pose.knocked(*bump_deg) if any(bump_deg) else pose


def board_place(plan: Plan, misbehaviour: Misbehaviour) -> BoardPlace:
    """How the board truly lies between the cards."""
    m = misbehaviour
    return BoardPlace.pushed(plan.size_mm, m.board_moved_mm, m.board_turned_deg)


def covered_cards(misbehaviour: Misbehaviour) -> frozenset[int]:
    """On which cards something lies."""
    rng = Random(f"{misbehaviour.seed} cards")
    return frozenset(rng.sample(IDS, misbehaviour.covered_cards))


def place_mm(
    plan: Plan, site: Site, face: Face, misbehaviour: Misbehaviour
) -> tuple[float, float, float]:
    """Where a piece truly lies: x, y, and its turn in degrees."""
    m = misbehaviour
    place, piece = plan.places[site], plan.piece_of[face]
    rng = Random(f"{m.seed} {site} {face}")
    step = rng.randrange(piece.turns) * 360 / piece.turns
    away, towards = m.misplaced_mm * rng.random() ** 0.5, radians(rng.uniform(0, 360))
    return (
        place.x_mm + away * cos(towards),
        place.y_mm + away * sin(towards),
        step + rng.uniform(-m.turned_deg, m.turned_deg),
    )


def _stamp(bgr: Pixels, bgra: Pixels, to_px: Numbers) -> None:
    """Lay a picture onto another one through a homography; edges fall between pixels."""
    height, width = bgra.shape[:2]
    edge = np.array([(-1, -1), (width, -1), (width, height), (-1, height)], np.float64)
    corners = project(to_px, edge)
    left, top = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int)
    right, bottom = np.minimum(
        np.ceil(corners.max(axis=0)) + 1, (bgr.shape[1], bgr.shape[0])
    ).astype(int)
    if right <= left or bottom <= top:
        return
    size = int(right - left), int(bottom - top)
    middle = (FINER - 1) / 2
    finer = np.array(
        [[FINER, 0, middle - FINER * left], [0, FINER, middle - FINER * top], [0, 0, 1.0]]
    )
    fine = cv2.warpPerspective(bgra, finer @ to_px, (size[0] * FINER, size[1] * FINER))
    patch = cv2.resize(fine, size, interpolation=cv2.INTER_AREA)
    under = bgr[top:bottom, left:right]
    through = cv2.cvtColor(255 - patch[:, :, 3], cv2.COLOR_GRAY2BGR)
    seen = cv2.multiply(under, through, scale=1 / 255)
    bgr[top:bottom, left:right] = cv2.add(seen, patch[:, :, :3])


def _darken(bgr: Pixels, shapes: list[Numbers], depth: float, blur_px: float) -> None:
    """Let soft shadows of these shapes fall; drawn at half size, they are soft anyway."""
    corners = np.concatenate(shapes)
    room = 3 * blur_px + 4
    left, top = (max(int(v - room), 0) for v in corners.min(axis=0))
    part = bgr[top : int(corners[:, 1].max() + room), left : int(corners[:, 0].max() + room)]
    height, width = part.shape[:2]
    mask = np.zeros((height // 2 + 1, width // 2 + 1), np.uint8)
    for shape in shapes:
        points = np.rint((shape - (left, top)) * 8).astype(np.int32)
        cv2.fillConvexPoly(mask, points, 255, cv2.LINE_AA, 4)
    mask = cv2.GaussianBlur(mask, (0, 0), max(blur_px / 2, 0.5)).astype(np.uint8, copy=False)
    dim = cv2.convertScaleAbs(mask, alpha=-depth, beta=255)
    dim = cv2.resize(dim, (width, height), interpolation=cv2.INTER_LINEAR)
    cv2.multiply(part, cv2.cvtColor(dim, cv2.COLOR_GRAY2BGR), dst=part, scale=1 / 255)


def _fill(bgr: Pixels, shape: Numbers, colour: tuple[int, int, int]) -> None:
    cv2.fillConvexPoly(bgr, np.rint(shape * 16).astype(np.int32), colour, cv2.LINE_AA, 4)


def _laid_out(
    texture: Pixels, left_mm: float, top_mm: float, width_mm: float, height_mm: float
) -> Numbers:
    """From the pixels of a texture, whose middles are whole numbers, to millimetres."""
    height, width = texture.shape[:2]
    x, y = width_mm / width, height_mm / height
    return np.array([[x, 0, left_mm + x / 2], [0, y, top_mm + y / 2], [0, 0, 1.0]])


def _moved(at: tuple[float, float, float]) -> Numbers:
    x, y, turn_deg = at
    c, s = cos(radians(turn_deg)), sin(radians(turn_deg))
    return np.array([[c, -s, x], [s, c, y], [0, 0, 1.0]])


def _body(piece: Piece, at: tuple[float, float, float]) -> Numbers:
    """The outline of a piece where it lies."""
    return project(_moved(at), outline_of(piece.outline, piece.width_mm))


@cache
def outline_of(shape: str, width_mm: float) -> Numbers:
    """The corners of a body around the origin, (n, 2)."""
    path = drawing.outline(shape, width_mm)
    return np.array([float(v) for v in re.findall(r"-?[\d.]+", path)]).reshape(-1, 2)


@cache
def _ring(radius_mm: float) -> Numbers:
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    return radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])


def _hull(points: Numbers) -> Numbers:
    return cv2.convexHull(points.astype(np.float32))[:, 0].astype(np.float64)


@cache
def _side_colour(colour: str) -> tuple[int, int, int]:
    """The side of a body is darker than its top."""
    red, green, blue = (int(colour[i : i + 2], 16) * 7 // 10 for i in (1, 3, 5))
    return blue, green, red


def _px_per_mm(flat: Numbers, size_mm: tuple[float, float]) -> float:
    width, height = size_mm
    across = np.array([(0, height / 2), (width, height / 2)], np.float64)
    left, right = project(flat, across)
    return float(np.hypot(*(right - left))) / width
