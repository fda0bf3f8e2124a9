"""The virtual table in the product: it lies as the game says until somebody lays otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Event, Lock
from typing import TYPE_CHECKING

from rules.session import Session
from rules.table import EMPTY, Face, Plan, Site, changes

from .errors import BadRequest, Unavailable

if TYPE_CHECKING:  # drawing pictures takes OpenCV, which the table's first second must not wait for
    from vision.cameras.virtual import VirtualCamera, VirtualTable
    from vision.frame import Frame


class VirtualTabletop:
    """What lies on the virtual table, for all threads; its photographs are made elsewhere."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._plan: Plan | None = None
        self._lying: dict[Site, Face] = {}
        self._table: VirtualTable | None = None

    def lying(self) -> Mapping[Site, Face]:
        """What lies there; all other sites are empty."""
        return self._lying

    def lay(self, session: Session, faces: Mapping[Site, Face]) -> None:
        """Lay these faces on their sites, ``EMPTY`` takes away; the other sites stay."""
        places = session.game.plan.places
        for site, face in faces.items():
            if site not in places:
                raise BadRequest(f"faces: expected sites of {session.game.info.name}, got {site!r}")
            if face not in places[site].faces:
                allowed = ", ".join(places[site].faces)
                raise BadRequest(f"faces.{site}: expected one of {allowed}, got {face!r}")
        with self._lock:
            self._put({**self._lying, **faces})

    def follow(self, session: Session | None) -> None:
        """Make it lie as the game says."""
        with self._lock:
            if session is None:
                self._plan, self._table, self._lying = None, None, {}
                return
            if session.game.plan is not self._plan:
                self._plan, self._table, self._lying = session.game.plan, None, {}
            self._put(session.game.layout(session.state))

    def show(self, plan: Plan, session: Session | None) -> None:
        """Let the bare table of a game be seen while none is played."""
        if session is not None and session.game.plan is not plan:
            raise Unavailable(f"the virtual table lies ready for {session.game.info.name}")
        with self._lock:
            if self._plan is not plan:
                self._plan, self._table, self._lying = plan, None, {}

    def table(self) -> VirtualTable | None:
        """The table that a virtual camera can look at; another one for another game."""
        with self._lock:
            if self._table is None and self._plan is not None:
                from vision.cameras.virtual import VirtualTable

                self._table = VirtualTable(self._plan, self._lying)
            return self._table

    def _put(self, lying: Mapping[Site, Face]) -> None:
        kept = {site: face for site, face in lying.items() if face != EMPTY}
        if self._table:
            gone = dict.fromkeys(self._lying.keys() - kept.keys(), EMPTY)
            self._table.lay({**gone, **changes(self._lying, kept)})
        self._lying = kept


class TabletopCamera:
    """The camera above a virtual tabletop, whichever game lies there.

    Without ``which`` it is a living room in the evening, but no hands and knocks come by
    themselves; ``calm`` is kinder, ``wild`` has those too.
    """

    name = "virtual"

    def __init__(self, tabletop: VirtualTabletop, which: str = "") -> None:
        self._tabletop = tabletop
        self._which = which
        self._closed = Event()
        self._seen: tuple[VirtualTable, VirtualCamera] | None = None

    def read(self) -> Frame:
        from vision.cameras.virtual import DEFAULT, VirtualCamera, connect
        from vision.errors import CameraLost

        table = self._tabletop.table()
        if table is None or self._closed.is_set():
            raise CameraLost("virtual camera: there is no game whose table it could show")
        if self._seen is None or self._seen[0] is not table:
            evening = replace(DEFAULT, hands_per_min=0.0, bumps_per_min=0.0, lost_frames=0.0)
            which = self._which
            camera = connect(which, table) if which else VirtualCamera(table, evening)
            self._seen = table, camera
        return self._seen[1].read()

    def close(self) -> None:
        self._closed.set()
