"""Draws tables with six-sided dice and their truth, cheaply, to train and to test the dice nets."""

from dataclasses import dataclass, replace

import cv2
import numpy as np

from ..frame import Numbers, Pixels

FINER = 2
"""Everything is drawn this many times larger and shrunk at the end: smooth edges for free."""
TEXTURE_PX = 64
PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


@dataclass(frozen=True)
class Drawn:
    """A die in a picture: the value and middle of its top face, and the edge of that face."""

    value: int
    x_px: float
    y_px: float
    size_px: float
    body_bgr: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Scene:
    """A picture with dice; ``sides_px`` are the middles of visible faces that do not count."""

    bgr: Pixels
    dice: tuple[Drawn, ...]
    sides_px: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class _Paint:
    """How all faces of one die look."""

    body: Numbers
    second: Numbers
    pip: Numbers
    marbling: float
    spread: float
    radius: float


def draw_scene(
    rng: np.random.Generator, width_px: int = 320, size_px: float | None = None, most: int = 9
) -> Scene:
    """A square picture with none to ``most`` dice, all about ``size_px`` large if that is given."""
    width = width_px * FINER
    canvas = _draw_background(rng, width)
    size = (size_px or float(np.exp(rng.uniform(np.log(24), np.log(72))))) * FINER
    tilt = float(np.radians(abs(rng.normal(0, 24)))) % np.radians(55)
    azimuth = float(rng.uniform(0, 2 * np.pi))
    family = _choose_paint(rng)
    alike = rng.random() < 0.35
    light = rng.normal((0, 0, 1.5), 1)
    light /= np.linalg.norm(light)
    dice: list[Drawn] = []
    sides: list[tuple[float, float]] = []
    spots = _place(rng, width, size, int(rng.integers(0, most + 1)))
    away = np.array([-np.sin(azimuth), np.cos(azimuth)])
    for x, y in sorted(spots, key=lambda spot: float(away @ spot)):
        paint = family if alike else _choose_paint(rng)
        edge = size * float(rng.uniform(0.85, 1.15))
        left, top = max(0, int(x - 2.4 * edge)), max(0, int(y - 2.4 * edge))
        window = canvas[top : int(y + 2.4 * edge), left : int(x + 2.4 * edge)]
        middle = (x - left, y - top)
        drawn, faces = _draw_die(rng, window, middle, edge, tilt, azimuth, paint, light)
        across, down = left / FINER, top / FINER
        dice.append(replace(drawn, x_px=drawn.x_px + across, y_px=drawn.y_px + down))
        sides.extend((a + across, b + down) for a, b in faces)
    bgr = _photograph(rng, canvas, width_px)
    return Scene(bgr, tuple(dice), tuple(sides))


def _place(
    rng: np.random.Generator, width: float, size: float, count: int
) -> list[tuple[float, float]]:
    spots: list[tuple[float, float]] = []
    for _ in range(count * 4):
        if spots and rng.random() < 0.4:  # next to another one, touching or nearly
            angle, far = rng.uniform(0, 2 * np.pi), size * rng.uniform(1.12, 1.5)
            near = spots[int(rng.integers(len(spots)))]
            spot = (near[0] + far * np.cos(angle), near[1] + far * np.sin(angle))
        else:
            spot = (float(rng.uniform(0, width)), float(rng.uniform(0, width)))
        inside = all(size * 0.6 < c < width - size * 0.6 for c in spot)
        if inside and all(np.hypot(spot[0] - x, spot[1] - y) > size * 1.1 for x, y in spots):
            spots.append(spot)
        if len(spots) == count:
            break
    return spots


def _choose_colour(rng: np.random.Generator) -> Numbers:
    """Any hue, with white, black and strong colours more often than the pale ones between."""
    kind = rng.random()
    if kind < 0.2:
        hsv = (rng.uniform(0, 180), rng.uniform(0, 40), rng.uniform(200, 255))
    elif kind < 0.4:
        hsv = (rng.uniform(0, 180), rng.uniform(0, 120), rng.uniform(15, 70))
    else:
        hsv = (rng.uniform(0, 180), rng.uniform(110, 255), rng.uniform(60, 250))
    bgr = cv2.cvtColor(np.array([[hsv]], np.uint8), cv2.COLOR_HSV2BGR)
    return np.asarray(bgr[0, 0], np.float64)


def _brightness(bgr: Numbers) -> float:
    return float(bgr @ [0.114, 0.587, 0.299])


