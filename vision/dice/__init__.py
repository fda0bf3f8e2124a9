"""Six-sided dice of any colour: where they lie and what they show."""

from .find import Die, Sight, find_dice, search

__all__ = ["Die", "Sight", "find_dice", "search"]
