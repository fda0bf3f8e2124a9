"""``tafelmaat teach``: pictures in, labels out and in again, versions, export and import."""

import re
import shutil
import tomllib

import cv2
import pytest
from click.testing import CliRunner

from firmware.cli import main
from rules.lessons import Lessons
from vision.cameras.virtual import CALM
from vision.render import Moment, Painter

SIZE = (960, 540)
LAID = {"a1": "cross", "b2": "nought", "c3": "cross", "a3": "nought"}
MORE = {"c1": "nought", "b3": "cross"}


@pytest.fixture
def photos(tmp_path, noughts, other_box):
    """Pictures of the bare table and of two layouts of a box unlike our drawings."""
    painter = Painter(other_box(noughts.plan), SIZE)
    folder = tmp_path / "photos"
    folder.mkdir()
    for tick, (name, laid) in enumerate({"bare": {}, "laid": LAID, "more": MORE}.items()):
        cv2.imwrite(str(folder / f"{name}.png"), painter.paint(laid, CALM, Moment(tick=tick)))
    return folder


@pytest.fixture
def teach(tmp_path, noughts):
    """Calls the command on a state folder of its own; labels go to ``tmp_path``."""

    def call(*arguments, says=None):
        words = ["teach", "noughts", "--state", tmp_path / "state", "--out", tmp_path, *arguments]
        return CliRunner().invoke(main, [str(w) for w in words], input=says)

    return call


@pytest.fixture
def lessons(tmp_path):
    return Lessons(tmp_path / "state", "noughts")


@pytest.fixture
def taught(teach, photos, lessons, tmp_path):
    """A table that has been taught once."""
    lines(teach("--bare", photos / "bare.png", photos / "laid.png"))
    go_through(tmp_path / "teach-noughts.toml", lessons)
    assert lines(teach("--labels", tmp_path / "teach-noughts.toml"))[-1] == "lesson 1 is kept"
    return teach


def lines(result):
    assert result.exit_code == 0, result.output + result.stderr
    return result.output.splitlines()


def sentence(result):
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    return line


def go_through(path, lessons):
    """Edit the file of labels as a person would who looks at the contact sheet."""
    known = {cut.name: cut for cut in lessons.draft().cuts}
    text = path.read_text()
    for group in tomllib.loads(text)["groups"]:
        first = known[group["cuts"][0]]
        face = "empty" if first.origin == "bare" else {**LAID, **MORE}[first.site]
        pattern = rf'face = "[^"]*"(\ncuts = \[\n    "{first.name}")'
        text, changed = re.subn(pattern, rf'face = "{face}"\1', text)
        assert changed == 1
    path.write_text(text)


def test_pictures_become_a_contact_sheet_and_labels_to_go_through(teach, photos, tmp_path, lessons):
    said = lines(teach("--bare", photos / "bare.png", photos / "laid.png"))
    assert "group 1: 9 cut-outs, not confirmed: empty, 100% sure" in said
    assert "not taught: empty, cross, nought" in said
    assert said[-1].startswith("nothing is kept yet")
    sheet = cv2.imread(str(tmp_path / "teach-noughts.png"))
    assert sheet.shape[0] > 300
    groups = tomllib.loads((tmp_path / "teach-noughts.toml").read_text())["groups"]
    assert [len(g["cuts"]) for g in groups] == [9, 2, 2]
    assert groups[0]["face"] == "empty"
    assert lessons.numbers() == ()


def test_labels_that_were_gone_through_make_a_lesson(taught, lessons, noughts):
    _, lesson = lessons.newest(noughts.plan)
    found = {face: sorted(c.site for c in cuts) for face, cuts in lesson.examples().items()}
    assert found.pop("empty") == sorted(noughts.plan.sites)
    assert found == {"cross": ["a1", "c3"], "nought": ["a3", "b2"]}
    assert lessons.draft() is None


def test_the_same_pictures_given_again_with_the_labels_do_no_harm(teach, photos, lessons, tmp_path):
    pictures = ("--bare", photos / "bare.png", photos / "laid.png")
    lines(teach(*pictures))
    go_through(tmp_path / "teach-noughts.toml", lessons)
    said = lines(teach(*pictures, "--labels", tmp_path / "teach-noughts.toml"))
    assert said[-1] == "lesson 1 is kept"
    assert len(lessons.load(1).cuts) == 13


