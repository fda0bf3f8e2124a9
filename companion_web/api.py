"""Everything that changes something: each write needs rights and goes to the table process."""

from flask import Blueprint, abort, jsonify, make_response, redirect, request, session
from flask.typing import ResponseReturnValue

from rules import games
from rules.commands import (
    Answer,
    Command,
    Correct,
    Lay,
    PlayMoves,
    Press,
    Request,
    StartGame,
    TakeBack,
    Tidy,
)
from rules.errors import RulesError
from rules.game import Seat
from rules.session import Session

from . import forms
from .access import Rights
from .companion import companion, rights, ui
from .errors import InvalidInput, TableAway
from .pages import answer_error, wants_json
from .view import ply_of

blueprint = Blueprint("api", __name__)

STATUS = {"booked": 200, "done": 200, "refused": 200, "stale": 409, "invalid": 400}
"""HTTP codes of the table's replies; any other reply means that it cannot do it now: 503."""


@blueprint.post("/start")
def start() -> ResponseReturnValue:
    own = _rights()
    if not own.host:
        abort(403)
    form = request.form
    variant, _, seats = form.get("version", "").partition(":")
    try:
        info = games.find(form.get("game", "")).info
        options = {o.name: form.get(f"option-{o.name}", o.values[0]) for o in info.options}
        setup = info.setup(variant, int(seats) if seats.isdecimal() else 0, options)
    except RulesError as error:
        raise InvalidInput("setup") from error
    names = forms.read_names(form, setup.seats)
    seen = forms.read_number(form, "seen")
    return send(StartGame(info.name, setup.variant, names, seen, setup.options))


@blueprint.post("/play")
def play() -> ResponseReturnValue:
    own = _rights()
    move = forms.read_move(request.form)
    return send(PlayMoves((move,), forms.read_number(request.form, "seen"), own.by))


@blueprint.post("/take-back")
def take_back() -> ResponseReturnValue:
    own, game = _rights(), _session()
    seen = forms.read_number(request.form, "seen")
    last = game.last.seat if game.last else None
    # A held move belongs to nobody for sure, so that any player may clear it away.
    if seen == game.seq and not game.held and not own.covers(last):
        abort(403)
    return send(TakeBack(seen, own.by))


@blueprint.post("/correct")
def correct() -> ResponseReturnValue:
    own, game = _rights(), _session()
    seen, number = (forms.read_number(request.form, f) for f in ("seen", "number"))
    ply = ply_of(game, number)
    if seen == game.seq and ply is not None and not own.covers(ply.seat):
        abort(403)
    return send(Correct(number, forms.read_move(request.form), seen, own.by))


@blueprint.post("/answer")
def answer() -> ResponseReturnValue:
    own = _rights()
    number = forms.read_number(request.form, "question")
    status = companion().broker.snapshot.status
    asked = status.question if status else None
    if asked is not None and asked.number == number and not own.covers(asked.seat):
        abort(403)
    none = request.form.get("choice") == "none"
    choice = None if none else forms.read_number(request.form, "choice")
    return send(Answer(number, choice, own.by))


@blueprint.post("/press")
def press() -> ResponseReturnValue:
    own = _rights()
    seat = Seat(forms.read_number(request.form, "seat"))
    if not own.covers(seat):
        abort(403)
    return send(Press(seat, request.form.get("long") == "1"))


@blueprint.post("/lay")
def lay() -> ResponseReturnValue:
    _rights()
    return send(Lay(forms.read_laid(_session().game.plan, request.form.getlist("at"))))


@blueprint.post("/tidy")
def tidy() -> ResponseReturnValue:
    _rights()
    return send(Tidy())


@blueprint.post("/renew")
def renew() -> ResponseReturnValue:
    """New seat links; whoever holds an old one has to scan again."""
    if not _rights().host:
        abort(403)
    companion().safe.renew_seats()
    return redirect("/seats", 303)


@blueprint.post("/host")
def become_host() -> ResponseReturnValue:
    client, guesses = request.remote_addr or "", companion().guesses
    wait_s = guesses.wait_s(client)
    if wait_s:
        response = make_response(answer_error(429, ui().say("host.wait", seconds=wait_s)))
        response.headers["Retry-After"] = str(wait_s)
        return response
    if not companion().safe.opens(request.form.get("pin", "").strip()):
        guesses.failed(client)
        return answer_error(403, ui().say("host.wrong"), back="/host")
    session.permanent = True
    session["host"] = companion().safe.keys.host
    return redirect(forms.read_path(request.form.get("back", "/")), 303)


@blueprint.post("/leave")
def leave() -> ResponseReturnValue:
    """This phone gives its rights away."""
    _rights()
    session.clear()
    return redirect("/", 303)


def show_invalid(error: InvalidInput) -> ResponseReturnValue:
    return answer_error(400, ui().say(f"input.{error.code}", error.fields))


def show_away(error: TableAway) -> ResponseReturnValue:
    return answer_error(503, ui().say("reply.away"))


def _rights() -> Rights:
    own = rights()
    if not own.any:
        abort(401)
    return own


def _session() -> Session:
    game = companion().broker.snapshot.session
    if game is None:
        raise InvalidInput("no_game")
    return game


def send(command: Command | Request) -> ResponseReturnValue:
    """Pass it on to the table, and say what it replied."""
    reply = companion().link.send(command)
    status = STATUS.get(reply.code, 503)
    if status == 200:
        companion().broker.wait_for(reply.seq)
        if wants_json():
            return jsonify(ok=reply.ok, code=reply.code, seq=reply.seq)
        return redirect(forms.read_path(request.form.get("back", "/")), 303)
    known = reply.code if reply.code in ("stale", "invalid") else "away"
    text = ui().say(f"reply.{known}")
    return answer_error(status, f"{text} ({reply.message})" if reply.message else text)
