"""The studio without its ray tracer: rooms, bodies, truth, the camera's part, and the cache."""

import ast
import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest

from rules.table import EMPTY, Face, Plan, Site
from vision.frame import Numbers
from vision.studio import __main__ as command
from vision.studio import renderer, studio
from vision.studio.dice import Die, Paint, build_dice, throw
from vision.studio.dice_sets import DIE_MM, draw_dice_at_sea, draw_dice_to_learn
from vision.studio.meshes import Mesh, make_slab
from vision.studio.prints import PRINTS, draw_print, make_table
from vision.studio.room import Room
from vision.studio.sensor import Barrel, develop, white_of
from vision.studio.studio import Album, Shot
from vision.studio.table_sets import draw_layout, draw_table, lay_print, make_set
from vision.textures import board_texture
from vision.virtual.misbehaviour import CALM

SHAPES = Path(__file__).parents[1] / "toys" / "shapes"
PAINT = Paint("green", (60, 130, 30), (240, 240, 240))


@pytest.fixture(scope="module")
def shapes() -> Plan:
    return Plan.load(SHAPES)


def make_room(**changes: object) -> Room:
    room = replace(Room.draw(7, (640, 480)), habits=replace(CALM, noise=0.0, blur_px=0.0))
    return replace(room, **changes)  # type: ignore[arg-type]


def gray(jpeg: bytes) -> Numbers:
    bgr = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(bgr, np.float64).mean(axis=2)


@pytest.mark.parametrize("seed", range(20))
def test_a_room_follows_from_its_seed(seed: int):
    room = Room.draw(seed)
    assert room == Room.draw(seed)
    assert room != Room.draw(seed + 1)
    assert sum(share for _, share in room.kelvin_shares) == pytest.approx(1)
    assert all(2700 <= kelvin <= 7500 for kelvin, _ in room.kelvin_shares)


def test_lamps_hang_above_the_camera(shapes: Plan):
    for seed in range(40):
        room = Room.draw(seed)
        height_mm = Shot(shapes, room, seed, {}).pose.eye_mm[2]
        assert all(light.at_mm[2] > height_mm for light in room.lights)


def test_bending_is_the_opposite_of_straightening():
    barrel = Barrel(0.03, (640, 480))
    points = np.random.default_rng(1).uniform((0, 0), (639, 479), (50, 2))
    assert np.abs(barrel.straighten(barrel.bend(points)) - points).max() < 1e-6
    corners = np.array([(0, 0), (639, 479)], np.float64)
    assert np.abs(barrel.bend(corners) - corners).max() < 1e-6
    # Without the fault the middle of an edge would be further in: a barrel bulges there.
    assert barrel.bend(np.array([[319.5, 20.0]]))[0, 1] < 20


def test_a_bent_picture_shows_a_spot_where_bending_says():
    barrel = Barrel(0.03, (640, 480))
    light = np.zeros((480, 640, 3), np.float32)
    cv2.circle(light, (100, 380), 6, (1.0, 1.0, 1.0), -1)
    seen = barrel.apply(light)[:, :, 1]
    rows, columns = np.nonzero(seen > 0.5)
    expected = barrel.bend(np.array([[100.0, 380.0]]))[0]
    assert np.hypot(columns.mean() - expected[0], rows.mean() - expected[1]) < 0.3


def test_the_meter_takes_out_how_bright_the_room_is():
    light = np.random.default_rng(2).uniform(0.05, 0.2, (48, 64, 3)).astype(np.float32)
    room = make_room()
    once, brighter = gray(develop(light, room, 0)), gray(develop(light * 8, room, 0))
    assert np.abs(once - brighter).mean() < 0.5
    dark = make_room(habits=replace(room.habits, exposure_ev=-1.0))
    assert gray(develop(light, dark, 0)).mean() < 0.8 * once.mean()


def test_each_fault_of_the_camera_shows():
    light = np.full((48, 64, 3), 0.1, np.float32)
    room = make_room()
    plain = gray(develop(light, room, 0))
    assert np.ptp(plain) < 3
    dim = make_room(habits=replace(room.habits, vignette=0.5))
    corners = gray(develop(light, dim, 0))
    assert corners[0, 0] < corners[24, 32] - 10
    noisy = make_room(habits=replace(room.habits, noise=2.0))
    assert gray(develop(light, noisy, 0)).std() > 1.5
    assert develop(light, noisy, 0) == develop(light, noisy, 0) != develop(light, noisy, 1)


def test_white_balance_takes_out_the_colour_of_the_room():
    room = make_room()
    light = (0.1 * white_of(room) * np.ones((48, 64, 1))).astype(np.float32)
    spreads = []
    for share in (0.0, 1.0):
        habits = replace(room.habits, white_balance=share)
        coded = np.frombuffer(develop(light, make_room(habits=habits), 0), np.uint8)
        blue, _, red = np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR)).mean(axis=(0, 1))
        spreads.append(abs(float(red - blue)))
    assert spreads[1] < 3 < spreads[0]


