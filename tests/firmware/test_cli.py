"""The command line: what it prints, and that every fault of ours is one sentence."""

import csv
import io
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from firmware.cli import main
from rules import games
from rules.commands import Correct, PlayMoves, StartGame, TakeBack
from rules.journal import Journal
from rules.session import decide, evolve
from vision.cameras.virtual import CALM, VirtualCamera, VirtualTable

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 60


def call(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def sentence(result):
    """The one line of an expected failure."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    (line,) = result.stderr.strip().splitlines()
    return line


@pytest.fixture
def journal(tmp_path, noughts):
    """Two games; the second with a refusal, a correction and a move taken back."""
    path = tmp_path / "journal.sqlite"
    session = None
    with closing(Journal(path)) as writer:

        def do(command):
            nonlocal session
            for event in decide(session, command):
                session = evolve(session, event, writer.append([event]))

        do(StartGame("noughts", "basic", ("Zoe", "Yan"), 0))
        do(StartGame("noughts", "basic", ("Ann", "=SUM(A1)"), 1))
        do(PlayMoves(("cross@b2",), 2, 0, "camera"))
        do(PlayMoves(("nought@b2",), 3, 1, "camera"))
        do(PlayMoves(("nought@a1", "cross@a2", "nought@a3"), 4))
        do(Correct(3, "cross@c2", 7))
        do(TakeBack(8))
        do(PlayMoves(("nought@b1", "cross@a2"), 9))
    return path


def test_games_lists_variants_and_seats(noughts):
    result = call("games")
    assert result.exit_code == 0
    assert "noughts" in result.output
    assert "  basic: for 2" in result.output


def test_games_names_a_broken_folder_and_the_reason(tmp_path):
    bad = tmp_path / "wrecked"
    bad.mkdir()
    (bad / "__init__.py").write_text(
        "from rules.table import Plan\nfrom pathlib import Path\n"
        "PLAN = Plan.load(Path(__file__).parent)\n"
    )
    environ = {**os.environ, "TAFELMAAT_GAMES": str(tmp_path)}
    command = [sys.executable, "-m", "firmware", "games"]
    result = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"wrecked: cannot be used: .*table\.toml", result.stdout)


def test_replay_tells_the_newest_game_with_reasons(journal):
    result = call("replay", journal)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert "Ann, =SUM(A1)" in lines[1]
    assert "Zoe" not in result.output
    assert any(re.match(r" +1\. Ann: .*b2.*\[camera\]", line) for line in lines)
    assert any("refused: " in line and "(NO-1)" in line for line in lines)
    assert "move 3 corrected" in result.output
    assert "move 4 taken back" in result.output
    assert lines[-1].endswith("Winner: Ann.")


@pytest.mark.parametrize("language", ["en", "nl", "ru"])
def test_replay_has_no_text_missing(journal, language):
    result = call("replay", journal, "--language", language)
    assert result.exit_code == 0
    assert not re.search(r"\[(?!camera|web|panel|cli)", result.output)


def test_replay_of_an_older_game(journal):
    assert "Zoe" in call("replay", journal, "--game", 1).output
    assert "expected game 1 to 2, got 3" in sentence(call("replay", journal, "--game", 3))


def test_replay_takes_the_journal_of_the_state_folder(journal):
    assert "Ann" in call("replay", "--state", journal.parent).output


@pytest.mark.parametrize("content", [None, b"", b"not a database at all, but long enough" * 99])
def test_replay_of_something_else_is_one_sentence(tmp_path, content):
    path = tmp_path / "other.sqlite"
    if content is not None:
        path.write_bytes(content)
    assert "other.sqlite: expected a journal" in sentence(call("replay", path))


def test_replay_of_an_empty_journal(tmp_path):
    path = tmp_path / "journal.sqlite"
    Journal(path).close()
    assert "expected at least one game" in sentence(call("replay", path))


def test_export_as_json_holds_entries_moves_and_standings(journal):
    data = json.loads(call("export", journal).output)
    kinds = [e["kind"] for e in data["entries"]]
    assert kinds[0] == "game_started"
    assert {"move_refused", "move_corrected", "move_taken_back"} <= set(kinds)
    assert [m["move"] for m in data["moves"]][:3] == ["cross@b2", "nought@a1", "cross@c2"]
    assert data["standings"]["winners"] == [0]


def test_export_as_csv_has_a_row_for_every_score_line(journal):
    rows = list(csv.DictReader(io.StringIO(call("export", journal, "--format", "csv").output)))
    assert [r["number"] for r in rows] == ["1", "2", "3", "4", "5"]
    assert rows[-1]["points"] == "1"
    assert rows[-1]["sites"] == "a2 b2 c2"
    assert rows[1]["player"] == "'=SUM(A1)"


def test_export_as_text_is_the_story(journal):
    assert call("export", journal, "--format", "txt").output == call("replay", journal).output


@pytest.fixture
def picture(tmp_path, noughts):
    table = VirtualTable(noughts.plan, {"b2": "cross", "c1": "nought"})
    path = tmp_path / "table.png"
    cv2.imwrite(str(path), VirtualCamera(table, CALM, size=(1280, 720)).read().bgr)
    return path


def test_look_tells_what_lies_where(picture, tmp_path):
    out = tmp_path / "seen.png"
    result = call("look", picture, "--game", "noughts", "--out", out)
    assert result.exit_code == 0, result.output
    assert "cards: 1, 2, 3, 4" in result.output
    assert "lying: 2 of 9 sites" in result.output
    assert re.search(r"b2 +cross +(9\d\.\d|100\.0)%", result.output)
    assert re.search(r"c1 +nought", result.output)
    drawn = cv2.imread(str(out))
    assert drawn.shape == (720, 1280, 3)
    assert (drawn != cv2.imread(str(picture))).any()


def test_look_without_cards_says_so(tmp_path, noughts):
    path = tmp_path / "grey.png"
    cv2.imwrite(str(path), np.full((480, 640, 3), 128, np.uint8))
    result = call("look", path, "--game", "noughts")
    assert result.exit_code == 0
    assert "cards: none" in result.output
    assert "trouble: The camera sees none of the corner cards. Point it at" in result.output
    assert "table: not in view" in result.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exposure_ev": -7.0}, "too dark"),
        ({"blur_px": 6.0}, "blurred"),
        ({"covered_cards": 2}, "Not in view: card"),
        ({"exposure_ev": 5.0}, "too bright"),
    ],
    ids=str,
)
def test_look_says_what_is_wrong_with_a_picture(tmp_path, noughts, change, words):
    camera = VirtualCamera(VirtualTable(noughts.plan), replace(CALM, **change), size=(1280, 720))
    path = tmp_path / "bad.png"
    cv2.imwrite(str(path), camera.read().bgr)
    output = call("look", path, "--game", "noughts").output
    assert re.search(f"trouble: .*{words}", output)


def test_look_finds_a_board_that_was_pushed(tmp_path):
    table = VirtualTable(games.find("ingenious").plan, {"h8": "red", "c9": "blue"})
    table.push(15, -8, 5)
    path = tmp_path / "pushed.png"
    cv2.imwrite(str(path), VirtualCamera(table, CALM, size=(1280, 720)).read().bgr)
    output = call("look", path, "--game", "ingenious").output
    assert re.search(r"board: found up to (3[0-9]|4[0-9]) mm from its place", output)
    assert "lying: 2 of 169 sites" in output
    assert re.search(r"h8 +red", output)
    assert re.search(r"c9 +blue", output)


@pytest.mark.parametrize("content", [None, b"", b"GIF89a", b"\x89PNG\r\n\x1a\n broken"])
def test_look_at_something_else_is_one_sentence(tmp_path, noughts, content):
    path = tmp_path / "thing.png"
    if content is not None:
        path.write_bytes(content)
    assert "thing.png: expected a JPEG or PNG picture" in sentence(
        call("look", path, "--game", "noughts")
    )


def test_look_needs_a_game_that_is_there_and_a_place_that_can_be_written(picture, tmp_path):
    assert "game: expected one of" in sentence(call("look", picture, "--game", "chess"))
    nowhere = tmp_path / "nowhere" / "x.png"
    fault = sentence(call("look", picture, "--game", "noughts", "--out", nowhere))
    assert "expected a place for a .png or .jpg picture" in fault


def test_print_cards(tmp_path):
    out = tmp_path / "cards.pdf"
    assert call("print", "cards", out).exit_code == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert "nowhere" in sentence(call("print", "cards", tmp_path / "nowhere" / "cards.pdf"))


def test_wrong_settings_are_one_sentence(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("camra = 'x'")
    for command in ("run", "table", "web"):
        assert "did you mean camera" in sentence(call(command, "--settings", path))


@pytest.mark.parametrize(("host", "word"), [("127.0.0.1", "in use"), ("no.such.host.invalid", "")])
def test_a_place_where_no_pages_can_be_is_one_sentence(tmp_path, host, word):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "firmware", "web", "--state", str(tmp_path)]
        command += ["--host", host, "--port", str(port)]
        result = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert f"pages at {host}:{port}: " in result.stderr
    assert word in result.stderr


@pytest.fixture
def short_folder(tmp_path_factory):
    """A state folder with room for a socket's name."""
    return tmp_path_factory.mktemp("s")


def start_table(folder, *more):
    command = [sys.executable, "-m", "firmware", "table", "--state", folder, *more]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def wait_for(condition):
    until_s = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < until_s
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_table_process_answers_and_ends_on_a_signal(short_folder, number):
    process = start_table(short_folder, "--camera", "virtual")
    path = short_folder / "table.sock"
    wait_for(path.exists)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b'{"kind": "watch"}\n')
        assert b'"mode":"idle"' in client.recv(65536)
        process.send_signal(number)
        _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, errors
    assert not path.exists()


