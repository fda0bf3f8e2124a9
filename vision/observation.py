"""What the camera believes, before anybody asks whether it is allowed."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log

from rules.table import Face, Site

LEAST = 1e-6
"""Beliefs below this are taken for this, so that one frame cannot veto all others."""


@dataclass(frozen=True, slots=True)
class Observation:
    """For each readable site, how likely each face is; a covered or unreadable site is absent."""

    beliefs: Mapping[Site, Mapping[Face, float]] = field(hash=False)
    frames: int = 1
    """How many frames it was averaged from."""

    def best(self, site: Site) -> Face:
        """The likeliest face of a readable site."""
        belief = self.beliefs[site]
        return max(belief, key=lambda face: belief[face])


def average(observations: Sequence[Observation]) -> Observation:
    """One observation from several frames of a table that did not change.

    The logarithms are averaged, not added up: frames share their light, their tilt and the way
    a piece lies, so that ten of them know hardly more than one, but the noise of each is evened
    out. A site is kept if at least half of the frames could read it.
    """
    seen: defaultdict[Site, list[Mapping[Face, float]]] = defaultdict(list)
    for observation in observations:
        for site, belief in observation.beliefs.items():
            seen[site].append(belief)
    beliefs = {
        site: _geometric_mean(found)
        for site, found in seen.items()
        if 2 * len(found) >= len(observations)
    }
    return Observation(beliefs, sum(o.frames for o in observations))


def _geometric_mean(beliefs: Sequence[Mapping[Face, float]]) -> dict[Face, float]:
    faces = list(dict.fromkeys(face for belief in beliefs for face in belief))
    mean = {
        face: exp(sum(log(max(b.get(face, 0.0), LEAST)) for b in beliefs) / len(beliefs))
        for face in faces
    }
    total = sum(mean.values())
    return {face: p / total for face, p in mean.items()}
