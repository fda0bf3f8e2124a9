"""The pages in a real browser: looks, fingers, keyboard, screen readers, no script, bad lines."""

import json
import random
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from companion_web.access import own_addresses
from rules.commands import PlayMoves, StartGame
from rules.status import Choice, Difference, Question, Trouble

pytestmark = pytest.mark.browser

ARGS = ["--no-sandbox", "--headless=new", "--disable-background-networking"]
LOCALES = {"en": "en-GB", "nl": "nl-NL", "ru": "ru-RU"}
LONG = (
    "Maximiliaan van Dam.",
    "Αλεξάνδρα-Μαρία Παπ.",
    "Wwwwwwwwwwwwwwwwwwww",
    "Дарья Ивановна Петр.",
)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGS)
        yield browser
        browser.close()


@pytest.fixture
def keys(tmp_path):
    return lambda: json.loads((tmp_path / "web-keys.json").read_text())


@pytest.fixture
def visit(browser: Browser, serve, keys):
    """Open a page as somebody; at the end no page may have complained."""
    ports: dict[str, int] = {}
    complaints: list[str] = []
    contexts = []

    def open_page(
        path="/", *, size=(390, 844), theme="light", language="en", role=None, **options
    ) -> Page:
        if not ports:
            ports["web"] = serve()
        base = f"http://127.0.0.1:{ports['web']}"
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            locale=LOCALES[language],
            base_url=base,
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda e: complaints.append(str(e)))
        page.on("console", lambda m: m.type == "error" and complaints.append(m.text))
        if role == "host":
            page.goto("/host")
            page.locator("#pin").fill(keys()["pin"])
            page.locator("main button").click()
            page.wait_for_url(f"{base}/")
        elif role is not None:
            page.goto(f"/seat/{keys()['seats'][role]}")
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    # A refused request is no fault of the page; the browser logs it all the same.
    assert [c for c in complaints if not re.search(r"status of (409|503)", c)] == []


@pytest.fixture
def full(table):
    """Four players with long names, many tiles, a virtual table."""
    table.virtual = True
    table.book(StartGame("ingenious", "basic", LONG, 0))
    game, chance = table.session.game, random.Random(4)
    for _ in range(20):
        state = table.session.state
        moves = [m for m in game.candidates(state) if game.footprint(state, m)]
        chance.shuffle(moves)
        legal = [m for m in moves[:3000] if game.check(state, m).legal][:40]
        move = max(legal, key=lambda m: sum(x.points for x in game.apply(state, m).lines))
        table.book(PlayMoves((game.notate(move),), table.session.seq))
    return table


def ask(table) -> None:
    game, state = table.session.game, table.session.state
    moves = [m for m in game.candidates(state) if game.footprint(state, m)]
    legal = next(m for m in moves if game.check(state, m).legal)
    illegal = next(m for m in moves if not game.check(state, m).legal)
    choices = tuple(Choice((game.notate(m),), game.check(state, m), 0.4) for m in (legal, illegal))
    asked = Question(
        1, game.standings(state).to_act, "unclear", choices, (Difference("h8", "red", "empty"),)
    )
    table.show(mode="question", question=asked, seat=asked.seat, lamps=("double",) * 4)


def refuse(table) -> None:
    table.book(PlayMoves(("red@h3 blue@h4",), table.session.seq))


def live(page: Page) -> None:
    expect(page.locator("#line")).to_have_attribute("data-line", "open")


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("size", [(320, 640), (390, 844), (820, 1180), (1280, 800)], ids=str)
def test_nothing_scrolls_sideways(full, visit, language, size):
    ask(full)
    page = visit("/", size=size, language=language, role="host")
    live(page)
    for path in ("/", "/history", "/history/3", "/setup", "/seats", "/host"):
        page.goto(path)
        assert fits(page), path


