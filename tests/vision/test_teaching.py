"""Teaching from pictures of a virtual table whose pieces look unlike our drawings."""

from dataclasses import replace
from random import Random

import cv2
import numpy as np
import pytest

from rules import games
from rules.errors import InvalidValue
from rules.table import EMPTY
from rules.teaching import Lesson, begin, finish, label, missing
from vision.frame import Frame
from vision.looks import DrawnLooks
from vision.observe import Observer, reading_scale
from vision.rectify import rectify
from vision.render import Moment, Painter
from vision.taught import PITCH_PX, SPAN_PX
from vision.teaching.cutting import PAPER, cut_out, from_png, inner, rescale, to_patch, to_png
from vision.teaching.grouping import group
from vision.teaching.learning import add_bare, add_pieces, add_sheet, learn
from vision.teaching.reading import LessonReader
from vision.virtual.misbehaviour import CALM, Misbehaviour

SURE = 0.9


class Table:
    """A virtual table with the art of another box under a camera."""

    def __init__(self, plan, looks_like=None):
        self.plan = plan
        self.painter = Painter(looks_like or plan)
        self.name = "some game"

    def frame(self, layout=None, room=3, tick=0):
        misbehaviour = room if isinstance(room, Misbehaviour) else Misbehaviour.default(room)
        return Frame(
            self.painter.paint(layout or {}, misbehaviour, Moment(tick=tick)), 0.0, "photo"
        )

    def image(self, layout=None, room=3, tick=0):
        frame = self.frame(layout, room, tick)
        return rectify(frame, self.plan, px_per_mm=reading_scale(self.plan))

    def scatter(self, seed, count):
        """So many pieces of all faces in turn, on random sites."""
        faces = list(self.plan.piece_of)
        sites = Random(seed).sample(list(self.plan.sites), count)
        return {site: faces[i % len(faces)] for i, site in enumerate(sites)}

    def teach(self, room=3, counts=(12, 12)):
        """A lesson from the bare table and some pieces, labelled as a person would."""
        draft = add_bare(self.plan, begin(self.name, self.plan, None), self.image({}, room))
        draft = confirm(self.plan, draft, {})
        for seed, count in enumerate(counts):
            laid = self.scatter(seed, count)
            draft = add_pieces(self.plan, draft, self.image(laid, room, seed + 1))
            draft = confirm(self.plan, draft, laid)
        return finish(draft)


def confirm(plan, draft, laid):
    """Every open cut-out labelled with the truth."""
    truth = {c.name: laid.get(c.site, EMPTY) for cuts in draft.questions().values() for c in cuts}
    return label(plan, draft, truth)


def judge(seen, truth):
    """Sites that are right, silently wrong, and asked."""
    best = {site: seen.best(site) for site in truth.keys() & seen.beliefs.keys()}
    sure = {site for site, face in best.items() if seen.beliefs[site][face] >= SURE}
    right = {site for site, face in truth.items() if best.get(site) == face}
    return len(right), sure - right, truth.keys() - sure


@pytest.fixture(scope="module")
def plan():
    return games.find("ingenious").plan


@pytest.fixture(scope="module")
def table(plan, other_box):
    return Table(plan, other_box(plan))


@pytest.fixture(scope="module")
def lesson(table):
    return table.teach()


def test_a_cut_out_shows_its_site_in_the_middle_and_a_pitch_around_it(plan):
    image = Table(plan).image({"h8": "red"}, CALM)
    cuts = cut_out(image, plan, [plan.places["h8"], plan.places["a8"], plan.places["h9"]])
    assert list(cuts) == ["h8", "a8", "h9"]
    assert all(cut.shape == (SPAN_PX, SPAN_PX, 3) for cut in cuts.values())
    red = cuts["h8"].astype(int)
    redness = np.clip(red[..., 2] - red[..., 1], 0, None)
    rows, columns = np.mgrid[:SPAN_PX, :SPAN_PX]
    middle = [float((axis * redness).sum() / redness.sum()) for axis in (rows, columns)]
    assert middle == pytest.approx([(SPAN_PX - 1) / 2] * 2, abs=1)
    # Its neighbour shows it one pitch further left.
    shifted = np.roll(cuts["h9"], PITCH_PX, axis=1).astype(int)[:, PITCH_PX:]
    assert np.abs(shifted - red[:, PITCH_PX:]).mean() < 6