def test_more_pictures_add_to_what_is_taught_and_are_proposed_by_it(taught, photos, lessons):
    said = lines(taught(photos / "more.png"))
    assert [line for line in said if "not confirmed" in line] == [
        "group 1: 1 cut-out, not confirmed: cross, 99% sure",
        "group 2: 1 cut-out, not confirmed: nought, 99% sure",
    ]
    assert lines(taught("--ask", says="\n\n"))[-1] == "lesson 2 is kept"
    examples = lessons.load(2).examples()
    assert {f: len(c) for f, c in examples.items()} == {"empty": 9, "cross": 3, "nought": 3}


def test_labels_can_be_asked_for_at_the_terminal(teach, photos, lessons):
    pictures = ("--bare", photos / "bare.png", photos / "laid.png")
    result = teach(*pictures, "--ask", says="empty\nqueen\n-\ncross\n")
    assert result.output.count("group 2, 2 cut-outs") >= 2  # a queen is asked about again
    assert lines(result)[-1].startswith("nothing is kept yet")
    assert len(lessons.draft().cuts) == 11
    assert lines(teach("--gaps"))[-1] == "lesson 1 is kept"
    assert set(lessons.load(1).examples()) == {"empty", "cross"}


def test_the_camera_takes_the_pictures(teach, photos, tmp_path, lessons):
    shots = tmp_path / "shots"
    shots.mkdir()
    for number, name in enumerate(("bare", "bare", "laid", "laid")):
        shutil.copy(photos / f"{name}.png", shots / f"{number}.png")
    said = lines(teach("--camera", f"folder:{shots}", says="b\np\nd\n"))
    assert any("9 cut-outs, not confirmed: empty" in line for line in said)
    assert lessons.draft().pictures == (1, 2)


def test_a_picture_the_camera_took_in_vain_can_be_taken_again(teach, photos, tmp_path, lessons):
    shots = tmp_path / "shots"
    shots.mkdir()
    for number, name in enumerate(("laid", "laid", "bare", "bare")):
        shutil.copy(photos / f"{name}.png", shots / f"{number}.png")
    result = teach("--camera", f"folder:{shots}", says="p\n\nb\nd\n")
    lines(result)
    assert "the bare table must be known first" in result.output
    assert lessons.draft().pictures == (1,)


def test_pieces_without_the_bare_table_are_refused_in_a_sentence(teach, photos):
    assert "the bare table must be known first" in sentence(teach(photos / "laid.png"))


def test_a_picture_without_the_table_is_refused_in_a_sentence(teach, photos, tmp_path):
    grey = tmp_path / "grey.png"
    cv2.imwrite(str(grey), cv2.imread(str(photos / "bare.png"))[200:330, 400:560])
    assert "grey.png: The camera sees none of the corner cards" in sentence(teach("--bare", grey))


def test_what_is_not_a_picture_or_not_there_is_refused_in_a_sentence(teach, tmp_path):
    (tmp_path / "text.png").write_text("hello")
    assert "expected a JPEG or PNG picture" in sentence(teach("--bare", tmp_path / "text.png"))
    assert "No such file" in sentence(teach(tmp_path / "absent.jpg"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[groups]]\nface = "queen"\ncuts = ["{cut}"]', "expected one of empty, cross, nought"),
        ('[[groups]]\nface = "cross"\ncuts = ["00"]', "expected cut-outs of the draft, got '00'"),
        ("[[groups]]\nfaces = 1", "did you mean face"),
        ("[[groups", "labels.toml"),
    ],
)
def test_wrong_labels_are_refused_and_the_draft_stays(teach, photos, lessons, tmp_path, text, says):
    lines(teach("--bare", photos / "bare.png"))
    before = lessons.draft()
    (tmp_path / "labels.toml").write_text(text.replace("{cut}", before.cuts[0].name))
    assert says in sentence(teach("--labels", tmp_path / "labels.toml"))
    assert lessons.draft() == before


