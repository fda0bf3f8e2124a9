"""Speed as ratios measured in one run, so that they mean the same everywhere: ``make bench``."""

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
from rules.table import EMPTY, Layout
from rules.teaching import begin, finish, label
from vision.cards import DICTIONARY
from vision.dice.find import search
from vision.dice.render import draw_scene
from vision.frame import Frame
from vision.looks import DrawnLooks
from vision.matching import match
from vision.observation import Observation
from vision.observe import Observer, reading_scale
from vision.rectify import TableImage, rectify
from vision.render import render
from vision.teaching.learning import add_bare, add_pieces
from vision.teaching.reading import LessonReader
from vision.virtual.misbehaviour import Misbehaviour

Position = tuple[object, object]
"""A state and a legal move in it that lays something."""


def clock(work: Callable[[], object], repeat: int) -> list[float]:
    """Seconds of each of many calls."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def median(work: Callable[[], object], repeat: int) -> float:
    return statistics.median(clock(work, repeat))


def say(what: str, ours_s: float, theirs_s: float, bound: float) -> None:
    ratio = ours_s / theirs_s
    mark = "ok" if ratio <= bound else "TOO SLOW"
    figures = f"{ours_s * 1e3:8.3f} ms / {theirs_s * 1e3:8.3f} ms = {ratio:5.2f}"
    print(f"{what:<76} {figures}  (at most {bound:g}) {mark}", flush=True)


def random_positions(game: AnyGame, count: int, seed: int) -> list[Position]:
    """Positions spread over whole games of every variant."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < count:
        variant = rng.choice(game.info.variants)
        state = game.start(game.info.setup(variant.name, rng.choice(variant.seats)))
        while not game.standings(state).over and len(found) < count:
            move = random_move(game, state, rng)
            found.append((state, move))
            state = game.apply(state, move).state
    return found


def random_move(game: AnyGame, state: object, rng: random.Random) -> object:
    for site in rng.sample(game.plan.sites, len(game.plan.sites)):
        moves = list(game.candidates(state, frozenset([site])))
        rng.shuffle(moves)
        for move in moves:
            if game.check(state, move).legal and game.footprint(state, move):
                return move
    raise AssertionError("a game that is not over has a legal move")


def bench_reading(game: AnyGame) -> float:
    """(a) One frame into beliefs about every site, against finding the markers in it alone."""
    state, _ = random_positions(game, 30, 1)[-1]
    frame = Frame(render(game.plan, game.layout(state), Misbehaviour.default(3)), 0.0)
    assert frame.bgr.shape == (1080, 1920, 3)
    observer, scale = Observer(game.plan, DrawnLooks(game.plan)), reading_scale(game.plan)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY))
    gray = cv2.cvtColor(frame.bgr, cv2.COLOR_BGR2GRAY)
    sites = len(game.plan.sites)

    def read() -> None:
        image = rectify(frame, game.plan, px_per_mm=scale)
        assert image is not None
        assert len(observer.observe(image).beliefs) > 0.9 * sites

    read()
    alone_s, read_s = median(lambda: detector.detectMarkers(gray), 40), median(read, 40)
    what = f"(a) {game.info.name}: 1920×1080 frame into {sites} beliefs / ArUco alone"
    say(what, read_s, alone_s, 3)
    return read_s


def bench_taught(game: AnyGame) -> None:
    """(e) The same with a lesson taught on the virtual table, in another room than it is read."""
    plan, scale = game.plan, reading_scale(game.plan)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY))

    def photograph(layout: Layout, room: int) -> Frame:
        return Frame(render(plan, layout, Misbehaviour.default(room)), 0.0)

    def see(frame: Frame) -> TableImage:
        image = rectify(frame, plan, px_per_mm=scale)
        assert image is not None
        return image

    laid = deal(game, 4, random.Random(6))
    draft = add_bare(plan, begin(game.info.name, plan, None), see(photograph(plan.bare(), 1)))
    draft = label(plan, draft, {cut.name: EMPTY for cut in draft.cuts})
    draft = add_pieces(plan, draft, see(photograph(laid, 1)))
    assert not isinstance(draft, str)
    draft = label(plan, draft, {c.name: laid[c.site] for c in draft.cuts if c.face is None})
    reader = LessonReader(plan, finish(draft))
    frame = photograph(deal(game, 8, random.Random(7)), 3)
    gray = cv2.cvtColor(frame.bgr, cv2.COLOR_BGR2GRAY)
    alone_s = median(lambda: detector.detectMarkers(gray), 40)
    read_s = median(lambda: reader.observe(see(frame)), 40)
    say(f"(e) {game.info.name}: the same by a lesson / ArUco alone", read_s, alone_s, 3)


