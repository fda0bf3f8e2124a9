"""The command socket: one JSON object a line, commands in, replies and status out."""

import json
import logging
import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue
from threading import Event, Lock, Thread
from typing import Any

from rules.codec import decode_tagged, encode
from rules.commands import Command, Request
from rules.errors import InvalidValue
from rules.status import Status

from .errors import WireBlocked
from .inbox import Asked, Inbox, Reply

log = logging.getLogger(__name__)

LONGEST_LINE = 64 * 1024
MOST_CONNECTIONS = 64
QUEUED = 64
"""Lines that may wait for a slow reader; one more and the connection is dropped."""
SEND_TIMEOUT_S = 10
LONGEST_PATH = 107
"""Bytes that Linux has room for in the address of a socket."""

Line = dict[str, Any]


class Wire:
    """Listens on a socket that only its owner may open; every connection has its own threads."""

    def __init__(self, path: Path, inbox: Inbox, status: Status | None = None) -> None:
        self.path = path
        self._inbox = inbox
        self._lock = Lock()
        self._status = status or Status()
        self._connections: set[_Connection] = set()
        self._server = _listen(path)
        self._thread = Thread(target=self._accept, name="wire", daemon=True)
        self._thread.start()

    def publish(self, status: Status) -> None:
        """Send a new status to everybody who watches; never blocks."""
        line = {"status": encode(status)}
        with self._lock:
            self._status = status
            watchers = [c for c in self._connections if c.watching]
        for watcher in watchers:
            watcher.send(line)

    def close(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            connection.drop()
        self.path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return  # closed
            with self._lock:
                room = len(self._connections) < MOST_CONNECTIONS
                if room:
                    connection = _Connection(client, self)
                    self._connections.add(connection)
            if room:
                connection.start()
            else:
                log.warning("more than %d connections: one was turned away", MOST_CONNECTIONS)
                client.close()

    def _leave(self, connection: "_Connection") -> None:
        with self._lock:
            self._connections.discard(connection)

    def _answer(self, connection: "_Connection", line: bytes) -> None:
        """Hand a request on, or say at once what is wrong with it."""
        number: Any = None
        try:
            data = _parse(line)
            number = data.pop("id", None)
            if data == {"kind": "watch"}:
                self._watch(connection)
                return
            request = decode_tagged(Command | Request, data)
        except InvalidValue as error:
            fault = Reply("invalid", self._status.seq, str(error))
            connection.send(_reply_line(number, fault))
            return
        answered = Event()

        def reply(given: Reply) -> None:
            connection.send(_reply_line(number, given))
            answered.set()

        # One request at a time for each connection, so that no client can flood the table.
        self._inbox.put(Asked(request, reply))
        answered.wait()

    def _watch(self, connection: "_Connection") -> None:
        with self._lock:  # so that no newer status can overtake the first one
            connection.watching = True
            connection.send({"status": encode(self._status)})


class _Connection:
    """One client: a thread that reads its lines and one that writes ours."""

    def __init__(self, client: socket.socket, wire: Wire) -> None:
        self.watching = False
        self._socket = client
        self._wire = wire
        self._outgoing: Queue[Line | None] = Queue(QUEUED)

    def start(self) -> None:
        Thread(target=self._read, name="wire reader", daemon=True).start()
        Thread(target=self._write, name="wire writer", daemon=True).start()

    def send(self, line: Line) -> None:
        try:
            self._outgoing.put_nowait(line)
        except Full:
            log.warning("a client of the command socket reads too slowly and was dropped")
            self.drop()

    def drop(self) -> None:
        self._wire._leave(self)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        with suppress(OSError), self._socket.makefile("rb") as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    message = f"line: expected at most {LONGEST_LINE} bytes, got more"
                    self.send(_reply_line(None, Reply("invalid", 0, message)))
                    break
                if not line.endswith(b"\n"):
                    break  # half a line: the client is gone
                self._wire._answer(self, line)
        with suppress(Full):
            self._outgoing.put_nowait(None)
        self._wire._leave(self)

    def _write(self) -> None:
        timeout = struct.pack("ll", SEND_TIMEOUT_S, 0)
        with self._socket, suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
            while (line := self._outgoing.get()) is not None:
                text = json.dumps(line, separators=(",", ":"))
                self._socket.sendall(text.encode() + b"\n")
        self.drop()


def _parse(line: bytes) -> Line:
    try:
        text = line.decode("utf-8")
        data = json.loads(text)
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # an escaped half of a character
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"line: expected a JSON object in UTF-8, got {error}") from error
    if not isinstance(data, dict):
        raise InvalidValue(f"line: expected a JSON object, got {type(data).__name__}")
    if not isinstance(data.get("id"), int | str | None):
        raise InvalidValue(f"id: expected a number or a text, got {type(data['id']).__name__}")
    return data


def _reply_line(number: Any, reply: Reply) -> Line:
    return {"id": number, "ok": reply.ok, **encode(reply)}


def _listen(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise WireBlocked(f"{path}: expected a path of at most {LONGEST_PATH} bytes for the socket")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)  # ours alone: who holds the journal's lock owns the socket
        os.fchmod(server.fileno(), 0o600)
        server.bind(str(path))
        server.listen(MOST_CONNECTIONS)
    except OSError as error:
        server.close()
        raise WireBlocked(f"{path}: {error.strerror}") from error
    return server
