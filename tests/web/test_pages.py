"""What the pages show: scores, reasons, refusals, questions, held moves, the end of a game."""

import json
import re
from html import unescape
from typing import get_args

import pytest

from companion_web.follow import Follower
from rules.commands import Correct, PlayMoves, StartGame, TakeBack
from rules.status import Choice, Difference, Question, Trouble, TroubleCode
from rules.verdict import LEGAL

EN = {"Accept-Language": "en"}


def plain(html: str) -> str:
    """The words of a page, without scripts and drawings."""
    html = re.sub(r"<svg.*?</svg>|<head.*?</head>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def part(phone, name: str, page: str = "board", number: int = 0) -> str:
    body = json.loads(phone.get(f"/view?page={page}&number={number}", **EN).data)
    return body["parts"][name]


def test_the_scoreboard_says_who_plays_and_what_everyone_has(game, phone, follow):
    follow(game)
    text = plain(phone().get("/", **EN).text)
    assert "Ready" in text
    assert "Ada to play" in text
    cells = re.findall(r'<th scope="row">.*?</tr>', part(phone(), "scores"), flags=re.DOTALL)
    said = [plain(row) for row in cells]
    standings = game.session.game.standings(game.session.state)
    for row, track in zip(said, standings.scores[0].tracks, strict=False):
        numbers = re.findall(r"(?<![+\d])\d+", row)
        other = next(t for t in standings.scores[1].tracks if t.name == track.name)
        assert [int(n) for n in numbers] == [track.value, other.value]
    assert said[2].startswith("B Blue")
    assert "+2" in said[2]
    assert said[-1] == "Lowest 0 0"


def test_the_lowest_tracks_are_marked_because_they_count(game, phone, follow):
    follow(game)
    scores = part(phone(), "scores")
    tracks = [t for s in game.session.game.standings(game.session.state).scores for t in s.tracks]
    assert scores.count('class="counts"') == sum(t.value == 0 for t in tracks)


def test_the_last_move_is_said_with_every_reason(game, phone, follow):
    follow(game)
    last = part(phone(), "last")
    text = plain(last)
    assert "Bo Blue on g12, yellow on h11" in text
    assert "2 points for blue: the line from g12 to i12. IN-4 +2" in text
    assert "rack" in text
    assert 'data-sites="g12 h12 i12"' in last


def test_the_board_shows_pieces_last_move_and_counted_lines(game, phone, follow):
    follow(game)
    pieces = part(phone(), "pieces")
    laid = dict(re.findall(r'data-at="(\w+)" data-face="(\w+)"', pieces))
    layout = game.session.game.layout(game.session.state)
    assert laid == {site: face for site, face in layout.items() if face != "empty"}
    marks = part(phone(), "marks")
    assert marks.count("<path") == 2 + 2 * 2
    page = phone().get("/").text
    assert len(re.findall(r'data-site="', page)) == len(layout)


def test_a_refusal_says_what_where_which_rule_and_what_to_do(game, phone, follow):
    game.book(PlayMoves(("blue@g12 red@f12",), game.session.seq, source="camera"))
    follow(game)
    turn = part(phone(), "turn")
    text = plain(turn)
    assert "Not allowed Blue on g12, red on f12 Field g12 is taken" in text
    assert "IN-2" in text
    assert "Lay the tile on two free fields" in text
    assert 'data-sites="g12"' in turn
    assert part(phone(), "marks").count('class="wrong"') == 1
    assert 'class="ghost"' in part(phone(), "pieces")
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq))
    follow(game)
    assert "Not allowed" not in plain(part(phone(), "turn"))


def test_a_refusal_of_something_unreadable_is_shown_as_it_is(game, phone, follow):
    game.book(Correct(2, "blue@h12 red@h11", game.session.seq))
    assert game.session.held
    game.book(PlayMoves(("no such <move>",), game.session.seq))
    follow(game)
    assert "no such &lt;move&gt;" in phone().get("/").text


def question(table, code="unclear", **more):
    game, state = table.session.game, table.session.state
    moves = ("red@d8 red@e8", "blue@g12 red@f12")
    choices = tuple(Choice((m,), game.check(state, game.parse(m)), 0.4) for m in moves)
    table.show(
        mode="question",
        seat=0,
        question=Question(3, 0, code, choices, (Difference("h8", "red", "empty"),)),
        **more,
    )


