"""Starts the processes of the appliance together and starts a crashed one again."""

import ctypes
import logging
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from time import monotonic

log = logging.getLogger(__name__)

FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 15.0
STEADY_S = 30.0
"""Who has run for so long starts again without delay, and with a clean record."""
TICK_S = 0.2
STOP_S = 10.0
MISUSED = 2
"""The exit code of a process that has said what is wrong: starting it again would not help."""


PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


@dataclass(slots=True)
class _Child:
    name: str
    command: Sequence[str]
    process: "subprocess.Popen[bytes] | None" = None
    started_s: float = 0.0
    due_s: float = 0.0
    delay_s: float = FIRST_DELAY_S


def supervise(commands: Mapping[str, Sequence[str]], clock: Callable[[], float] = monotonic) -> int:
    """Keep the processes running until a signal comes; returns the exit code for ours."""
    stopped = Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopped.set())
    children = [_Child(name, command) for name, command in commands.items()]
    code = 0
    try:
        while not stopped.is_set():
            for child in children:
                if _tend(child, clock()):
                    code = MISUSED
                    stopped.set()
            stopped.wait(TICK_S)
    finally:
        _end(children)
    return code


def _tend(child: _Child, now_s: float) -> bool:
    """Start a child that is due, and notice one that has ended; whether to give up."""
    if child.process is None:
        if now_s >= child.due_s:
            child.process = subprocess.Popen(child.command, preexec_fn=_end_with_parent)
            child.started_s = now_s
        return False
    code = child.process.poll()
    if code is None:
        return False
    child.process = None
    if code == MISUSED:
        return True
    if now_s - child.started_s >= STEADY_S:
        child.delay_s = FIRST_DELAY_S
    log.error("%s ended with code %d; starting it again in %g s", child.name, code, child.delay_s)
    child.due_s = now_s + child.delay_s
    child.delay_s = min(2 * child.delay_s, LONGEST_DELAY_S)
    return False


def _end_with_parent() -> None:
    """Asks the kernel for SIGTERM when the parent is gone, however it went."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(children: Sequence[_Child]) -> None:
    running = [c.process for c in children if c.process is not None]
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
