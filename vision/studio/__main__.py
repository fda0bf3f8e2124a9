"""``python -m vision.studio SET`` makes the pictures of a set that are missing.

A set is one of the dice sets, or the folder of a game with its ``table.toml`` and ``art/``.
"""

import argparse
from pathlib import Path
from time import perf_counter

from rules.table import Plan

from ..errors import VisionError
from .dice_sets import SETS
from .sets import PictureSet, take
from .table_sets import make_set

OUT = Path("out/studio")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vision.studio", description=__doc__)
    names = ", ".join(SETS)
    parser.add_argument("sets", nargs="+", metavar="SET", help=f"{names}, or a game's folder")
    parser.add_argument("--count", type=int, help="pictures in a set")
    parser.add_argument("--seed", type=int, help="of the first picture")
    parser.add_argument("--photos", type=int, default=15, help="of a game's table, in each room")
    parser.add_argument("--prints", action="store_true", help="another printed board in each room")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    for name in arguments.sets:
        if name in SETS:
            chosen = SETS[name]
        elif (Path(name) / "table.toml").exists():
            plan = Plan.load(Path(name))
            chosen = make_set(plan, arguments.photos, arguments.prints)
        else:
            parser.error(f"{name}: expected {names} or a folder with a table.toml")
        first = chosen.first_seed if arguments.seed is None else arguments.seed
        seeds = range(first, first + (arguments.count or chosen.count))
        try:
            _make(chosen, arguments.out / Path(name).name, seeds)
        except VisionError as error:
            parser.error(str(error))


def _make(chosen: PictureSet, folder: Path, seeds: range) -> None:
    made, started_s = 0, 0.0
    for n, new in enumerate(take(chosen, folder, seeds), 1):
        left = ""
        if made > 1:
            left_s = (perf_counter() - started_s) / (made - 1) * (len(seeds) - n + 1)
            left = f", about {left_s / 60:.0f} min left"
        elif made:
            # The first picture takes longer: the tracer is compiled for it.
            started_s = perf_counter()
        made += new
        print(f"\r{folder.name}: {n} of {len(seeds)}{left}   ", end="", flush=True)
    print(f"\n{folder.name}: {made} new, {len(seeds) - made} kept, in {folder}")


if __name__ == "__main__":
    main()