def test_twice_as_large_letters_still_fit(full, visit):
    page = visit("/", size=(640, 900), role="host", device_scale_factor=2)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert fits(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("trouble", [None, ask, refuse], ids=["calm", "question", "refused"])
def test_axe_finds_nothing(full, visit, theme, trouble):
    if trouble:
        trouble(full)
    page = visit("/", theme=theme, role="host")
    live(page)
    paths = ["/"] if trouble else ["/", "/history", "/history/3", "/setup", "/seats", "/host"]
    for path in paths:
        page.goto(path)
        page.wait_for_timeout(100)
        results = Axe().run(page, options={"resultTypes": ["violations"]})
        found = [
            (v["id"], [n["html"][:120] for n in v["nodes"][:3]])
            for v in results.response["violations"]
        ]
        assert found == [], (path, found)


def test_targets_are_large_enough_for_a_finger(full, visit):
    ask(full)
    page = visit("/", size=(320, 640), role="host")
    live(page)
    small = page.evaluate(
        """[...document.querySelectorAll("button, a, summary, input, select")]
        .filter(e => e.checkVisibility() && !e.closest(".unseen, .skip"))
        .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
        .filter(([, r]) => r.width > 0 && (r.height < 43.5 || r.width < 43.5))
        .map(([html, r]) => [html, r.width, r.height])"""
    )
    assert small == []


def test_on_a_small_board_the_first_tap_enlarges(full, visit):
    page = visit("/", size=(320, 640), role="host", has_touch=True)
    live(page)
    site = page.locator("#sites [data-site=h8]")
    before = page.locator("#lens").bounding_box()
    site.tap()
    assert site.bounding_box()["width"] >= 38
    after = page.locator("#lens").bounding_box()
    assert (after["width"], after["height"]) == pytest.approx((before["width"], before["height"]))
    expect(page.locator("#palette")).to_be_hidden()
    site.tap()
    expect(page.locator("#palette")).to_be_visible()
    assert fits(page)


def test_a_move_is_heard_of_without_loading(game, visit):
    page = visit("/")
    live(page)
    page.evaluate("window.same = true")
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq))
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
    expect(page.locator("#part-say")).to_have_text("Ada: Red on d8, red on e8. Red +1. Bo to play.")
    assert page.evaluate("window.same")


def test_news_make_nothing_jump(game, visit):
    page = visit("/")
    live(page)
    page.evaluate(
        """window.shift = 0; new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.shift += entry.value;
        }).observe({type: "layout-shift", buffered: true})"""
    )
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq))
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
    game.show(mode="hands")
    expect(page.locator("#part-state")).to_have_text("Hands")
    page.wait_for_timeout(200)
    assert page.evaluate("window.shift") < 0.02


def test_trouble_with_the_picture_comes_and_goes(game, visit, tmp_path):
    page = visit("/")
    live(page)
    hidden = Trouble("cards_missing", cards=(2,))
    game.show(mode="trouble", trouble=hidden)
    expect(page.locator("#part-state")).to_have_text("Bad picture")
    expect(page.locator("#part-turn .now")).to_contain_text("Not in view: card 2 (top right).")
    question = Question(9, 0, "trouble", (), trouble=hidden)
    game.show(mode="question", seat=0, question=question, trouble=hidden)
    expect(page.locator("#part-turn .alert")).to_contain_text("Then press again")
    page.screenshot(path=tmp_path / "trouble.png")
    assert fits(page)
    game.show(mode="ready", seat=None, question=None, trouble=None)
    expect(page.locator("#part-turn .alert")).to_have_count(0)
    expect(page.locator("#part-turn .now")).not_to_contain_text("card 2")


def test_a_reason_lights_its_line_on_the_board(game, visit):
    page = visit("/")
    live(page)
    reason = page.locator("#part-last .reason").first
    reason.click()
    expect(reason).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".count.lit")).to_have_count(1)
    lit = page.locator(".site.lit")
    sites = sorted(s.get_attribute("data-site") for s in lit.all())
    assert sites == sorted(reason.get_attribute("data-sites").split())
    reason.click()
    expect(page.locator(".count.lit")).to_have_count(0)


