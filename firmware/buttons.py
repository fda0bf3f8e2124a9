"""The seat buttons of a running table: edges of all contacts to presses, in time."""

from collections.abc import Iterator

from rules.game import Seat

from .debounce import Contact, Push, Timing, due_s, look, sync, turn
from .panel import Panel


class Buttons:
    """What the contacts do; belongs to the loop's thread."""

    def __init__(self, panel: Panel | None, timing: Timing) -> None:
        self._panel = panel
        self._timing = timing
        self._contacts: dict[Seat, Contact] = {}

    def turn(self, seat: Seat, down: bool, at_s: float) -> tuple[Push, ...]:
        """The presses that an edge makes certain."""
        contact = self._contacts.get(seat, Contact())
        self._contacts[seat], pushes = turn(contact, down, at_s, self._timing)
        return pushes

    def wait(self, now_s: float) -> Iterator[tuple[Seat, Push]]:
        """The presses that time alone makes certain: a button that is still held, or let go."""
        if self._panel:
            self._panel.release(now_s)
        for seat, contact in list(self._contacts.items()):
            if self._panel:
                contact = sync(contact, self._panel.down(seat), now_s)
            self._contacts[seat], pushes = look(contact, now_s, self._timing)
            yield from ((seat, push) for push in pushes)

    def due_s(self) -> list[float]:
        """When to look again."""
        times = [due_s(c, self._timing) for c in self._contacts.values()]
        times.append(self._panel.due_s() if self._panel else None)
        return [t for t in times if t is not None]
