"""A table that exists only as numbers, and the camera above it: the demo and the test bench."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import pi, sin
from random import Random
from threading import Lock

from rules.table import EMPTY, Face, Layout, Plan, Site

from ..errors import CameraLost, NotOnTheTable, UnknownCamera
from ..frame import Frame
from ..render import SIZE, Moment, Painter
from ..virtual.arm import SKINS, SLEEVES, Arm
from ..virtual.misbehaviour import CALM, DEFAULT, Misbehaviour

__all__ = ["CALM", "DEFAULT", "Misbehaviour", "VirtualCamera", "VirtualTable", "connect"]

FRAMES_PER_S = 10.0
HAND_S = 1.6
"""How long a hand that comes by itself stays over the table."""
BUMP_DEG = 1.0


ROOMS = {"": DEFAULT, "wild": DEFAULT, "calm": CALM}


def connect(which: str, table: "VirtualTable | None" = None) -> "VirtualCamera":
    """The camera above ``table``; ``virtual:calm`` is kinder than ``virtual``."""
    if table is None:
        raise CameraLost("virtual camera: there is no virtual table to look at")
    if which not in ROOMS:
        rooms = ", ".join(room for room in ROOMS if room)
        raise UnknownCamera(f"virtual camera: expected one of {rooms}, got {which!r}")
    return VirtualCamera(table, ROOMS[which])


class VirtualTable:
    """What lies on the table now, and what somebody does to it; safe for several threads."""

    def __init__(self, plan: Plan, layout: Layout | None = None) -> None:
        self.plan = plan
        self._lock = Lock()
        self._lying: dict[Site, Face] = {}
        self._arm: Arm | None = None
        self._covered: frozenset[int] = frozenset()
        self._bumps = 0
        self._pushed = (0.0, 0.0, 0.0)
        self._unplugged = False
        self.lay(layout or {})

    def lay(self, faces: Layout) -> None:
        """Lay these faces on their sites, ``EMPTY`` takes away; the other sites stay."""
        for site, face in faces.items():
            if site not in self.plan.places:
                raise NotOnTheTable(f"site: expected one of the table, got {site!r}")
            allowed = self.plan.places[site].faces
            if face not in allowed:
                raise NotOnTheTable(f"{site}: expected one of {', '.join(allowed)}, got {face!r}")
        with self._lock:
            self._lying |= faces
            self._lying = {s: f for s, f in self._lying.items() if f != EMPTY}

    def clear(self) -> None:
        with self._lock:
            self._lying = {}

    def lying(self) -> dict[Site, Face]:
        """Only what lies there; all other sites are empty."""
        with self._lock:
            return dict(self._lying)

    @property
    def hand(self) -> Arm | None:
        """The arm over the table, if there is one."""
        return self._arm

    @hand.setter
    def hand(self, arm: Arm | None) -> None:
        with self._lock:
            self._arm = arm

    def reach(self, site: Site, seat: int = 0, reach: float = 1.0) -> None:
        """Somebody reaches for a site, from the side where the seat is."""
        place = self.plan.places[site]
        self.hand = Arm(
            (place.x_mm, place.y_mm),
            from_deg=90.0 + 90.0 * seat,
            reach=reach,
            skin=SKINS[seat % len(SKINS)],
            sleeve=SLEEVES[seat % len(SLEEVES)],
        )

    def withdraw(self) -> None:
        """The hand is gone."""
        self.hand = None

    def cover(self, cards: Iterable[int]) -> None:
        """Something lies on these cards, and on no others."""
        with self._lock:
            self._covered = frozenset(cards)

    def bump(self) -> None:
        """Somebody knocks against the camera: from now on it looks elsewhere."""
        with self._lock:
            self._bumps += 1

    def push(self, x_mm: float, y_mm: float, turn_deg: float = 0.0) -> None:
        """Somebody pushes the board: from now on it lies so far from where it lay at first."""
        with self._lock:
            self._pushed = (x_mm, y_mm, turn_deg)

    @property
    def unplugged(self) -> bool:
        """While it is, the camera gives no pictures."""
        return self._unplugged

    @unplugged.setter
    def unplugged(self, unplugged: bool) -> None:
        self._unplugged = unplugged

    def state(self) -> "TableState":
        """Everything at once, as it is at one moment."""
        with self._lock:
            lying = dict(self._lying)
            return TableState(lying, self._arm, self._covered, self._bumps, self._pushed)


@dataclass(frozen=True)
class TableState:
    """One moment of a virtual table."""

    lying: Layout
    arm: Arm | None
    covered: frozenset[int]
    bumps: int
    pushed: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The board: across, along, and turned by so many degrees."""