def test_a_question_offers_its_choices_in_words_with_points(game, phone, follow):
    question(game)
    follow(game)
    turn = part(phone().seat(0), "turn")
    text = plain(turn)
    assert "Ada, what was played?" in text
    assert "h8: the camera sees red, the game says empty." in text
    assert "Red on d8, red on e8" in text
    assert "Field g12 is taken" in text
    assert "None of these" in text
    assert turn.count("disabled") == 0
    watching = part(phone(), "turn")
    assert watching.count("disabled") == 2
    assert "None of these" not in plain(watching)


@pytest.mark.parametrize(
    "code",
    [
        *("unclear", "mismatch", "taken_back", "nothing_changed", "several"),
        *("hands", "trouble", "camera_lost"),
    ],
)
def test_every_question_has_a_sentence(game, phone, follow, code):
    question(game, code)
    follow(game)
    assert "[question" not in part(phone(), "turn")
    game.show(mode="question", seat=0, question=Question(5, 0, code, ()))
    follow(game)
    assert "[question" not in part(phone(), "turn")


def test_a_question_without_choices_says_what_to_do(game, phone, follow):
    game.show(mode="question", seat=0, question=Question(5, 0, "nothing_changed", ()))
    follow(game)
    text = plain(part(phone().seat(0), "turn"))
    assert "Make your move first, then press again. All right" in text


def test_a_question_can_offer_to_take_back(game, phone, follow):
    choice = Choice((), LEGAL, 0.9, takes_back=True)
    game.show(mode="question", seat=1, question=Question(4, 1, "taken_back", (choice,)))
    follow(game)
    assert "Yes, take the last move back" in plain(part(phone().seat(1), "turn"))


@pytest.mark.parametrize(
    ("mode", "word"),
    [
        ("ready", "Ready"),
        ("hands", "Hands"),
        ("reading", "Reading"),
        ("refused", "Refused"),
        ("trouble", "Bad picture"),
        ("camera_lost", "Camera lost"),
    ],
)
def test_the_state_line_names_the_mode(game, phone, follow, mode, word):
    game.show(mode=mode, problem="no cable" if mode == "camera_lost" else "")
    follow(game)
    state = part(phone(), "state")
    assert plain(state) == word
    assert ("no cable" in state) is (mode == "camera_lost")


TROUBLES = [
    (Trouble("no_cards"), "sees none of the corner cards. Point it at the table"),
    (Trouble("cards_missing", cards=(2,)), "Not in view: card 2 (top right). Turn the camera"),
    (Trouble("cards_moved", cards=(4,)), "look at card 4 (bottom left). Put each card back"),
    (Trouble("too_dark"), "too dark for the camera. Turn on a light."),
    (Trouble("too_bright"), "too bright for the camera. Dim the lamp"),
    (Trouble("blurred"), "The picture is blurred. Wipe the lens"),
    (Trouble("out_of_view", sites=("a8", "b7")), "not in view: a8, b7. Turn the camera"),
    (Trouble("board_lost"), "cannot find the board."),
    (Trouble("glare", sites=("h8",)), "A lamp is reflected on h8. Turn the lamp away"),
    (Trouble("foreign", sites=tuple("abcdefgh")), "lies on a, b, c, d, e, f, …, or a piece"),
]


def test_all_troubles_are_tested():
    assert {trouble.code for trouble, _ in TROUBLES} == set(get_args(TroubleCode))


@pytest.mark.parametrize(("trouble", "words"), TROUBLES, ids=lambda v: getattr(v, "code", ""))
def test_trouble_with_the_picture_is_told_in_a_sentence(game, phone, follow, trouble, words):
    game.show(mode="trouble", trouble=trouble)
    follow(game)
    turn = plain(part(phone(), "turn"))
    assert words in turn
    assert "Meanwhile moves can be entered here." in turn


@pytest.mark.parametrize(("trouble", "words"), TROUBLES, ids=lambda v: getattr(v, "code", ""))
def test_a_press_in_trouble_is_answered_on_every_phone(game, phone, follow, trouble, words):
    asked = Question(6, 0, "trouble", (), trouble=trouble)
    game.show(mode="question", seat=0, question=asked, trouble=trouble)
    follow(game)
    for own in (phone(), phone().seat(0), phone().seat(1), phone().host()):
        turn = plain(part(own, "turn"))
        assert words in turn
        assert "Then press again, or enter the move here." in turn


def test_without_a_game_the_host_is_led_to_the_set_up(table, phone):
    assert "/host?back=/setup" in phone().get("/").text
    assert 'href="/setup"' in phone().host().get("/").text


def test_the_set_up_offers_every_variant_and_keeps_names(game, phone, follow):
    follow(game)
    page = phone().host().get("/setup", **EN).text
    versions = re.findall(r'name="version" value="([^"]+)"', page)
    variants = game.session.game.info.variants
    assert versions == [f"{v.name}:{n}" for v in variants for n in v.seats]
    assert 'value="Ada"' in page
    assert "A game is running" in page