def test_a_single_blazing_pixel_is_put_out():
    light = np.full((48, 64, 3), 0.1, np.float32)
    light[20, 30] = 50
    assert np.ptp(gray(develop(light, make_room(barrel=0.0), 0))) < 3


@pytest.mark.parametrize("corners", [4, 6, 48])
def test_a_slab_keeps_its_outline_and_looks_outwards(corners: int):
    angles = 2 * np.pi * np.arange(corners) / corners
    outline = 10 * np.column_stack([np.cos(angles), np.sin(angles)])
    slab = make_slab(outline, 4.0, 0.6)
    assert slab.points[:, 2].min() == 0
    assert slab.points[:, 2].max() == pytest.approx(4)
    assert np.hypot(*slab.points[:, :2].T).max() <= 10 + 1e-9
    assert slab.points[:, 0].max() > 9.6
    assert_closed_outwards(slab)


def assert_closed_outwards(mesh: Mesh) -> None:
    assert np.abs(np.linalg.norm(mesh.normals, axis=1) - 1).max() < 1e-9
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)
    area = np.linalg.norm(facing, axis=1)
    agree = (facing * mesh.normals[mesh.triangles[:, 0]]).sum(axis=1)
    assert (agree[area > 1e-9] > 0).all()


def test_opposite_faces_of_a_die_make_seven():
    hands = set()
    for value in range(1, 7):
        for mirrored in (False, True):
            faces = Die(value, 0, 0, 0, DIE_MM, PAINT, mirrored).faces()
            assert faces[0, 0, 1] == value
            assert sorted(faces.values()) == [1, 2, 3, 4, 5, 6]
            for (x, y, z), shown in faces.items():
                assert faces[-x, -y, -z] == 7 - shown
            at = {shown: np.array(direction) for direction, shown in faces.items()}
            hands.add((mirrored, int(np.cross(at[1], at[2]) @ at[3])))
    assert hands == {(False, 1), (True, -1)}


def test_a_die_is_as_large_as_it_says_and_its_pips_are_holes():
    die = Die(5, 30, 40, 20, DIE_MM, PAINT)
    mesh, bgr = build_dice((die,), 1.5)
    assert mesh.points[:, 2].min() == pytest.approx(1.5)
    assert mesh.points[:, 2].max() == pytest.approx(1.5 + DIE_MM)
    assert np.allclose(mesh.points[:, :2].mean(axis=0), (30, 40), atol=0.2)
    near = np.hypot(*(mesh.points[:, :2] - (30, 40)).T) < 0.3
    middle_up = mesh.points[near & (mesh.points[:, 2] > 10), 2]
    assert middle_up.max() < 1.5 + DIE_MM - 0.3
    assert (mesh.places >= 0).all()
    assert (mesh.places <= 1).all()
    assert (bgr.reshape(-1, 3) == PAINT.pip).all(axis=1).any()


def test_thrown_dice_fit_touch_and_do_not_overlap():
    touching = 0
    for seed in range(8):
        shot, truth = draw_dice_at_sea(seed)
        assert 9 <= len(shot.dice) <= 15
        assert {d["colour"] for d in truth["dice"]} <= {
            "green",
            "blue",
            "orange",
            "yellow",
            "smoke",
        }
        for n, one in enumerate(shot.dice):
            for other in shot.dice[:n]:
                squares = [d.top_mm.astype(np.float32) for d in (one, other)]
                assert cv2.intersectConvexConvex(*squares)[0] < 1e-2
                grown = [((s - s.mean(axis=0)) * 1.03 + s.mean(axis=0)) for s in squares]
                touching += cv2.intersectConvexConvex(*grown)[0] > 0
    assert touching >= 8


def test_the_truth_of_a_die_is_its_top_face():
    shot, truth = draw_dice_to_learn(3)
    width, height = shot.room.size_px
    assert len(truth["dice"]) == len(shot.dice) > 0
    for die, told in zip(shot.dice, truth["dice"], strict=True):
        x0, y0, x1, y1 = told["box_px"]
        assert told["value"] == die.value
        assert 0 <= x0 < x1 <= width
        assert 0 <= y0 < y1 <= height
        bottom = shot.project(die.top_mm, shot.room.board_mm).mean(axis=0)
        top = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
        assert 0 <= np.hypot(*(top - bottom)) < 1.5 * max(x1 - x0, y1 - y0)


def test_nothing_is_thrown_where_nothing_fits():
    assert throw(Random(1), 3, DIE_MM, lambda: PAINT, lambda die: False) == ()


def test_the_key_of_a_picture_is_all_that_determines_it(shapes: Plan):
    shot = Shot(shapes, Room.draw(1), 1, {Site("a1"): Face("red-disc")})
    others = [
        replace(shot, seed=2),
        replace(shot, room=Room.draw(2)),
        replace(shot, layout={Site("a1"): Face("blue-disc")}),
        replace(shot, dice=(Die(1, 50, 50, 0, DIE_MM, PAINT),)),
        replace(shot, cards=False),
        replace(shot, rays=4),
        replace(shot, plan=lay_print(shapes, 1)),
        replace(shot, plan=replace(shapes, art={**shapes.art, "red-disc": "<svg><g/></svg>"})),
    ]
    assert len({s.key for s in [shot, *others]}) == len(others) + 1
    same = Shot(Plan.load(SHAPES), Room.draw(1), 1, {**shapes.bare(), **shot.layout})
    assert same.key == shot.key
    assert all(face == EMPTY or site == "a1" for site, face in same.layout.items())