def test_a_cut_out_can_be_moved_to_a_group_of_its_own_or_dropped(teach, photos, lessons, tmp_path):
    lines(teach("--bare", photos / "bare.png"))
    first, second, *rest = (c.name for c in lessons.draft().cuts)
    groups = {"cross": [first], "": [second], "?": rest}
    text = "".join(f'[[groups]]\nface = "{f}"\ncuts = {names}\n' for f, names in groups.items())
    (tmp_path / "labels.toml").write_text(text.replace("'", '"'))
    lines(teach("--labels", tmp_path / "labels.toml"))
    draft = lessons.draft()
    assert [c.name for c in draft.confirmed()] == [first]
    assert second not in draft.pngs
    assert len(draft.questions()) == 1


def test_versions_are_listed_and_an_old_one_can_be_used_again(taught, photos, lessons):
    lines(taught("--bare", photos / "more.png", "--gaps"))
    listed = lines(taught("--versions"))
    assert re.match(r"1: 20\S+, by the owner, 13 cut-outs of 3 faces$", listed[0])
    assert listed[1].endswith("used for reading")
    assert lines(taught("--use", "1")) == ["lesson 1 is read with again, as lesson 3"]
    (lessons.folder / "0002.zip").write_bytes(b"torn")
    listed = lines(taught("--versions"))
    assert listed[1].startswith("2: cannot be used: ")
    assert listed[2].endswith("used for reading")
    assert "expected a lesson" in sentence(taught("--use", "2"))
    assert "0009.zip" in sentence(taught("--use", "9"))


def test_a_lesson_moves_to_another_table(taught, tmp_path, lessons, noughts):
    out = tmp_path / "lesson.zip"
    assert lines(taught("--export", out)) == [f"{out}: lesson 1"]
    elsewhere = ["teach", "noughts", "--state", str(tmp_path / "other"), "--import", str(out)]
    assert lines(CliRunner().invoke(main, elsewhere)) == ["lesson 1"]
    other = Lessons(tmp_path / "other", "noughts")
    assert other.newest(noughts.plan) == lessons.newest(noughts.plan)


def test_what_is_no_lesson_of_this_game_is_not_imported(taught, tmp_path, lessons):
    out = tmp_path / "lesson.zip"
    lines(taught("--export", out))
    elsewhere = ["teach", "ingenious", "--state", str(tmp_path / "state"), "--import", str(out)]
    result = CliRunner().invoke(main, elsewhere)
    assert "expected a lesson of ingenious, got one of noughts" in sentence(result)
    out.write_bytes(out.read_bytes()[:3000])
    assert "lesson.zip" in sentence(taught("--import", out))
    assert "absent.zip" in sentence(taught("--import", tmp_path / "absent.zip"))
    assert lessons.numbers() == (1,)


def test_without_a_lesson_there_is_nothing_to_export(teach, tmp_path):
    assert "nothing has been taught" in sentence(teach("--export", tmp_path / "x.zip"))


def test_without_anything_to_do_it_says_what_is_taught(taught, lessons):
    said = lines(taught())
    assert said[:3] == ["cross: 2 cut-outs", "empty: 9 cut-outs", "nought: 2 cut-outs"]
    assert "give pictures" in said[-1]
    assert lessons.numbers() == (1,)


def test_anew_forgets_the_draft_and_what_was_taught(taught, photos, lessons):
    lines(taught(photos / "more.png"))
    lines(taught("--anew", "--bare", photos / "bare.png"))
    assert lessons.draft().confirmed() == ()
    assert lessons.numbers() == (1,)


def test_an_unknown_game_is_refused_in_a_sentence(tmp_path):
    result = CliRunner().invoke(main, ["teach", "chess", "--state", str(tmp_path)])
    assert "chess" in sentence(result)


def test_the_sheet_is_printed(tmp_path, noughts):
    out = tmp_path / "sheet.pdf"
    result = CliRunner().invoke(main, ["print", "sheet", "noughts", str(out)])
    assert lines(result) == [f"{out}: 1 page"]
    assert out.read_bytes().startswith(b"%PDF")
    nowhere = CliRunner().invoke(main, ["print", "sheet", "noughts", str(tmp_path / "a" / "b.pdf")])
    assert "No such file" in sentence(nowhere)