def _choose_paint(rng: np.random.Generator) -> _Paint:
    body = _choose_colour(rng)
    if rng.random() < 0.75:
        light = _brightness(body) < 115
        pip = np.full(3, rng.uniform(215, 255) if light else rng.uniform(5, 50))
    else:
        pip = _choose_colour(rng)
    for _ in range(20):  # red on black is hard but real; red on the same red is no die
        if abs(_brightness(pip) - _brightness(body)) + 0.5 * np.abs(pip - body).max() > 75:
            break
        pip = _choose_colour(rng)
    if rng.random() < 0.12:  # the dice that are read worst: dark marble with red pips
        body, pip = rng.uniform(10, 60, 3), np.array([30.0, 25.0, rng.uniform(130, 220)])
    return _Paint(
        body,
        np.clip(body + rng.normal(0, 45, 3), 0, 255),
        pip,
        float(rng.uniform(0.4, 1)) if rng.random() < 0.35 else 0.0,
        float(rng.uniform(0.42, 0.58)),
        float(rng.uniform(0.15, 0.24)),
    )


def _cloud(rng: np.random.Generator, width: int, cells: int) -> Numbers:
    """Smooth noise between 0 and 1."""
    coarse = rng.random((cells, cells)).astype(np.float32)
    smooth = cv2.resize(coarse, (width, width), interpolation=cv2.INTER_CUBIC)
    return np.clip(np.asarray(smooth, np.float64), 0, 1)


def _draw_face(rng: np.random.Generator, value: int, paint: _Paint) -> Pixels:
    body = np.broadcast_to(paint.body, (TEXTURE_PX, TEXTURE_PX, 3)).copy()
    if paint.marbling:
        share = _cloud(rng, TEXTURE_PX, int(rng.integers(3, 8)))[..., None] * paint.marbling
        body = body * (1 - share) + paint.second * share
    face = np.clip(body, 0, 255).astype(np.uint8)
    half = TEXTURE_PX / 2
    turned = rng.random() < 0.5
    for across, down in PIPS[value]:
        if turned:
            across, down = -down, across
        x, y = half + across * paint.spread * half, half + down * paint.spread * half
        radius = paint.radius * half * (1.35 if value == 1 and paint.radius > 0.2 else 1)
        rim = np.clip(paint.pip * 0.6, 0, 255).tolist()
        for colour, shift, part in ((rim, 0.0, 1.0), (paint.pip.tolist(), 0.8, 0.88)):
            centre = (round((x + shift) * 16), round((y + shift) * 16))
            cv2.circle(face, centre, round(radius * part * 16), colour, -1, cv2.LINE_AA, 4)
    return face