def deal(game: AnyGame, each: int, rng: random.Random) -> Layout:
    """A table on which every face lies a few times, wherever it may."""
    plan = game.plan
    layout = plan.bare()
    for face in [f for f in plan.piece_of for _ in range(each)]:
        free = [s for s, p in plan.places.items() if face in p.faces and layout[s] == EMPTY]
        layout[rng.choice(free)] = face
    return layout


def bench_dice() -> None:
    """(f) A region with up to fifteen dice, against finding markers in the frame it is cut from."""
    rng = np.random.default_rng(8)
    scene = draw_scene(rng, 720, 40.0, 15)
    while not 12 <= len(scene.dice) <= 15:
        scene = draw_scene(rng, 720, 40.0, 15)
    game = next(iter(games.installed().values()))
    frame = render(game.plan, game.plan.bare(), Misbehaviour.default(3))
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARY))
    gray = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    search(scene.bgr)
    alone_s = median(lambda: detector.detectMarkers(gray), 20)
    read_s = median(lambda: search(scene.bgr), 20)
    say(f"(f) a region with {len(scene.dice)} dice / ArUco alone", read_s, alone_s, 5)


def bench_moves(game: AnyGame) -> None:
    """(b) Judging and booking one move, against python-chess doing about the same."""
    positions = random_positions(game, 1000, 2)

    def ours() -> None:
        for state, move in positions:
            game.check(state, move)
            game.apply(state, move)

    rng = random.Random(3)
    line: list[tuple[chess.Board, chess.Move]] = []
    while len(line) < len(positions):
        board = chess.Board()
        while not board.is_game_over() and len(line) < len(positions):
            move = rng.choice(list(board.legal_moves))
            line.append((board.copy(stack=False), move))
            board.push(move)

    def theirs() -> None:
        for board, move in line:
            board.push(move)
            board.legal_moves.count()
            board.pop()

    what = f"(b) {game.info.name}: check + apply + score / python-chess push + legal_moves.count()"
    say(what, median(ours, 7) / len(positions), median(theirs, 7) / len(positions), 1)


def journal_events(game: AnyGame, count: int) -> list[Event]:
    """A long evening: moves, and now and then a take-back."""
    rng = random.Random(4)
    variant = game.info.variants[0]
    names = ("A", "B", "C", "D")[: variant.seats[0]]
    states = [game.start(game.info.setup(variant.name, len(names)))]
    events: list[Event] = [GameStarted(game.info.name, game.info.version, variant.name, names)]
    while len(events) < count:
        if game.standings(states[-1]).over or (len(states) > 20 and rng.random() < 0.45):
            states.pop()
            events.append(MoveTakenBack(len(states), "web"))
        else:
            move = random_move(game, states[-1], rng)
            events.append(MovePlayed(game.notate(move), "camera"))
            states.append(game.apply(states[-1], move).state)
    return events


def bench_replay(game: AnyGame) -> None:
    """(c) Replaying a journal costs the same per entry however long it is."""
    events = journal_events(game, 4000)
    per_entry: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for length in (250, 1000, 4000):
            path = Path(folder) / f"{length}.sqlite"
            with Journal(path) as journal:
                journal.append(events[:length])
            with Reader(path) as reader:
                per_entry[length] = median(reader.session, 5) / length
    for length in (1000, 4000):
        what = f"(c) {game.info.name}: replay, one entry of {length} / one entry of 250"
        say(what, per_entry[length], per_entry[250], 1.3)


def bench_matching(game: AnyGame, read_s: float) -> None:
    """(d) Explaining one turn, in the slowest of a hundred positions, against reading the frame."""
    times = []
    for state, move in random_positions(game, 1000, 5):
        seen = clearly_seen(game, {**game.layout(state), **game.footprint(state, move)})
        start = time.perf_counter()
        assert match(game, state, seen)
        times.append(time.perf_counter() - start)
    p99_s = statistics.quantiles(times, n=100)[-1]
    say(f"(d) {game.info.name}: matching p99 over 1,000 positions / reading", p99_s, read_s, 5)


def clearly_seen(game: AnyGame, layout: dict) -> Observation:
    beliefs = {}
    for site, place in game.plan.places.items():
        rest = 0.01 / (len(place.faces) - 1)
        beliefs[site] = {face: 0.99 if face == layout[site] else rest for face in place.faces}
    return Observation(beliefs)


if __name__ == "__main__":
    bench_dice()
    for game in games.installed().values():
        seconds = bench_reading(game)
        bench_taught(game)
        bench_moves(game)
        bench_replay(game)
        bench_matching(game, seconds)