def test_a_second_table_on_the_same_journal_is_turned_away(short_folder):
    first = start_table(short_folder, "--camera", "virtual")
    wait_for((short_folder / "table.sock").exists)
    second = start_table(short_folder, "--camera", "virtual")
    _, errors = second.communicate(timeout=TIMEOUT_S)
    assert second.returncode == 2
    assert "another table is already running" in errors
    assert "Traceback" not in errors
    assert (short_folder / "table.sock").exists()
    first.terminate()
    _, errors = first.communicate(timeout=TIMEOUT_S)
    assert first.returncode == 0, errors


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--camera", "telescope"), "camera: expected one of auto, folder"),
        (("--camera", "folder:/tmp", "--demo"), "--demo: expected the camera virtual"),
    ],
)
def test_a_camera_that_makes_no_sense_is_one_sentence(short_folder, more, message):
    process = start_table(short_folder, *more)
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 2
    assert message in errors
    assert "Traceback" not in errors


def test_a_camera_that_is_not_there_is_reported_and_the_table_still_plays(short_folder):
    process = start_table(short_folder, "--camera", "folder:/nonexistent")
    path = short_folder / "table.sock"
    wait_for(path.exists)
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(TIMEOUT_S)
        client.connect(str(path))
        client.sendall(
            b'{"kind": "start_game", "game": "ingenious", "variant": "basic", '
            b'"names": ["Ann", "Ben"], "seen": 0}\n{"kind": "watch"}\n'
        )
        lines = client.makefile()
        assert json.loads(lines.readline())["code"] == "booked"
        status = json.loads(lines.readline())["status"]
        while status["mode"] != "camera_lost":
            status = json.loads(lines.readline())["status"]
        assert "/nonexistent" in status["problem"]
        lines.close()
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0


def test_run_starts_table_and_pages_and_a_killed_table_comes_back(short_folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "firmware", "run", "--camera", "virtual"]
    command += ["--state", str(short_folder), "--host", "127.0.0.1", "--port", str(port)]
    run = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    path = short_folder / "table.sock"
    wait_for(lambda: answers(path))
    wait_for(lambda: page(port))
    table_pid = peer(path)
    os.kill(table_pid, signal.SIGKILL)
    wait_for(lambda: answers(path) and peer(path) != table_pid)
    assert page(port)
    run.terminate()
    out, errors = run.communicate(timeout=TIMEOUT_S)
    assert run.returncode == 0, errors
    assert str(port) in out, "the banner says where the pages are"
    assert "table ended with code -9; starting it again" in errors
    assert "Traceback" not in errors
    assert not path.exists()


def answers(path):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
            client.sendall(b'{"kind": "watch"}\n')
            return client.recv(65536).startswith(b'{"status"')
        except OSError:
            return False


def peer(path):
    """The process at the other end."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        return struct.unpack("iII", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def page(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
