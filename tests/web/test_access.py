"""Who may do what: every route, every role, foreign hosts and pages, guesses, hostile names."""

import json
import logging
import re
import stat

import pytest
from markupsafe import escape

from companion_web import create_app
from companion_web.access import Guesses, OwnNames, Rights, Safe
from companion_web.errors import InvalidInput
from companion_web.forms import read_name, read_path
from rules.commands import Answer, Lay, PlayMoves, Press
from rules.status import Choice, Question
from rules.verdict import LEGAL

SAME = {"Sec-Fetch-Site": "same-origin"}
READS = {
    *("/", "/fitting", "/history", "/history/<int:number>", "/host", "/live", "/prefer"),
    *("/seat/<token>", "/seats", "/setup", "/view"),
    *("/teach/<game>", "/teach/<game>/<int:number>.zip", "/teach/<game>/<int:number>/<name>.png"),
    *("/teach/<game>/board", "/teach/<game>/table.png"),
}
WRITES = {
    *("/answer", "/correct", "/host", "/lay", "/leave", "/play", "/press", "/renew", "/start"),
    *("/take-back", "/tidy"),
    *(f"/teach/<game>/{what}" for what in ("board", "drop", "keep", "label", "picture", "use")),
}


def test_the_routes_are_those_that_were_thought_about(app):
    reads, writes = set(), set()
    for rule in app.url_map.iter_rules():
        if rule.endpoint == "static":
            continue
        assert rule.methods <= {"GET", "HEAD", "OPTIONS", "POST"}, rule
        if "GET" in rule.methods:
            reads.add(rule.rule)
        if "POST" in rule.methods:
            writes.add(rule.rule)
    assert (reads, writes) == (READS, WRITES)


@pytest.mark.parametrize("path", sorted(WRITES))
def test_a_write_needs_a_key(game, app, phone, path):
    before = game.session.seq
    path = path.replace("<game>", "ingenious")
    answer = phone().post(path, seen=before, move="stop", seat=0, at="h8:red", question=1, pin="")
    assert answer.status_code in (401, 403)
    assert (game.session.seq, game.requests) == (before, [])


@pytest.mark.parametrize("path", sorted(WRITES))
def test_a_forged_cookie_opens_nothing(game, phone, path):
    own = phone()
    own.client.set_cookie("tafelmaat", "eyJob3N0IjoieCJ9.Z0x.forged")
    path = path.replace("<game>", "ingenious")
    assert own.post(path, seen=game.session.seq, pin="").status_code in (401, 403)


def test_reading_changes_nothing(game, app, phone, tmp_path):
    journal = tmp_path / "journal.sqlite"
    keys = (tmp_path / "web-keys.json").read_bytes()
    before = (game.session.seq, journal.read_bytes())
    for own in (phone(), phone().host(), phone().seat(0)):
        for path in READS - {"/live"}:
            concrete = path.replace("<int:number>", "2").replace("<token>", own.keys.seats[1])
            concrete = concrete.replace("<game>", "ingenious").replace("<name>", "0" * 16)
            own.get(concrete + "?language=nl&at=h8:red&at=h9:blue&page=board")
    assert (game.session.seq, journal.read_bytes()) == before
    assert game.requests == []
    assert (tmp_path / "web-keys.json").read_bytes() == keys


@pytest.mark.parametrize("path", sorted(WRITES))
def test_a_write_is_not_done_by_get(phone, path):
    path = path.replace("<game>", "ingenious")
    assert phone().host().get(path).status_code in (200, 303, 405)


def test_a_seat_acts_for_itself_only(game, phone, follow):
    follow(game)
    ada, bo = phone().seat(0), phone().seat(1)
    seq = game.session.seq
    assert ada.post("/press", seat=1).status_code == 403
    assert ada.post("/press", seat=0).status_code == 303
    assert game.requests == [Press(0)]
    # Bo made the fourth move: only Bo takes it back or corrects it.
    assert ada.post("/take-back", seen=seq).status_code == 403
    assert ada.post("/correct", seen=seq, number=4, move="blue@g12 red@h11").status_code == 403
    assert bo.post("/correct", seen=seq, number=4, move="blue@g12 red@h11").status_code == 303
    assert bo.post("/take-back", seen=seq + 1).status_code == 303
    assert bo.post("/start", seen=game.session.seq).status_code == 403
    assert bo.post("/renew").status_code == 403


