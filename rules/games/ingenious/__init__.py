"""Ingenious (Einfach Genial): lay two symbols, score their lines, mind your lowest colour."""

from .game import GAME

__all__ = ["GAME"]
