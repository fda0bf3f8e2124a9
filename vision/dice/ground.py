"""Draws tables without dice: wood, cloth, paper and print, with things that are taken for dice."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from ..frame import Numbers, Pixels


def choose_colour(rng: np.random.Generator) -> Numbers:
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


def draw_ground(
    rng: np.random.Generator, width: int, pictures: Sequence[Pixels] = (), die: float = 80.0
) -> Pixels:
    """A square table; ``pictures`` are photographed surfaces, ``die`` is the size of a die on it.

    Things that could be taken for dice are drawn about as large as those.
    """
    kind = rng.random()
    if pictures and kind < 0.25:
        picture = _cut_surface(rng, width, pictures[int(rng.integers(len(pictures)))])
    else:
        picture = _draw_material(rng, width)
        if kind > 0.62:
            PRINTS[int(rng.integers(len(PRINTS)))](rng, picture, die)
    if rng.random() < 0.15:
        _draw_tray(rng, picture)
    for _ in range(int(rng.integers(0, 6))):
        CLUTTER[int(rng.integers(len(CLUTTER)))](rng, picture, die)
    return picture


def _cut_surface(rng: np.random.Generator, width: int, picture: Pixels) -> Pixels:
    """A part of a photographed surface, turned and warped."""
    height, across = picture.shape[:2]
    side = min(height, across) * rng.uniform(0.25, 0.9)
    centre = np.array([rng.uniform(side / 2, across - side / 2),
                       rng.uniform(side / 2, height - side / 2)])  # fmt: skip
    angle = rng.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * side * 0.5
    source = square @ turn.T + centre + rng.normal(0, 0.05 * side, (4, 2))
    target = np.array([[0, 0], [width, 0], [width, width], [0, width]], np.float32)
    matrix = cv2.getPerspectiveTransform(source.astype(np.float32), target)
    cut = cv2.warpPerspective(picture, matrix, (width, width), flags=cv2.INTER_LINEAR,
                              borderMode=cv2.BORDER_REFLECT)  # fmt: skip
    return np.asarray(cut, np.uint8)


def make_cloud(rng: np.random.Generator, width: int, cells: int) -> Numbers:
    """Smooth noise between 0 and 1."""
    coarse = rng.random((cells, cells)).astype(np.float32)
    smooth = cv2.resize(coarse, (width, width), interpolation=cv2.INTER_CUBIC)
    return np.clip(np.asarray(smooth, np.float64), 0, 1)


def _draw_material(rng: np.random.Generator, width: int) -> Pixels:
    base, second = choose_colour(rng), choose_colour(rng)
    if rng.random() < 0.7:
        base = np.clip(base * 0.3 + rng.uniform(20, 200), 0, 255)
        second = np.clip(base + rng.normal(0, 18, 3), 0, 255)
    kind = rng.random()
    if kind < 0.25:
        share = make_cloud(rng, width, int(rng.integers(2, 6)))
    elif kind < 0.55:
        share = _make_wood(rng, width)
    elif kind < 0.75:  # woven cloth
        pitch = rng.uniform(2.5, 9)
        x, y = np.mgrid[:width, :width] * (2 * np.pi / pitch)
        share = 0.5 + 0.25 * np.sin(x) + 0.25 * np.sin(y + np.pi * (np.sin(x / 2) > 0))
        share = 0.7 * share + 0.3 * make_cloud(rng, width, 20)
    else:
        share = make_cloud(rng, width, int(rng.integers(8, 80)))
    canvas = base * (1 - share[..., None]) + second * share[..., None]
    return np.ascontiguousarray(np.clip(canvas, 0, 255), np.uint8)


def _make_wood(rng: np.random.Generator, width: int) -> Numbers:
    """Rings of a trunk, cut lengthwise."""
    bend = make_cloud(rng, width, int(rng.integers(2, 5)))
    down = np.linspace(0, rng.uniform(4, 30), width)[:, None]
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (down + rng.uniform(0.5, 4) * bend))
    fibre = rng.random((width, max(2, width // 60))).astype(np.float32)
    fine = np.asarray(cv2.resize(fibre, (width, width)), np.float64)
    share = np.clip(0.65 * rings ** rng.uniform(0.5, 3) + 0.35 * fine, 0, 1)
    return share if rng.random() < 0.5 else share.T


def _draw_tray(rng: np.random.Generator, picture: Pixels) -> None:
    """The rim of a box or tray, straight across the table."""
    width = picture.shape[0]
    frame = cv2.boxPoints(
        (rng.uniform(0.2, 0.8, 2) * width, rng.uniform(0.6, 1.3, 2) * width, rng.uniform(0, 90))
    )
    thick = int(rng.integers(4, 50))
    points = [np.round(frame).astype(np.int32)]
    cv2.polylines(picture, points, True, choose_colour(rng).tolist(), thick, cv2.LINE_AA)


def _print_cells(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A board: cells of many colours with blots and outlines."""
    width = picture.shape[0]
    cell = int(die * rng.uniform(0.5, 2)) + 2
    palette = [choose_colour(rng).tolist() for _ in range(int(rng.integers(2, 7)))]
    for top in range(0, width, cell):
        for left in range(0, width, cell):
            colour = palette[int(rng.integers(len(palette)))]
            middle = (left + cell // 2, top + cell // 2)
            kind = rng.integers(5)
            if kind == 0:
                cv2.rectangle(picture, (left, top), (left + cell, top + cell), colour, -1)
            elif kind == 1:
                cv2.circle(picture, middle, int(cell * rng.uniform(0.05, 0.5)), colour, -1,
                           cv2.LINE_AA)  # fmt: skip
            elif kind == 2:
                points = rng.integers((left, top), (left + cell, top + cell), (5, 2))
                cv2.polylines(picture, [points.astype(np.int32)], False, colour, 3, cv2.LINE_AA)
            elif kind == 3:
                cv2.rectangle(picture, (left, top), (left + cell, top + cell), colour,
                              int(rng.integers(1, 5)))  # fmt: skip


def _print_sea(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A printed map: water with waves, islands, a grid of hexagons and routes of dots."""
    width = picture.shape[0]
    water = np.array([rng.uniform(110, 220), rng.uniform(80, 180), rng.uniform(10, 110)])
    deep = make_cloud(rng, width, int(rng.integers(3, 9)))[..., None]
    picture[:] = np.clip(water * (0.6 + 0.6 * deep), 0, 255).astype(np.uint8)
    light = np.clip(water + rng.uniform(20, 90), 0, 255).tolist()
    for _ in range(int(rng.integers(0, 60))):
        x, y = (int(c) for c in rng.integers(0, width, 2))
        for k in range(3):
            cv2.ellipse(picture, (x + int(k * die * 0.3), y), (int(die * 0.15) + 1,) * 2, 0, 180,
                        360, light, 2, cv2.LINE_AA)  # fmt: skip
    for _ in range(int(rng.integers(0, 6))):
        around = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        radius = die * rng.uniform(0.5, 3) * (1 + 0.25 * rng.normal(0, 1, 24))
        points = np.stack([np.cos(around), np.sin(around)], 1) * radius[:, None]
        points = np.round(points + rng.uniform(0, width, 2)).astype(np.int32)
        cv2.fillPoly(picture, [points], choose_colour(rng).tolist(), cv2.LINE_AA)
        cv2.polylines(picture, [points], True, choose_colour(rng).tolist(), 3, cv2.LINE_AA)
    if rng.random() < 0.6:
        side = die * rng.uniform(0.4, 1.6)
        corners = np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]) * side
        ink, thick = choose_colour(rng).tolist(), int(rng.integers(1, 4))
        for column in range(int(width / side / 1.5) + 2):
            for row in range(int(width / side / 1.7) + 2):
                middle = (column * 1.5 * side, (row + column % 2 / 2) * 1.732 * side)
                points = np.round(corners + middle).astype(np.int32)
                cv2.polylines(picture, [points], True, ink, thick, cv2.LINE_AA)
    start, end = rng.uniform(0, width, (2, 2))
    ink = choose_colour(rng).tolist()
    for share in np.linspace(0, 1, int(rng.integers(4, 20))):
        x, y = (int(c) for c in start + share * (end - start))
        cv2.circle(picture, (x, y), max(1, int(die * 0.08)), ink, -1, cv2.LINE_AA)


def _print_text(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A page: lines of words."""
    width = picture.shape[0]
    pitch = int(die * rng.uniform(0.25, 1)) + 6
    ink = choose_colour(rng).tolist()
    for y in range(pitch, width, pitch):
        words = "".join(chr(int(c)) for c in rng.integers(32, 123, 60))
        cv2.putText(picture, words, (int(rng.integers(-50, 50)), y), 0, pitch / 45, ink,
                    max(1, pitch // 20), cv2.LINE_AA)  # fmt: skip


def _print_dots(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """Dotted cloth or punched plate: a lattice without a die around it."""
    width = picture.shape[0]
    pitch = die * rng.uniform(0.2, 0.9) + 5
    angle = rng.uniform(0, np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    ink, radius = choose_colour(rng).tolist(), max(1, int(pitch * rng.uniform(0.1, 0.35)))
    count = int(width / pitch)
    for i in range(-count, count):
        for j in range(-count, count):
            if rng.random() < 0.93:
                middle = tuple(int(c) for c in turn @ (i * pitch, j * pitch) + width / 2)
                cv2.circle(picture, middle, radius, ink, -1, cv2.LINE_AA)


def _choose_place(rng: np.random.Generator, picture: Pixels) -> tuple[int, int]:
    x, y = rng.integers(0, picture.shape[0], 2)
    return int(x), int(y)


def _drop_keys(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A block of keys or of lettered tiles."""
    x, y = _choose_place(rng, picture)
    side = int(die * rng.uniform(0.4, 1.6)) + 4
    colour, ink = choose_colour(rng).tolist(), choose_colour(rng).tolist()
    gap = rng.uniform(1.02, 1.3)
    for row in range(int(rng.integers(1, 5))):
        for column in range(int(rng.integers(1, 7))):
            left, top = x + column * round(side * gap), y + row * round(side * gap)
            cv2.rectangle(picture, (left, top), (left + side, top + side), colour, -1)
            word = "".join(chr(int(c)) for c in rng.integers(33, 123, int(rng.integers(1, 4))))
            where = (left + side // 6, top + 3 * side // 4)
            cv2.putText(picture, word, where, 0, side / 70, ink, max(1, side // 30), cv2.LINE_AA)


def _drop_label(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A printed tag with small signs, or a bar code."""
    middle = _choose_place(rng, picture)
    long, short = die * rng.uniform(0.8, 3), die * rng.uniform(0.5, 1.2)
    angle = float(rng.uniform(0, 180))
    box = cv2.boxPoints((middle, (long, short), angle))
    cv2.fillPoly(picture, [box.astype(np.int32)], choose_colour(rng).tolist(), cv2.LINE_AA)
    ink = choose_colour(rng).tolist()
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    aside = np.array([-along[1], along[0]])
    for _ in range(int(rng.integers(2, 14))):
        spot = (
            middle + along * rng.uniform(-0.4, 0.4) * long + aside * rng.uniform(-0.3, 0.3) * short
        )
        end = spot + aside * die * rng.uniform(-0.2, 0.2) + along * die * rng.uniform(-0.1, 0.1)
        thick = max(1, int(die * rng.uniform(0.02, 0.12)))
        cv2.line(picture, tuple(int(c) for c in spot), tuple(int(c) for c in end), ink, thick,
                 cv2.LINE_AA)  # fmt: skip


def _drop_dots(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """Crumbs, holes and lone dots."""
    x, y = _choose_place(rng, picture)
    ink = choose_colour(rng).tolist()
    for _ in range(int(rng.integers(1, 9))):
        spot = (x + int(rng.normal(0, die)), y + int(rng.normal(0, die)))
        cv2.circle(picture, spot, max(1, int(die * rng.uniform(0.03, 0.2))), ink, -1, cv2.LINE_AA)


def _drop_tile(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A square or six-sided tile, as large as a die, with one sign or none."""
    middle = np.array(_choose_place(rng, picture))
    corners = 4 if rng.random() < 0.6 else 6
    start = rng.uniform(0, np.pi)
    around = start + np.arange(corners) * 2 * np.pi / corners
    radius = die * rng.uniform(0.5, 1.2)
    points = np.stack([np.cos(around), np.sin(around)], 1) * radius + middle
    cv2.fillPoly(picture, [points.astype(np.int32)], choose_colour(rng).tolist(), cv2.LINE_AA)
    ink, spot = choose_colour(rng).tolist(), (int(middle[0]), int(middle[1]))
    kind = rng.integers(4)
    if kind == 0:
        half = (int(radius * 0.5) + 1, int(radius * rng.uniform(0.1, 0.5)) + 1)
        cv2.ellipse(picture, spot, half, float(rng.uniform(0, 180)), 0, 360, ink, -1, cv2.LINE_AA)
    elif kind == 1:
        small = np.stack([np.cos(around + 1), np.sin(around + 1)], 1) * radius * 0.4 + middle
        cv2.fillPoly(picture, [small.astype(np.int32)], ink, cv2.LINE_AA)
    elif kind == 2:
        sign = str(rng.integers(2, 13))
        cv2.putText(picture, sign, spot, 0, radius / 30, ink, max(1, int(radius / 12)),
                    cv2.LINE_AA)  # fmt: skip


def _drop_disc(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A coin, chip or button: rings, and perhaps holes or a number."""
    middle = _choose_place(rng, picture)
    radius = int(die * rng.uniform(0.3, 1)) + 2
    for part in (1.0, rng.uniform(0.6, 0.95), rng.uniform(0.2, 0.6)):
        cv2.circle(picture, middle, max(1, int(radius * part)), choose_colour(rng).tolist(), -1,
                   cv2.LINE_AA)  # fmt: skip
    if rng.random() < 0.3:
        ink = choose_colour(rng).tolist()
        for a, b in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
            spot = (middle[0] + int(a * radius * 0.2), middle[1] + int(b * radius * 0.2))
            cv2.circle(picture, spot, max(1, int(radius * 0.08)), ink, -1, cv2.LINE_AA)


def _drop_stick(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """A pencil, cable or the edge of something."""
    ends = (_choose_place(rng, picture), _choose_place(rng, picture))
    thick = max(1, int(die * rng.uniform(0.05, 0.9)))
    cv2.line(picture, *ends, choose_colour(rng).tolist(), thick, cv2.LINE_AA)


def _drop_fingers(rng: np.random.Generator, picture: Pixels, die: float) -> None:
    """Part of a hand: soft ovals of skin with lighter nails."""
    tone = rng.uniform(0.25, 1)
    skin = np.array([150, 180, 235]) * tone * rng.uniform(0.9, 1.1, 3)
    start = np.array(_choose_place(rng, picture))
    angle = rng.uniform(0, 360)
    aside = np.array([-np.sin(np.radians(angle)), np.cos(np.radians(angle))])
    for finger in range(int(rng.integers(1, 5))):
        middle = start + aside * finger * die * 0.9
        half = (int(die * rng.uniform(1.2, 2.5)), int(die * rng.uniform(0.35, 0.5)) + 1)
        spot = (int(middle[0]), int(middle[1]))
        colour = np.clip(skin * rng.uniform(0.9, 1.1), 0, 255).tolist()
        cv2.ellipse(picture, spot, half, angle, 0, 360, colour, -1, cv2.LINE_AA)
        along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        tip = middle + along * half[0] * 0.8
        nail = np.clip(skin * 1.15 + 10, 0, 255).tolist()
        oval = (int(die * 0.2) + 1, int(die * 0.15) + 1)
        cv2.ellipse(picture, (int(tip[0]), int(tip[1])), oval, angle, 0, 360, nail, -1, cv2.LINE_AA)


Draw = Callable[[np.random.Generator, Pixels, float], None]
PRINTS: tuple[Draw, ...] = (_print_cells, _print_sea, _print_sea, _print_text, _print_dots)
CLUTTER: tuple[Draw, ...] = (
    _drop_keys, _drop_label, _drop_dots, _drop_tile, _drop_disc, _drop_stick, _drop_fingers,
)  # fmt: skip
