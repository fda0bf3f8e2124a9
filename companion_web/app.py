"""Puts the pages together."""

from hashlib import sha256
from pathlib import Path

from flask import Flask, abort, request

from . import api, pages, teach
from .access import LARGEST_BODY, Guesses, OwnNames, Safe, harden, same_origin
from .companion import Companion, companion
from .errors import InvalidInput, TableAway
from .follow import Follower
from .link import Link
from .live import Broker
from .render import Renderer


def create_app(
    state_dir: Path,
    *,
    port: int = 8080,
    max_streams: int = 200,
    max_streams_per_client: int = 24,
    hosts: tuple[str, ...] = (),
) -> Flask:
    """The pages of the table whose journal and socket lie in ``state_dir``.

    ``hosts`` are further names under which browsers reach this machine.
    """
    assets = f"/static/{_fingerprint(Path(__file__).parent / 'static')}"
    app = Flask(__name__, static_url_path=assets)
    safe = Safe(state_dir / "web-keys.json")
    app.config.update(
        SECRET_KEY=safe.keys.cookie,
        SESSION_COOKIE_NAME="tafelmaat",
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=180 * 24 * 3600,
        MAX_CONTENT_LENGTH=LARGEST_BODY,
        MAX_FORM_PARTS=100,
        SEND_FILE_MAX_AGE_DEFAULT=365 * 24 * 3600,
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals["assets"] = assets
    renderer = Renderer(app.jinja_env, state_dir)
    broker = Broker(
        Follower(state_dir / "journal.sqlite"),
        renderer.parts,
        max_streams=max_streams,
        max_streams_per_client=max_streams_per_client,
    )
    link = Link(state_dir / "table.sock", broker.hear)
    app.extensions["tafelmaat"] = Companion(
        state_dir, safe, Guesses(), OwnNames(hosts), link, broker, renderer, port
    )
    app.before_request(_admit)
    app.after_request(harden)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(api.blueprint)
    app.register_blueprint(teach.blueprint)
    app.register_error_handler(InvalidInput, api.show_invalid)
    app.register_error_handler(TableAway, api.show_away)
    for code in (400, 401, 403, 404, 405, 411, 413, 429, 500, 503):
        app.register_error_handler(code, pages.show_error)
    broker.start()
    link.start()
    return app


def _admit() -> None:
    """Turn away what was not sent to us, or not by our own pages."""
    if not companion().names.include(request.host):
        abort(400)
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    if request.content_length is None:
        abort(411)
    if request.content_length > LARGEST_BODY:
        abort(413)
    if not same_origin():
        abort(403)


def _fingerprint(folder: Path) -> str:
    """Changes with the static files, so that phones may keep them for a year."""
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:10]
