"""``kill -9`` at random moments: what was confirmed is there, and play goes on at once."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random

import pytest

from firmware.demo import pick
from rules import games
from rules.events import GameStarted, MovePlayed
from rules.journal import Reader

ROOT = Path(__file__).parents[2]
CHUNKS = 8
KILLS = 25
TIMEOUT_S = 60
READY_S = 5.0
"""Far above the quarter of a second it takes: the machine that runs the tests may be busy."""


@pytest.fixture(scope="module")
def moves():
    """A whole legal game."""
    game = games.find("ingenious")
    rng = Random(3)
    state = game.start(game.info.setup("basic", 2))
    found = []
    while not game.standings(state).over:
        move = pick(game, state, rng, thoughts=1)
        found.append(game.notate(move))
        state = game.apply(state, move).state
    return found


class Table:
    """A real table process and a client that plays on it as fast as it can."""

    def __init__(self, folder, moves):
        self.folder, self.moves = folder, moves
        self.confirmed = []
        self.ready_s = []

    def live(self, rng):
        """Start, check what is there, play, and be killed at a random moment."""
        command = [sys.executable, "-m", "firmware", "table"]
        command += ["--state", str(self.folder), "--camera", "virtual"]
        started_s = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        watchdog = threading.Timer(TIMEOUT_S, process.kill)
        watchdog.start()
        early = rng.random() < 0.25
        if early:  # while it starts
            self._kill_after(process, rng.uniform(0, 0.4))
        line = self._connect(process)
        if line:
            with line, line.makefile("rb") as replies:
                if not early:
                    self.ready_s.append(time.monotonic() - started_s)
                    self._check()
                    self._kill_after(process, rng.uniform(0, 0.3))
                self._play(line, replies)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        watchdog.cancel()
        assert process.returncode == -signal.SIGKILL, errors
        assert "damaged" not in errors

    def _kill_after(self, process, seconds):
        threading.Timer(seconds, process.send_signal, [signal.SIGKILL]).start()

    def _connect(self, process):
        while process.poll() is None:
            line = socket.socket(socket.AF_UNIX)
            line.settimeout(TIMEOUT_S)
            try:
                line.connect(str(self.folder / "table.sock"))
                return line
            except OSError:
                line.close()
                time.sleep(0.002)
        return None

    def _play(self, line, replies):
        """Book moves until the line is cut; each confirmation is kept."""
        with Reader(self.folder / "journal.sqlite") as reader:
            session = reader.session()
        seq, number = (session.seq, session.number) if session else (0, len(self.moves))
        while True:
            if number == len(self.moves):
                request = {"kind": "start_game", "game": "ingenious", "variant": "basic"}
                request |= {"names": ["Ann", "Ben"], "seen": seq}
            else:
                request = {"kind": "play_moves", "moves": [self.moves[number]], "seen": seq}
            try:
                line.sendall(json.dumps(request).encode() + b"\n")
                reply = json.loads(replies.readline())
            except (OSError, ValueError):
                return
            assert reply["code"] == "booked", reply
            seq = reply["seq"]
            number = 0 if request["kind"] == "start_game" else number + 1
            self.confirmed.append((seq, request.get("moves", [""])[0]))

    def _check(self):
        """Everything confirmed is in the journal, and at most one entry that was not, per life."""
        with Reader(self.folder / "journal.sqlite") as reader:
            entries = tuple(reader.entries())
            session = reader.session()
        written = [(e.seq, _move(e.event)) for e in entries]
        assert [seq for seq, _ in written] == list(range(1, len(written) + 1))
        assert set(self.confirmed) <= set(written)
        if session:
            assert session.seq == len(written)
            assert [p.move for p in session.plies()] == self.moves[: session.number]
        assert not list(self.folder.glob("*broken*"))


def _move(event):
    match event:
        case GameStarted():
            return ""
        case MovePlayed(move):
            return move
    raise AssertionError(event)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_killed_at_any_moment_nothing_confirmed_is_lost(tmp_path_factory, moves, chunk):
    rng = Random(chunk)
    table = Table(tmp_path_factory.mktemp("k"), moves)
    for _ in range(KILLS):
        table.live(rng)
    table._check()
    assert len(table.confirmed) > KILLS
    mean_s, worst_s = sum(table.ready_s) / len(table.ready_s), max(table.ready_s)
    ready = f"ready in {mean_s:.2f} s, worst {worst_s:.2f} s"
    print(f"chunk {chunk}: {KILLS} kills, {len(table.confirmed)} confirmed, {ready}")
    assert worst_s < READY_S
