"""The teaching sheet, printed, with pieces laid on it, and photographed askew."""

from random import Random

import cv2
import numpy as np
import pypdfium2
import pytest

from firmware.errors import FirmwareError
from firmware.printing import print_sheet
from rules import games
from rules.table import EMPTY
from rules.teaching import begin
from vision.cards import CARD_MM, IDS, find_cards
from vision.frame import Frame
from vision.teaching.learning import add_sheet
from vision.teaching.sheet import EDGE_MM, PAGE_MM, SIZE_MM, lay_out
from vision.textures import face_texture

DPI = 150
MM = DPI / 25.4
PHOTO = (1920, 1080)


def render_pages(path):
    document = pypdfium2.PdfDocument(path)
    pages = [np.ascontiguousarray(p.render(scale=DPI / 72).to_numpy()[..., :3]) for p in document]
    document.close()
    return pages


def lay(paper, page, looks_like, faces, turned_deg=0.0):
    """The printed page with pieces on some of its places."""
    laid = paper.copy()
    inset_mm = EDGE_MM + CARD_MM
    for site, face in faces.items():
        place = page.plan.places[site]
        texture = face_texture(looks_like, face, MM)
        side = texture.shape[0]
        turn = cv2.getRotationMatrix2D(((side - 1) / 2,) * 2, turned_deg, 1.0)
        turn[:, 2] += [
            (place.x_mm + inset_mm) * MM - side / 2,
            (place.y_mm + inset_mm) * MM - side / 2,
        ]
        size = laid.shape[1::-1]
        top = cv2.warpAffine(texture, turn, size)
        alpha = top[..., 3:].astype(np.float32) / 255
        laid = (laid * (1 - alpha) + top[..., :3]).astype(np.uint8)
    return laid


def photograph(paper, room=0):
    """The sheet on a dark table, seen from the side, in warm light, with noise."""
    rng = np.random.default_rng(room)
    height, width = paper.shape[:2]
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    seen = np.array([(560, 60), (1290, 40), (1350, 1050), (520, 1020)], np.float32)
    seen += rng.uniform(-15, 15, seen.shape).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, seen)
    ground = (70, 80, 90)
    photo = cv2.warpPerspective(paper, matrix, PHOTO, flags=cv2.INTER_AREA, borderValue=ground)
    lit = photo * np.array([0.65, 0.8, 0.92]) + rng.normal(0, 3, photo.shape)
    return Frame(cv2.GaussianBlur(np.clip(lit, 0, 255).astype(np.uint8), (0, 0), 0.8), 0.0, "sheet")


@pytest.fixture(scope="module")
def plan():
    return games.find("ingenious").plan


@pytest.fixture(scope="module")
def paper(plan, tmp_path_factory):
    path = tmp_path_factory.mktemp("sheet") / "sheet.pdf"
    assert print_sheet(path, plan) == 1
    (page,) = render_pages(path)
    return page


def test_every_face_has_places_and_they_touch_neither_cards_nor_each_other(plan):
    (page,) = lay_out(plan)
    assert set(page.faces.values()) >= set(plan.piece_of)
    places = list(page.plan.places.values())
    for i, place in enumerate(places):
        half = place.pitch_mm / 2
        assert place.x_mm - half >= -CARD_MM
        assert place.x_mm + half <= SIZE_MM[0] + CARD_MM
        beside = place.x_mm - half >= 0 and place.x_mm + half <= SIZE_MM[0]
        between = place.y_mm - half >= 0 and place.y_mm + half <= SIZE_MM[1]
        assert beside or between
        for other in places[:i]:
            apart = max(abs(place.x_mm - other.x_mm), abs(place.y_mm - other.y_mm))
            assert apart >= place.pitch_mm - 0.01


def test_a_piece_that_covers_two_sites_finds_two_places_of_one_face_at_the_true_distance(plan):
    (page,) = lay_out(plan)
    pitch_mm = plan.places["h8"].pitch_mm
    for site, face in page.faces.items():
        row, column = site[2], int(site[3:])
        partner = f"1-{row}{column + 1 if column % 2 else column - 1}"
        assert page.faces[partner] == face
        apart = abs(page.plan.places[partner].x_mm - page.plan.places[site].x_mm)
        assert apart == pytest.approx(pitch_mm)


def test_many_faces_take_several_pages_with_markers_of_their_own(plan, tmp_path):
    piece = plan.pieces["tile"]
    names = [f"f{i}" for i in range(70)]
    many = type(plan)(
        plan.size_mm,
        plan.areas,
        {"tile": type(piece)("hex", 26.4, 4, dict.fromkeys(names, "x"), 6)},
        dict.fromkeys(names, plan.art["red"]) | dict(plan.art),
        plan.ground,
    )
    pages = lay_out(many)
    assert len(pages) == print_sheet(tmp_path / "many.pdf", many) >= 3
    laid = [face for page in pages for face in page.faces.values() if face]
    assert sorted(laid) == sorted(names)
    for page, paper in zip(pages, render_pages(tmp_path / "many.pdf"), strict=True):
        assert sorted(find_cards(paper, page.first_card).corners_px) == list(IDS)
        assert len(find_cards(paper)) == 0


def test_a_piece_larger_than_a_page_is_said(plan, tmp_path):
    area = type(plan.areas["board"])("hex", (220, 200), 150.0, 1, pieces=("tile",))
    huge = type(plan)(plan.size_mm, {"board": area}, plan.pieces, plan.art, plan.ground)
    with pytest.raises(FirmwareError, match="no piece of this game fits"):
        print_sheet(tmp_path / "huge.pdf", huge)


def test_the_sheet_is_printed_at_true_size(paper):
    assert paper.shape[:2] == pytest.approx((PAGE_MM[1] * MM, PAGE_MM[0] * MM), abs=2)
    corners = find_cards(paper, 4).corners_px
    across_mm = (corners[1][0] - corners[0][0])[0] / MM
    assert across_mm == pytest.approx(SIZE_MM[0] + CARD_MM, abs=0.3)


def test_an_empty_sheet_teaches_nothing(plan, paper):
    assert add_sheet(plan, begin("g", plan, None), photograph(paper)) == "nothing"


@pytest.mark.parametrize("turned_deg", [0.0, 57.0])
def test_pieces_on_the_sheet_are_cut_out_with_the_printed_label(plan, paper, other_box, turned_deg):
    box = other_box(plan)
    (page,) = lay_out(plan)
    labelled = [site for site, face in page.faces.items() if face]
    sites = Random(3).sample(labelled, 15)
    laid = {site: page.faces[site] for site in sites}
    photo = photograph(lay(paper, page, box, laid, turned_deg))
    draft = add_sheet(plan, begin("g", plan, None), photo)
    cuts = [c for found in draft.questions().values() for c in found]
    assert {c.site: c.proposed for c in cuts} == laid
    assert {c.origin for c in cuts} == {"sheet"}
    assert len(draft.questions()) == len(set(laid.values()))


def test_a_piece_on_a_free_place_is_grouped_by_its_looks(plan, paper, other_box):
    (page,) = lay_out(plan)
    free = [site for site, face in page.faces.items() if face is None]
    draft = add_sheet(
        plan,
        begin("g", plan, None),
        photograph(lay(paper, page, other_box(plan), dict.fromkeys(free, "green"))),
    )
    ((cuts),) = draft.questions().values()
    assert {c.site for c in cuts} == set(free)
    assert all(c.face is None and c.proposed != EMPTY for c in cuts)
