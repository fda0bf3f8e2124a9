"""Speed as ratios measured in one run, so that they mean the same on every machine: `make bench`."""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import chess
import cv2
import numpy as np

from rules import games
from rules.events import Event, GameStarted, MovePlayed, MoveTakenBack
from rules.game import AnyGame
from rules.journal import Journal, Reader
from vision.cards import DICTIONARY
from vision.looks import DrawnLooks
from vision.virtual.misbehaviour import Misbehaviour
from vision.observe import observe
from vision.rectify import rectify
from vision.render import render

GAME = games.find("ingenious")


def clock(work: Callable[[], object], repeat: int) -> float:
    """Median seconds of one call."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def say(what: str, ours_s: float, theirs_s: float, bound: float) -> None:
    ratio = ours_s / theirs_s
    mark = "ok" if ratio <= bound else "TOO SLOW"
    print(f"{what:<78} {ours_s * 1e3:9.3f} ms / {theirs_s * 1e3:9.3f} ms = {ratio:5.2f}  (≤ {bound:g}) {mark}")


def random_move(game: AnyGame, state: object, rng: random.Random) -> object:
    """A random legal move that lays something."""
    while True:
        moves = list(game.candidates(state, frozenset([rng.choice(game.plan.sites)])))
        rng.shuffle(moves)
        for move in moves:
            if game.check(state, move).legal:
                return move


def random_positions(count: int, seed: int) -> list[tuple[object, object]]:
    """Positions spread over whole games, each with a legal move."""
    rng = random.Random(seed)
    found: list[tuple[object, object]] = []
    while len(found) < count:
        state = GAME.start(GAME.info.setup("basic", rng.choice((2, 3, 4))))
        while not GAME.standings(state).over and len(found) < count:
            move = random_move(GAME, state, rng)
            found.append((state, move))
            state = GAME.apply(state, move).state
    return found


def bench_reading() -> None:
    """(a) One frame into beliefs about 169 cells, against finding markers in that frame alone."""
    state, _ = random_positions(30, 1)[-1]
    layout = GAME.layout(state)
    frame = render(GAME.plan, layout, Misbehaviour.default(3), size_px=(1920, 1080))
    looks = draw_looks(GAME.plan)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY))
    gray = cv2.cvtColor(frame.bgr, cv2.COLOR_BGR2GRAY)

    def read() -> None:
        image = rectify(frame, GAME.plan)
        assert image is not None
        assert len(observe(image, GAME.plan, looks).beliefs) == 169

    read()
    alone = clock(lambda: detector.detectMarkers(gray), 40)
    say("(a) read a 1920×1080 frame into 169 beliefs / ArUco detection alone", clock(read, 40), alone, 3)


def bench_moves() -> None:
    """(b) Judging and booking one move, against python-chess doing about the same."""
    positions = random_positions(1000, 2)

    def ours() -> None:
        for state, move in positions:
            GAME.check(state, move)
            GAME.apply(state, move)

    rng = random.Random(3)
    line: list[tuple[chess.Board, chess.Move]] = []
    while len(line) < 1000:
        board = chess.Board()
        while not board.is_game_over() and len(line) < 1000:
            move = rng.choice(list(board.legal_moves))
            line.append((board.copy(stack=False), move))
            board.push(move)

    def theirs() -> None:
        for board, move in line:
            board.push(move)
            board.legal_moves.count()
            board.pop()

    ours_s, theirs_s = clock(ours, 7) / 1000, clock(theirs, 7) / 1000
    say("(b) check + apply + score a move / python-chess push + legal_moves.count()", ours_s, theirs_s, 1)


def journal_events(count: int) -> list[Event]:
    """A long evening: moves, and now and then a take-back."""
    rng = random.Random(4)
    opening = GameStarted(GAME.info.name, GAME.info.version, "basic", ("A", "B"))
    states = [GAME.start(GAME.info.setup("basic", 2))]
    events: list[Event] = [opening]
    while len(events) < count:
        back = GAME.standings(states[-1]).over or (len(states) > 20 and rng.random() < 0.45)
        if back:
            states.pop()
            events.append(MoveTakenBack(len(states), "web"))
        else:
            move = random_move(GAME, states[-1], rng)
            events.append(MovePlayed(GAME.notate(move), "camera"))
            states.append(GAME.apply(states[-1], move).state)
    return events


def bench_replay() -> None:
    """(c) Replaying a journal costs the same per entry however long it is."""
    events = journal_events(4000)
    per_entry: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for length in (250, 1000, 4000):
            path = Path(folder) / f"{length}.sqlite"
            with Journal(path) as journal:
                journal.append(events[:length])
            with Reader(path) as reader:
                per_entry[length] = clock(reader.session, 5) / length
    say("(c) replay: one entry of 1,000 / one entry of 250", per_entry[1000], per_entry[250], 1.3)
    say("    replay: one entry of 4,000 / one entry of 250", per_entry[4000], per_entry[250], 1.3)
    print(f"    a journal of 1,000 entries is replayed in {per_entry[1000] * 1e6:.0f} ms")


if __name__ == "__main__":
    np.random.seed(0)
    bench_reading()
    bench_moves()
    bench_replay()