def test_the_seats_have_a_code_each(game, phone, follow):
    follow(game)
    host = phone().host()
    page = host.get("/seats").text
    assert page.count('class="segno"') == 2 + 1 + 1
    assert all(f"/seat/{token}" in page for token in host.keys.seats[:2])
    assert host.keys.seats[2] not in page
    assert host.keys.pin in page
    assert phone().get("/seats").status_code == 303
    assert phone().seat(0).get("/seats").status_code == 303


def test_fitting_lists_moves_with_verdict_and_points(game, phone, follow):
    follow(game)
    host = phone().host()
    laid = host.get("/fitting?at=d8:red&at=e8:red", **EN).json["parts"]["fitting"]
    assert "Ada : Red on d8, red on e8" in plain(laid)
    assert 'value="red@d8 red@e8"' in laid
    assert "+1" in plain(laid)
    one = host.get("/fitting?at=d8:red", **EN).json["parts"]["fitting"]
    assert "not a whole move yet" in plain(one)
    wrong = host.get("/fitting?at=g12:red&at=f12:red", **EN).json["parts"]["fitting"]
    assert "Field g12 is taken" in plain(wrong)
    assert "<button" not in wrong
    assert phone().get("/fitting?at=d8:red").status_code == 401
    assert host.get("/fitting?at=d8:pink").status_code == 400
    assert host.get("/fitting?number=99&at=d8:red").status_code == 404


def test_quiet_moves_are_offered_to_whom_they_belong(game, phone, follow):
    follow(game)
    assert 'value="exchange"' in part(phone().seat(1), "controls")
    assert 'value="exchange"' not in part(phone().seat(0), "controls")
    assert "(Bo)" in plain(part(phone().host(), "controls"))
    assert part(phone(), "controls").count("<form") == 0


def test_taking_back_asks_first(game, phone, follow):
    follow(game)
    controls = part(phone().seat(1), "controls")
    assert '<details id="take-back"' in controls
    assert "Take back move 4: Blue on g12, yellow on h11?" in plain(controls)
    assert "take-back" not in part(phone().seat(0), "controls")


def test_the_history_tells_every_move_with_source_and_reasons(game, phone, follow):
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq, source="camera"))
    follow(game)
    text = plain(part(phone().seat(0), "moves", "history"))
    numbers = [int(n) for n in re.findall(r"(?<!\d)([1-5]) (?:Ada|Bo)", text)]
    assert numbers == [5, 4, 3, 2, 1]
    assert text.count("entered on a phone") == 4
    assert text.count("seen by the camera") == 1
    assert text.count("Correct") == 3
    assert text.count("Look") == 2


def test_a_correction_is_previewed_before_it_is_saved(game, phone, follow):
    follow(game)
    host = phone().host()
    seq = game.session.seq
    laid = host.get("/fitting?number=2&at=h12:blue&at=h11:red", **EN).json["parts"]["fitting"]
    text = plain(laid)
    assert "later move" in text
    assert "4. Blue on g12, yellow on h11" in text
    assert "Field h11 is taken" in text
    assert "→" in text
    assert 'value="blue@h12 red@h11"' in laid or 'value="red@h11 blue@h12"' in laid
    assert game.session.seq == seq
    move = re.search(r'name="move" value="([^"]+)"', laid).group(1)
    answer = host.post("/correct", seen=seq, number=2, move=move, back="/history")
    assert (answer.status_code, answer.location) == (303, "/history")
    history = plain(part(host, "moves", "history"))
    assert "corrected" in history
    assert "Held back" in history
    assert "move is held back" in plain(part(host, "turn"))
    held = plain(host.get("/history/4", **EN).text)
    assert "Held back" in held
    assert "Field h11 is taken" in held


def test_a_move_page_shows_the_table_of_that_time(game, phone, follow):
    follow(game)
    pieces = part(phone(), "pieces", "move", 2)
    assert set(re.findall(r'data-at="(\w+)"', pieces)) == {"d12", "d13", "h12", "i12"}
    page = phone().get("/history/2", **EN).text
    assert 'rel="prev" href="/history/1"' in page
    assert 'rel="next" href="/history/3"' in page
    assert phone().get("/history/5").status_code == 404
    assert "Only Bo and the host" in plain(phone().seat(0).get("/history/2", **EN).text)


