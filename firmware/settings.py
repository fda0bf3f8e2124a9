"""What an owner may set: ``settings.toml``, and the pin map beside it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from platformdirs import site_config_path, user_config_path, user_state_path

from rules.codec import load_toml
from rules.errors import InvalidValue

from .errors import BadSettings

NAME = "tafelmaat"
ENVIRONMENT = "TAFELMAAT_SETTINGS"
PINS = Path(__file__).parent / "pins.toml"

LAST_BCM = 27


@dataclass(frozen=True, slots=True)
class Web:
    """The pages."""

    host: str = "0.0.0.0"
    """Address to listen on; ``127.0.0.1`` keeps the pages on this machine."""
    port: int = 8080
    max_streams: int = 200
    """How many phones can be followed live at once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a press is read."""

    still_s: float = 0.4
    """How long nothing may have moved before the table is read."""
    frames: int = 3
    """Still frames that are averaged."""
    patience_s: float = 3.0
    """How long a press waits for hands to leave and things to lie still, before it asks."""
    idle_fps: float = 4.0
    """Frames a second that are looked at while nobody has pressed."""


@dataclass(frozen=True, slots=True)
class PanelSettings:
    """The seat buttons and lamps."""

    pins: Literal["auto", "gpio", "virtual", "off"] = "auto"
    """``auto``: the pins of a Pi where there is one, else virtual ones pressed from the pages."""
    pin_map: str = ""
    """A pin map of one's own, like the ``pins.toml`` that comes with the program."""
    debounce_s: float = 0.05
    """A contact that opens for less than this has not been released."""
    long_press_s: float = 1.0
    """A button held this long takes the last move back."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with the values that suit most tables."""

    camera: str = "auto"
    """``auto``, ``webcam:0``, ``folder:PATH``, ``virtual`` …"""
    state: str = ""
    """Folder of the journal; the user's own state folder if not given."""
    web: Web = field(default_factory=Web)
    reading: Reading = field(default_factory=Reading)
    panel: PanelSettings = field(default_factory=PanelSettings)

    @property
    def state_dir(self) -> Path:
        return Path(self.state).expanduser() if self.state else user_state_path(NAME)

    @property
    def journal(self) -> Path:
        return journal_path(self.state_dir)

    @property
    def socket(self) -> Path:
        return self.state_dir / "table.sock"


@dataclass(frozen=True, slots=True)
class SeatPins:
    """The pins of one seat, in BCM numbers."""

    button: int
    lamp: int


@dataclass(frozen=True, slots=True)
class PinMap:
    """The pins of all seats, seat 0 first."""

    seats: tuple[SeatPins, ...]


def journal_path(state_dir: Path) -> Path:
    return state_dir / "journal.sqlite"


def load_settings(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings from ``path``, else from the first place that has some, else the defaults."""
    environ = os.environ if environ is None else environ
    if path is None and environ.get(ENVIRONMENT):
        path = Path(environ[ENVIRONMENT])
    if path is None:
        usual = (user_config_path(NAME), site_config_path(NAME), Path("/etc") / NAME)
        path = next((p for f in usual if (p := f / "settings.toml").is_file()), None)
    if path is None:
        return Settings()
    try:
        settings = load_toml(Settings, path)
    except InvalidValue as error:
        raise BadSettings(str(error)) from error
    _validate(settings, path)
    return settings


def _validate(settings: Settings, path: Path) -> None:
    web, reading, panel = settings.web, settings.reading, settings.panel
    limits: tuple[tuple[str, float, float, float], ...] = (
        ("web.port", web.port, 0, 65535),
        ("web.max_streams", web.max_streams, 1, 1000),
        ("reading.still_s", reading.still_s, 0, 10),
        ("reading.frames", reading.frames, 1, 30),
        ("reading.patience_s", reading.patience_s, 0.5, 60),
        ("reading.idle_fps", reading.idle_fps, 0.5, 60),
        ("panel.debounce_s", panel.debounce_s, 0.001, 0.5),
        ("panel.long_press_s", panel.long_press_s, 0.3, 10),
    )
    for name, value, low, high in limits:
        if not low <= value <= high:
            raise BadSettings(f"{path}: {name}: expected {low:g} to {high:g}, got {value!r}")


def load_pins(path: Path | None = None) -> PinMap:
    """The pin map, each pin valid and used once."""
    path = path or PINS
    try:
        pins = load_toml(PinMap, path)
    except InvalidValue as error:
        raise BadSettings(str(error)) from error
    owner: dict[int, str] = {}
    for number, seat in enumerate(pins.seats):
        for what, pin in (("button", seat.button), ("lamp", seat.lamp)):
            where = f"seats[{number}].{what}"
            if not 0 <= pin <= LAST_BCM:
                raise BadSettings(f"{path}: {where}: expected BCM 0 to {LAST_BCM}, got {pin}")
            if pin in owner:
                raise BadSettings(
                    f"{path}: {where}: expected a pin of its own, got {pin} as {owner[pin]} has"
                )
            owner[pin] = where
    return pins


def with_options(
    settings: Settings,
    *,
    camera: str | None = None,
    state: Path | None = None,
    host: str | None = None,
    port: int | None = None,
) -> Settings:
    """The settings with what the command line says put over them."""
    web = replace(
        settings.web,
        host=settings.web.host if host is None else host,
        port=settings.web.port if port is None else port,
    )
    return replace(
        settings,
        camera=camera or settings.camera,
        state=str(state) if state else settings.state,
        web=web,
    )
