"""Who may do what: keys and roles, own host names, same-origin writes, guessing, headers."""

import contextlib
import fcntl
import ipaddress
import json
import logging
import os
import secrets
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from hmac import compare_digest
from math import ceil
from pathlib import Path
from urllib.parse import urlsplit

from flask import Response, request, session

from rules.codec import decode, encode
from rules.errors import InvalidValue
from rules.game import Seat

log = logging.getLogger(__name__)

SEATS = 8
"""More links than any game has seats, so that they stay the same from game to game."""

LARGEST_BODY = 64 * 1024

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" browsers send "Origin: null" with our own forms on plain HTTP.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True, slots=True)
class Rights:
    """What a phone may do: nothing but look, act for one seat, or act for everyone."""

    host: bool = False
    seat: Seat | None = None

    @property
    def any(self) -> bool:
        return self.host or self.seat is not None

    @property
    def by(self) -> Seat | None:
        """In whose name a command is sent; None is the host."""
        return None if self.host else self.seat

    def covers(self, seat: Seat | None) -> bool:
        return self.host or (seat is not None and seat == self.seat)


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets of this table."""

    cookie: str
    """Signs the cookies."""
    pin: str
    host: str
    """What the cookie of a host holds, so that hosts can be turned out."""
    seats: tuple[str, ...]
    """The tokens in the links of the seats."""

    @classmethod
    def fresh(cls) -> "Keys":
        pin = f"{secrets.randbelow(10**6):06d}"
        return cls(secrets.token_hex(32), pin, secrets.token_hex(16), _tokens())


class Safe:
    """Keeps the keys in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.keys = self._load() or self._store(Keys.fresh())

    def renew_seats(self) -> None:
        """New links for all seats; the old ones and their cookies stop working."""
        with self._lock:
            self._store(replace(self.keys, seats=_tokens()))

    def rights(self) -> Rights:
        """Those of the phone that sends the present request."""
        key, token = session.get("host"), session.get("seat")
        host = isinstance(key, str) and compare_digest(key.encode(), self.keys.host.encode())
        return Rights(host, self.seat_of(token) if isinstance(token, str) else None)

    def seat_of(self, token: str) -> Seat | None:
        found = None
        for n, own in enumerate(self.keys.seats):
            if compare_digest(token.encode(), own.encode()):
                found = Seat(n)
        return found

    def opens(self, pin: str) -> bool:
        return compare_digest(pin.encode(), self.keys.pin.encode())

    def _load(self) -> Keys | None:
        try:
            self._path.chmod(0o600)
            keys = decode(Keys, json.loads(self._path.read_text("utf-8")), str(self._path))
        except FileNotFoundError:
            return None
        except (InvalidValue, ValueError) as error:
            log.error("%s: new keys are made, everybody has to scan again (%s)", self._path, error)
            return None
        return keys if len(keys.seats) == SEATS else None

    def _store(self, keys: Keys) -> Keys:
        new = self._path.with_suffix(".new")
        new.unlink(missing_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(encode(keys), file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self.keys = keys
        return keys


class Guesses:
    """Slows down guessing of the PIN; whoever is in already does not notice."""

    PER_CLIENT, CLIENT_S = 5, 60.0
    ALL, ALL_S = 60, 3600.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._clients: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()

    def wait_s(self, client: str) -> int:
        """How long this client has to wait before the next guess; 0 if it need not."""
        with self._lock:
            now = self._clock()
            for past in self._clients.values():
                _forget(past, now - self.CLIENT_S)
            self._clients = {c: past for c, past in self._clients.items() if past}
            _forget(self._all, now - self.ALL_S)
            waits = [0.0]
            own = self._clients.get(client, deque())
            if len(own) >= self.PER_CLIENT:
                waits.append(own[-self.PER_CLIENT] + self.CLIENT_S - now)
            if len(self._all) >= self.ALL:
                waits.append(self._all[-self.ALL] + self.ALL_S - now)
            return ceil(max(waits))

    def failed(self, client: str) -> None:
        with self._lock:
            now = self._clock()
            self._clients.setdefault(client, deque()).append(now)
            self._all.append(now)


class OwnNames:
    """The names and addresses of this machine; others in the Host header are not for us.

    A foreign web page can point its own name at our address, but it cannot hide that name.
    """

    REFRESH_S = 30.0

    def __init__(self, extra: tuple[str, ...] = ()) -> None:
        name = socket.gethostname().lower().removesuffix(".local")
        self._fixed = {"localhost", "127.0.0.1", "::1", name, *(e.lower() for e in extra)}
        self._fixed |= {f"{name}.{suffix}" for suffix in ("local", "lan", "home.arpa")}
        self._addresses: tuple[str, ...] = ()
        self._at_s = -self.REFRESH_S

    def include(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if any(c in host for c in "/\\@?#") or not name:
            return False
        return name in self._fixed or name in self.addresses()

    def addresses(self) -> tuple[str, ...]:
        """Of all network interfaces, the one towards the router first."""
        now = time.monotonic()
        if now - self._at_s >= self.REFRESH_S:
            self._addresses, self._at_s = own_addresses(), now
        return self._addresses


def own_addresses() -> tuple[str, ...]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        with contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))  # sends nothing, only asks for the route
            found.append(str(probe.getsockname()[0]))
        for _, name in socket.if_nameindex():
            asked = struct.pack("256s", name.encode()[:15])
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(probe.fileno(), 0x8915, asked)  # SIOCGIFADDR
                found.append(socket.inet_ntoa(answer[20:24]))
    return tuple(dict.fromkeys(a for a in found if not ipaddress.ip_address(a).is_loopback))


def same_origin() -> bool:
    """Whether the present request was made by one of our own pages."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is not None and urlsplit(origin).netloc.lower() == request.host.lower()


def harden(response: Response) -> Response:
    """The headers that every answer carries."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "no-store"
    return response


def _tokens() -> tuple[str, ...]:
    return tuple(secrets.token_urlsafe(16) for _ in range(SEATS))


def _forget(past: deque[float], before: float) -> None:
    while past and past[0] <= before:
        past.popleft()
