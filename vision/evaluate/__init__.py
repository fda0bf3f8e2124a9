"""Measures the vision on sets of photographs with truth."""

from dataclasses import dataclass, field


@dataclass
class Summary:
    """What was measured: a table to print, one row per photo, and figures for machines."""

    lines: list[str]
    rows: list[dict[str, object]]
    figures: dict[str, float] = field(default_factory=dict)