def test_a_move_is_booked_in_the_name_of_the_seat(game, phone, follow):
    follow(game)
    bo = phone().seat(1)
    answer = bo.client.post(
        "/play",
        data={"move": "red@d8 red@e8", "seen": game.session.seq},
        headers={**SAME, "Accept": "application/json"},
    )
    assert answer.json["code"] == "refused"
    assert list(game.journal.entries())[-1].event.by == 1


def test_only_the_asked_seat_answers(game, phone, follow):
    choice = Choice(("red@d8 red@e8",), LEGAL, 0.5)
    game.show(mode="question", seat=0, question=Question(7, 0, "unclear", (choice,)))
    follow(game)
    assert phone().seat(1).post("/answer", question=7, choice=0).status_code == 403
    assert phone().seat(0).post("/answer", question=7, choice="none").status_code == 303
    assert phone().host().post("/answer", question=7, choice=0).status_code == 303
    assert game.requests == [Answer(7, None, 0), Answer(7, 0, None)]


def test_a_seat_link_leaves_no_token_behind(game, phone):
    own = phone()
    answer = own.get(f"/seat/{own.keys.seats[0]}")
    assert (answer.status_code, answer.location) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert phone().get("/seat/" + "x" * 22).status_code == 404


def test_new_links_turn_the_old_ones_out(game, phone):
    ada, host = phone().seat(0), phone().host()
    assert ada.post("/press", seat=0).status_code == 303
    assert host.post("/renew").status_code == 303
    assert ada.post("/press", seat=0).status_code == 401
    assert phone().get(f"/seat/{ada.keys.seats[0]}").status_code == 404
    assert host.post("/press", seat=0).status_code == 303


def test_leaving_gives_the_rights_away(game, phone):
    host = phone().host()
    assert host.post("/leave").status_code == 303
    assert host.post("/press", seat=0).status_code == 401


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, False),
        ({"Origin": "http://localhost"}, True),
        ({"Origin": "http://localhost:81"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://localhost.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({}, False),
    ],
)
def test_only_our_own_pages_write(game, phone, headers, allowed):
    host = phone().host()
    answer = host.client.post("/press", data={"seat": 0}, headers=headers)
    assert (answer.status_code == 303) is allowed
    assert bool(game.requests) is allowed


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", 200),
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("evil.example:80@localhost", 400),
        ("localhost/evil", 400),
        ("", 400),
    ],
)
def test_only_our_own_names_are_answered(app, host, code):
    answer = app.test_client().get("/", headers={"Host": host})
    assert answer.status_code == code
    assert "X-Content-Type-Options" in answer.headers


def test_own_names_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Tafel.local")
    monkeypatch.setattr("companion_web.access.own_addresses", lambda: ("192.168.1.7",))
    names = OwnNames(("speltafel.example",))
    own = ("tafel", "TAFEL.local:80", "tafel.lan", "192.168.1.7:8000", "speltafel.example")
    assert all(map(names.include, own))
    assert not any(map(names.include, ("192.168.1.8", "tafel.evil.example", "local", "[::1")))


def test_bodies_are_bounded(game, phone):
    host = phone().host()
    big = host.client.post("/play", data={"move": "x" * 70_000, "seen": 0}, headers=SAME)
    assert big.status_code == 413
    endless = host.client.post("/play", headers=SAME)
    assert endless.status_code == 411
    many = host.client.post("/play", data={f"f{n}": n for n in range(3000)}, headers=SAME)
    assert many.status_code in (400, 413)
    assert len(game.session.plies()) == 4


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/play", {"seen": "x", "move": "stop"}),
        ("/play", {"seen": "99999999999", "move": "stop"}),
        ("/play", {"seen": "5"}),
        ("/play", {"seen": "5", "move": "x" * 300}),
        ("/play", {"seen": "5", "move": "nonsense"}),
        ("/lay", {"at": "z99:red"}),
        ("/lay", {"at": "h8:pink"}),
        ("/lay", {}),
        ("/press", {"seat": "-1"}),
        ("/correct", {"seen": "5", "number": "one", "move": "stop"}),
        ("/answer", {"question": "1", "choice": "many"}),
        ("/start", {"game": "nothing", "version": "basic:2", "seen": "5"}),
        ("/start", {"game": "ingenious", "version": "basic:9", "seen": "5"}),
        ("/start", {"game": "ingenious", "version": "", "seen": "5"}),
    ],
)
def test_nonsense_is_refused_with_a_sentence(game, phone, follow, path, fields):
    follow(game)
    before = game.session.seq
    answer = phone().host().post(path, **fields)
    assert answer.status_code == 400
    assert len(re.sub("<[^>]*>", "", answer.text).split()) > 5
    assert (game.session.seq, game.requests) == (before, [])


