"""The command socket, over a real socket: the protocol, garbage, and clients that misbehave."""

import json
import socket
import stat
import threading
from contextlib import closing
from random import Random

import pytest

from firmware import wire as wire_module
from firmware.errors import WireBlocked
from firmware.inbox import Inbox, Stop
from firmware.loop import Loop
from firmware.wire import LONGEST_LINE, Wire
from rules.journal import Journal, Reader

TIMEOUT_S = 20


class Client:
    """The other end of the socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")

    def receive(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def ask(self, data):
        self.send(data)
        return self.receive()

    def close(self):
        self.lines.close()
        self.socket.close()


class Idle:
    def follow(self, session): ...

    def look(self, number, session, seat): ...

    def forget(self): ...


@pytest.fixture
def table(tmp_path, noughts):
    """A loop in its own thread, behind a socket."""
    inbox = Inbox()
    with closing(Journal(tmp_path / "journal.sqlite")) as journal:
        loop = Loop(journal, inbox, Idle())
        wire = Wire(tmp_path / "table.sock", inbox)
        loop.observe(lambda session, status: wire.publish(status))
        thread = threading.Thread(target=loop.run)
        thread.start()
        yield wire
        wire.close()
        inbox.put(Stop())
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()


@pytest.fixture
def client(table):
    with closing(Client(table.path)) as client:
        yield client


START = {
    "kind": "start_game",
    "game": "noughts",
    "variant": "basic",
    "names": ["Ann", "Ben"],
    "seen": 0,
}


def test_only_the_owner_may_open_the_socket(table):
    assert stat.S_IMODE(table.path.stat().st_mode) == 0o600


def test_commands_are_answered_with_their_id(client):
    assert client.ask({"id": 7, **START}) == {
        "id": 7,
        "ok": True,
        "code": "booked",
        "seq": 1,
        "message": "",
    }
    play = {"id": "x", "kind": "play_moves", "moves": ["cross@b2"], "seen": 1}
    assert client.ask(play)["code"] == "booked"
    assert client.ask(play)["code"] == "stale"
    reply = client.ask({**play, "seen": 2})
    assert (reply["id"], reply["ok"], reply["code"], reply["seq"]) == ("x", False, "refused", 3)


def test_a_watcher_gets_the_status_at_once_and_after_each_change(client, table):
    with closing(Client(table.path)) as watcher:
        first = watcher.ask({"kind": "watch"})["status"]
        assert (first["mode"], first["seq"]) == ("idle", 0)
        client.ask(START)
        then = watcher.receive()["status"]
        assert (then["mode"], then["seq"], then["lamps"]) == ("ready", 1, ["steady", "off"])


def test_requests_go_on_after_a_client_has_half_closed(client):
    client.send(START)
    client.socket.shutdown(socket.SHUT_WR)
    assert client.receive()["code"] == "booked"
    assert client.receive() is None


def test_many_requests_in_one_packet_are_answered_in_order(client):
    client.send(b"".join(json.dumps({"id": n, **START}).encode() + b"\n" for n in range(50)))
    replies = [client.receive() for _ in range(50)]
    assert [r["id"] for r in replies] == list(range(50))
    assert [r["code"] for r in replies] == ["booked"] + ["stale"] * 49


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"\n", "expected a JSON object"),
        (b"hello\n", "expected a JSON object"),
        (b"[1, 2]\n", "expected a JSON object, got list"),
        (b"null\n", "expected a JSON object, got NoneType"),
        (b"\xff\xfe\x00\n", "UTF-8"),
        (b"[" * 60000 + b"\n", "expected a JSON object"),
        (b"1" * 5000 + b"\n", "expected a JSON object"),
        (b'{"id": [1], "kind": "tidy"}\n', "id: expected a number or a text"),
        (b'{"kind": "explode"}\n', "kind: expected one of answer, correct"),
        (b'{"kind": 3}\n', "kind: expected one of"),
        (b'{"kind": "press"}\n', "expected a value for seat"),
        (b'{"kind": "press", "seat": "0"}\n', "seat: expected a whole number, got '0'"),
        (b'{"kind": "press", "seat": true}\n', "seat: expected a whole number"),
        (b'{"kind": "press", "seat": 0, "lnog": true}\n', "did you mean long"),
        (b'{"kind": "play_moves", "moves": "cross@b2", "seen": 1}\n', "moves: expected a list"),
        (b'{"kind": "play_moves", "moves": [1], "seen": 1}\n', "moves[0]: expected a text"),
        (b'{"kind": "lay", "faces": [1]}\n', "faces: expected a table"),
        (b'{"kind": "watch", "more": 1}\n', "kind: expected one of"),
        (
            b'{"kind": "start_game", "game": "noughts", "variant": "basic", '
            b'"names": ["\\ud800", "Ben"], "seen": 0}\n',
            "expected a JSON object in UTF-8",
        ),
    ],
)
def test_garbage_is_answered_and_changes_nothing(client, table, line, message):
    reply = client.ask(line)
    assert (reply["ok"], reply["code"]) == (False, "invalid")
    assert message in reply["message"]
    assert client.ask(START)["seq"] == 1


def test_a_line_that_is_too_long_ends_the_connection(client, table):
    client.send(b'{"kind": "' + b"x" * LONGEST_LINE)
    assert "at most 65536 bytes" in client.receive()["message"]
    with closing(Client(table.path)) as other:
        assert other.ask(START)["code"] == "booked"


def test_half_a_line_is_not_carried_out(client, table):
    client.send(json.dumps(START).encode())
    client.socket.shutdown(socket.SHUT_WR)
    assert client.receive() is None
    with closing(Client(table.path)) as other:
        assert other.ask(START)["seq"] == 1


def mangled(rng):
    """A line that was once a request."""
    good = [
        json.dumps(START),
        '{"id": 1, "kind": "play_moves", "moves": ["cross@b2"], "seen": 1}',
        '{"id": 1, "kind": "correct", "number": 1, "move": "cross@a1", "seen": 1}',
        '{"id": 1, "kind": "answer", "question": 1, "choice": 0}',
        '{"id": 1, "kind": "press", "seat": 0, "long": true}',
        '{"id": 1, "kind": "lay", "faces": {"b2": "cross"}}',
    ]
    line = bytearray(rng.choice(good).encode())
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(line))
        match rng.randrange(4):
            case 0:
                line[at] = rng.randrange(256)
            case 1:
                del line[at : at + rng.randint(1, 9)]
            case 2:
                line[at:at] = rng.choice((b'"', b"{", b"]", b"null", b"-1e999", b"\x00", b"\\u"))
            case 3:
                line[at:at] = line[at : at + 20]
        line = line or bytearray(b"?")
    return bytes(line).replace(b"\n", b" ") + b"\n"


@pytest.mark.parametrize("seed", range(5))
def test_a_thousand_mangled_requests_leave_the_game_as_it_was(table, seed):
    rng = Random(seed)
    with closing(Client(table.path)) as client:
        client.ask(START)
        client.ask({"kind": "play_moves", "moves": ["cross@b2", "nought@a1"], "seen": 1})
        for _ in range(200):
            line = mangled(rng)
            reply = client.ask(line)
            if "status" in reply:
                continue
            # A line may by chance still be a request that makes sense: then it is a stale one.
            assert reply["code"] in ("invalid", "stale", "done", "refused", "unavailable"), line
        seq = client.ask({"kind": "take_back", "seen": -1})["seq"]
    with Reader(table.path.parent / "journal.sqlite") as reader:
        session = reader.session()
    assert [p.move for p in session.plies()] == ["cross@b2", "nought@a1"]
    assert session.seq == seq


def test_random_bytes_are_survived(table):
    rng = Random(11)
    for _ in range(30):
        with closing(Client(table.path)) as client:
            client.send(rng.randbytes(rng.randint(1, 5000)))
    with closing(Client(table.path)) as client:
        assert client.ask(START)["seq"] == 1


def test_a_watcher_that_never_reads_is_dropped_and_holds_nobody_up(table, caplog):
    with closing(Client(table.path)) as sleeper, closing(Client(table.path)) as client:
        sleeper.send({"kind": "watch"})
        sleeper.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.ask({**START, "names": ["Ann" * 5000, "Ben"]})
        seq = 1
        while "reads too slowly" not in caplog.text:
            seq = client.ask({"kind": "play_moves", "moves": ["cross@b2"], "seen": seq})["seq"]
            assert client.ask({"kind": "take_back", "seen": seq})["code"] in ("booked", "stale")
            seq = client.ask({"kind": "take_back", "seen": -1})["seq"]
            assert seq < 5000


def test_too_many_connections_are_turned_away(table, monkeypatch):
    monkeypatch.setattr(wire_module, "MOST_CONNECTIONS", 3)
    clients = [Client(table.path) for _ in range(3)]
    for client in clients:
        client.ask({"kind": "watch"})
    with closing(Client(table.path)) as fourth:
        assert fourth.receive() is None
    for client in clients:
        client.close()


def test_a_socket_left_behind_is_replaced(tmp_path):
    path = tmp_path / "table.sock"
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(path))
    wire = Wire(path, Inbox())
    with closing(Client(path)) as client:
        assert "status" in client.ask({"kind": "watch"})
    wire.close()
    assert not path.exists()


def test_a_path_that_is_too_long_is_said(tmp_path):
    with pytest.raises(WireBlocked, match="at most 107 bytes"):
        Wire(tmp_path / ("x" * 120), Inbox())
