"""A sixth game is one folder: laid on the virtual table, seen, judged and shown like any other."""

import re
import time
from collections.abc import Callable
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from rules.events import MovePlayed, MoveRefused
from rules.journal import Reader


class Phone:
    """A browser without scripts."""

    def __init__(self, program) -> None:
        self._address = program.address
        self._open = build_opener(HTTPCookieProcessor(CookieJar())).open
        self.post("/host", pin=program.pin)

    def get(self, path: str = "/") -> str:
        return self._open(self._address + path).read().decode()

    def post(self, path: str, **form: object) -> str:
        request = Request(self._address + path, urlencode(form, doseq=True).encode())
        request.add_header("Origin", self._address)
        return self._open(request).read().decode()

    def wait_for(self, pattern: str) -> str:
        def shown() -> str:
            page = self.get()
            return page if re.search(pattern, page, re.IGNORECASE) else ""

        return wait_for(shown)


def wait_for(look: Callable[[], str]) -> str:
    deadline_s = time.monotonic() + 30
    while time.monotonic() < deadline_s:
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not happen within 30 seconds")


@pytest.fixture
def program(tmp_path, toy_folder, start_program):
    with start_program(tmp_path, TAFELMAAT_GAMES=str(toy_folder)) as running:
        yield running


def lay_and_press(phone: Phone, seat: int, *laid: str) -> None:
    phone.post("/lay", at=laid)
    phone.post("/press", seat=seat)


def test_a_game_from_a_foreign_folder_is_played_through_camera_rules_and_page(program, noughts):
    phone = Phone(program)
    assert "Noughts and crosses" in phone.get("/setup")
    start = {"name-0": "Anna", "name-1": "Boris", "seen": 0}
    phone.post("/start", game="noughts", version="basic:2", **start)

    lay_and_press(phone, 0, "b2:cross")
    page = phone.wait_for("cross on b2")
    assert 'data-at="b2"' in page

    lay_and_press(phone, 1, "b1:cross")
    page = phone.wait_for("other player")
    assert "NO-1" in page

    phone.post("/tidy")
    lay_and_press(phone, 1, "a1:nought")
    phone.wait_for("nought on a1")
    for seat, laid in ((0, "c3:cross"), (1, "a2:nought"), (0, "a3:cross"), (1, "c1:nought")):
        lay_and_press(phone, seat, laid)
        site, _, face = laid.partition(":")
        phone.wait_for(f"{face} on {site}")
    lay_and_press(phone, 0, "b3:cross")
    page = phone.wait_for("Three in a row")
    assert "Anna" in page

    with Reader(program.state / "journal.sqlite") as journal:
        events = [e.event for e in journal.entries()]
        assert {e.source for e in events[1:]} == {"camera"}
        refused = [e for e in events if isinstance(e, MoveRefused)]
        assert [v.code for e in refused for v in e.violations] == ["not_your_mark"]
        assert len([e for e in events if isinstance(e, MovePlayed)]) == 7
        assert journal.session().game.standings(journal.session().state).winners == (0,)
