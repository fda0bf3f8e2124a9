"""What the referee says about a move."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .table import Site


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: a code for programs, the rule's id, where, and fields for the text."""

    code: str
    rule: str
    sites: tuple[Site, ...] = ()
    fields: Mapping[str, str | int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """All broken rules, or none; and the rules that the table cannot show."""

    violations: tuple[Violation, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def legal(self) -> bool:
        return not self.violations


LEGAL = Verdict()
