"""Virtual players for a long time, watching memory and files: ``make soak ARGS=60`` (minutes)."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rules.journal import Reader

EVERY_S = 60
MOST_GROWTH_MB = 20


def family(root: int) -> dict[str, int]:
    """The processes of a running program by their part: ``table`` and ``web``."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
            parent = int(re.search(r"PPid:\s+(\d+)", (folder / "status").read_text())[1])
        except (OSError, TypeError):
            continue  # it has ended meanwhile
        if parent == root and "firmware" in words:
            found[words[words.index("firmware") + 1]] = int(folder.name)
    return found


def memory_mb(process: int) -> float:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1]) / 1024


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def soak(minutes: float) -> bool:
    """Whether it ran as steadily at the end as after the first minutes."""
    with tempfile.TemporaryDirectory() as folder:
        where = ["--state", folder, "--host", "127.0.0.1", "--port", "0"]
        command = [sys.executable, "-m", "firmware", "run", "--demo", *where]
        program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            return watch(program, Path(folder) / "journal.sqlite", minutes)
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(30)


def watch(program: subprocess.Popen, journal: Path, minutes: float) -> bool:
    start_s = time.monotonic()
    first: dict[str, tuple[int, float, int]] = {}
    while time.monotonic() - start_s < minutes * 60:
        time.sleep(min(EVERY_S, minutes * 20))
        now = {part: (p, memory_mb(p), open_files(p)) for part, p in family(program.pid).items()}
        first = first or now
        with Reader(journal) as reader:
            entries = reader.last_seq()
        figures = "; ".join(f"{part} {mb:.0f} MB, {n} files" for part, (_, mb, n) in now.items())
        print(
            f"{(time.monotonic() - start_s) / 60:6.1f} min: {entries} entries; {figures}",
            flush=True,
        )
        for part, (process, mb, files) in now.items():
            if process != first[part][0]:
                print(f"{part} was started again")
                return False
            if mb > first[part][1] + MOST_GROWTH_MB or files > first[part][2] + 5:
                print(f"{part} has grown")
                return False
    return True


if __name__ == "__main__":
    sys.exit(0 if soak(float(sys.argv[1]) if len(sys.argv) > 1 else 60) else 1)