def test_a_stale_write_changes_nothing(game, phone, follow):
    follow(game)
    answer = phone().host().post("/play", seen=game.session.seq - 1, move="red@d8 red@e8")
    assert answer.status_code == 409
    assert len(game.session.plies()) == 4


def test_guessing_the_pin_is_slowed_down_and_others_play_on(game, phone):
    inside, thief = phone().host(), phone()
    for _ in range(Guesses.PER_CLIENT):
        assert thief.post("/host", pin="12345x").status_code == 403
    right = thief.post("/host", pin=thief.keys.pin)
    assert right.status_code == 429
    assert 0 < int(right.headers["Retry-After"]) <= 60
    assert inside.post("/press", seat=0).status_code == 303


def test_guesses_are_counted_per_client_and_for_all():
    now = 0.0
    guesses = Guesses(lambda: now)
    for _ in range(5):
        assert guesses.wait_s("a") == 0
        guesses.failed("a")
    assert guesses.wait_s("a") == 60
    assert guesses.wait_s("b") == 0
    now = 60.5
    assert guesses.wait_s("a") == 0
    for n in range(55):
        guesses.failed(f"c{n}")
    assert guesses.wait_s("somebody new") == 3540
    now = 3660.6
    assert guesses.wait_s("somebody new") == 0


def test_keys_are_private_and_survive_a_restart(tmp_path, caplog):
    path = tmp_path / "web-keys.json"
    keys = Safe(path).keys
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert re.fullmatch(r"[0-9]{6}", keys.pin)
    assert all(len(token) >= 22 for token in keys.seats)
    assert len(set(keys.seats)) == len(keys.seats)
    path.chmod(0o644)
    assert Safe(path).keys == keys
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text(json.dumps({"pin": 1}))
    with caplog.at_level(logging.ERROR):
        assert Safe(path).keys.pin != "1"
    assert "web-keys.json" in caplog.text


def test_a_host_cookie_survives_a_restart(game, phone, tmp_path):
    host = phone().host()
    cookie = host.client.get_cookie("tafelmaat").value
    again = create_app(tmp_path)
    try:
        client = again.test_client()
        client.set_cookie("tafelmaat", cookie)
        assert client.post("/press", data={"seat": 0}, headers=SAME).status_code == 303
    finally:
        again.extensions["tafelmaat"].close()


def test_rights_cover_what_they_should():
    assert Rights(host=True).covers(None)
    assert Rights(seat=0).covers(0)
    assert not Rights(seat=0).covers(1)
    assert not Rights(seat=0).covers(None)
    assert not Rights().covers(0)
    assert Rights(host=True, seat=1).by is None


