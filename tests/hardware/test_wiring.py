"""The wiring page says what the program does."""

import re
import tomllib
from pathlib import Path

from gpiozero.pins.mock import MockFactory

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d) \| (button|lamp) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def rows() -> list[tuple[int, str, int, int]]:
    found = ROW.findall((ROOT / "hardware" / "wiring.md").read_text("utf-8"))
    assert found, "the table is there"
    return [(int(seat), part, int(bcm), int(pin)) for seat, part, bcm, pin in found]


def test_the_table_is_that_of_pins_toml():
    pins = tomllib.loads((ROOT / "firmware" / "pins.toml").read_text("utf-8"))
    expected = {
        (number, part, seat[part])
        for number, seat in enumerate(pins["seats"], 1)
        for part in ("button", "lamp")
    }
    assert {row[:3] for row in rows()} == expected


def test_header_pins_belong_to_the_bcm_numbers():
    factory = MockFactory()
    header = factory.board_info.headers["J8"].pins
    for _, _, bcm, pin in rows():
        assert header[pin].name == f"GPIO{bcm}"
    text = (ROOT / "hardware" / "wiring.md").read_text("utf-8")
    grounds = re.search(r"Ground is on pins ([\d, and]+)\.", text)
    assert grounds
    assert {int(n) for n in re.findall(r"\d+", grounds[1])} == {
        n for n, pin in header.items() if pin.name == "GND"
    }
    factory.close()
