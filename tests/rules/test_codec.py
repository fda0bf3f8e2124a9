"""Foreign data becomes a checked value or an error: where, what was expected, what came."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.codec import decode, decode_tagged, encode, encode_tagged, load_toml
from rules.commands import Answer, Command, Correct, Lay, PlayMoves, Press, Request, StartGame
from rules.errors import InvalidValue
from rules.status import Choice, Difference, Question, Status, Teaching, Trouble
from rules.verdict import Verdict, Violation


@dataclass(frozen=True)
class Lamp:
    pin: int
    colour: Literal["red", "green"] = "red"
    level: float = 1.0


@dataclass(frozen=True)
class Panel:
    lamps: tuple[Lamp, ...]
    names: Mapping[str, int] = field(default_factory=dict)
    size: tuple[int, int] = (1, 2)
    note: str | None = None


GOOD = {"lamps": [{"pin": 4}, {"pin": 5, "colour": "green", "level": 2}], "names": {"a": 1}}


def test_data_becomes_values_with_their_defaults():
    panel = decode(Panel, GOOD)
    assert panel == Panel((Lamp(4), Lamp(5, "green", 2.0)), {"a": 1})
    assert type(panel.lamps[1].level) is float
    assert decode(Panel, encode(panel)) == panel


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"lamps": "x"}, "lamps: expected a list, got 'x'"),
        ({"lamps": [{"pin": "4"}]}, r"lamps\[0\].pin: expected a whole number, got '4'"),
        ({"lamps": [{"pin": True}]}, r"lamps\[0\].pin: expected a whole number, got True"),
        ({"lamps": [{}]}, r"lamps\[0\]: expected a value for pin"),
        ({"lamps": [{"pin": 1, "color": "red"}]}, "did you mean colour"),
        ({"lamps": [{"pin": 1, "colour": "blue"}]}, "expected one of red, green, got 'blue'"),
        ({"names": {"a": 1.5}}, "names.a: expected a whole number, got 1.5"),
        ({"size": [1]}, "size: expected 2 values"),
        ({"note": 5}, "note: expected a text, got 5"),
        ({"other": 1}, "expected only lamps, names, size, note"),
    ],
)
def test_wrong_data_is_named_with_its_place(change, says):
    with pytest.raises(InvalidValue, match=says):
        decode(Panel, GOOD | change)


def test_a_toml_file_is_named_in_the_error(tmp_path):
    file = tmp_path / "pins.toml"
    file.write_text("lamps = [{pin = 4}]\n[names]\na = 'x'\n")
    with pytest.raises(InvalidValue, match=r"pins.toml: names.a: expected a whole number, got 'x'"):
        load_toml(Panel, file)
    file.write_text("lamps = [}")
    with pytest.raises(InvalidValue, match="pins.toml: .*line 1"):
        load_toml(Panel, file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidValue, match="pins.toml: "):
        load_toml(Panel, file)
    with pytest.raises(InvalidValue, match="No such file"):
        load_toml(Panel, tmp_path / "none.toml")


@pytest.mark.parametrize(
    "value",
    [
        StartGame("ingenious", "teams", ("A", "B", "C", "D"), 7, {"house": "yes"}),
        PlayMoves(("red@h8 blue@h9",), 3, 1, "camera"),
        Correct(2, "stop", 9),
        Press(1, long=True),
        Answer(4, None),
        Lay({"h8": "red"}),
    ],
)
def test_commands_travel_as_json(value):
    assert decode_tagged(Command | Request, encode_tagged(value)) == value


def test_a_status_travels_as_json():
    verdict = Verdict((Violation("occupied", "IN-2", ("h8",), {"n": 1}),), ("rack",))
    choice = Choice(("red@h8 blue@h9",), verdict, 0.6)
    question = Question(1, 0, "unclear", (choice,), (Difference("h8", "red", "empty"),))
    status = Status(
        "question",
        5,
        0,
        question,
        ("steady", "off"),
        "virtual",
        trouble=Trouble("glare", ("h8",), (2,)),
        lying={"h8": "red"},
        teaching=Teaching("noughts", 3, "bare", "trouble", Trouble("too_dark")),
    )
    assert decode(Status, encode(status)) == status


@pytest.mark.parametrize("data", [None, [], {"kind": "explode"}, {"kind": ["press"]}, {"seat": 1}])
def test_an_unknown_kind_is_an_error(data):
    with pytest.raises(InvalidValue, match="kind"):
        decode_tagged(Command | Request, data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(json_values)
def test_no_json_breaks_the_decoder(data):
    for kind in ({"kind": "play_moves"}, {"kind": "lay"}, {"kind": "answer"}):
        body = {**(data if isinstance(data, dict) else {"moves": data, "faces": data}), **kind}
        try:
            decode_tagged(Command | Request, body)
        except InvalidValue:
            continue
