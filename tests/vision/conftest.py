"""A table of draughts: a grid, an outline and a thickness of its own for the tests here."""

from pathlib import Path

import pytest

from rules.table import Face, Plan, Site

TABLE = """
size_mm = [380, 340]
ground = "#d8c9a6"

[areas.board]
grid = "square"
at_mm = [64, 44]
pitch_mm = 36
rows = 8
columns = 8
pieces = ["man"]
cells = [{ art = "field" }]

[pieces.man]
outline = "round"
width_mm = 30
thickness_mm = 8
turns = 12
colour = "#303030"
faces = { white = "W", red = "R" }
"""

ART = {
    "field": '<rect x="-17" y="-17" width="34" height="34" fill="#b08a5a"/>',
    "white": '<circle r="14" fill="#f4f4f4"/><path d="M0 -9L3 0L-3 0Z" fill="#444"/>',
    "red": '<circle r="14" fill="#c02020"/><path d="M0 -9L3 0L-3 0Z" fill="#eee"/>',
}


@pytest.fixture(scope="session")
def draughts(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder: Path = tmp_path_factory.mktemp("draughts")
    (folder / "table.toml").write_text(TABLE)
    (folder / "art").mkdir()
    for name, content in ART.items():
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-18 -18 36 36">{content}</svg>'
        (folder / "art" / f"{name}.svg").write_text(svg)
    return Plan.load(folder)


@pytest.fixture(scope="session")
def opening(draughts: Plan) -> dict[Site, Face]:
    """Three rows of men on each side."""
    rows = {"abc": Face("white"), "fgh": Face("red")}
    return {
        site: face
        for letters, face in rows.items()
        for site in draughts.sites
        if site[0] in letters and (ord(site[0]) + int(site[1])) % 2
    }
