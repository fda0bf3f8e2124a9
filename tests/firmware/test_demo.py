"""The virtual players: they find moves, and play a game through the real table by themselves."""

from random import Random
from threading import Thread

import pytest

from firmware.demo import Demo, Pace, blunder, pick
from firmware.eyes import CameraEyes
from firmware.inbox import Inbox, Stop
from firmware.loop import Loop
from firmware.panel import VirtualPanel
from firmware.settings import Reading, load_pins
from firmware.virtual import VirtualTabletop
from rules import games
from rules.events import GameStarted, MovePlayed, MoveRefused
from rules.journal import Journal
from vision.cameras.virtual import CALM, VirtualCamera

TIMEOUT_S = 120


def test_pick_is_legal_and_blunder_is_not():
    game = games.find("ingenious")
    state = game.start(game.info.setup("basic", 3))
    rng = Random(1)
    for _ in range(10):
        assert not game.check(state, blunder(game, state, rng)).legal
        move = pick(game, state, rng)
        assert game.check(state, move).legal
        state = game.apply(state, move).state


def test_there_is_no_blunder_where_everything_is_allowed(noughts, monkeypatch):
    state = noughts.start(noughts.info.setup("basic", 2))
    legal = noughts.check(state, noughts.parse("cross@b2"))
    monkeypatch.setattr(type(noughts), "check", lambda self, state, move: legal)
    assert blunder(noughts, state, Random(1)) is None


class SmallCamera:
    """A camera above whatever lies there, small and quick."""

    name = "small"

    def __init__(self, tabletop):
        self._tabletop = tabletop
        self._seen = None

    def read(self):
        table = self._tabletop.table()
        if self._seen is None or self._seen[0] is not table:
            camera = VirtualCamera(table, CALM, size=(960, 540), frames_per_s=100)
            self._seen = table, camera
        return self._seen[1].read()

    def close(self): ...


def test_virtual_players_finish_a_game_and_start_the_next(tmp_path, noughts, monkeypatch):
    monkeypatch.setattr(games, "installed", lambda: {"noughts": noughts})
    inbox, tabletop = Inbox(), VirtualTabletop()
    journal = Journal(tmp_path / "journal.sqlite")
    panel = VirtualPanel(load_pins(), inbox.put)
    reading = Reading(still_s=0.05, frames=2, idle_fps=60)
    eyes = CameraEyes(lambda: SmallCamera(tabletop), inbox.put, reading)
    loop = Loop(journal, inbox, eyes, panel=panel, tabletop=tabletop)
    pace = Pace(think_s=0, reach_s=0.01, wonder_s=0, celebrate_s=0)
    demo = Demo(inbox, tabletop, pace=pace, seed=4, blunders=0.4)
    loop.observe(demo.observe)

    def until_second_game(session, status):
        if sum(isinstance(e.event, GameStarted) for e in journal.entries()) == 2:
            inbox.put(Stop())

    loop.observe(until_second_game)
    thread = Thread(target=loop.run)
    eyes.start()
    demo.start()
    thread.start()
    try:
        thread.join(TIMEOUT_S)
        finished = not thread.is_alive()
    finally:
        demo.stop()
        inbox.put(Stop())
        thread.join(TIMEOUT_S)
        eyes.stop()
        panel.close()
    events = [e.event for e in journal.entries()]
    journal.close()
    assert finished
    assert isinstance(events[0], GameStarted)
    assert any(isinstance(e, MoveRefused) for e in events)
    assert sum(isinstance(e, MovePlayed) and e.source == "camera" for e in events) >= 5


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_decides_what_is_played(seed):
    game = games.find("ingenious")
    state = game.start(game.info.setup("basic", 2))
    assert pick(game, state, Random(seed)) == pick(game, state, Random(seed))