HOSTILE = [
    "<script>alert(1)</script>"[:20],
    '"><img src=x onerror='[:20],
    "{{7*7}}{% raw %}",
    "'; DROP TABLE entry;"[:20],
    "</style><svg/onload="[:20],
    "{name} {0.__class__}",
    "javascript:alert(1)",
    "&lt;b&gt; & <b>",
    "%s%n\\u003cscript",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_only_data_on_every_page(table, app, phone, follow, name):
    host = phone().host()
    fields = {"name-0": name, "name-1": "Bo", "game": "ingenious", "version": "basic:2", "seen": 0}
    assert host.post("/start", **fields).status_code == 303
    table.book(PlayMoves(("green@d12 green@d13",), 1))
    table.book(PlayMoves(("green@d12 green@d13",), 2, 0))
    follow(table)
    safe = read_name(name, 0)
    assert table.session.opening.names[0] == safe
    for path in ("/", "/history", "/history/1", "/setup", "/seats", "/host", "/nowhere"):
        text = host.get(path).text
        if set(safe) & set('<>"'):
            assert safe not in text, path
        if path in ("/", "/history", "/seats"):
            assert str(escape(safe)) in text, path
    body = json.loads(host.get("/view?page=board").data)
    for html in body["parts"].values():
        assert safe not in html or not set(safe) & set('<>"')


@pytest.mark.parametrize(
    "name",
    ["", "   ", "x" * 21, "a\x00b", "a\u202eb", "a\u2066b", "a\u200fb", "\u200d", "a\ufeffb"],
)
def test_bad_names_are_refused(table, phone, name):
    host = phone().host()
    fields = {"name-0": name, "name-1": "Bo", "game": "ingenious", "version": "basic:2", "seen": 0}
    assert host.post("/start", **fields).status_code == 400
    assert table.session is None


def test_good_names_are_kept():
    assert read_name("Zoe\u0308", 0) == "Zoë"
    assert read_name("Дарья  Ивановна", 0) == "Дарья Ивановна"
    family = "\U0001f468\u200d\U0001f469"
    assert read_name(family, 0) == family
    with pytest.raises(InvalidInput, match="name_length"):
        read_name("y" * 21, 0)


def test_two_players_have_two_names(table, phone):
    fields = {"name-0": "Ada", "name-1": "ada", "game": "ingenious", "version": "basic:2"}
    answer = phone().host().post("/start", seen=0, **fields)
    assert answer.status_code == 400
    assert table.session is None


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil", "http://x", "", "/a?b", "/%2f"])
def test_going_back_never_leaves_the_table(path):
    assert read_path(path) == "/"


@pytest.mark.parametrize(
    ("path", "code"), [("/", 200), ("/nowhere", 404), ("/seats", 303), ("/broken", 500)]
)
def test_every_answer_carries_the_headers(app, path, code):
    app.add_url_rule("/broken", "broken", lambda: 1 / 0)
    app.logger.disabled = True
    answer = app.test_client().get(path)
    app.logger.disabled = False
    assert answer.status_code == code
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_fault_in_the_pages_is_one_sentence_not_a_trace(game, app, phone, follow, monkeypatch):
    follow(game)
    monkeypatch.setattr(app.extensions["tafelmaat"].renderer, "scene", lambda *_: 1 / 0)
    app.logger.disabled = True
    answer = phone().get("/", **{"Accept-Language": "en"})
    app.logger.disabled = False
    assert answer.status_code == 500
    assert answer.text == "The page has a fault. The game itself is safe; try again."
    assert "Content-Security-Policy" in answer.headers


def test_pages_hold_nothing_that_the_policy_forbids(game, phone, follow):
    follow(game)
    host = phone().host()
    for path in ("/", "/history", "/history/1", "/setup", "/seats", "/host"):
        text = host.get(path).text
        assert not re.search(r"<[^>]*\sstyle=|<[^>]*\son[a-z]+=|<style|<script(?![^>]*src=)", text)
        assert "https://" not in text.replace("https://www.w3.org", "")


def test_commands_reach_the_table_as_they_were_meant(game, phone, follow):
    follow(game)
    host = phone().host()
    assert host.post("/lay", at=["h8:red", "h9:empty"]).status_code == 303
    assert host.post("/press", seat=1, long=1).status_code == 303
    assert game.requests == [Lay({"h8": "red", "h9": "empty"}), Press(1, True)]


def test_a_table_that_is_away_costs_no_page(game, app, phone, follow):
    follow(game)
    host = phone().host()
    game.close()
    answer = host.post("/press", seat=0)
    assert answer.status_code == 503
    broker = app.extensions["tafelmaat"].broker
    for _ in range(100):
        if broker.snapshot.status is None:
            break
        broker.wait_for(10**6, 0.05)
    page = host.get("/", **{"Accept-Language": "en"}).text
    assert "Table away" in page
    assert "Ada" in page
    assert 'id="knob-0"' not in page


def test_starting_a_game_takes_the_names_and_the_variant(table, phone):
    fields = {f"name-{n}": name for n, name in enumerate(("A", "B", "C", "D"))}
    answer = phone().host().post("/start", game="ingenious", version="teams:4", seen=0, **fields)
    assert answer.status_code == 303
    opening = table.session.opening
    assert (opening.variant, opening.names) == ("teams", ("A", "B", "C", "D"))
