"""Buttons and lamps on mock pins, electrically, through gpiozero and the loop."""

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory

from firmware.errors import PanelLost
from firmware.inbox import Edge
from firmware.panel import Panel, VirtualPanel, open_panel
from firmware.settings import PinMap, SeatPins, load_pins
from rules.commands import Press, StartGame


@pytest.fixture
def game(bench, noughts):
    bench.ask(StartGame("noughts", "basic", ("Ann", "Ben"), 0))
    return bench


def test_edges_are_told_with_their_time(pins, clock):
    told = []
    with Panel(load_pins(), told.append, pin_factory=pins, clock=clock) as panel:
        pins.pin(6).drive_low()
        assert panel.down(1)
        assert not panel.down(0)
        clock.wait(0.2)
        pins.pin(6).drive_high()
        assert told == [Edge(1, True, 100.0), Edge(1, False, 100.2)]


def test_a_press_starts_one_reading(game):
    game.finger(0)
    assert game.eyes.asked == [(1, 1, 0)]
    assert game.status.mode == "reading"


@pytest.mark.parametrize("bounce_ms", [1, 5, 20, 49])
def test_a_bouncing_contact_is_one_press(game, bounce_ms, monkeypatch):
    presses = []
    monkeypatch.setattr(game.loop, "_press", lambda seat, long: presses.append((seat, long)))
    pin = game.pins.pin(game.pin_map.seats[0].button)
    for _ in range(5):
        pin.drive_low()
        game.clock.wait(bounce_ms / 1000)
        game.loop.tick()
        pin.drive_high()
        game.clock.wait(bounce_ms / 2000)
        game.settle()
    game.finger(0)
    assert presses == [(0, False)]


def test_a_button_held_for_a_minute_takes_back_once(game):
    game.finger(0, held_s=60.0)
    assert [e.event.violations[0].code for e in game.journal.entries(1)] == ["nothing_to_take_back"]
    assert game.eyes.asked == []


def test_a_button_stuck_since_the_start_does_nothing(game):
    pin = game.pins.pin(game.pin_map.seats[0].button)
    pin._change_state(False)  # without an edge: it was low before anybody listened
    game.settle(5.0)
    pin.drive_high()
    game.settle(5.0)
    assert game.session.seq == 1
    assert game.eyes.asked == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_pressed_at_once_the_one_whose_turn_it_is_counts(game, order):
    for seat in order:
        game.pins.pin(game.pin_map.seats[seat].button).drive_low()
    game.settle(0.1)
    for seat in order:
        game.pins.pin(game.pin_map.seats[seat].button).drive_high()
    game.settle(0.1)
    assert game.status.mode == "reading"
    assert game.status.seat == 0


def test_a_button_where_nobody_sits_does_nothing(game):
    game.finger(3)
    game.finger(3, held_s=2.0)
    assert game.eyes.asked == []
    assert game.session.seq == 1


def test_lamps_over_time(game):
    game.settle()
    assert game.lamps() == [1, 0, 0, 0]
    game.finger(0)
    game.clock.now_s = 200.0
    states = []
    for _ in range(40):
        game.loop.tick()
        states.append(game.lamps())
        game.clock.wait(0.05)
    assert states == [[int(n % 20 < 10), 0, 0, 0] for n in range(40)]


def test_a_lamp_is_switched_no_more_often_than_it_blinks(game):
    game.finger(0)
    game.clock.now_s = 200.0
    pin = game.pins.pin(game.pin_map.seats[0].lamp)
    game.loop.tick()
    pin.clear_states()
    game.settle(3.985)
    assert [s.state for s in pin.states] == [True, False, True, False, True, False, True, False]


def test_a_press_from_a_page_takes_the_way_of_a_finger(game):
    pin = game.pins.pin(game.pin_map.seats[0].button)
    pin.clear_states()
    assert game.ask(Press(0)).code == "done"
    assert game.eyes.asked == []
    game.settle(0.3)
    assert game.eyes.asked == [(1, 1, 0)]
    assert [s.state for s in pin.states] == [True, False, True]


def test_a_long_press_from_a_page_takes_back(game):
    game.ask(Press(0, long=True))
    game.settle(1.5)
    assert game.eyes.asked == []
    assert game.status.mode == "refused"
    assert game.status.lamps == ("double", "off")


def test_a_pin_that_cannot_be_used_is_reported_and_the_others_work(clock, caplog):
    factory = MockFactory()
    told = []
    with (
        LED(5, pin_factory=factory),
        LED(27, pin_factory=factory),
        VirtualPanel(load_pins(), told.append, pin_factory=factory, clock=clock) as panel,
    ):
        assert len(panel.problems) == 2
        assert "button of seat 1 (BCM 5): " in panel.problems[0]
        assert "already in use" in panel.problems[0]
        assert "lamp of seat 2 (BCM 27)" in panel.problems[1]
        panel.show([True, True, True, True])
        assert [factory.pin(p).state for p in (17, 22, 23)] == [1, 1, 1]
        factory.pin(6).drive_low()
        assert told == [Edge(1, True, 100.0)]
        assert not panel.push(0, 0.1, 100.0)
    assert "play goes on" in caplog.text


def test_a_lamp_that_fails_during_play_is_given_up(pins, clock, monkeypatch, caplog):
    with Panel(load_pins(), lambda e: None, pin_factory=pins, clock=clock) as panel:
        broken = pins.pin(17)

        def fail(value):
            raise OSError("I/O error")

        monkeypatch.setattr(broken, "_set_state", fail)
        panel.show([True, True])
        panel.show([True, True])
        assert pins.pin(27).state == 1
        assert caplog.text.count("lamp of seat 1: given up") == 1
        monkeypatch.undo()


def test_without_gpio_the_panel_is_virtual(monkeypatch):
    monkeypatch.delenv("GPIOZERO_PIN_FACTORY", raising=False)
    panel = open_panel("auto", PinMap((SeatPins(5, 17),)), lambda e: None)
    assert isinstance(panel, VirtualPanel)
    panel.close()
    assert open_panel("off", load_pins(), lambda e: None) is None


def test_gpio_that_was_asked_for_must_be_there(monkeypatch):
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "nonsense")
    with pytest.raises(PanelLost, match="nonsense"):
        open_panel("gpio", load_pins(), lambda e: None)
