"""A clock that stands still until told, mock pins, and a loop whose eyes are the test's own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from firmware.debounce import Timing
from firmware.inbox import Asked, Inbox, Reply
from firmware.loop import Loop
from firmware.panel import VirtualPanel
from firmware.settings import load_pins
from rules.journal import Journal


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


class Watcher:
    """Stands where the camera's thread stands and notes what it is asked."""

    def __init__(self) -> None:
        self.asked = []
        self.followed = []

    def follow(self, session) -> None:
        self.followed.append(session.seq if session else 0)

    def look(self, number, session, seat) -> None:
        self.asked.append((number, session.seq, seat))

    def forget(self) -> None:
        self.asked.append("forget")


class Bench:
    """A whole loop on a real journal and mock pins, driven step by step without threads."""

    def __init__(self, folder: Path, clock: Clock, pins: MockFactory, tabletop=None) -> None:
        self.clock, self.pins = clock, pins
        self.closed = False
        self.inbox = Inbox()
        self.journal = Journal(folder / "journal.sqlite")
        self.eyes = Watcher()
        self.pin_map = load_pins()
        self.panel = VirtualPanel(self.pin_map, self.inbox.put, pin_factory=pins, clock=clock)
        self.loop = Loop(
            self.journal,
            self.inbox,
            self.eyes,
            panel=self.panel,
            tabletop=tabletop,
            timing=Timing(),
            clock=clock,
        )
        self.seen = []
        self.loop.observe(lambda session, status: self.seen.append(status))

    @property
    def status(self):
        return self.loop.status

    @property
    def session(self):
        return self.loop.session

    def settle(self, seconds: float = 0.0) -> None:
        """Let time pass in steps of 10 ms, with everything that happens meanwhile."""
        for _ in range(round(seconds * 100) + 1):
            while not self.inbox.empty():
                self.loop.take(self.inbox.get())
            self.loop.tick()
            self.clock.wait(0.01)

    def ask(self, request) -> Reply:
        replies: list[Reply] = []
        self.loop.take(Asked(request, replies.append))
        (reply,) = replies
        return reply

    def finger(self, seat: int, held_s: float = 0.15) -> None:
        """Press a button electrically, and wait until it counts."""
        pin = self.pins.pin(self.pin_map.seats[seat].button)
        pin.drive_low()
        self.settle(held_s)
        pin.drive_high()
        self.settle(0.1)

    def lamps(self) -> list[int]:
        return [int(self.pins.pin(s.lamp).state) for s in self.pin_map.seats]

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.panel.close()
            self.journal.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = MockFactory()
    yield factory
    factory.reset()
    factory.close()


@pytest.fixture
def make_bench(tmp_path, clock, pins) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(**more) -> Bench:
        made.append(Bench(tmp_path, clock, pins, **more))
        return made[-1]

    yield make
    for bench in made:
        bench.close()


@pytest.fixture
def bench(make_bench) -> Bench:
    return make_bench()
