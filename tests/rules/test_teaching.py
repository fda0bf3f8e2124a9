"""Lessons as values: what is confirmed, open and missing, and how labels change that."""

from dataclasses import replace

import pytest

from rules.errors import InvalidValue, StaleCommand
from rules.table import EMPTY
from rules.teaching import (
    MOST_OF_A_FACE,
    MOST_OF_A_SITE,
    Cut,
    Lesson,
    begin,
    digest,
    drop_picture,
    finish,
    label,
    lacks,
    missing,
)


def cut(number: int, site: str = "b2", **more) -> Cut:
    values = {
        "picture": 1,
        "origin": "pieces",
        "pitch_mm": 50.0,
        "white_bgr": (200.0, 210.0, 220.0),
    }
    return Cut(f"{number:016x}", site, **{**values, **more})


def lesson(*cuts: Cut) -> Lesson:
    return Lesson("noughts", "", cuts, {c.name: c.name.encode() for c in cuts})


@pytest.fixture
def plan(noughts):
    return noughts.plan


def test_only_confirmed_cut_outs_are_examples_and_the_others_are_questions(plan):
    taught = lesson(
        cut(1, face="cross"),
        cut(2, proposed="nought", belief=0.4, group=2),
        cut(3, proposed="cross", belief=0.9, group=5),
        cut(4, proposed="cross", belief=0.8, group=5),
    )
    assert {face: len(cuts) for face, cuts in taught.examples().items()} == {"cross": 1}
    assert [(g, len(c)) for g, c in taught.questions().items()] == [(5, 2), (2, 1)]
    assert missing(plan, taught) == (EMPTY, "nought")
    assert lacks(plan, taught) == "not taught: empty, nought; not confirmed: 3"


def test_a_complete_draft_lacks_nothing(plan):
    faces = ("empty", "cross", "nought")
    assert lacks(plan, lesson(*(cut(i, face=f) for i, f in enumerate(faces)))) == ""


def test_a_label_confirms_and_none_drops(plan):
    open_draft = lesson(cut(1, group=1), cut(2, group=1), cut(3, group=1))
    said = label(plan, open_draft, {cut(1).name: "cross", cut(2).name: None})
    assert [(c.name, c.face) for c in said.cuts] == [(cut(1).name, "cross"), (cut(3).name, None)]
    assert set(said.pngs) == {cut(1).name, cut(3).name}


def test_a_confirmed_cut_out_can_be_labelled_again(plan):
    said = label(plan, lesson(cut(1, face="cross")), {cut(1).name: "nought"})
    assert said.cuts[0].face == "nought"


def test_a_label_for_a_cut_out_that_is_gone_is_stale(plan):
    with pytest.raises(StaleCommand, match="ffff"):
        label(plan, lesson(cut(1)), {"ffff": "cross"})


def test_a_face_that_cannot_lie_there_is_refused_with_what_can(plan):
    with pytest.raises(InvalidValue, match=r"b2: expected one of empty, .*, got 'queen'"):
        label(plan, lesson(cut(1)), {cut(1).name: "queen"})


def test_on_the_sheet_any_face_may_lie(plan):
    sheet = lesson(cut(1, site="1-a1"))
    assert label(plan, sheet, {cut(1).name: "nought"}).cuts[0].face == "nought"


def test_a_picture_can_be_taken_out(plan):
    two = lesson(cut(1, picture=1), cut(2, picture=2))
    assert drop_picture(two, 1).pictures == (2,)
    with pytest.raises(StaleCommand):
        drop_picture(two, 3)


def test_the_picture_of_the_board_goes_with_the_last_bare_picture():
    bare = [cut(n, picture=n, origin="bare", face=EMPTY) for n in (1, 2)]
    draft = replace(lesson(*bare, cut(3, picture=3)), board=b"board")
    assert drop_picture(draft, 1).board == b"board"
    assert drop_picture(drop_picture(draft, 1), 2).board == b""


def test_the_newest_few_are_kept_and_play_does_not_push_out_what_the_owner_taught():
    bare = [cut(i, picture=i, face=EMPTY) for i in range(1, 8)]
    owner = [cut(100 + i, picture=8, face="cross") for i in range(30)]
    played = [cut(200 + i, picture=9 + i, origin="play", face="cross") for i in range(30)]
    kept = finish(lesson(*bare, *owner, *played, cut(999)))
    found = kept.examples()
    assert [c.picture for c in found[EMPTY]] == [7 - k for k in range(MOST_OF_A_SITE)][::-1]
    origins = [c.origin for c in found["cross"]]
    assert origins.count("pieces") == origins.count("play") == MOST_OF_A_FACE // 2
    assert found["cross"][-1].name == played[-1].name
    assert set(kept.pngs) == {c.name for c in kept.cuts}
    assert cut(999).name not in kept.pngs


def test_bare_sites_are_counted_one_by_one():
    sites = [cut(i, site=site, face=EMPTY) for i, site in enumerate(("a1", "a2", "a3", "b1", "b2"))]
    assert len(finish(lesson(*sites)).cuts) == 5


def test_a_draft_begins_with_what_is_taught(plan):
    taught = replace(lesson(cut(1, face="cross")), made_at="then", by="play")
    draft = begin("noughts", plan, taught)
    assert (draft.cuts, draft.made_at, draft.by) == (taught.cuts, "", "owner")
    assert begin("noughts", plan, None) == Lesson("noughts", digest(plan))


def test_the_digest_follows_places_and_bodies_but_not_drawings(plan):
    name, piece = next(iter(plan.pieces.items()))
    redrawn = replace(plan, art={**plan.art, "extra": "<svg/>"}, ground="#000000")
    thicker = replace(plan, pieces={**plan.pieces, name: replace(piece, thickness_mm=9.0)})
    larger = replace(plan, size_mm=(plan.size_mm[0] + 10, plan.size_mm[1]))
    assert digest(redrawn) == digest(plan)
    assert len({digest(p) for p in (plan, thicker, larger)}) == 3
