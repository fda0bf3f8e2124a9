"""The taught pieces: how each face looks, wherever and however it lies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rules.table import Face, Site

from .light import Light
from .patches import (
    Example,
    Flags,
    Floats,
    Rows,
    centre_pieces,
    describe_colours,
    halve,
    spread_all_colours,
    stack_patches,
    to_gray,
)
from .shapes import Shapes, correlate_middles
from .trust import FAR

SITES_KEPT = 3
"""Examples of a face from so many sites are kept, if there are so many."""

SAME_SHAPE = 0.1
SAME_COLOUR = 0.03
"""Further ones are kept if they differ more than this from all kept ones of their face."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Examples of pieces, centred, in the forms in which they are compared."""

    faces: tuple[Face, ...]
    sites: list[Site]
    face_of: Rows
    """Of each example, the number of its face."""
    patches: Floats
    colours: Floats
    shapes: Shapes

    @classmethod
    def of(cls, examples: Sequence[Example], faces: tuple[Face, ...]) -> "Pieces":
        """From examples of all these faces."""
        numbers = {face: number for number, face in enumerate(faces)}
        patches = centre_pieces(stack_patches([e.patch for e in examples]))
        face_of = np.array([numbers[e.face] for e in examples])
        sites = [e.site for e in examples]
        kept = _choose_different(patches, face_of, sites)
        return cls._of(faces, [sites[i] for i in kept], face_of[kept], patches[kept], 1)

    @classmethod
    def _of(
        cls,
        faces: tuple[Face, ...],
        sites: list[Site],
        face_of: Rows,
        patches: Floats,
        turns: int,
    ) -> "Pieces":
        shapes = Shapes.of(to_gray(patches), face_of, turns)
        return cls(faces, sites, face_of, patches, describe_colours(halve(patches)), shapes)

    def turned(self, turns: int) -> "Pieces":
        """The same pieces, lying in so many steps of a full turn."""
        return replace(self, shapes=Shapes.of(to_gray(self.patches), self.face_of, turns))

    def under(self, light: Light) -> "Pieces":
        """The same pieces without what is blown or black in this light."""
        patches = light.blow(self.patches)
        return self._of(self.faces, self.sites, self.face_of, patches, self.shapes.turns)

    def allow_all(self, count: int) -> Flags:
        """That each of so many cut-outs may be any example."""
        return np.ones((count, len(self.face_of)), bool)

    def by_face(self, distances: Floats) -> Floats:
        """From distances to examples to those to the nearest one of each face."""
        order = np.argsort(self.face_of, kind="stable")
        firsts = np.flatnonzero(np.diff(self.face_of[order], prepend=-1))
        return np.minimum.reduceat(distances[:, order], firsts, axis=1).clip(max=FAR)


def _choose_different(patches: Floats, face_of: Rows, sites: list[Site]) -> list[int]:
    colours = describe_colours(halve(patches))
    gray = to_gray(patches)
    kept: list[int] = []
    for face in range(int(face_of.max()) + 1):
        mine = np.flatnonzero(face_of == face)
        alike = (1 - correlate_middles(gray[mine]) < SAME_SHAPE) & (
            spread_all_colours(colours[mine], colours[mine]) < SAME_COLOUR
        )
        chosen: list[int] = []
        for i, example in enumerate(mine.tolist()):
            seen = {sites[mine[k]] for k in chosen}
            new_site = len(seen) < SITES_KEPT and sites[example] not in seen
            if new_site or not alike[i, chosen].any():
                chosen.append(i)
        kept += mine[chosen].tolist()
    return kept
