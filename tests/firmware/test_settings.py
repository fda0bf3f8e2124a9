"""Settings and pin maps: found where they should be, and wrong ones say what is wrong where."""

import pytest

from firmware.errors import BadSettings
from firmware.settings import Settings, load_pins, load_settings, with_options


@pytest.fixture(autouse=True)
def nobody_at_home(tmp_path, monkeypatch):
    """Settings of whoever runs the tests must not count."""
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("TAFELMAAT_SETTINGS", raising=False)


def write(tmp_path, text, name="settings.toml"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_the_defaults_hold(tmp_path):
    settings = load_settings()
    assert settings == Settings()
    assert settings.camera == "auto"
    assert settings.journal == tmp_path / "XDG_STATE_HOME" / "tafelmaat" / "journal.sqlite"
    assert settings.socket.parent == settings.journal.parent


def test_the_users_file_is_found_and_the_environment_and_option_go_before_it(tmp_path):
    write(tmp_path, 'camera = "user"', "XDG_CONFIG_HOME/tafelmaat/settings.toml")
    from_environment = write(tmp_path, 'camera = "environment"', "environment.toml")
    given = write(tmp_path, 'camera = "given"', "given.toml")
    environ = {"TAFELMAAT_SETTINGS": str(from_environment)}
    assert load_settings().camera == "user"
    assert load_settings(environ=environ).camera == "environment"
    assert load_settings(given, environ).camera == "given"


def test_a_file_that_was_named_must_exist(tmp_path):
    with pytest.raises(BadSettings, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('camra = "virtual"', "did you mean camera"),
        ("[web]\nprot = 80", "did you mean port"),
        ("[web]\nport = 'eighty'", "web.port: expected a whole number, got 'eighty'"),
        ("[web]\nport = 70000", "web.port: expected 0 to 65535, got 70000"),
        ("[panel]\ndebounce_s = nan", "panel.debounce_s: expected 0.001 to 0.5, got nan"),
        ("[reading]\nframes = 0", "reading.frames: expected 1 to 30, got 0"),
        ("[panel]\npins = 'maybe'", "panel.pins: expected one of auto, gpio, virtual, off"),
        ("camera = ", "settings.toml"),
    ],
)
def test_a_wrong_value_is_named(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(BadSettings) as caught:
        load_settings(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_options_of_the_command_line_lie_over_the_file(tmp_path):
    settings = load_settings(write(tmp_path, "[web]\nport = 1\nmax_streams = 7"))
    changed = with_options(settings, port=0, state=tmp_path)
    assert (changed.web.port, changed.web.max_streams, changed.web.host) == (0, 7, "0.0.0.0")
    assert changed.state_dir == tmp_path
    assert with_options(settings) == settings


def test_the_pin_map_keeps_off_the_pins_with_other_duties():
    pins = load_pins()
    used = {p for s in pins.seats for p in (s.button, s.lamp)}
    assert len(used) == 8
    assert not used & {0, 1, 2, 3, 7, 8, 9, 10, 11, 14, 15, 18, 19, 21}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seats = [{ button = 5, lamp = 5 }]", "seats[0].lamp: expected a pin of its own, got 5"),
        ("seats = [{ button = 28, lamp = 5 }]", "seats[0].button: expected BCM 0 to 27, got 28"),
        ("seats = [{ button = -1, lamp = 5 }]", "expected BCM 0 to 27, got -1"),
        ("seats = [{ button = 5 }]", "expected a value for lamp"),
        ("seats = [{ button = 5, lmap = 6 }]", "did you mean lamp"),
    ],
)
def test_a_wrong_pin_map_is_named(tmp_path, text, message):
    with pytest.raises(BadSettings) as caught:
        load_pins(write(tmp_path, text, "pins.toml"))
    assert message in str(caught.value)
