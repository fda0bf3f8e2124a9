"""A stand-in for the table process: its protocol, a real journal, a real socket, no camera."""

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from companion_web import create_app
from rules.codec import decode_tagged, encode
from rules.commands import Command, Lay, PlayMoves, Request, StartGame, Tidy
from rules.errors import RulesError, StaleCommand
from rules.events import MoveRefused
from rules.game import Seat
from rules.journal import Journal
from rules.session import decide, evolve
from rules.status import Status


class StandIn:
    """Books commands as the table does; its status is what the test says."""

    def __init__(self, state_dir: Path, *, virtual: bool = False) -> None:
        self.journal = Journal(state_dir / "journal.sqlite")
        self.session = self.journal.session()
        self.virtual = virtual
        self.status = Status()
        self.requests: list[Request] = []
        self._came = threading.Condition()
        self._watchers: list[socket.socket] = []
        self._lock = threading.RLock()
        self._open: list[socket.socket] = []
        self._closed = False
        path = state_dir / "table.sock"
        path.unlink(missing_ok=True)
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for line in (self._server, *self._open):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()
        self.journal.close()

    def book(self, command: Command) -> str:
        with self._lock:
            events = decide(self.session, command)
            seq = self.journal.append(events)
            for n, event in enumerate(events, seq - len(events) + 1):
                self.session = evolve(self.session, event, n)
            refused = any(isinstance(e, MoveRefused) for e in events)
            self.show(mode="refused" if refused else "ready")
            return "refused" if refused else "booked"

    def show(self, **changes: object) -> None:
        """Tell a changed status to everybody who watches."""
        with self._lock:
            if self.session is not None:
                acts = self.session.game.standings(self.session.state).to_act
                seats = range(len(self.session.opening.names))
                lamps = tuple("steady" if s == acts else "off" for s in seats)
                changes = {"lamps": lamps, "seq": self.session.seq, **changes}
                if self.virtual and changes.get("mode") == "ready":
                    layout = self.session.game.layout(self.session.state)
                    changes = {"lying": layout, **changes}
            self.status = replace(self.status, **changes)
            self._publish(self._watchers)

    def asked(self, count: int) -> list[Request]:
        """The requests, as soon as so many have come."""
        with self._came:
            self._came.wait_for(lambda: len(self.requests) >= count, 10)
        return self.requests

    def _publish(self, watchers: list[socket.socket]) -> None:
        for line in watchers:
            with suppress(OSError):
                line.sendall(json.dumps({"status": encode(self.status)}).encode() + b"\n")

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return
            self._open.append(line)
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with suppress(OSError), line.makefile("rb") as lines:
            for text in lines:
                body = json.loads(text)
                if body == {"kind": "watch"}:
                    with self._lock:
                        self._watchers.append(line)
                        self._publish([line])
                    continue
                reply = {"id": body.pop("id"), "ok": True, "message": ""}
                reply["code"] = self._do(body, reply)
                reply["ok"] = reply["code"] in ("booked", "done")
                reply["seq"] = self.session.seq if self.session else 0
                line.sendall(json.dumps(reply).encode() + b"\n")

    def _do(self, body: dict, reply: dict) -> str:
        try:
            command = decode_tagged(Command | Request, body)
            if isinstance(command, Request):
                with self._came:
                    self.requests.append(command)
                    self._came.notify_all()
                if isinstance(command, Lay):
                    self.show(lying={**(self.status.lying or {}), **command.faces})
                if isinstance(command, Tidy):
                    self.show(mode="ready")
                return "done"
            return self.book(command)
        except StaleCommand as error:
            reply["message"] = str(error)
            return "stale"
        except RulesError as error:
            reply["message"] = str(error)
            return "invalid"


MOVES = (
    "green@d12 green@d13",
    "blue@h12 blue@i12",
    "yellow@i10 blue@i11",
    "blue@g12 yellow@h11",
)
"""Legal one after the other in the basic game for two."""


@pytest.fixture
def table(tmp_path):
    stand_in = StandIn(tmp_path)
    yield stand_in
    stand_in.close()


@pytest.fixture
def game(table):
    """The table with a game of two players and four moves."""
    table.book(StartGame("ingenious", "basic", ("Ada", "Bo"), 0))
    for move in MOVES:
        assert table.book(PlayMoves((move,), table.session.seq)) == "booked", move
    return table


@pytest.fixture
def app(tmp_path):
    app = create_app(tmp_path)
    app.config["TESTING"] = False
    yield app
    app.extensions["tafelmaat"].close()


SAME = {"Sec-Fetch-Site": "same-origin"}


class Phone:
    """A browser of the tests: sends what our own pages would send."""

    def __init__(self, app) -> None:
        self.app = app
        self.client = app.test_client()
        self.keys = app.extensions["tafelmaat"].safe.keys

    def host(self) -> "Phone":
        assert self.post("/host", pin=self.keys.pin).status_code == 303
        return self

    def seat(self, seat: Seat | int) -> "Phone":
        assert self.client.get(f"/seat/{self.keys.seats[seat]}").status_code == 303
        return self

    def get(self, path: str, **headers: str):
        return self.client.get(path, headers=headers)

    def post(self, path: str, **fields: object):
        return self.client.post(path, data=fields or {"sure": "1"}, headers=SAME)

    @property
    def seq(self) -> int:
        return self.app.extensions["tafelmaat"].broker.snapshot.seq


@pytest.fixture
def phone(app):
    return lambda: Phone(app)


@pytest.fixture
def follow(app):
    """Wait until the pages know what the stand-in has booked."""

    def wait(table: StandIn) -> None:
        broker = app.extensions["tafelmaat"].broker
        deadline = time.monotonic() + 5
        while broker.snapshot.seq < table.session.seq or broker.snapshot.status != table.status:
            assert time.monotonic() < deadline, "the pages did not hear of it"
            broker.wait_for(table.session.seq, 0.02)

    return wait


@pytest.fixture
def stand_in():
    """Make further stand-ins: the table process after a restart."""
    made = []

    def make(state_dir: Path, **options: bool) -> StandIn:
        made.append(StandIn(state_dir, **options))
        return made[-1]

    yield make
    for table in made:
        table.close()


ROOT = Path(__file__).parents[2]


@contextmanager
def run_web(state_dir: Path, ping_s: float = 8, host: str = "127.0.0.1", **options: int):
    """The real program, as it is run on the Pi, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = (
        "from pathlib import Path; from companion_web import live, serve; "
        f"live.PING_S = {ping_s}; "
        f"serve.main(Path({str(state_dir)!r}), {host!r}, {port}, **{options!r})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        banner = "".join(process.stdout.readline() for _ in range(3))
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield process, port, banner
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def web_process():
    return run_web


@pytest.fixture
def serve(tmp_path):
    """The pages behind a real server; returns its port."""
    with ExitStack() as running:
        yield lambda **options: running.enter_context(run_web(tmp_path, **options))[1]
