"""A whole virtual game: hands lay tiles, the camera reads, the journal fills, the lamps follow.

Everything is real but time: mock pins electrically, photographs of the virtual table, SQLite.
"""

from contextlib import closing
from random import Random

import pytest
from gpiozero.pins.mock import MockFactory

from firmware.demo import blunder, pick
from firmware.eyes import CameraEyes
from firmware.inbox import Asked, Inbox
from firmware.loop import Loop
from firmware.panel import VirtualPanel
from firmware.settings import Reading, load_pins
from firmware.virtual import VirtualTabletop
from rules import games
from rules.commands import Lay, PlayMoves, StartGame, Tidy
from rules.events import MovePlayed, MoveRefused
from rules.journal import Journal, Reader
from vision.cameras.virtual import Misbehaviour, VirtualCamera

FRAME_S = 0.2


class Evening:
    """A table with everything on it; one step is one frame of the camera."""

    def __init__(self, folder, misbehaviour):
        self.now_s = 0.0
        self.inbox = Inbox()
        self.journal = Journal(folder / "journal.sqlite")
        self.tabletop = VirtualTabletop()
        self.pins = MockFactory()
        self.pin_map = load_pins()
        self.panel = VirtualPanel(
            self.pin_map, self.inbox.put, pin_factory=self.pins, clock=self.clock
        )
        self.eyes = CameraEyes(lambda: self.camera, self.inbox.put, Reading(), self.clock)
        self.loop = Loop(
            self.journal,
            self.inbox,
            self.eyes,
            panel=self.panel,
            tabletop=self.tabletop,
            clock=self.clock,
        )
        self.misbehaviour = misbehaviour
        self.camera = None

    def clock(self):
        return self.now_s

    def wait(self, seconds):
        """Time passes; the loop lives through it in steps of 10 ms."""
        for _ in range(round(seconds * 100)):
            self.now_s += 0.01
            self.work()

    def work(self):
        while not self.inbox.empty():
            self.loop.take(self.inbox.get())
        self.loop.tick()

    def ask(self, request):
        replies = []
        self.loop.take(Asked(request, replies.append))
        return replies[0]

    def start(self, game, variant, names):
        assert self.ask(StartGame(game, variant, names, self.loop.status.seq)).code == "booked"
        self.camera = VirtualCamera(
            self.tabletop.table(),
            self.misbehaviour,
            frames_per_s=1 / FRAME_S,
            clock=self.clock,
            wait=self.wait,
        )

    def press(self, seat):
        """A finger on the button, then frames until the table has made up its mind."""
        pin = self.pins.pin(self.pin_map.seats[seat].button)
        pin.drive_low()
        self.wait(0.12)
        pin.drive_high()
        self.wait(0.06)
        assert self.loop.status.mode == "reading"
        assert self.loop.status.lamps[seat] == "slow"
        for _ in range(40):
            self.eyes.glance(self.camera)
            self.work()
            if self.loop.status.mode != "reading":
                return
        raise AssertionError("the press was never answered")

    def lit(self):
        return [bool(self.pins.pin(s.lamp).state) for s in self.pin_map.seats]

    def close(self):
        self.panel.close()
        self.journal.close()
        self.pins.reset()
        self.pins.close()


@pytest.fixture
def evening(tmp_path):
    with closing(Evening(tmp_path, Misbehaviour.default(seed=5))) as evening:
        yield evening


def test_a_whole_game_of_two_is_read_booked_and_shown(evening):
    rng = Random(20)
    game = games.find("ingenious")
    evening.start("ingenious", "basic", ("Ann", "Ben"))
    refused = questions = declared = 0
    while not game.standings(evening.loop.session.state).over:
        session = evening.loop.session
        state, seat = session.state, game.standings(session.state).to_act
        if rng.random() < 0.15:
            wrong = blunder(game, state, rng)
            evening.ask(Lay(game.footprint(state, wrong)))
            evening.press(seat)
            assert evening.loop.session.number == session.number, "nothing illegal is booked"
            assert evening.loop.status.lamps[seat] == "double"
            refused += evening.loop.status.mode == "refused"
            questions += evening.loop.status.mode == "question"
            evening.ask(Tidy())
            session = evening.loop.session
        move = pick(game, state, rng)
        text = game.notate(move)
        if not game.footprint(state, move):
            by = game.mover(state, move)
            assert evening.ask(PlayMoves((text,), session.seq, by)).code == "booked"
            declared += 1
            continue
        evening.ask(Lay(game.footprint(state, move)))
        evening.press(seat)
        if evening.loop.status.mode == "question":
            questions += 1
            assert evening.loop.session.number == session.number
            assert evening.ask(PlayMoves((text,), session.seq, seat)).code == "booked"
        assert evening.loop.session.last.state == game.apply(state, move).state, text
        evening.wait(0.05)
        to_act = game.standings(evening.loop.session.state).to_act
        assert evening.lit() == [s == to_act for s in range(4)]
    session = evening.loop.session
    assert session.number > 25
    assert refused >= 2
    assert questions <= 2
    with Reader(evening.journal.path) as reader:
        entries = tuple(reader.entries())
        again = reader.session()
    assert again.state == session.state
    played = [e.event for e in entries if isinstance(e.event, MovePlayed)]
    assert len(played) == session.number
    assert sum(e.source == "camera" for e in played) >= session.number - declared - questions
    assert sum(isinstance(e.event, MoveRefused) for e in entries) == refused
    assert evening.lit() == [False] * 4
    standings = game.standings(session.state)
    assert standings.winners
    assert sum(line.points for p in session.plies() for line in p.lines if line.seat == 0) == sum(
        track.value for track in standings.scores[0].tracks
    )
