"""The host teaches the camera what the pieces of the box look like."""

from io import BytesIO

from flask import Blueprint, abort, redirect, request, send_file
from flask.typing import ResponseReturnValue

from rules import games
from rules.commands import (
    DropDraft,
    DropPicture,
    KeepLesson,
    LabelCuts,
    TakePicture,
    TapBoard,
    UseLesson,
)
from rules.errors import InvalidValue
from rules.lessons import Lessons, pack
from rules.teaching import tap_sites, view_size, view_to_mm

from . import board, forms
from .api import send
from .companion import companion, rights
from .pages import show_page

blueprint = Blueprint("teach", __name__, url_prefix="/teach/<game>")

KEPT_S = 365 * 24 * 3600

VIEW_WIDTH_PX = 264
"""Of the picture of the table on the page: a phone tells where it was tapped in these pixels."""


@blueprint.before_request
def _admit() -> ResponseReturnValue | None:
    game = (request.view_args or {}).get("game", "")
    if not rights().host:
        if request.method == "GET":
            return redirect(f"/host?back=/teach/{game}", 303)
        abort(403)
    if game not in games.installed():
        abort(404)
    return None


@blueprint.get("")
def lesson(game: str) -> str:
    return show_page("teach.html", "teach", game=game)


@blueprint.get("/<int:number>/<name>.png")
def cut(game: str, number: int, name: str) -> ResponseReturnValue:
    """A cut-out of a version, or of the draft (0); its name says its contents."""
    try:
        png = _lessons(game).png(name, number or None)
    except LookupError:
        abort(404)
    return send_file(BytesIO(png), "image/png", max_age=KEPT_S)


@blueprint.get("/<int:number>.zip")
def export(game: str, number: int) -> ResponseReturnValue:
    """A version as a file, to be kept elsewhere or taken to another table."""
    try:
        data = pack(_lessons(game).load(number))
    except InvalidValue:
        abort(404)
    name = f"tafelmaat-{game}-{number}.zip"
    return send_file(BytesIO(data), "application/zip", as_attachment=True, download_name=name)


@blueprint.post("/picture")
def take_picture(game: str) -> ResponseReturnValue:
    kind = forms.read_picture(request.form)
    return send(TakePicture(game, kind, request.form.get("anew") == "1"))


@blueprint.post("/label")
def label(game: str) -> ResponseReturnValue:
    return send(LabelCuts(game, forms.read_labels(games.find(game).plan, request.form)))


@blueprint.post("/drop")
def drop(game: str) -> ResponseReturnValue:
    picture = request.form.get("picture")
    number = forms.read_number(request.form, "picture") if picture else 0
    return send(DropPicture(game, number) if picture else DropDraft(game))


@blueprint.post("/keep")
def keep(game: str) -> ResponseReturnValue:
    return send(KeepLesson(game, gaps=request.form.get("gaps") == "1"))


@blueprint.post("/use")
def use(game: str) -> ResponseReturnValue:
    return send(UseLesson(game, forms.read_number(request.form, "number")))


@blueprint.get("/table.png")
def view(game: str) -> ResponseReturnValue:
    """The whole table as it was last photographed."""
    png = _lessons(game).view()
    if png is None:
        abort(404)
    return send_file(BytesIO(png), "image/png", max_age=0)


@blueprint.get("/board")
def show_board(game: str) -> ResponseReturnValue:
    """Where the board lies: four taps, one a page; the picture itself is the button."""
    plan = games.find(game).plan
    if not _lessons(game).has_view:
        return redirect(f"/teach/{game}", 303)
    taps = forms.read_taps(request.args)
    sites = tap_sites(plan)
    site = sites[len(taps)] if len(taps) < len(sites) else None
    width, height = view_size(plan)
    return show_page(
        "teach_board.html",
        "plain",
        about=game,
        taps=taps,
        text=" ".join(f"{x},{y}" for x, y in taps),
        site=site,
        where=board.show_site(plan, site) if site else "",
        width=VIEW_WIDTH_PX,
        height=round(VIEW_WIDTH_PX * height / width),
    )


@blueprint.post("/board")
def tap_board(game: str) -> ResponseReturnValue:
    plan = games.find(game).plan
    shown = view_size(plan)[0] / VIEW_WIDTH_PX
    taps = forms.read_taps(request.form)
    return send(TapBoard(game, tuple(view_to_mm(x * shown, y * shown) for x, y in taps)))


def _lessons(game: str) -> Lessons:
    return Lessons(companion().state_dir, game)