class VirtualCamera:
    """Photographs a virtual table, with the faults of real rooms and cameras.

    ``clock`` and ``wait`` let a test run through minutes in no time.
    """

    def __init__(
        self,
        table: VirtualTable,
        misbehaviour: Misbehaviour = DEFAULT,
        *,
        size: tuple[int, int] = SIZE,
        frames_per_s: float = FRAMES_PER_S,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = "virtual camera"
        self._table = table
        self._misbehaviour = misbehaviour
        self._painter = Painter(table.plan, size)
        self._period_s = 1 / frames_per_s
        self._clock = clock
        self._wait = wait
        self._rng = Random(misbehaviour.seed)
        self._tick = 0
        self._own_bumps = 0
        self._passing: tuple[float, Arm] | None = None
        self._next_s = clock()

    def read(self) -> Frame:
        now_s = self._clock()
        if now_s < self._next_s:
            self._wait(self._next_s - now_s)
        self._next_s = max(self._next_s, now_s) + self._period_s
        at_s = self._clock()
        self._tick += 1
        if self._table.unplugged:
            raise CameraLost(f"{self.name}: unplugged")
        if self._rng.random() < self._misbehaviour.lost_frames:
            raise CameraLost(f"{self.name}: frame {self._tick} lost")
        state = self._table.state()
        moment = Moment(
            tick=self._tick,
            arm=state.arm or self._passing_arm(at_s),
            covered=state.covered,
            bump_deg=self._knocked(state.bumps),
        )
        bgr = self._painter.paint(state.lying, self._after(state.pushed), moment)
        return Frame(bgr, at_s, f"{self.name} {self._tick}")

    def close(self) -> None:
        """Nothing to give back."""

    def _after(self, pushed: tuple[float, float, float]) -> Misbehaviour:
        """The room in which the board was pushed."""
        if not any(pushed):
            return self._misbehaviour
        (x_mm, y_mm), deg = self._misbehaviour.board_moved_mm, self._misbehaviour.board_turned_deg
        moved_mm = (x_mm + pushed[0], y_mm + pushed[1])
        return replace(
            self._misbehaviour, board_moved_mm=moved_mm, board_turned_deg=deg + pushed[2]
        )

    def _passing_arm(self, at_s: float) -> Arm | None:
        """Now and then a hand comes by itself."""
        if self._passing is None and self._happens(self._misbehaviour.hands_per_min):
            width, height = self._table.plan.size_mm
            arm = Arm(
                (self._rng.uniform(0, width), self._rng.uniform(0, height)),
                from_deg=self._rng.uniform(0, 360),
                skin=self._rng.choice(SKINS),
                sleeve=self._rng.choice(SLEEVES),
            )
            self._passing = at_s, arm
        if self._passing is None:
            return None
        since_s, arm = self._passing
        share = (at_s - since_s) / HAND_S
        if share >= 1:
            self._passing = None
            return None
        return replace(arm, reach=sin(pi * share))

    def _knocked(self, bumps: int) -> tuple[float, float]:
        """How far the camera looks past its first aim; the same after as many bumps."""
        if self._happens(self._misbehaviour.bumps_per_min):
            self._own_bumps += 1
        bumps += self._own_bumps
        rng = Random(f"{self._misbehaviour.seed} bump {bumps}")
        size = BUMP_DEG if bumps else 0.0
        return rng.uniform(-size, size), rng.uniform(-size, size)

    def _happens(self, per_min: float) -> bool:
        return self._rng.random() < per_min * self._period_s / 60
