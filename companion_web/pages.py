"""Everything that is looked at; no page changes anything."""

import segno
from flask import Blueprint, Response, abort, jsonify, make_response, redirect, request, session
from flask import render_template as fill
from flask.typing import ResponseReturnValue
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from rules import games
from rules.texts import LANGUAGES, Texts

from . import forms
from .companion import companion, key, language, rights, ui
from .errors import InvalidInput
from .live import TooManyStreams
from .render import PARTS
from .tell import Teller

blueprint = Blueprint("pages", __name__)

THEMES = ("auto", "light", "dark")
PREFERENCE_S = 365 * 24 * 3600


@blueprint.get("/")
def scoreboard() -> str:
    return show_page("scoreboard.html", "board")


@blueprint.get("/history")
def history() -> str:
    return show_page("history.html", "history")


@blueprint.get("/history/<int:number>")
def move(number: int) -> str:
    game = companion().broker.snapshot.session
    if game is None or not 1 <= number <= game.number:
        abort(404)
    return show_page("move.html", "move", number)


@blueprint.get("/setup")
def setup() -> ResponseReturnValue:
    if not rights().host:
        return redirect("/host?back=/setup", 303)
    installed = games.installed()
    running = companion().broker.snapshot.session
    chosen = request.args.get("game", running.opening.game if running else "")
    if chosen not in installed:
        chosen = next(iter(installed), "")
    speak: dict[str, Texts] = {name: games.speak(name, language()) for name in installed}
    return show_page(
        "setup.html",
        "plain",
        installed=installed,
        broken=games.broken(),
        chosen=chosen,
        speak=speak,
        longest=forms.LONGEST_NAME,
        before=running.opening if running else None,
    )


@blueprint.get("/seats")
def seats() -> ResponseReturnValue:
    if not rights().host:
        return redirect("/host?back=/seats", 303)
    address, game = companion().address(), companion().broker.snapshot.session
    names = game.opening.names if game else ()
    tokens = companion().safe.keys.seats[: len(names) or 4]
    links = [
        (n, names[n] if n < len(names) else "", f"{address}/seat/{token}")
        for n, token in enumerate(tokens)
    ]
    return show_page(
        "seats.html",
        "plain",
        links=[(n, name, link, qr(link)) for n, name, link in links],
        pin=companion().safe.keys.pin,
    )


@blueprint.get("/seat/<token>")
def sit_down(token: str) -> ResponseReturnValue:
    """Scanned from a seat's code: the phone gets the key of the seat, the address loses it."""
    if companion().safe.seat_of(token) is None:
        return answer_error(404, ui().say("seats.unknown"))
    session.permanent = True
    session["seat"] = token
    return redirect("/", 303)


@blueprint.get("/host")
def host() -> str:
    return show_page("host.html", "plain", back=forms.read_path(request.args.get("back", "/")))


@blueprint.get("/prefer")
def prefer() -> Response:
    """Language and theme of this browser, kept by itself in a cookie."""
    response = make_response(redirect(forms.read_path(request.args.get("back", "/")), 303))
    for name, allowed in (("language", LANGUAGES), ("theme", THEMES)):
        if request.args.get(name) in allowed:
            response.set_cookie(
                name, request.args[name], PREFERENCE_S, httponly=True, samesite="Lax"
            )
    return response


@blueprint.get("/live")
def live() -> ResponseReturnValue:
    seen = request.headers.get("Last-Event-ID") or request.args.get("seen", "")
    broker, client = companion().broker, request.remote_addr or ""
    try:
        events = broker.stream(key(*_which()), client, seen)
    except TooManyStreams:
        return "", 503, {"Retry-After": "30"}
    response = Response(events, mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    response.call_on_close(lambda: broker.leave(client))
    return response


@blueprint.get("/view")
def view() -> ResponseReturnValue:
    """The same as one live event, for phones that have to ask again and again."""
    rendering = companion().broker.rendering(key(*_which()))
    if request.args.get("seen") == rendering.id:
        return "", 204
    return Response(rendering.message(), mimetype="application/json")


@blueprint.get("/fitting")
def fitting() -> ResponseReturnValue:
    """Which moves some laid faces can mean: as the next one, or instead of an earlier one."""
    own, snapshot = rights(), companion().broker.snapshot
    if not own.any:
        abort(401)
    game = snapshot.session
    number = request.args.get("number", 0, int)
    if game is None or not 0 <= number <= game.number:
        abort(404)
    try:
        laid = forms.read_laid(game.game.plan, request.args.getlist("at"))
    except InvalidInput as error:
        return answer_error(400, ui().say(f"input.{error.code}"))
    which = key("move", number) if number else key("board")
    tell = Teller(snapshot, which.language)
    options = tell.corrections(game, number, laid) if number else tell.fitting(game, laid)
    renderer = companion().renderer
    scene = renderer.scene(snapshot, which) | {"options": options, "laid": laid}
    return jsonify(parts={"fitting": renderer.part("fitting", scene)})


def qr(link: str) -> Markup:
    """A code to scan; drawn with attributes only, as our pages allow no inline styles."""
    code = segno.make(link, error="m", micro=False)
    return Markup(
        code.svg_inline(scale=1, border=3, dark="#221c28", light="#ffffff", omitsize=True)
    )


def wants_json() -> bool:
    return request.accept_mimetypes.best == "application/json"


def answer_error(code: int, text: str, back: str = "/") -> Response:
    """One sentence that says what is wrong, as JSON for scripts and as a page for people."""
    if wants_json():
        response = jsonify(ok=False, code=code, message=text)
    else:
        response = make_response(show_page("error.html", "plain", text=text, back=back))
    response.status_code = code
    return response


def show_error(error: Exception) -> ResponseReturnValue:
    code = error.code if isinstance(error, HTTPException) and error.code else 500
    # The fault may lie in the pages themselves: then nothing is drawn any more.
    foreign = not companion().names.include(request.host)
    if code == 500 or foreign or request.endpoint == "static":
        return ui().say(f"error.{code}"), code, {"Content-Type": "text/plain; charset=utf-8"}
    return answer_error(code, ui().say(f"error.{code}"))


def _which() -> tuple[str, int, str]:
    page, about = request.args.get("page", "board"), request.args.get("about", "")
    if page not in PARTS or (page == "teach" and about not in games.installed()):
        abort(404)
    if page == "teach":
        if not rights().host:
            abort(403)
        return page, 0, about
    number = request.args.get("number", 0, int)
    game = companion().broker.snapshot.session
    return page, number if page == "move" and game and 0 < number <= game.number else 0, ""


def show_page(template: str, page: str, number: int = 0, game: str = "", **more: object) -> str:
    """A whole page; ``number`` and ``game`` say which move or game it is about."""
    which = key(page, number, game)
    rendering = companion().broker.rendering(which)
    scene = companion().renderer.scene(companion().broker.snapshot, which)
    theme = request.cookies.get("theme", "auto")
    address = companion().address()
    return fill(
        template,
        **{
            **scene,
            "parts": {name: Markup(html) for name, html in rendering.parts.items()},
            "version": rendering.id,
            "path": request.path,
            "theme": theme if theme in THEMES else "auto",
            "languages": LANGUAGES,
            "address": address,
            "join": qr(address) if page in ("board", "plain") else "",
            **more,
        },
    )
