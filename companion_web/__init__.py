"""The pages: scoreboard, controls and history on every phone in the room."""

from .app import create_app

__all__ = ["create_app"]
