"""Live events over real HTTP: what a phone hears first, after a break, in a crowd and when slow."""

import http.client
import json
import selectors
import socket
import time
from contextlib import closing
from pathlib import Path

import pytest

from companion_web import live
from rules.commands import PlayMoves, StartGame, TakeBack

MOVE = "red@d8 red@e8"


class Ear:
    """One phone that listens."""

    def __init__(self, port: int, query: str = "", source: str = "127.0.0.1", **headers: str):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=10, source_address=(source, 0)
        )
        self.connection.request("GET", f"/live?page=board{query}", headers=headers)
        self.response = self.connection.getresponse()

    def hear(self) -> tuple[str, str, dict]:
        """The next event: its kind, its id and its body."""
        kind, number, data = "message", "", ""
        while True:
            line = self.response.readline().decode().rstrip("\n")
            if not line and (data or kind == "ping"):
                return kind, number, json.loads(data) if data else {}
            name, _, value = line.partition(":")
            if name == "event":
                kind = value.strip()
            elif name == "id":
                number = value.strip()
            elif name == "data":
                data += value.strip()

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def hear_state(ear: Ear, word: str) -> dict:
    """Listen until the state line says ``word``."""
    while True:
        _, _, body = ear.hear()
        if word in body.get("parts", {}).get("state", ""):
            return body


def test_the_newest_view_comes_at_once_and_then_only_what_changed(game, serve):
    port = serve()
    with closing(Ear(port)) as ear:
        body = hear_state(ear, "Ready")
        assert (body["seq"], body["game"]) == (game.session.seq, "ingenious")
        game.book(PlayMoves((MOVE,), game.session.seq))
        while body["seq"] < game.session.seq:
            _, _, body = ear.hear()
            assert "Ada" in json.dumps(body)
            assert "state" not in body["parts"]
        assert "Red on d8" in body["parts"]["last"]


def test_a_phone_that_was_away_gets_the_newest_view(game, serve):
    port = serve()
    with closing(Ear(port)) as ear:
        _, old, _ = ear.hear()
    for _ in range(3):
        game.book(PlayMoves((MOVE,), game.session.seq))
        game.book(TakeBack(game.session.seq))
    time.sleep(0.3)
    with closing(Ear(port, **{"Last-Event-ID": old})) as ear:
        _, new, body = ear.hear()
        assert body["seq"] == game.session.seq
        assert set(body["parts"]) >= {"state", "turn", "scores", "pieces"}
        assert new.split("-")[1] == str(game.session.seq)


def test_a_phone_that_is_up_to_date_hears_only_that_the_line_lives(game, serve):
    port = serve(ping_s=0.2)
    with closing(Ear(port)) as ear:
        hear_state(ear, "Ready")
        kind, number = "", ""
        while kind != "ping":
            newest = number
            kind, number, _ = ear.hear()
    with closing(Ear(port)) as ear:
        _, newest, _ = ear.hear()
    for options in ({"query": f"&seen={newest}"}, {"Last-Event-ID": newest}):
        with closing(Ear(port, **options)) as ear:
            assert ear.hear()[0] == "ping"


def test_pings_come_often_enough():
    assert live.PING_S <= 10


def test_an_id_of_an_earlier_run_means_nothing(game, serve):
    first, second = serve(), serve()
    with closing(Ear(first)) as ear:
        hear_state(ear, "Ready")
    with closing(Ear(first)) as ear:
        _, old, _ = ear.hear()
    with closing(Ear(second, **{"Last-Event-ID": old})) as ear:
        assert ear.hear()[2]["parts"]


def test_streams_are_capped_per_phone_and_for_all(game, serve):
    port = serve(max_streams=4, max_streams_per_client=2)
    ears = [Ear(port), Ear(port), Ear(port, source="127.0.0.2"), Ear(port, source="127.0.0.2")]
    assert [e.response.status for e in ears] == [200] * 4
    for source in ("127.0.0.1", "127.0.0.3"):
        with closing(Ear(port, source=source)) as ear:
            assert ear.response.status == 503
            assert int(ear.response.headers["Retry-After"]) > 0
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/view?page=board")
    assert connection.getresponse().status == 200
    connection.close()
    for ear in ears:
        ear.close()


def test_a_stream_that_ends_makes_room(game, serve):
    port = serve(ping_s=0.1, max_streams=1)
    with closing(Ear(port)) as ear:
        assert ear.response.status == 200
    for _ in range(100):
        with closing(Ear(port)) as ear:
            if ear.response.status == 200:
                return
        time.sleep(0.05)
    pytest.fail("the place was never given back")


