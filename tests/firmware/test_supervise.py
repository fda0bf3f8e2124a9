"""The processes are started together, started again after a crash, and ended together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firmware import supervise as module

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 30

RUN = "import sys; from firmware.supervise import supervise; sys.exit(supervise({children!r}))"
NOTE = "import os; f = open({path!r}, 'a'); f.write(str(os.getpid()) + '\\n'); f.close(); "
SLEEP = "import time; time.sleep(60)"
CRASH = "raise SystemExit(1)"
MISUSE = "raise SystemExit(2)"


class Run:
    """A supervisor in a process of its own; children note their process ids."""

    def __init__(self, folder, **children):
        self.notes = {name: folder / name for name in children}
        commands = {
            name: [sys.executable, "-c", NOTE.format(path=str(self.notes[name])) + code]
            for name, code in children.items()
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN.format(children=commands)], cwd=ROOT, stderr=subprocess.PIPE
        )

    def pids(self, name, count=1):
        """Wait until a child has been started so many times."""
        until_s = time.monotonic() + TIMEOUT_S
        while True:
            note = self.notes[name]
            found = note.read_text().split() if note.exists() else []
            if len(found) >= count:
                return [int(pid) for pid in found]
            assert time.monotonic() < until_s
            time.sleep(0.01)

    def end(self, number):
        self.process.send_signal(number)
        self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode


def gone(pid):
    until_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until_s:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if (Path("/proc") / str(pid) / "stat").read_text().split(") ")[1].startswith("Z"):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all(tmp_path, number):
    run = Run(tmp_path, table=SLEEP, web=SLEEP)
    pids = run.pids("table") + run.pids("web")
    assert run.end(number) == 0
    assert all(gone(pid) for pid in pids)


def test_a_crashed_child_is_started_again_and_the_other_runs_on(tmp_path):
    run = Run(tmp_path, table=CRASH, web=SLEEP)
    assert len(set(run.pids("table", 2))) >= 2
    assert len(run.pids("web")) == 1
    assert run.end(signal.SIGTERM) == 0


def test_a_killed_child_is_started_again(tmp_path):
    run = Run(tmp_path, table=SLEEP)
    (first,) = run.pids("table")
    os.kill(first, signal.SIGKILL)
    assert run.pids("table", 2)[1] != first
    assert run.end(signal.SIGTERM) == 0


def test_a_child_that_was_misused_ends_the_run(tmp_path):
    run = Run(tmp_path, table=MISUSE, web=SLEEP)
    (web,) = run.pids("web")
    run.process.communicate(timeout=TIMEOUT_S)
    assert run.process.returncode == 2
    assert gone(web)


def test_children_do_not_outlive_a_killed_run(tmp_path):
    run = Run(tmp_path, table=SLEEP)
    (child,) = run.pids("table")
    run.end(signal.SIGKILL)
    assert gone(child)


def test_the_delay_grows_and_starts_over_after_a_steady_while(monkeypatch):
    class Ended:
        def __init__(self, command, **options):
            pass

        def poll(self):
            return 1

    monkeypatch.setattr(subprocess, "Popen", Ended)
    child = module._Child("table", ["table"])
    delays, now_s = [], 0.0
    for lived_s in (1, 1, 1, 1, 1, 1, 1, 40, 1):
        module._tend(child, now_s)
        now_s += lived_s
        module._tend(child, now_s)
        delays.append(child.due_s - now_s)
        now_s = child.due_s
    assert delays == [0.5, 1, 2, 4, 8, 15, 15, 0.5, 1]