def _draw_die(
    rng: np.random.Generator,
    canvas: Numbers,
    centre: tuple[float, float],
    edge: float,
    tilt: float,
    azimuth: float,
    paint: _Paint,
    light: Numbers,
) -> tuple[Drawn, list[tuple[float, float]]]:
    """One die drawn into the canvas, seen from ``tilt`` off the vertical."""
    yaw = float(rng.uniform(0, 2 * np.pi))
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    view = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)]])
    roll = np.array(
        [[np.cos(azimuth), -np.sin(azimuth)], [np.sin(azimuth), np.cos(azimuth)]],
    )
    project = roll @ view @ turn * edge
    towards = turn.T @ [0, np.sin(tilt), np.cos(tilt)]
    top = int(rng.integers(1, 7))
    first, second = rng.permutation([v for v in range(1, 7) if v not in (top, 7 - top)])[:2]
    if second == 7 - first:
        second = next(v for v in range(1, 7) if v not in (top, 7 - top, first, 7 - first))
    values = {0: int(first), 1: int(second), 2: top}

    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    middle = np.array(centre) - project @ [0, 0, 0.5]
    hull = cv2.convexHull((corners * 0.9 @ project.T + middle).astype(np.float32))
    shaded = _cast_shadow(rng, canvas, hull, edge)
    layer = np.zeros_like(canvas, np.uint8)
    mask = np.zeros(canvas.shape[:2], np.uint8)
    outline = np.round(hull * 16).astype(np.int32)
    rounding = max(1, round(edge * rng.uniform(0.08, 0.16)))
    cv2.fillPoly(mask, [outline], 255, cv2.LINE_AA, 4)
    cv2.polylines(mask, [outline], True, 255, rounding, cv2.LINE_AA, 4)
    layer[:] = np.clip(paint.body * 0.75, 0, 255).astype(np.uint8)
    sides: list[tuple[float, float]] = []
    found = middle
    for axis in range(3):
        facing = 1.0 if towards[axis] > 0 else -1.0
        if abs(towards[axis]) < 0.05:
            continue
        normal = np.eye(3)[axis] * facing
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        inner = 0.96
        square = [normal * 0.5 + inner * (a * u + b * v) / 2 for a, b in _SQUARE]
        target = (np.array(square) @ project.T + middle).astype(np.float32)
        value = values[axis] if facing > 0 or axis == 2 else 7 - values[axis]
        shade = 0.55 + 0.5 * max(0.0, float((turn @ normal) @ light))
        texture = _draw_face(rng, value, paint)
        texture = np.clip(texture * shade, 0, 255).astype(np.uint8)
        source = np.array([(0, 0), (TEXTURE_PX, 0), (TEXTURE_PX, TEXTURE_PX)], np.float32)
        matrix = cv2.getAffineTransform(source, target[:3])
        shape = (canvas.shape[1], canvas.shape[0])
        flags = cv2.INTER_AREA if edge < TEXTURE_PX else cv2.INTER_LINEAR
        cv2.warpAffine(texture, matrix, shape, layer, flags, cv2.BORDER_TRANSPARENT)
        place = target.mean(axis=0)
        if axis == 2:
            found = place
        elif abs(towards[axis]) > 0.25:
            sides.append((float(place[0]) / FINER, float(place[1]) / FINER))
    layer = _add_glare(rng, layer, found, edge)
    alpha = mask[..., None] / 255.0
    canvas[:] = shaded * (1 - alpha) + layer * alpha
    size = edge * float(np.sqrt(np.cos(tilt))) / FINER
    body = (float(paint.body[0]), float(paint.body[1]), float(paint.body[2]))
    drawn = Drawn(top, float(found[0]) / FINER, float(found[1]) / FINER, size, body)
    return drawn, sides


_SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def _cast_shadow(
    rng: np.random.Generator, canvas: Numbers, hull: Pixels | Numbers, edge: float
) -> Numbers:
    sharp = np.zeros(canvas.shape[:2], np.float32)
    offset = rng.normal(0, 0.16 * edge, 2)
    cv2.fillPoly(sharp, [np.round(hull + offset).astype(np.int32)], 1.0)
    blur = max(1.0, edge * float(rng.uniform(0.04, 0.2)))
    shadow = cv2.GaussianBlur(sharp, (0, 0), blur)
    return canvas * (1 - float(rng.uniform(0.1, 0.6)) * shadow[..., None])


def _add_glare(rng: np.random.Generator, layer: Pixels, found: Numbers, edge: float) -> Pixels:
    """A lamp mirrored in the top face: the spot that looks like one more pip."""
    if rng.random() < 0.55:
        return layer
    sharp = np.zeros(layer.shape[:2], np.float32)
    x, y = (found + rng.uniform(-0.45, 0.45, 2) * edge).tolist()
    long, short = edge * rng.uniform(0.03, 0.2), edge * rng.uniform(0.03, 0.1)
    axes = (max(1, round(long)), max(1, round(short)))
    cv2.ellipse(sharp, (round(x), round(y)), axes, float(rng.uniform(0, 180)), 0, 360, 1.0, -1)
    spot = cv2.GaussianBlur(sharp, (0, 0), max(1.0, edge * float(rng.uniform(0.01, 0.06))))
    lit = layer + 255.0 * float(rng.uniform(0.3, 1)) * spot[..., None]
    return np.clip(lit, 0, 255).astype(np.uint8)


def _draw_background(rng: np.random.Generator, width: int) -> Numbers:
    """Wood, cloth, paper or print, with things on it that are no dice."""
    base, second = _choose_colour(rng), _choose_colour(rng)
    if rng.random() < 0.6:
        base = np.clip(base * 0.3 + rng.uniform(90, 200), 0, 255)
        second = np.clip(base + rng.normal(0, 18, 3), 0, 255)
    kind = rng.random()
    if kind < 0.3:
        share = _cloud(rng, width, int(rng.integers(2, 6)))
    elif kind < 0.6:  # wood: noise stretched along one direction
        lines = rng.random((int(rng.integers(20, 90)), 4)).astype(np.float32)
        wood = cv2.resize(lines, (width, width), interpolation=cv2.INTER_CUBIC)
        share = np.clip(np.asarray(wood, np.float64), 0, 1)
        share = share if rng.random() < 0.5 else share.T
    else:
        share = _cloud(rng, width, int(rng.integers(8, 80)))
    canvas = base * (1 - share[..., None]) + second * share[..., None]
    picture = np.ascontiguousarray(np.clip(canvas, 0, 255), np.uint8)
    if rng.random() < 0.35:
        _draw_print(rng, picture)
    for _ in range(int(rng.integers(0, 7))):
        _draw_clutter(rng, picture)
    return picture.astype(np.float64)


