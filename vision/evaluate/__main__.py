"""``python -m vision.evaluate SET...``: how well sets of photographs with truth are read."""

import csv
import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import click

from rules.errors import RulesError

from ..errors import VisionError
from . import Summary
from .change import CHANGES


@click.command()
@click.argument("sets", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--teach-from", multiple=True, help="Game, group or beginning of an image's path.")
@click.option("--without", type=click.File("r"), help="File with names of photos to leave out.")
@click.option("--change", type=click.Choice(CHANGES), help="Change the photos that are read.")
@click.option("--out", default="out/photos", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the figures for machines.")
def main(
    sets: tuple[Path, ...],
    teach_from: tuple[str, ...],
    without: TextIO | None,
    change: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Measure every set: a CSV line per photo, a summary, a picture per mistake in OUT."""
    left_out = frozenset(without.read().split()) if without else frozenset()
    figures = {}
    for folder in sets:
        if len(sets) > 1 and folder.is_file():
            continue  # a README beside the sets
        try:
            summary = _measure(folder, out / folder.name, teach_from, left_out, change)
        except (RulesError, VisionError) as error:
            print(error, file=sys.stderr)
            sys.exit(2)
        figures[folder.name] = summary.figures
        _write_rows(summary, out / folder.name / "photos.csv")
        if not as_json:
            print(f"== {folder.name}", *summary.lines, sep="\n")
    if as_json:
        print(json.dumps(figures))


def _measure(
    folder: Path,
    out: Path,
    teach_from: tuple[str, ...],
    left_out: frozenset[str],
    change: str | None,
) -> Summary:
    path = folder / "truth.json"
    try:
        truth: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VisionError(
            f"{path}: expected a set of photographs with truth, got {error}"
        ) from error
    kind = truth.get("kind") if isinstance(truth, dict) else truth
    if not isinstance(kind, str) or not kind.isidentifier() or not _is_known(kind):
        raise VisionError(
            f"{path}: kind: expected a kind of set that can be measured, got {kind!r}"
        )
    measure = import_module(f"{__package__}.{kind}").measure
    try:
        photos = [p for p in truth["photos"] if Path(p["image"]).stem not in left_out]
        truth = {**truth, "photos": photos}
        summary: Summary = measure(truth, folder, out, teach_from, change=change)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, RulesError | VisionError):
            raise
        raise VisionError(f"{path}: expected a set of kind {kind}, got {error!r}") from error
    return summary


def _is_known(kind: str) -> bool:
    name = f"{__package__}.{kind}"
    known = not kind.startswith("_") and find_spec(name) is not None
    return known and hasattr(import_module(name), "measure")


def _write_rows(summary: Summary, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in summary.rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(summary.rows)


if __name__ == "__main__":
    main()
