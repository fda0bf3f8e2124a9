"""Lessons on disk: versions, torn and foreign files, and writers that are interrupted."""

import io
import json
import os
import zipfile
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from rules.errors import InvalidValue, LessonLost
from rules.lessons import KEPT_OF_PLAY, MANIFEST, Lessons, adopt, pack, unpack, write_whole
from rules.table import EMPTY
from rules.teaching import Cut, Lesson, digest

PNG = b"\x89PNG\r\n\x1a\n"


def make(plan, *faces: str, by: str = "owner") -> Lesson:
    cuts = tuple(
        Cut(f"{i:016x}", "b2", 1, "pieces", 50.0, (200.0, 210.0, 220.0), face)
        for i, face in enumerate(faces)
    )
    pngs = {c.name: PNG + c.name.encode() * 20 for c in cuts}
    return Lesson("noughts", digest(plan), cuts, pngs, "2026-01-02T03:04:05+00:00", by)


@pytest.fixture
def plan(noughts):
    return noughts.plan


@pytest.fixture
def lessons(tmp_path):
    return Lessons(tmp_path, "noughts")


def test_what_is_saved_is_loaded(lessons, plan):
    lesson = make(plan, "cross", "nought")
    assert lessons.newest(plan) is None
    assert lessons.save(lesson) == 1
    assert lessons.load(1) == lesson
    assert lessons.newest(plan) == (1, lesson)
    assert lessons.png(lesson.cuts[1].name, 1) == lesson.pngs[lesson.cuts[1].name]


def test_every_save_is_a_new_version_and_an_old_one_can_be_used_again(lessons, plan):
    first, second = make(plan, "cross"), make(plan, "cross", "nought")
    assert [lessons.save(first), lessons.save(second), lessons.use(1)] == [1, 2, 3]
    assert lessons.newest(plan) == (3, first)
    assert lessons.load(2) == second


def test_equal_lessons_are_equal_files(plan):
    assert pack(make(plan, "cross")) == pack(make(plan, "cross"))


