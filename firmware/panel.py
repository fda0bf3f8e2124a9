"""Seat buttons and lamps on the pins of a Pi, or on virtual pins that behave like them."""

import logging
import os
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Self

from gpiozero import LED, Device, DigitalInputDevice
from gpiozero.pins.mock import MockFactory

from rules.game import Seat

from .errors import PanelLost
from .inbox import Edge
from .settings import PinMap

log = logging.getLogger(__name__)


class Panel:
    """One button and one lamp a seat. Edges go to the inbox, never straight into the game."""

    def __init__(
        self,
        pins: PinMap,
        tell: Callable[[Edge], None],
        *,
        pin_factory: Any,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.problems: tuple[str, ...] = ()
        """Buttons and lamps that do not work, each in one sentence."""
        self.seats = len(pins.seats)
        self._buttons: dict[Seat, Any] = {}
        self._lamps: dict[Seat, Any] = {}
        for number, seat_pins in enumerate(pins.seats):
            seat = Seat(number)
            # Not gpiozero's Button: that starts a thread each, to time what debounce.py times.
            button = self._open(
                f"button of seat {number + 1}",
                seat_pins.button,
                lambda pin: DigitalInputDevice(pin, pull_up=True, pin_factory=pin_factory),
            )
            if button is not None:
                button.when_activated = _teller(tell, seat, True, clock)
                button.when_deactivated = _teller(tell, seat, False, clock)
                self._buttons[seat] = button
            lamp = self._open(
                f"lamp of seat {number + 1}",
                seat_pins.lamp,
                lambda pin: LED(pin, pin_factory=pin_factory),
            )
            if lamp is not None:
                self._lamps[seat] = lamp

    def _open(self, what: str, pin: int, make: Callable[[int], Any]) -> Any:
        try:
            return make(pin)
        except Exception as error:  # every back end has errors of its own
            problem = f"{what} (BCM {pin}): {error}; play goes on without it"
            self.problems += (problem,)
            log.warning("%s", problem)
            return None

    def down(self, seat: Seat) -> bool:
        """Whether the contact of a seat is closed now."""
        return seat in self._buttons and bool(self._buttons[seat].is_active)

    def show(self, lit: Sequence[bool]) -> None:
        """Switch the lamps; one that fails is given up, the others go on."""
        for seat, lamp in list(self._lamps.items()):
            on = seat < len(lit) and lit[seat]
            try:
                if bool(lamp.value) != on:
                    lamp.value = on
            except Exception:  # drivers raise what they like, and a lamp must not stop a game
                log.exception("lamp of seat %d: given up", seat + 1)
                del self._lamps[seat]

    def push(self, seat: Seat, held_s: float, at_s: float) -> bool:
        """Press a button by program for a while; False where only fingers can."""
        return False

    def release(self, at_s: float) -> None:
        """Let go of the buttons pushed by program whose time is over."""

    def due_s(self) -> float | None:
        """When ``release`` has something to do."""
        return None

    def close(self) -> None:
        for device in (*self._buttons.values(), *self._lamps.values()):
            device.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class VirtualPanel(Panel):
    """The same buttons and lamps on mock pins: pressed by the pages, electrically."""

    def __init__(
        self,
        pins: PinMap,
        tell: Callable[[Edge], None],
        *,
        pin_factory: Any = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(pins, tell, pin_factory=pin_factory or MockFactory(), clock=clock)
        self._held: dict[Seat, float] = {}  # seat -> until when

    def push(self, seat: Seat, held_s: float, at_s: float) -> bool:
        button = self._buttons.get(seat)
        if button is None:
            return False
        self._held[seat] = at_s + held_s
        button.pin.drive_low()
        return True

    def release(self, at_s: float) -> None:
        for seat, until_s in list(self._held.items()):
            if at_s >= until_s:
                del self._held[seat]
                self._buttons[seat].pin.drive_high()

    def due_s(self) -> float | None:
        return min(self._held.values(), default=None)


def open_panel(
    kind: str,
    pins: PinMap,
    tell: Callable[[Edge], None],
    clock: Callable[[], float] = monotonic,
) -> Panel | None:
    """The panel of this machine as ``panel.pins`` in the settings wants it; None for ``off``."""
    if kind == "off":
        return None
    if kind == "virtual":
        return VirtualPanel(pins, tell, clock=clock)
    try:
        return Panel(pins, tell, pin_factory=_pi_factory(), clock=clock)
    except PanelLost as error:
        if kind == "gpio":
            raise
        log.info("virtual panel: %s", error)
        return VirtualPanel(pins, tell, clock=clock)


def _pi_factory() -> Any:
    """The pins of this Pi, or ``PanelLost`` with the reason why there are none."""
    try:
        if os.environ.get("GPIOZERO_PIN_FACTORY"):
            Device.ensure_pin_factory()
            return Device.pin_factory
        from gpiozero.pins.lgpio import LGPIOFactory

        factory = LGPIOFactory()
        _ = factory.board_info  # a PC may have a GPIO chip too, but it is no Pi
        return factory
    except Exception as error:  # every back end has errors of its own
        raise PanelLost(f"no GPIO pins: {error}") from error


def _teller(
    tell: Callable[[Edge], None], seat: Seat, down: bool, clock: Callable[[], float]
) -> Callable[[], None]:
    return lambda: tell(Edge(seat, down, clock()))
