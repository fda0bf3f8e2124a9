"""The teaching page: what it asks, what it sends, who may; then a lesson with the real program."""

import os
import re

import cv2
import numpy as np
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from rules import games
from rules.commands import DropDraft, DropPicture, KeepLesson, LabelCuts, TakePicture, UseLesson
from rules.lessons import Lessons, unpack
from rules.status import Teaching
from rules.table import EMPTY, Face, Site
from rules.teaching import Cut, Lesson, begin, finish, keep, tap_sites

GAME = games.find("ingenious")
PLAN = GAME.plan


def draw_cut(number: int) -> bytes:
    picture = np.full((48, 48, 3), (40, 40, 40 + number), np.uint8)
    return cv2.imencode(".png", picture)[1].tobytes()


def draft(*cuts: tuple[str, str | None, str | None]) -> Lesson:
    """A draft of cut-outs, each (site, confirmed face, proposed face), each a group of its own."""
    found, pngs = [], {}
    for n, (site, face, proposed) in enumerate(cuts):
        name = f"{n:016x}"
        pngs[name] = draw_cut(n)
        found.append(
            Cut(name, Site(site), 1, "pieces", 27.0, (250.0, 250.0, 250.0),
                face and Face(face), proposed and Face(proposed), 0.9, n)
        )  # fmt: skip
    empty = begin("ingenious", PLAN, None)
    return keep(Lesson("ingenious", empty.plan, tuple(found), pngs), found)


FULL = [("a1", EMPTY, None), *((f"h{n + 4}", f, None) for n, f in enumerate(PLAN.piece_of))]


@pytest.fixture
def lessons(tmp_path):
    return Lessons(tmp_path, "ingenious")


def test_only_the_host_may_teach(table, phone, lessons):
    lessons.save_draft(draft(("a1", None, EMPTY)))
    for one in (phone(), phone().seat(0)):
        assert one.get("/teach/ingenious").headers["Location"] == "/host?back=/teach/ingenious"
        assert one.get(f"/teach/ingenious/0/{0:016x}.png").status_code == 303
        assert one.post("/teach/ingenious/keep").status_code == 403
        assert one.get("/view?page=teach&about=ingenious").status_code == 403
    assert table.requests == []


def test_an_unknown_game_is_not_taught(table, phone):
    assert phone().host().get("/teach/chess").status_code == 404
    assert phone().host().get("/view?page=teach&about=chess").status_code == 404
    assert phone().host().get("/view?page=teach").status_code == 404


def test_the_page_asks_about_every_group(table, phone, lessons):
    lessons.save_draft(draft(("a1", EMPTY, None), ("h8", None, "red"), ("h9", None, None)))
    text = phone().host().get("/teach/ingenious").text
    assert text.count('class="group"') == 2
    assert '<option value="red" selected>R · red</option>' in text
    assert "disabled selected hidden>What is it?" in text
    assert "Still missing:" in text
    assert "Keep it although something is missing" in text


def test_a_whole_lesson_can_be_kept(table, phone, lessons):
    lessons.save_draft(draft(*FULL))
    text = phone().host().get("/teach/ingenious").text
    assert "Read with this from now on" in text
    assert "Still missing:" not in text


def test_everything_is_sent_to_the_table(table, phone):
    host = phone().host()
    assert host.post("/teach/ingenious/picture", picture="bare").headers["Location"] == "/"
    back = host.post("/teach/ingenious/keep", back="/teach/ingenious", gaps="1")
    assert back.headers["Location"] == "/teach/ingenious"
    host.post("/teach/ingenious/label", cuts=f"{1:016x} {2:016x}", face="red")
    host.post("/teach/ingenious/label", cuts=f"{1:016x}:blue {2:016x}:empty")
    host.post("/teach/ingenious/label", cuts=f"{3:016x}", face="")
    host.post("/teach/ingenious/drop", picture="2")
    host.post("/teach/ingenious/drop")
    host.post("/teach/ingenious/use", number="4")
    assert table.asked(8) == [
        TakePicture("ingenious", "bare"),
        KeepLesson("ingenious", gaps=True),
        LabelCuts("ingenious", {f"{1:016x}": Face("red"), f"{2:016x}": Face("red")}),
        LabelCuts("ingenious", {f"{1:016x}": Face("blue"), f"{2:016x}": EMPTY}),
        LabelCuts("ingenious", {f"{3:016x}": None}),
        DropPicture("ingenious", 2),
        DropDraft("ingenious"),
        UseLesson("ingenious", 4),
    ]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("picture", {"picture": "selfie"}),
        ("label", {"cuts": "../../etc/passwd", "face": "red"}),
        ("label", {"cuts": f"{1:016x}", "face": "pink"}),
        ("label", {"cuts": "", "face": "red"}),
        ("label", {"cuts": " ".join(f"{n:016x}" for n in range(1001)), "face": "red"}),
        ("drop", {"picture": "all"}),
        ("use", {"number": "-1"}),
        ("board", {"taps": "1,2 3"}),
        ("board", {"taps": "1,2 3,4 5,6 7,8 9,10"}),
    ],
)
def test_what_is_no_answer_is_refused(table, phone, path, fields):
    assert phone().host().post(f"/teach/ingenious/{path}", **fields).status_code == 400
    assert table.requests == []


