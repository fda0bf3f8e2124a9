"""Moves entered by hand: from a few laid faces to the moves they can mean."""

from .game import AnyGame, Game, MoveT, StateT
from .table import Layout


def fitting(game: Game[StateT, MoveT], state: StateT, laid: Layout) -> list[MoveT]:
    """The well-formed moves that change the table exactly as ``laid`` does."""
    before = game.layout(state)
    wanted = {site: face for site, face in laid.items() if before.get(site) != face}
    if not wanted:
        return []
    near = frozenset(wanted)
    return [m for m in game.candidates(state, near) if game.footprint(state, m) == wanted]


def quiet(game: AnyGame, state: object) -> list[str]:
    """The legal moves that leave the table as it is, so that somebody has to declare them."""
    return [
        game.notate(m) for m in game.candidates(state, frozenset()) if game.check(state, m).legal
    ]