def test_a_half_entered_move_survives_news(game, visit):
    page = visit("/", size=(1280, 800), role="host")
    live(page)
    page.get_by_role("button", name="Enter a move").click()
    page.locator("[data-site=d8]").click()
    page.locator("#palette [data-face=red]").click()
    expect(page.locator("#part-fitting")).to_contain_text("not a whole move yet")
    expect(page.locator("[data-site=d8]")).to_be_focused()
    game.show(mode="hands")
    expect(page.locator("#part-state")).to_have_text("Hands")
    expect(page.locator("#draft > g")).to_have_count(1)
    expect(page.locator("[data-site=d8]")).to_be_focused()
    page.locator("[data-site=e8]").click()
    page.locator("#palette [data-face=red]").click()
    page.get_by_role("button", name="Book").first.click()
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
    expect(page.locator("#draft > g")).to_have_count(0)
    assert game.session.last.move == "red@d8 red@e8"


def test_a_half_written_move_survives_news(game, visit):
    page = visit("/", role="host")
    live(page)
    page.locator("#write summary").click()
    field = page.locator("#write input[name=move]")
    field.fill("red@d8 r")
    game.book(PlayMoves(("green@c12 green@c11",), game.session.seq))
    expect(page.locator("#part-last")).to_contain_text("Green on c12")
    expect(field).to_have_value("red@d8 r")
    expect(field).to_be_focused()


def test_a_move_can_be_entered_with_the_keyboard_alone(game, visit):
    page = visit("/", size=(1280, 800), role="host")
    live(page)
    page.get_by_role("button", name="Enter a move").focus()
    page.keyboard.press("Enter")
    page.locator("[data-site=a8]").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.dataset.site")
    assert focused[0] == "d"
    page.locator("[data-site=d8]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.press("Tab")
    page.locator("#palette [data-face=red]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-site=d8]")).to_be_focused()
    assert "Red" in page.locator("[data-site=d8]").get_attribute("aria-label")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_answering_a_question(full, visit):
    ask(full)
    seat = full.status.question.seat
    page = visit("/", role=seat)
    live(page)
    page.locator(".choice").first.click()
    assert [(r.question, r.choice, r.by) for r in full.asked(1)] == [(1, 0, seat)]


def test_laying_is_offered_as_soon_as_the_table_is_virtual(game, visit):
    page = visit("/", size=(1280, 800), role="host")
    live(page)
    page.locator("[data-site=h8]").click()
    expect(page.locator("#palette")).to_be_hidden()
    game.show(mode="ready", lying=game.session.game.layout(game.session.state))
    lay = page.get_by_role("button", name="Lay pieces")
    expect(lay).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#part-banner")).to_contain_text("Virtual table.")
    page.locator("[data-site=h8]").click()
    expect(page.locator("#palette")).to_be_visible()


def test_none_of_these_leads_to_entering_the_move(full, visit):
    ask(full)
    page = visit("/", role=full.status.question.seat)
    live(page)
    page.locator(".choice.none").click()
    enter = page.get_by_role("button", name="Enter a move")
    expect(enter).to_have_attribute("aria-pressed", "true")
    assert [r.choice for r in full.asked(1)] == [None]


def test_a_held_button_is_a_long_press(full, visit):
    page = visit("/", role="host")
    live(page)
    knob = page.locator("#knob-1")
    knob.scroll_into_view_if_needed()
    box = knob.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    page.mouse.down()
    page.wait_for_timeout(1150)
    page.mouse.up()
    page.locator("#knob-2").click()
    page.locator("#hold-3").click()
    assert [(r.seat, r.long) for r in full.asked(3)] == [(1, True), (2, False), (3, True)]