def test_pictures_and_versions_can_be_fetched(table, phone, lessons):
    kept = finish(draft(*FULL))
    lessons.save(kept)
    lessons.save_draft(draft(("a1", None, EMPTY)))
    host = phone().host()
    picture = host.get(f"/teach/ingenious/0/{0:016x}.png")
    assert picture.data == draw_cut(0)
    assert "max-age" in picture.headers["Cache-Control"]
    assert host.get(f"/teach/ingenious/1/{3:016x}.png").data == draw_cut(3)
    assert host.get(f"/teach/ingenious/0/{99:016x}.png").status_code == 404
    assert host.get("/teach/ingenious/0/..%2F0001.png").status_code == 404
    archive = host.get("/teach/ingenious/1.zip")
    assert unpack(archive.data, "answer") == kept
    assert host.get("/teach/ingenious/7.zip").status_code == 404
    assert "6 kinds of pieces, 7 pictures" in host.get("/teach/ingenious").text


def test_four_taps_on_the_picture_show_where_the_board_lies(table, phone, lessons):
    host = phone().host()
    assert host.get("/teach/ingenious/board").headers["Location"] == "/teach/ingenious"
    assert host.get("/teach/ingenious/table.png").status_code == 404
    lessons.save_view(draw_cut(1))
    assert host.get("/teach/ingenious/table.png").data == draw_cut(1)
    assert 'href="/teach/ingenious/board"' in host.get("/teach/ingenious").text
    query = ""
    for number, site in enumerate(tap_sites(PLAN), 1):
        text = host.get(f"/teach/ingenious/board{query}").text
        assert f"{number} of 4: tap the middle of field {site}." in text
        taps = re.search('name="taps" value="([^"]*)"', text)[1].replace(" ", "+")
        query = f"?taps={taps}&tap.x={10 * number}&tap.y={20 * number}"
    text = host.get(f"/teach/ingenious/board{query}").text
    taps = re.search('name="taps" value="([^"]*)"', text)[1]
    assert taps == "10,20 20,40 30,60 40,80"
    back = host.post("/teach/ingenious/board", taps=taps, back="/teach/ingenious")
    assert back.headers["Location"] == "/teach/ingenious"
    (sent,) = table.asked(1)
    # 264 pixels show the 440 mm between the cards and 15 mm on either side.
    across = 470 / 264
    truth = [(10 * n * across - 15, 20 * n * across - 15) for n in range(1, 5)]
    assert [tap for taps in sent.taps_mm for tap in taps] == pytest.approx(
        [value for tap in truth for value in tap]
    )


def test_broken_files_are_named_and_break_nothing(table, phone, lessons):
    lessons.folder.mkdir(parents=True)
    (lessons.folder / "draft.zip").write_bytes(b"PK\x03\x04 torn")
    (lessons.folder / "0001.zip").write_bytes(b"")
    text = phone().host().get("/teach/ingenious").text
    assert "cannot be read" in text
    assert "This file is damaged." in text


def test_trouble_with_the_picture_is_said(game, phone, follow):
    game.show(teaching=Teaching("ingenious", 1, None, "no_bare"))
    follow(game)
    host = phone().host()
    assert "Photograph the bare table first." in host.get("/teach/ingenious").text
    game.show(teaching=Teaching("ingenious", 2, "bare"))
    follow(game)
    assert "Hands off the table" in host.get("/view?page=teach&about=ingenious").text


ARGS = ["--no-sandbox", "--headless=new", "--disable-background-networking"]
LAID = {
    **{f"h{n}": face for n, face in zip(range(4, 10), PLAN.piece_of, strict=True)},
    **{f"j{n}": face for n, face in zip(range(4, 10), reversed(list(PLAN.piece_of)), strict=True)},
}


@pytest.mark.browser
@pytest.mark.slow
def test_a_lesson_is_given_on_a_phone(program):
    """Bare table, pieces, names, done; the next move is read with what was taught."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=ARGS
        )
        context = browser.new_context(
            base_url=program.address, viewport={"width": 320, "height": 640}, locale="en-GB"
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        expect.set_options(timeout=30_000)
        give_lesson(page, program.pin)
        browser.close()
    number, lesson = Lessons(program.state, "ingenious").newest(PLAN)
    assert number == 1
    assert set(lesson.examples()) == {EMPTY, *PLAN.piece_of}


def give_lesson(page: Page, pin: str) -> None:
    page.goto("/host?back=/setup")
    page.locator("#pin").fill(pin)
    page.locator("main button").click()
    page.get_by_role("button", name="Start the game").click()
    expect(page.locator("#part-turn .act .name")).to_be_visible()
    page.goto("/setup")
    page.get_by_role("link", name="Teach the camera").click()
    page.get_by_role("button", name="Photograph the bare table").click()
    bare = page.locator(".group").first
    expect(bare.locator("select")).to_have_value("empty")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="That is right").first.click()
    expect(page.locator(".group")).to_have_count(0)
    pairs = [("at", f"{site}:{face}") for site, face in LAID.items()]
    status = page.evaluate(
        "pairs => fetch('/lay', {method: 'POST', body: new URLSearchParams(pairs)})"
        ".then(r => r.status)",
        pairs,
    )
    assert status == 200
    page.get_by_role("button", name="Photograph the board with pieces").click()
    expect(page.locator(".group")).not_to_have_count(0)
    while count := page.locator(".group").count():
        group = page.locator(".group").first
        site = group.locator("img").first.get_attribute("alt")
        group.locator("select").select_option(LAID[site])
        group.get_by_role("button", name="That is right").click()
        expect(page.locator(".group")).to_have_count(count - 1)
    page.get_by_role("button", name="Read with this from now on").click()
    expect(page.locator(".versions")).to_contain_text("6 kinds of pieces")
