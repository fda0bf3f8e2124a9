"""Live pages: one thread watches journal and table, every phone hears it as an event."""

import json
import logging
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rules.status import Status
from rules.texts import Language

from .access import Rights
from .follow import Follower
from .view import Snapshot

log = logging.getLogger(__name__)

POLL_S = 0.1
"""The table's own message mostly comes first; this is for moves booked while it was away."""

PING_S = 8.0


class Key(NamedTuple):
    """Phones with the same key see the same."""

    language: Language
    rights: Rights
    page: str
    number: int = 0
    game: str = ""
    """The game a page is about, where that need not be the one being played."""


Parts = Mapping[str, str]
"""Name of a part of a page -> its HTML; the element's id is ``part-<name>``."""


@dataclass(slots=True)
class Rendering:
    """A page's parts at one moment, and the messages that lead to them."""

    id: str
    seq: int
    game: str
    parts: Parts
    _messages: dict[str, bytes] = field(default_factory=dict)

    def message(self, previous: "Rendering | None" = None) -> bytes:
        """What a page needs that shows ``previous``; made once for all such pages."""
        key = previous.id if previous else ""
        if key not in self._messages:
            old = previous.parts if previous else {}
            new = {name: html for name, html in self.parts.items() if old.get(name) != html}
            body = {"id": self.id, "seq": self.seq, "game": self.game, "parts": new}
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            self._messages[key] = text.encode()
        return self._messages[key]


class TooManyStreams(Exception):
    """The phone polls instead."""


class Broker:
    """Holds the newest snapshot; wakes whoever waits for a newer one."""

    def __init__(
        self,
        follower: Follower,
        render: Callable[[Snapshot, Key], Parts],
        *,
        max_streams: int,
        max_streams_per_client: int,
    ) -> None:
        self._follower = follower
        self._render = render
        self._max, self._max_per_client = max_streams, max_streams_per_client
        self._boot = secrets.token_hex(3)
        self._tick = 0
        self._status: Status | None = None
        self._changed = threading.Condition()
        self._poke = threading.Event()
        self._drawing = threading.Lock()
        self._renderings: dict[Key, Rendering] = {}
        self._streams: Counter[str] = Counter()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="broker", daemon=True)
        self.snapshot = Snapshot(f"{self._boot}-0-0", follower.record)

    def start(self) -> None:
        self._take_in()
        self._thread.start()

    def close(self) -> None:
        self._stopping = True
        self._poke.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._changed:
            self._changed.notify_all()
        self._follower.close()

    def hear(self, status: Status | None) -> None:
        """A new status of the table; None when it went away. Called by the link's thread."""
        if status != self._status:
            self._status = status
            self._poke.set()

    def wait_for(self, seq: int, timeout_s: float = 1.0) -> None:
        """Until the pages know of journal entry ``seq``, which the table has confirmed."""
        self._poke.set()
        with self._changed:
            self._changed.wait_for(lambda: self.snapshot.seq >= seq, timeout_s)

    def rendering(self, key: Key) -> Rendering:
        """The parts of a page now; drawn once for all phones with this key."""
        with self._drawing:
            now = self.snapshot
            found = self._renderings.get(key)
            if found is None or found.id != now.id:
                self._renderings = {k: r for k, r in self._renderings.items() if r.id == now.id}
                found = Rendering(now.id, now.seq, now.game, self._render(now, key))
                self._renderings[key] = found
            return found

    def stream(self, key: Key, client: str, seen: str) -> Iterator[bytes]:
        """Events for one phone that already shows ``seen``; ``TooManyStreams`` at once if full."""
        with self._changed:
            total = self._streams.total()
            if total >= self._max or self._streams[client] >= self._max_per_client:
                raise TooManyStreams
            self._streams[client] += 1
        return self._events(key, seen)

    def leave(self, client: str) -> None:
        """Every stream that was begun ends with this, also one that was never read."""
        with self._changed:
            self._streams[client] -= 1
            if not self._streams[client]:
                del self._streams[client]

    @property
    def streams(self) -> int:
        return self._streams.total()

    def _events(self, key: Key, seen: str) -> Iterator[bytes]:
        shown: Rendering | None = None
        yield b"retry: 1500\n\n"
        while not self._stopping:
            if not self._is_newer(seen):
                yield b"event: ping\ndata:\n\n"
                continue
            # While this phone was slow several may have passed: only the newest counts.
            newest = self.rendering(key)
            message = newest.message(shown)
            shown, seen = newest, newest.id
            yield b"id: %s\ndata: %s\n\n" % (seen.encode(), message)

    def _is_newer(self, seen: str) -> bool:
        """Wait for a snapshot other than ``seen``, at most until the next ping."""
        with self._changed:
            self._changed.wait_for(lambda: self.snapshot.id != seen or self._stopping, PING_S)
            return self.snapshot.id != seen

    def _run(self) -> None:
        while not self._stopping:
            self._poke.wait(POLL_S)
            self._poke.clear()
            self._take_in()

    def _take_in(self) -> None:
        changed = self._follower.read()
        status = self._status
        if not changed and status == self.snapshot.status:
            return
        self._tick += 1
        seq = self._follower.record.seq
        snapshot = Snapshot(f"{self._boot}-{seq}-{self._tick}", self._follower.record, status)
        with self._changed:
            self.snapshot = snapshot
            self._changed.notify_all()
