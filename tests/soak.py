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
MOST_NEW_FILES = 5


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
    """The first third fills caches; from then on nothing may grow any more."""
    start_s = time.monotonic()
    first: dict[str, int] = {}
    most_mb: dict[str, float] = {}
    most_files: dict[str, int] = {}
    while (passed_min := (time.monotonic() - start_s) / 60) < minutes:
        time.sleep(min(EVERY_S, minutes * 20))
        parts = family(program.pid)
        first = first or parts
        figures = {part: (memory_mb(p), open_files(p)) for part, p in parts.items()}
        with Reader(journal) as reader:
            entries = reader.last_seq()
        shown = "; ".join(f"{part} {mb:.0f} MB, {n} files" for part, (mb, n) in figures.items())
        print(f"{passed_min:6.1f} min: {entries} entries; {shown}", flush=True)
        if parts != first:
            print(f"a process was started again: {first} became {parts}")
            return False
        for part, (mb, files) in figures.items():
            if passed_min < minutes / 3:
                most_mb[part] = max(mb, most_mb.get(part, 0))
                most_files[part] = max(files, most_files.get(part, 0))
            elif mb > most_mb[part] + MOST_GROWTH_MB or files > most_files[part] + MOST_NEW_FILES:
                print(f"{part} has grown")
                return False
    return True


if __name__ == "__main__":
    sys.exit(0 if soak(float(sys.argv[1]) if len(sys.argv) > 1 else 60) else 1)