def test_the_virtual_table_shows_what_lies_there_and_differs(tmp_path, game, phone, follow):
    layout = game.session.game.layout(game.session.state)
    game.show(mode="ready", lying={**layout, "h8": "red", "g12": "empty"})
    follow(game)
    page = phone().seat(0).get("/", **EN).text
    assert "Virtual table" in plain(page)
    assert 'data-mode="lay"' in page
    assert "2 places differ from the game" in plain(page)
    assert 'action="/tidy"' in page
    marks = re.search(r'<g class="differs">(.*?)</g>', part(phone(), "marks")).group(1)
    assert marks.count("<path") == 2
    assert 'id="knob-0"' in page
    assert 'id="knob-1"' not in page
    assert 'id="knob-0"' not in phone().get("/").text


def test_lamps_are_shown_at_the_seats(game, phone, follow):
    game.show(lamps=("double", "slow"))
    follow(game)
    panel = part(phone().host(), "panel")
    assert re.findall(r'class="knob (\w+)"', panel) == ["double", "slow"]
    assert "look at the phone" in plain(panel)


def test_the_end_shows_podium_and_reason(table, phone, follow):
    table.book(StartGame("ingenious", "solitaire", ("Ada",), 0))
    game = table.session.game
    while not game.standings(table.session.state).over:
        state = table.session.state
        move = next(
            m
            for m in game.candidates(state)
            if game.footprint(state, m) and game.check(state, m).legal
        )
        table.book(PlayMoves((game.notate(move),), table.session.seq))
    follow(table)
    turn = plain(part(phone().host(), "turn"))
    assert "No tile fits on the board any more." in turn
    assert "Ada wins!" in turn
    assert "Play again" in turn


def test_another_game_needs_no_line_of_this_program(noughts, table, phone, follow):
    table.book(StartGame("noughts", noughts.info.variants[0].name, ("Ann", "Ben"), 0))
    game = table.session.game
    for _ in range(3):
        state = table.session.state
        move = next(m for m in game.candidates(state) if game.check(state, m).legal)
        table.book(PlayMoves((game.notate(move),), table.session.seq))
    follow(table)
    host = phone().host()
    for path in ("/", "/history", "/history/2", "/setup?game=noughts", "/seats"):
        answer = host.get(path, **EN)
        assert answer.status_code == 200, path
        assert "Ann" in answer.text
    laid = re.findall(r'data-at="', part(host, "pieces"))
    assert len(laid) == 3


def test_pages_are_light(game, phone, follow):
    follow(game)
    own = phone().host()
    page = own.get("/").text
    assets = re.findall(r'(?:href|src)="(/static/[^"#]+)', page)
    root = re.search(r"/static/[0-9a-f]+", page).group()
    files = {*assets, *(f"{root}/{name}.js" for name in ("live", "edit", "zoom"))}
    answers = [own.client.get(path, buffered=True) for path in files]
    assert all(a.status_code == 200 for a in answers)
    assert all("max-age=31536000" in a.headers["Cache-Control"] for a in answers)
    size = len(page.encode()) + sum(len(a.data) for a in answers)
    board = len(re.search(r"<svg viewBox.*?</svg>\n</div>", page, re.DOTALL).group().encode())
    assert board > 20_000
    assert size - board < 80_000
    assert size < 110_000


def test_following_the_journal_reads_only_what_is_new(game, tmp_path, monkeypatch):
    follower = Follower(tmp_path / "journal.sqlite")
    assert follower.read()
    assert not follower.read()
    asked = []
    entries = follower._reader.entries
    monkeypatch.setattr(follower._reader, "entries", lambda n: asked.append(n) or entries(n))
    game.book(PlayMoves(("red@d8 red@e8",), game.session.seq))
    game.book(TakeBack(game.session.seq))
    assert follower.read()
    assert asked == [game.session.seq - 2]
    assert follower.record.seq == game.session.seq
    assert len(follower.record.notes) == 4
    follower.close()


def test_a_journal_that_is_not_there_yet_is_waited_for(tmp_path):
    follower = Follower(tmp_path / "journal.sqlite")
    assert not follower.read()
    assert follower.record.problem == ""


def test_a_file_that_is_no_journal_is_named_and_then_replaced(tmp_path, table):
    table.book(StartGame("ingenious", "basic", ("Ada", "Bo"), 0))
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"This is no database. " * 99)
    follower = Follower(other)
    assert follower.read()
    assert "not a database" in follower.record.problem
    assert not follower.read()
    other.unlink()
    other.symlink_to(tmp_path / "journal.sqlite")
    assert follower.read()
    assert follower.record.problem == ""
    assert follower.record.session.opening.names == ("Ada", "Bo")
    follower.close()
