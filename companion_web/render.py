"""Draws the parts of a page; the same templates serve the first load and every live change."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from rules import games
from rules.errors import RulesError
from rules.events import MoveRefused
from rules.session import Ply, Session
from rules.table import EMPTY, Layout

from . import board
from .classroom import visit
from .live import Key, Parts
from .tell import Teller
from .view import Snapshot, lying, ply_of, state_before

PARTS: Mapping[str, tuple[str, ...]] = {
    "board": (
        *("state", "banner", "turn", "scores", "pieces", "marks"),
        *("edit", "panel", "last", "controls", "say"),
    ),
    "history": ("state", "banner", "moves", "say"),
    "move": ("state", "banner", "scores", "pieces", "marks", "edit", "last", "say"),
    "plain": ("state", "banner", "say"),
    "teach": ("state", "banner", "lesson", "say"),
}
"""The live parts of each kind of page; each is a template ``parts/<name>.html``."""


class Renderer:
    """Templates filled with what one phone may see."""

    def __init__(self, templates: Environment, state_dir: Path) -> None:
        self._templates = templates
        self._state_dir = state_dir
        templates.filters["clock"] = _clock

    def parts(self, snapshot: Snapshot, key: Key) -> Parts:
        scene = self.scene(snapshot, key)
        return {name: self.part(name, scene) for name in PARTS[key.page]}

    def part(self, name: str, scene: Mapping[str, Any]) -> Markup:
        return Markup(self._templates.get_template(f"parts/{name}.html").render(scene).strip())

    def scene(self, snapshot: Snapshot, key: Key) -> dict[str, Any]:
        """All values that the templates use."""
        tell = Teller(snapshot, key.language)
        session = snapshot.session
        scene: dict[str, Any] = {
            "t": tell.ui.say,
            "tell": tell,
            "snapshot": snapshot,
            "status": snapshot.status,
            "rights": key.rights,
            "language": key.language,
            "page": key.page,
            "number": key.number,
            "state": tell.state(),
            "session": session,
        }
        if key.game:
            return scene | self._lesson(snapshot, key)
        if session is None:
            return scene
        ply = ply_of(session, key.number) if key.page == "move" else session.last
        question = snapshot.status.question if snapshot.status else None
        refusal = snapshot.record.refusal if key.page == "board" and not question else None
        return scene | {
            "plan": session.game.plan,
            "base": board.base(session.opening.game),
            "tint": partial(board.tint, session.game.plan),
            "icon_box": partial(board.icon_box, session.game.plan),
            "names": session.opening.names,
            "ply": ply,
            "standings": session.game.standings(ply.state if ply else session.beginning),
            "question": question if key.page == "board" else None,
            "refusal": refusal,
            **_layers(snapshot, key, session, ply, refusal),
        }

    def _lesson(self, snapshot: Snapshot, key: Key) -> dict[str, Any]:
        """What is taught of a game, be it played now or not."""
        plan, speak = games.find(key.game).plan, games.speak(key.game, key.language)
        return {
            "room": visit(self._state_dir, key.game, snapshot.status),
            "plan": plan,
            "base": board.base(key.game),
            "icon_box": partial(board.icon_box, plan),
            "speak": speak,
        }


def _layers(
    snapshot: Snapshot, key: Key, session: Session, ply: Ply | None, refusal: MoveRefused | None
) -> dict[str, Any]:
    """The pieces and marks on the board."""
    game, plan = session.game, session.game.plan
    marks = []
    layout, missing = lying(snapshot, session)
    if key.page == "move":
        layout, missing = game.layout(ply.state if ply else session.state), {}
    ghosts = dict(missing)
    if refusal is not None:
        if not snapshot.virtual:
            ghosts |= _shown_by(session, refusal)
        wrong = dict.fromkeys(s for v in refusal.violations for s in v.sites)
        marks.append(board.outlines(plan, wrong, "wrong"))
    elif ply is not None:
        before = ply.previous.state if ply.previous else session.beginning
        laid = game.footprint(before, game.parse(ply.move))
        marks.append(board.outlines(plan, laid, "laid"))
        marks += [
            board.stroke(plan, line.sites, n, line.points) for n, line in enumerate(ply.lines)
        ]
    marks.append(board.outlines(plan, missing, "differs"))
    question = snapshot.status.question if snapshot.status and key.page == "board" else None
    if question is not None:
        marks.append(board.outlines(plan, (d.site for d in question.differences), "asked"))
    return {
        "start": _editable(session, key, ply),
        "pieces": board.pieces(plan, layout, ghosts),
        "marks": Markup("").join(marks),
        "lying": sum(face != EMPTY for face in layout.values()),
        "differs": len(missing),
    }


def _editable(session: Session, key: Key, ply: Ply | None) -> tuple[Layout, Layout]:
    """What the move on a move's page laid, and what lay there before; the editor begins with it."""
    held = next((h for h in session.held if h.number == key.number), None)
    text = ply.move if ply else held.move if held else ""
    if key.page != "move" or not text:
        return {}, {}
    state = state_before(session, key.number)
    laid = session.game.footprint(state, session.game.parse(text))
    before = session.game.layout(state)
    return laid, {site: before[site] for site in laid}


def _shown_by(session: Session, refusal: MoveRefused) -> Layout:
    """What the refused moves put on the table."""
    shown: dict[Any, Any] = {}
    for text in refusal.moves:
        try:
            shown |= session.game.footprint(session.state, session.game.parse(text))
        except RulesError:
            return {}
    return shown


def _clock(at: datetime) -> str:
    return f"{at.astimezone():%H:%M}"
