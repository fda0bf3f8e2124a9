"""What the pages of one table share."""

from dataclasses import dataclass
from pathlib import Path

from flask import current_app, request

from rules.texts import LANGUAGES, Language, Texts, load

from .access import Guesses, OwnNames, Rights, Safe
from .link import Link
from .live import Broker, Key
from .render import Renderer
from .tell import TEXTS


@dataclass(frozen=True, slots=True)
class Companion:
    state_dir: Path
    safe: Safe
    guesses: Guesses
    names: OwnNames
    link: Link
    broker: Broker
    renderer: Renderer
    port: int

    def close(self) -> None:
        self.link.close()
        self.broker.close()

    def address(self) -> str:
        """Where other phones find this table."""
        host = next(iter(self.names.addresses()), "localhost")
        return f"http://{host}" if self.port == 80 else f"http://{host}:{self.port}"


def companion() -> Companion:
    found: Companion = current_app.extensions["tafelmaat"]
    return found


def language() -> Language:
    """The one chosen on this phone, else the one its browser asks for."""
    chosen = request.cookies.get("language")
    for known in LANGUAGES:
        if chosen == known:
            return known
    best = request.accept_languages.best_match(LANGUAGES, "en")
    return next(known for known in LANGUAGES if known == best)


def ui() -> Texts:
    return load(language(), TEXTS)


def rights() -> Rights:
    return companion().safe.rights()


def key(page: str, number: int = 0, game: str = "") -> Key:
    return Key(language(), rights(), page, number, game)
