"""Sets of pictures with their truth, in the format that ``vision.evaluate`` reads."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .studio import Album, Shot

Entry = tuple[Shot, dict[str, Any]]
"""A picture to be taken and what its truth says."""


@dataclass(frozen=True)
class PictureSet:
    """How the pictures of a set are drawn from seeds, and what its truth says of all of them."""

    draw: Callable[[int], Entry]
    head: Mapping[str, Any]
    count: int
    first_seed: int


def take(chosen: PictureSet, folder: Path, seeds: range) -> Iterator[bool]:
    """Make what is missing and write ``truth.json``; yields whether each picture is new."""
    album = Album(folder / "images")
    photos: list[dict[str, Any]] = []
    for seed in seeds:
        shot, truth = chosen.draw(seed)
        path = album.path(shot)
        new = not path.exists()
        yield new
        album.picture(shot)
        photos.append({"image": path.relative_to(folder).as_posix(), **truth})
        if new or seed == seeds[-1]:
            whole = {**chosen.head, "photos": photos}
            (folder / "truth.json").write_text(json.dumps(whole, indent=1))