def test_a_table_that_goes_away_and_comes_back_is_told(tmp_path, game, serve, stand_in):
    port = serve()
    with closing(Ear(port, **{"Accept-Language": "en"})) as ear:
        hear_state(ear, "Ready")
        game.close()
        hear_state(ear, "Table away")
        again = stand_in(tmp_path)
        again.show(mode="ready")
        hear_state(ear, "Ready")


def test_polling_gives_the_same_as_an_event(game, serve):
    port = serve()
    with closing(Ear(port)) as ear:
        hear_state(ear, "Ready")
    with closing(Ear(port)) as ear:
        _, number, body = ear.hear()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/view?page=board")
    assert json.loads(connection.getresponse().read()) == body
    connection.request("GET", f"/view?page=board&seen={number}")
    assert connection.getresponse().status == 204
    connection.close()


def test_renderings_are_shared(game, app, phone, follow, monkeypatch):
    follow(game)
    broker = app.extensions["tafelmaat"].broker
    drawn = []
    draw = broker._render
    monkeypatch.setattr(broker, "_render", lambda s, k: drawn.append(k) or draw(s, k))
    game.book(PlayMoves((MOVE,), game.session.seq))
    follow(game)
    for _ in range(5):
        phone().get("/view?page=board")
        phone().seat(0).get("/view?page=board")
    assert len(drawn) == len(set(drawn)) == 2


def test_the_banner_tells_address_and_pin(game, tmp_path, web_process):
    with web_process(tmp_path) as (_, port, banner):
        pin = json.loads((tmp_path / "web-keys.json").read_text())["pin"]
        assert f":{port}" in banner
        assert pin in banner


def broadcast(table, port: int, clients: int, moves: int) -> list[float]:
    """Milliseconds from a move until each of many phones has heard of it."""
    waiting = selectors.DefaultSelector()
    heads = []
    for n in range(clients):
        line = socket.create_connection(
            ("127.0.0.1", port), timeout=20, source_address=(f"127.0.1.{n // 20 + 1}", 0)
        )
        line.sendall(b"GET /live?page=board HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        heads.append(line)
    for line in heads:
        text = b""
        while b'"scores"' not in text:
            text += line.recv(1 << 16)
        assert text.startswith(b"HTTP/1.1 200")
        line.setblocking(False)
        waiting.register(line, selectors.EVENT_READ)
    took: list[float] = []
    for _ in range(moves):
        time.sleep(0.4)
        for key, _ in waiting.select(0):
            key.fileobj.recv(1 << 20)
        began = time.perf_counter()
        table.book(PlayMoves((MOVE,), table.session.seq))
        wanted = f'"seq":{table.session.seq},'.encode()
        left = dict.fromkeys(heads, b"")
        while left:
            for key, _ in waiting.select(10):
                line = key.fileobj
                got = left.get(line, b"") + line.recv(1 << 20)
                if line in left:
                    left[line] = got
                    if wanted in got:
                        took.append(1000 * (time.perf_counter() - began))
                        del left[line]
        table.book(TakeBack(table.session.seq))
    for line in heads:
        line.close()
    return sorted(took)


@pytest.mark.slow
def test_two_hundred_phones_hear_of_a_move_at_once(game, tmp_path, web_process, record_property):
    with web_process(tmp_path) as (process, port, _):
        took = broadcast(game, port, clients=200, moves=10)
        status = Path(f"/proc/{process.pid}/status").read_text()
        memory_mb = int(status.split("VmRSS:")[1].split()[0]) / 1024
    p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
    figures = f"200 phones: p50 {p50:.0f} ms, p99 {p99:.0f} ms, {memory_mb:.0f} MB"
    record_property("figures", figures)
    print(figures)
    assert len(took) == 2000
    assert p99 < 1500
    assert memory_mb < 250


def test_a_phone_that_does_not_read_holds_nobody_up(game, tmp_path, web_process):
    with web_process(tmp_path, max_streams=8) as (_, port, _):
        deaf = socket.create_connection(("127.0.0.1", port))
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        deaf.sendall(b"GET /live?page=board HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with closing(Ear(port)) as ear:
            for _ in range(20):
                game.book(PlayMoves((MOVE,), game.session.seq))
                game.book(TakeBack(game.session.seq))
            body = {"seq": 0}
            while body["seq"] < game.session.seq:
                _, _, body = ear.hear()
        deaf.close()


def test_starting_a_new_game_changes_what_pages_must_load(table, serve):
    port = serve()
    with closing(Ear(port)) as ear:
        assert ear.hear()[2]["game"] == ""
        table.book(StartGame("ingenious", "basic", ("Ada", "Bo"), 0))
        body = {"game": ""}
        while not body["game"]:
            _, _, body = ear.hear()
        assert body["game"] == "ingenious"
