"""The first evening in a real browser: the real program on its virtual table, from set-up to the
correction of a move."""

import re

import pytest
from playwright.sync_api import Page, expect, sync_playwright

pytestmark = pytest.mark.browser

ARGS = ["--no-sandbox", "--headless=new", "--disable-background-networking"]


def choose(page: Page, site: str, face: str) -> None:
    """Tap a place and a face; on a small board the first tap only enlarges it."""
    target = page.locator(f"#sites [data-site={site}]")
    target.click()
    if not page.locator("#palette").is_visible():
        target.click()
    page.locator(f"#palette .faces:not([hidden]) [data-face={face}]").click()


def lay(page: Page, *pieces: str) -> None:
    for piece in pieces:
        face, site = piece.split("@")
        choose(page, site, face)
        if face != "empty":
            lying = f'#part-pieces [data-at="{site}"][data-face="{face}"]'
            expect(page.locator(lying)).to_have_count(1)


def scores(page: Page) -> dict[str, list[int]]:
    rows = page.locator("#part-scores tbody tr")
    return {
        row.locator("th .letter").inner_text(): [
            int(v) for v in row.locator("td .value").all_inner_texts()
        ]
        for row in rows.all()
    }


def expect_lamps(page: Page, *patterns: str) -> None:
    """The lamps come a moment after the turn: they are the table's, not the game's."""
    for seat, pattern in enumerate(patterns):
        expect(page.locator(f"#knob-{seat}")).to_have_class(re.compile(rf"\b{pattern}\b"))


def to_play(page: Page, name: str) -> None:
    expect(page.locator("#part-turn .act .name")).to_have_text(name, timeout=20_000)


@pytest.mark.parametrize("size", [(320, 640), (1280, 800)], ids=["phone", "desktop"])
def test_the_first_evening(program, size):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGS)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, locale="en-GB")
        complaints: list[str] = []
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
        play_the_evening(page, program.address, program.pin)
        assert complaints == []
        browser.close()


def play_the_evening(page: Page, address: str, pin: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="I am the host").click()
    page.get_by_label("The six digits").fill(pin)
    page.get_by_role("button", name="Enter").click()
    page.get_by_label("Seat 1").fill("Ada")
    page.get_by_label("Seat 2").fill("Bo")
    page.get_by_role("button", name="Start the game").click()
    to_play(page, "Ada")
    expect(page.locator("#line")).to_have_attribute("data-line", "open")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect_lamps(page, "steady", "off")

    lay(page, "red@d8", "red@e8")
    page.locator("#knob-0").click()
    to_play(page, "Bo")
    expect_lamps(page, "off", "steady")
    assert scores(page)["R"] == [1, 0]
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
    expect(page.locator("#part-last .reason").first).to_contain_text("the line from d8 to c8")
    expect(page.locator("#part-marks .laid path")).to_have_count(2)
    expect(page.locator("#part-marks .count")).to_have_count(1)

    # Bo lays a tile beside no printed symbol: refused with a reason, nothing booked.
    lay(page, "blue@h8", "blue@h9")
    page.locator("#knob-1").click()
    refusal = page.locator("#part-turn .alert.bad")
    expect(refusal).to_be_visible(timeout=20_000)
    expect(refusal).to_be_in_viewport()
    expect(refusal).to_contain_text("must touch a printed symbol")
    expect(refusal).to_contain_text("IN-3")
    expect(page.locator("#part-state")).to_have_text("Refused")
    expect(page.locator("#part-marks .wrong path")).to_have_count(2)
    expect_lamps(page, "off", "double")
    assert scores(page)["B"] == [0, 0]
    page.get_by_role("button", name="Tidy up").click()
    expect(page.locator('#part-pieces [data-at="h8"]')).to_have_count(0)

    lay(page, "blue@h12", "blue@i12")
    page.locator("#knob-1").click()
    to_play(page, "Ada")
    assert scores(page)["B"][1] == 2

    lay(page, "yellow@l3", "green@l4")
    page.locator("#knob-0").click()
    to_play(page, "Bo")
    assert scores(page)["Y"][0] == 1

    # Ada changes her mind: the tile goes back, and so do its points.
    page.locator("#take-back summary").click()
    page.get_by_role("button", name="Yes, take it back").click()
    to_play(page, "Ada")
    assert scores(page)["Y"] == [0, 0]
    expect(page.locator('#part-pieces [data-at="l3"]')).to_have_count(0)
    expect_lamps(page, "steady", "off")

    # The machine was wrong about the first move: it was orange on e8.
    page.get_by_role("link", name="Moves").click()
    page.locator('a[href="/history/1"]').click()
    page.get_by_role("button", name="Correct this move").click()
    choose(page, "e8", "orange")
    option = page.locator("#part-fitting .option")
    expect(option).to_contain_text("Red on d8, orange on e8")
    page.get_by_role("button", name="Save the correction").click()
    page.wait_for_url("**/history")
    expect(page.locator(".log > li").last).to_contain_text("corrected")
    page.get_by_role("link", name="Table", exact=True).click()
    expect(page.locator('#part-pieces [data-at="e8"]')).to_have_attribute("data-face", "orange")
    assert scores(page)["R"] == [1, 0]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