def _draw_print(rng: np.random.Generator, picture: Pixels) -> None:
    """A printed board: cells of many colours, waves and outlines."""
    width = picture.shape[0]
    cell = int(rng.integers(40, 160))
    for top in range(0, width, cell):
        for left in range(0, width, cell):
            colour = _choose_colour(rng).tolist()
            middle = (left + cell // 2, top + cell // 2)
            kind = rng.integers(4)
            if kind == 0:
                cv2.rectangle(picture, (left, top), (left + cell, top + cell), colour, -1)
            elif kind == 1:
                cv2.circle(picture, middle, int(cell * rng.uniform(0.1, 0.5)), colour, -1)
            elif kind == 2:
                points = rng.integers((left, top), (left + cell, top + cell), (5, 2))
                cv2.polylines(picture, [points.astype(np.int32)], False, colour, 3, cv2.LINE_AA)


def _draw_clutter(rng: np.random.Generator, picture: Pixels) -> None:
    """Keys, labels, buttons and lone dots: what is most often taken for a die."""
    width = picture.shape[0]
    x, y = (int(c) for c in rng.integers(0, width, 2))
    side = int(rng.integers(16, 150))
    colour, ink = _choose_colour(rng).tolist(), _choose_colour(rng).tolist()
    kind = rng.integers(5)
    if kind == 0:  # a block of keys
        for row in range(int(rng.integers(1, 4))):
            for column in range(int(rng.integers(1, 5))):
                left, top = x + column * round(side * 1.15), y + row * round(side * 1.15)
                cv2.rectangle(picture, (left, top), (left + side, top + side), colour, -1)
                sign = chr(int(rng.integers(33, 91)))
                where = (left + side // 4, top + 3 * side // 4)
                cv2.putText(picture, sign, where, 0, side / 50, ink, 2, cv2.LINE_AA)
    elif kind == 1:
        words = "".join(chr(int(c)) for c in rng.integers(65, 91, 6))
        cv2.putText(picture, words, (x, y), 0, side / 40, ink, 3, cv2.LINE_AA)
    elif kind == 2:
        for _ in range(int(rng.integers(1, 9))):
            spot = (x + int(rng.integers(-side, side)), y + int(rng.integers(-side, side)))
            cv2.circle(picture, spot, int(rng.integers(2, 14)), ink, -1, cv2.LINE_AA)
    elif kind == 3:  # a blank block, as large as a die
        box = cv2.boxPoints(((x, y), (side, side), float(rng.uniform(0, 90))))
        cv2.fillPoly(picture, [box.astype(np.int32)], colour, cv2.LINE_AA)
    else:
        end = tuple(int(c) for c in rng.integers(0, width, 2))
        cv2.line(picture, (x, y), end, colour, int(rng.integers(2, 60)), cv2.LINE_AA)


def _photograph(rng: np.random.Generator, canvas: Numbers, width_px: int) -> Pixels:
    """Shrunk, lit, blurred, with sensor noise and the traces of a JPEG."""
    width = canvas.shape[0]
    across = np.linspace(-1, 1, width)
    slope = rng.normal(0, 0.12, 2)
    lit = canvas * (1 + slope[0] * across[:, None] + slope[1] * across[None, :])[..., None]
    lit = lit * rng.uniform(0.6, 1.2) * rng.uniform(0.88, 1.12, 3)
    small = cv2.resize(lit, (width_px, width_px), interpolation=cv2.INTER_AREA)
    blurred = cv2.GaussianBlur(small, (0, 0), float(rng.uniform(0.3, 1.1)))
    noisy = blurred + rng.normal(0, rng.uniform(0, 6), blurred.shape)
    bgr = np.clip(noisy, 0, 255).astype(np.uint8)
    _, coded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(60, 98))])
    return np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8)