def test_a_patch_does_not_depend_on_the_light(plan):
    patches = []
    for light_k, exposure_ev in ((5000.0, 0.0), (2700.0, -0.8)):
        room = replace(CALM, light_k=light_k, exposure_ev=exposure_ev, white_balance=0.3)
        image = Table(plan).image({"h8": "orange"}, room)
        patches.append(to_patch(cut_out(image, plan, [plan.places["h8"]])["h8"], image.white_bgr))
    assert np.abs(patches[0] - patches[1]).mean() < 0.03
    white = to_patch(np.full((2, 2, 3), 120, np.uint8), (120, 120, 120))
    assert white == pytest.approx(PAPER)


def test_blown_pixels_stay_white():
    assert to_patch(np.full((2, 2, 3), 255, np.uint8), (255, 255, 255)).min() == 1


def test_a_png_brings_back_the_pixels_and_foreign_bytes_are_refused():
    bgr = np.random.default_rng(1).integers(0, 256, (SPAN_PX, SPAN_PX, 3)).astype(np.uint8)
    assert (from_png(to_png(bgr)) == bgr).all()
    with pytest.raises(InvalidValue):
        from_png(b"\x89PNG\r\n\x1a\nnothing more")


def test_a_piece_taught_for_a_wider_pitch_is_made_to_fit():
    patch = np.zeros((SPAN_PX, SPAN_PX, 3), np.float32)
    cv2.circle(patch, (SPAN_PX // 2, SPAN_PX // 2), 8, (1, 1, 1), -1)
    larger = rescale(patch, 2.0)
    assert larger.shape == patch.shape
    assert larger.sum() / patch.sum() == pytest.approx(4, rel=0.1)
    assert rescale(patch, 1.0) is patch


def test_alike_cut_outs_are_grouped_whatever_their_turn(table):
    for room in (3, 20, 22):
        laid = table.scatter(room, 30)
        image = table.image(laid, room)
        places = [table.plan.places[s] for s in laid]
        patches = [
            to_patch(c, image.white_bgr) for c in cut_out(image, table.plan, places).values()
        ]
        groups = {}
        for number, face in zip(group(patches, 6), laid.values(), strict=True):
            groups.setdefault(number, set()).add(face)
        assert all(len(faces) == 1 for faces in groups.values())
        assert len(groups) <= 9


def test_the_bare_table_is_one_question(table):
    draft = add_bare(table.plan, begin("g", table.plan, None), table.image())
    ((cuts),) = draft.questions().values()
    assert {c.site for c in cuts} == set(table.plan.sites)
    assert {(c.proposed, c.belief) for c in cuts} == {(EMPTY, 1.0)}
    assert draft.examples() == {}


def test_pieces_need_the_bare_table_first(table):
    nothing = begin("g", table.plan, None)
    assert add_pieces(table.plan, nothing, table.image({"h8": "red"})) == "no_bare"


def test_a_bare_table_has_no_pieces_to_teach(table, lesson):
    assert add_pieces(table.plan, lesson, table.image({}, 3, 9)) == "nothing"


def test_a_picture_without_the_sheet_teaches_nothing(table):
    assert add_sheet(table.plan, begin("g", table.plan, None), table.frame()) == "sheet_lost"


def test_first_pieces_come_without_a_label_and_one_question_a_face(table):
    bare = add_bare(table.plan, begin("g", table.plan, None), table.image())
    laid = table.scatter(4, 18)
    draft = add_pieces(table.plan, confirm(table.plan, bare, {}), table.image(laid))
    questions = draft.questions()
    assert sorted(c.site for cuts in questions.values() for c in cuts) == sorted(laid)
    assert all(len({laid[c.site] for c in cuts}) == 1 for cuts in questions.values())
    assert len(questions) <= 8


def test_later_pieces_are_proposed_by_what_is_taught(table, lesson):
    laid = table.scatter(44, 12)
    draft = add_pieces(table.plan, lesson, table.image(laid, 21))
    cuts = [c for found in draft.questions().values() for c in found]
    assert {c.site: c.proposed for c in cuts} == laid
    assert len(draft.questions()) == 6
    assert missing(table.plan, draft) == ()


def test_pieces_as_we_draw_them_are_proposed_at_once(plan):
    table = Table(plan)
    bare = add_bare(plan, begin("g", plan, None), table.image())
    laid = table.scatter(4, 12)
    draft = add_pieces(plan, confirm(plan, bare, {}), table.image(laid))
    assert {c.site: c.proposed for cuts in draft.questions().values() for c in cuts} == laid


def test_the_same_photograph_twice_is_taken_once(table, lesson):
    laid = table.scatter(8, 6)
    once = add_pieces(table.plan, lesson, table.image(laid))
    again = add_pieces(table.plan, once, table.image(laid))
    assert len(again.cuts) == len(once.cuts)


def test_what_is_taught_in_one_room_is_read_in_others(table, lesson):
    reader = LessonReader(table.plan, lesson)
    sites = right = asked = 0
    for room in (3, 21, 23, 26):
        laid = table.scatter(room, 40)
        truth = {site: laid.get(site, EMPTY) for site in table.plan.sites}
        good, silent, unsure = judge(reader.observe(table.image(laid, room)), truth)
        assert not silent
        sites, right, asked = sites + len(truth), right + good, asked + len(unsure)
    assert right >= 0.995 * sites
    assert asked <= 0.05 * sites


def test_without_the_lesson_those_pieces_are_not_known(table):
    laid = table.scatter(21, 40)
    seen = Observer(table.plan, DrawnLooks(table.plan)).observe(table.image(laid, 21))
    assert sum(seen.best(s) == f for s, f in laid.items() if s in seen.beliefs) < len(laid) / 2


def test_a_face_that_was_not_taught_is_not_taken_for_another(table, lesson):
    gap = replace(lesson, cuts=tuple(c for c in lesson.cuts if c.face != "red"))
    laid = table.scatter(5, 36)
    seen = LessonReader(table.plan, gap).observe(table.image(laid, 3))
    reds = {site: "red" for site, face in laid.items() if face == "red"}
    _, silent, _ = judge(seen, reds)
    assert not silent


def test_without_a_bare_picture_the_board_is_taken_as_drawn(plan, other_box):
    own = other_box(plan)
    table = Table(plan, replace(plan, art={**plan.art, **{f: own.art[f] for f in plan.piece_of}}))
    lesson = table.teach()
    pieces_only = replace(lesson, cuts=tuple(c for c in lesson.cuts if c.face != EMPTY))
    laid = table.scatter(31, 30)
    truth = {site: laid.get(site, EMPTY) for site in plan.sites}
    right, silent, _ = judge(LessonReader(plan, pieces_only).observe(table.image(laid, 22)), truth)
    assert not silent
    assert right >= 0.97 * len(truth)


def test_a_lesson_with_one_face_only_leaves_reading_to_the_drawings(plan):
    table = Table(plan)
    lesson = table.teach(counts=(6,))
    one = replace(lesson, cuts=tuple(c for c in lesson.cuts if c.face in (EMPTY, "red")))
    laid = table.scatter(2, 24)
    image = table.image(laid, 22)
    drawn = Observer(plan, DrawnLooks(plan)).observe(image)
    assert LessonReader(plan, one).observe(image).beliefs == drawn.beliefs


def test_sites_are_believed_to_hold_only_what_may_lie_there(draughts, other_box):
    table = Table(draughts, other_box(draughts))
    reader = LessonReader(draughts, table.teach(counts=(10,)))
    seen = reader.observe(table.image(table.scatter(3, 16), 22))
    assert {frozenset(b) for b in seen.beliefs.values()} == {frozenset((EMPTY, "white", "red"))}


def test_what_players_say_becomes_examples(table, lesson):
    laid = table.scatter(12, 6)
    image = table.image(laid, 25)
    more = learn(table.plan, lesson, image, laid)
    added = more.cuts[len(lesson.cuts) :]
    assert [(c.site, c.face, c.origin) for c in added] == [(s, f, "play") for s, f in laid.items()]
    site, _ = next(iter(laid.items()))
    again = to_patch(from_png(more.pngs[added[0].name]), added[0].white_bgr)
    seen = to_patch(cut_out(image, table.plan, [table.plan.places[site]])[site], image.white_bgr)
    assert np.abs(inner(again) - inner(seen)).max() < 0.01


def test_a_stored_cut_out_of_another_size_is_refused(table, lesson):
    name = lesson.cuts[0].name
    odd = replace(lesson, pngs={**lesson.pngs, name: to_png(np.zeros((9, 9, 3), np.uint8))})
    with pytest.raises(InvalidValue, match=f"{name}: expected a cut-out of {SPAN_PX} x {SPAN_PX}"):
        LessonReader(table.plan, odd)


def test_an_empty_lesson_reads_by_the_drawings(plan):
    image = Table(plan).image({"h8": "red"}, 22)
    seen = LessonReader(plan, Lesson("g", "")).observe(image)
    assert seen.best("h8") == "red"