def test_without_script_everything_important_works(game, visit):
    page = visit("/", role="host", java_script_enabled=False)
    expect(page.locator("#part-turn")).to_contain_text("Ada")
    page.locator("#write summary").click()
    page.locator("#write input[name=move]").fill("red@d8 red@e8")
    page.locator("#write button").click()
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
    page.locator("#take-back summary").click()
    page.locator("#take-back button").click()
    expect(page.locator("#part-last")).to_contain_text("Blue on g12")
    expect(page.locator(".modes")).to_be_hidden()


def test_forms_work_on_the_plain_address_of_the_network(game, browser, tmp_path, web_process, keys):
    """There browsers send no Sec-Fetch-Site, so that the Origin has to be right."""
    addresses = own_addresses()
    if not addresses:
        pytest.skip("this machine has no address but its own")
    with web_process(tmp_path, host="0.0.0.0") as (_, port, _):
        context = browser.new_context(
            base_url=f"http://{addresses[0]}:{port}", java_script_enabled=False, locale="en-GB"
        )
        page = context.new_page()
        page.goto("/host")
        page.locator("#pin").fill(keys()["pin"])
        page.locator("main button").click()
        page.locator("#write summary").click()
        page.locator("#write input[name=move]").fill("red@d8 red@e8")
        page.locator("#write button").click()
        expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8")
        context.close()


def test_a_phone_without_a_stream_asks_again_and_again(game, visit):
    page = visit("/host")
    page.route("**/live?*", lambda route: route.fulfill(status=503, headers={"Retry-After": "9"}))
    page.goto("/")
    expect(page.locator("#line")).to_have_attribute("data-line", "poll")
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq))
    expect(page.locator("#part-last")).to_contain_text("Red on d8, red on e8", timeout=8000)


def test_a_stale_page_is_told_so(game, visit):
    page = visit("/", role="host")
    live(page)
    page.route("**/live?*", lambda route: route.abort())
    page.evaluate("document.querySelector('#write input[name=seen]').value = 1")
    page.locator("#write summary").click()
    page.locator("#write input[name=move]").fill("red@d8 red@e8")
    page.locator("#write button").click()
    expect(page.locator("#toast")).to_contain_text("The game went on meanwhile")
    assert len(game.session.plies()) == 4


def test_the_theme_can_be_switched(game, visit):
    page = visit("/", theme="light")
    html = page.locator("html")
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("link", name="Dark").click()
    # The click returns before the new page has come; until then there is no document to ask.
    expect(html).to_have_attribute("data-theme", "dark")
    page.wait_for_load_state()
    dark = page.evaluate(colour)
    assert light != dark
    page.get_by_role("link", name="Nederlands").click()
    expect(html).to_have_attribute("lang", "nl")
    expect(html).to_have_css("background-color", dark)


def test_colours_never_stand_alone(game, visit):
    page = visit("/", size=(320, 640))
    rows = page.locator("#part-scores tbody th")
    assert rows.count() == 6
    for row in rows.all():
        assert row.locator("svg.symbol").is_visible()
        assert re.fullmatch("[A-Z]", row.locator(".letter").inner_text())
        assert row.locator(".word").inner_text()


def test_lamps_flash_at_most_three_times_a_second_and_can_be_still(full, visit):
    full.show(lamps=("slow", "double", "steady", "off"))
    page = visit("/", role="host")
    duration = "getComputedStyle(document.querySelector('#knob-{} .cap')).animationDuration"
    assert page.evaluate(duration.format(0)) == "1s"
    assert page.evaluate(duration.format(1)) == "1.5s"
    still = visit("/", role="host", reduced_motion="reduce")
    name = "getComputedStyle(document.querySelector('#knob-0 .cap')).animationName"
    assert still.evaluate(name) == "none"


def test_a_new_game_replaces_the_board(table, visit):
    page = visit("/")
    live(page)
    table.book(StartGame("ingenious", "basic", ("Ada", "Bo"), 0))
    expect(page.locator("#part-turn .act .name")).to_have_text("Ada")
    expect(page.locator("#board")).to_be_visible()