def test_a_picture_is_made_once(shapes: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[Shot] = []
    monkeypatch.setattr(studio, "photograph", lambda shot: made.append(shot) or b"jpeg")
    shot = Shot(shapes, Room.draw(1), 1, {})
    for _ in range(2):
        assert Album(tmp_path).picture(shot).read_bytes() == b"jpeg"
    assert made == [shot]
    assert [p.suffix for p in tmp_path.iterdir()] == [".jpg"]


def test_a_second_run_of_the_command_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(studio, "photograph", lambda shot: b"jpeg")
    line = ["studio", str(SHAPES), "dice", "--count", "3", "--photos", "2", "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", line)
    command.main()
    assert "shapes: 3 new, 0 kept" in capsys.readouterr().out
    command.main()
    said = capsys.readouterr().out
    assert "shapes: 0 new, 3 kept" in said
    assert "3 of 3" in said
    assert str(tmp_path / "shapes") in said
    truth = json.loads((tmp_path / "shapes" / "truth.json").read_text())
    assert [p["game"] for p in truth["photos"]] == ["room 0", "room 0", "room 1"]
    assert all((tmp_path / "shapes" / p["image"]).exists() for p in truth["photos"])


def test_an_unknown_set_is_named(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr("sys.argv", ["studio", "cats"])
    with pytest.raises(SystemExit):
        command.main()
    assert "cats: expected dice-train, dice or a folder" in capsys.readouterr().err


def test_without_the_tracer_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    renderer._load.cache_clear()
    monkeypatch.setattr("sys.argv", ["studio", "dice", "--count", "1", "--out", str(tmp_path)])
    with pytest.raises(SystemExit):
        command.main()
    assert "make studio" in capsys.readouterr().err


def test_a_layout_uses_all_faces(shapes: Plan):
    laid = [f for n in range(4) for f in draw_layout(shapes, Random(n)).values()]
    assert set(laid) == set(shapes.piece_of)


def test_the_truth_of_a_square_grid(shapes: Plan):
    chosen = make_set(shapes, 2, foreign=True)
    grid = chosen.head["grid"]
    assert (grid["origin"], grid["pitch"]) == ([20, 20], [26, 26])
    shot, truth = chosen.draw(3)
    assert truth["game"] == "room 1"
    assert truth["sites"] == {s.upper(): f for s, f in shot.layout.items()}
    # The middle of a site by the truth's grid is where the studio has it.
    width, height = chosen.head["board"]
    to_px = cv2.getPerspectiveTransform(
        np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32),
        np.array(truth["corners_px"], np.float32),
    )
    c4 = np.array([[[20 + 26 * 3.5, 20 + 26 * 2.5]]])
    seen = cv2.perspectiveTransform(c4, to_px)[0, 0]
    assert np.hypot(*(seen - shot.places_px[Site("c4")])) < 3


def test_the_truth_of_any_other_grid(draughts: Plan):
    hexes = replace(
        draughts,
        areas={"board": replace(draughts.areas["board"], grid="hex", radius=2, at_mm=(190, 170))},
    )
    grid = make_set(hexes, 2, foreign=False).head["grid"]
    assert grid["pitch"] == 36
    assert set(grid["places"]) == set(hexes.sites)
    assert grid["places"]["c3"] == [190, 170]


def test_photos_of_one_room_share_its_light_and_differ_in_what_lies_there(shapes: Plan):
    first, second = (draw_table(shapes, 2, n, True)[0] for n in range(2))
    assert first.room.lights == second.room.lights
    assert first.plan.art["print"] == second.plan.art["print"]
    assert first.layout != second.layout
    other = draw_table(shapes, 3, 0, True)[0]
    assert other.room.lights != first.room.lights
    assert other.plan.art["print"] != first.plan.art["print"]
    assert other.room.size_px != first.room.size_px


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_prints_follow_from_their_seed_and_fill_the_board(name: str):
    size_mm = (120.0, 90.0)
    assert draw_print(name, 1, size_mm) == draw_print(name, 1, size_mm)
    assert draw_print(name, 1, size_mm) != draw_print(name, 2, size_mm)
    bgra = board_texture(make_table(name, 1, size_mm), 2.0)
    assert bgra.shape[:2] == (180, 240)
    assert bgra[:, :, :3].std() > 4


def test_one_module_alone_imports_the_tracer():
    users = set()
    for path in Path(studio.__file__).parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            if any(n.partition(".")[0] in {"mitsuba", "drjit"} for n in names):
                users.add(path.name)
    assert users == {"renderer.py"}
