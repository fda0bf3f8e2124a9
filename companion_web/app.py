"""Puts the pages together."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from flask import Flask, Response, abort, current_app, request

from . import api, pages
from .access import LARGEST_BODY, Guesses, OwnNames, Safe, harden, same_origin
from .follow import Follower
from .link import Link
from .live import Broker
from .render import Renderer

STATIC = Path(__file__).parent / "static"


def create_app(
    state_dir: Path,
    *,
    port: int = 8000,
    max_streams: int = 200,
    max_streams_per_client: int = 24,
    hosts: tuple[str, ...] = (),
) -> Flask:
    """The application for the table whose journal and socket lie in ``state_dir``."""
    app = Flask(__name__)
    safe = Safe(state_dir / "web-keys.json")
    app.config.update(
        SECRET_KEY=safe.keys.cookie,
        SESSION_COOKIE_NAME="tafelmaat",
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=180 * 24 * 3600,
        MAX_CONTENT_LENGTH=LARGEST_BODY,
        MAX_FORM_PARTS=500,
        SEND_FILE_MAX_AGE_DEFAULT=365 * 24 * 3600,
    )
