"""Six-sided dice of any colour: where they lie, what they show and what colour they are."""

from .colour import name_colour
from .find import Die, Sight, find_dice, search

__all__ = ["Die", "Sight", "find_dice", "name_colour", "search"]
