"""From the edges of a button's contact to short and long presses; the clock is an argument."""

from dataclasses import dataclass, replace
from typing import Literal

Push = Literal["short", "long"]

GLITCH_S = 0.004
"""A contact closed for less than this in all was no finger: a spark, a radio, a loose wire."""


@dataclass(frozen=True, slots=True)
class Timing:
    debounce_s: float = 0.05
    long_press_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Contact:
    """What is known of one button.

    A press lasts from the first closing until the contact has stayed open for ``debounce_s``;
    whatever it does in between is bouncing. A button that is already down when the program starts
    shows no closing and is therefore no press.
    """

    down: bool = False
    changed_s: float = 0.0
    """When the contact last opened or closed."""
    began_s: float | None = None
    """When the press began; None between presses."""
    told: bool = False
    """The long press has been reported."""


def turn(
    contact: Contact, down: bool, at_s: float, timing: Timing
) -> tuple[Contact, tuple[Push, ...]]:
    """The contact after an edge, and the presses that are certain now."""
    contact, before = look(contact, at_s, timing)
    if down == contact.down:
        return contact, before
    began_s = at_s if down and contact.began_s is None else contact.began_s
    contact = replace(contact, down=down, changed_s=at_s, began_s=began_s)
    contact, after = look(contact, at_s, timing)
    return contact, before + after


def look(contact: Contact, at_s: float, timing: Timing) -> tuple[Contact, tuple[Push, ...]]:
    """The contact at some later time without an edge; how often one looks changes no press."""
    if contact.began_s is None:
        return contact, ()
    if contact.down:
        if contact.told or at_s - contact.began_s < timing.long_press_s:
            return contact, ()
        return replace(contact, told=True), ("long",)
    if at_s - contact.changed_s < timing.debounce_s:
        return contact, ()
    real = contact.changed_s - contact.began_s >= GLITCH_S and not contact.told
    return replace(contact, began_s=None, told=False), ("short",) if real else ()


def due_s(contact: Contact, timing: Timing) -> float | None:
    """When to look again, if no edge comes before."""
    if contact.began_s is None or (contact.down and contact.told):
        return None
    if contact.down:
        return contact.began_s + timing.long_press_s
    return contact.changed_s + timing.debounce_s


def sync(contact: Contact, down: bool, at_s: float) -> Contact:
    """The contact put right by the level that the pin has now, in case an edge was lost: else a
    release that nobody heard of would end as a long press."""
    if contact.began_s is None or contact.down == down:
        return contact
    return replace(contact, down=down, changed_s=at_s)
