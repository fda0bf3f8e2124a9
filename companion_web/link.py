"""The line to the table process: requests over its Unix socket, and its status as it changes."""

import contextlib
import json
import logging
import select
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rules.codec import decode, encode_tagged
from rules.commands import Command, Request
from rules.errors import InvalidValue
from rules.status import Status

from .errors import TableAway

log = logging.getLogger(__name__)

TIMEOUT_S = 6.0
"""Longer than the table takes for anything it answers at all."""

LONGEST_LINE = 1 << 20
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The table's answer to one request."""

    id: int
    ok: bool
    code: str
    seq: int = 0
    message: str = ""


class Link:
    """One connection for requests, one that watches; both come back by themselves."""

    def __init__(self, path: Path, heard: Callable[[Status | None], None]) -> None:
        self._path = path
        self._heard = heard
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._number = 0
        self._stop = threading.Event()
        self._watched: socket.socket | None = None
        self._thread = threading.Thread(target=self._watch, name="link", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        for line in (self._watched, self._line):
            if line is not None:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
        if self._thread.is_alive():
            self._thread.join(TIMEOUT_S)
        if self._line is not None:
            self._line.close()

    def send(self, command: Command | Request) -> Reply:
        """The table's reply, or ``TableAway``; a request is never sent twice."""
        with self._lock:
            self._number += 1
            body = {"id": self._number, **encode_tagged(command)}
            try:
                line = self._connected()
                line.sendall(json.dumps(body, ensure_ascii=False).encode() + b"\n")
                return decode(Reply, json.loads(_read_line(line)), "reply")
            except (OSError, ValueError) as error:
                if self._line is not None:
                    self._line.close()
                self._line = None
                raise TableAway(f"{self._path}: {error}") from error

    def _connected(self) -> socket.socket:
        if self._line is not None and _hung_up(self._line):
            self._line.close()
            self._line = None
        if self._line is None:
            self._line = _connect(self._path)
        return self._line

    def _watch(self) -> None:
        delay_s = FIRST_DELAY_S
        while not self._stop.is_set():
            try:
                with _connect(self._path) as line:
                    self._watched = line
                    line.settimeout(None)
                    line.sendall(b'{"kind": "watch"}\n')
                    delay_s = FIRST_DELAY_S
                    self._listen(line)
            except (OSError, ValueError) as error:
                log.debug("%s: %s", self._path, error)
            self._watched = None
            self._heard(None)
            self._stop.wait(delay_s)
            delay_s = min(delay_s * 2, LONGEST_DELAY_S)

    def _listen(self, line: socket.socket) -> None:
        with line.makefile("rb") as lines:
            while text := lines.readline(LONGEST_LINE):
                try:
                    message = json.loads(text)
                    self._heard(decode(Status, message["status"], "status"))
                except (InvalidValue, ValueError, KeyError, TypeError) as error:
                    log.warning("%s: not a status: %s", self._path, error)


def _connect(path: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.settimeout(TIMEOUT_S)
        line.connect(str(path))
    except OSError:
        line.close()
        raise
    return line


def _hung_up(line: socket.socket) -> bool:
    """Whether the other end is gone, found out without sending anything or waiting."""
    waiting = select.poll()
    waiting.register(line, select.POLLIN)
    try:
        return bool(waiting.poll(0)) and line.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def _read_line(line: socket.socket) -> bytes:
    text = bytearray()
    while not text.endswith(b"\n"):
        if len(text) > LONGEST_LINE:
            raise ValueError("the reply has no end")
        part = line.recv(65536)
        if not part:
            raise ConnectionResetError("the table hung up")
        text += part
    return bytes(text)