@pytest.mark.parametrize("spoil", ["torn", "empty", "changed", "text"])
def test_a_broken_version_is_passed_over_and_left_alone(lessons, plan, spoil, caplog):
    good, newer = make(plan, "cross"), make(plan, "cross", "nought")
    lessons.save(good)
    lessons.save(newer)
    path = lessons.folder / "0002.zip"
    data = bytearray(path.read_bytes())
    at = data.index(newer.pngs[newer.cuts[0].name]) + 30
    data[at] ^= 0xFF
    spoilt = {"torn": data[: len(data) // 2], "empty": b"", "changed": data, "text": b"hello"}[
        spoil
    ]
    path.write_bytes(spoilt)
    assert lessons.newest(plan) == (1, good)
    assert "0002.zip" in caplog.text
    with pytest.raises(InvalidValue, match=r"0002\.zip"):
        lessons.load(2)
    assert path.read_bytes() == spoilt
    assert lessons.save(good) == 3


def test_no_damage_to_a_file_is_an_unexpected_error(plan):
    data = pack(make(plan, "cross", "nought"))
    rng = Random(5)
    for _ in range(400):
        spoilt = bytearray(data)
        for _ in range(rng.choice((1, 3, 40))):
            spoilt[rng.randrange(len(data))] = rng.randrange(256)
        del spoilt[rng.randrange(len(data)) if rng.random() < 0.3 else len(data) :]
        with suppress(InvalidValue):
            unpack(bytes(spoilt), "spoilt.zip")


def rewrite(data: bytes, change) -> bytes:
    """The archive with its manifest changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files[MANIFEST])
    change(manifest)
    files[MANIFEST] = json.dumps(manifest).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m.update(format=2), "format: expected 1, got 2"),
        (lambda m: m.pop("game"), "expected a value for game"),
        (lambda m: m["cuts"][0].update(name="../../x"), "expected 16 hexadecimal digits"),
        (lambda m: m["cuts"].append(m["cuts"][0]), "a name of its own"),
        (
            lambda m: m["cuts"][0].update(name="f" * 16),
            "expected a lesson, got .*ffffffffffffffff.png",
        ),
        (lambda m: m["cuts"][0].update(pitch_mm="wide"), "pitch_mm: expected a number"),
        (lambda m: m["cuts"][0].update(pitch_mm=0), "pitch_mm: expected more than 0"),
    ],
)
def test_a_foreign_archive_is_refused_with_what_is_wrong(plan, change, says):
    with pytest.raises(InvalidValue, match=says):
        unpack(rewrite(pack(make(plan, "cross", "nought")), change), "a.zip")


def test_an_archive_that_would_fill_the_memory_is_refused(plan):
    lesson = make(plan, "cross")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(pack(lesson))) as archive:
        manifest = archive.read(MANIFEST)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, manifest)
        archive.writestr(f"{lesson.cuts[0].name}.png", PNG + bytes(50_000_000))
    with pytest.raises(InvalidValue, match="instead of at most"):
        unpack(out.getvalue(), "a.zip")


def test_a_lesson_of_another_game_or_plan_is_not_adopted(plan):
    lesson = make(plan, "cross")
    assert adopt(replace(lesson, by="play"), "noughts", plan, "a.zip") == lesson
    with pytest.raises(
        InvalidValue, match=r"a\.zip: expected a lesson of chess, got one of noughts"
    ):
        adopt(lesson, "chess", plan, "a.zip")
    with pytest.raises(InvalidValue, match="plan"):
        adopt(replace(lesson, plan="0" * 16), "noughts", plan, "a.zip")


def test_a_lesson_for_another_plan_is_not_read_with(lessons, plan):
    lessons.save(replace(make(plan, "cross"), plan="0" * 16))
    assert lessons.newest(plan) is None


def test_the_draft_comes_and_goes(lessons, plan):
    assert lessons.draft() is None
    draft = make(plan, "cross")
    lessons.save_draft(draft)
    assert Lessons(lessons.folder.parents[1], "noughts").draft() == draft
    assert lessons.png(draft.cuts[0].name) == draft.pngs[draft.cuts[0].name]
    assert lessons.numbers() == ()
    lessons.save_draft(None)
    assert lessons.draft() is None
    with pytest.raises(LookupError):
        lessons.png(draft.cuts[0].name)


def test_taps_are_kept_for_this_plan_and_a_lost_file_costs_only_them(
    lessons, plan, noughts, caplog
):
    taps = ((1.0, 2.0), (3.0, 4.5), (5.0, 6.0), (7.0, 8.0))
    assert lessons.taps(plan) == ()
    lessons.save_taps(plan, taps)
    assert lessons.taps(plan) == taps
    assert lessons.taps(replace(plan, size_mm=(1.0, 1.0))) == ()
    for torn in (b"", b"[]", b'{"taps_mm": 3}', bytes([255])):
        (lessons.folder / "board.json").write_bytes(torn)
        assert lessons.taps(plan) == ()
    assert "board.json" in caplog.text


def test_the_picture_of_the_bare_table_travels_with_the_lesson(lessons, plan):
    lesson = replace(make(plan, "cross"), board=PNG + b"board")
    lessons.save(lesson)
    assert lessons.load(1) == lesson
    with pytest.raises(InvalidValue, match=r"board\.png: expected a PNG"):
        unpack(pack(replace(lesson, board=b"hello")), "a.zip")


def test_the_view_of_the_table_is_the_newest(lessons):
    assert lessons.view() is None
    lessons.save_view(b"one")
    lessons.save_view(b"two")
    assert lessons.view() == b"two"


def test_keeping_a_draft_ends_it(lessons, plan):
    lessons.save_draft(make(plan, "cross"))
    assert lessons.keep(lessons.work_on("noughts", plan)) == 1
    assert lessons.draft() is None
    assert lessons.work_on("noughts", plan).cuts == make(plan, "cross").cuts
    assert lessons.work_on("noughts", plan, anew=True).cuts == ()


def test_a_broken_draft_is_said_and_can_be_dropped(lessons, plan):
    lessons.save_draft(make(plan, "cross"))
    (lessons.folder / "draft.zip").write_bytes(b"half")
    with pytest.raises(InvalidValue, match=r"draft\.zip"):
        lessons.work_on("noughts", plan)
    lessons.save_draft(None)
    assert lessons.work_on("noughts", plan).cuts == ()


def test_versions_from_play_are_thinned_out_and_those_of_the_owner_are_not(lessons, plan):
    lessons.save(make(plan, "cross"))
    for _ in range(KEPT_OF_PLAY + 3):
        lessons.save(make(plan, "cross", by="play"))
    assert lessons.numbers() == (1, *range(5, 5 + KEPT_OF_PLAY))
    assert lessons.load(1).by == "owner"


def test_learning_in_play_leaves_the_draft_alone(lessons, plan):
    lessons.save_draft(make(plan, "cross"))
    lessons.keep(make(plan, "nought"), by="play")
    assert lessons.draft() == make(plan, "cross")
    assert lessons.load(1).by == "play"


def test_an_interrupted_writer_leaves_the_old_contents(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LessonLost, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path, plan):
    (tmp_path / "taught").write_text("a file")
    with pytest.raises(LessonLost, match="taught"):
        Lessons(tmp_path, "noughts").save(make(plan, "cross"))
    assert EMPTY not in make(plan, "cross").examples()
