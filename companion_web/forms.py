"""Reads what phones send: names, laid faces, numbers; ``InvalidInput`` says what is wrong."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from rules.table import EMPTY, Face, Layout, Plan, Site
from rules.teaching import PICTURES, PictureKind

from .errors import InvalidInput

LONGEST_NAME = 20
MOST_LAID = 40
MOST_LABELS = 1000
MOST_TAPS = 4
LONGEST_MOVE = 200

_BAD_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
"""Persian and Hindi names and many emoji need them; they turn nothing around."""


def read_name(text: str, seat: int) -> str:
    """A player's name: data that cannot break a line or turn its neighbours around.

    >>> read_name("  Zoë  van Dam ", 0)
    'Zoë van Dam'
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    bad = (c for c in name if unicodedata.category(c) in _BAD_CATEGORIES and c not in _JOINERS)
    if any(bad):
        raise InvalidInput("name_characters", seat=seat + 1)
    if not name.strip(_JOINERS) or len(name) > LONGEST_NAME:
        raise InvalidInput("name_length", seat=seat + 1, longest=LONGEST_NAME)
    return name


def read_names(form: Mapping[str, str], seats: int) -> tuple[str, ...]:
    names = tuple(read_name(form.get(f"name-{seat}", ""), seat) for seat in range(seats))
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            raise InvalidInput("name_twice", name=name)
        seen[name.casefold()] = name
    return names


def read_number(form: Mapping[str, str], field: str) -> int:
    text = form.get(field, "")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise InvalidInput("number", field=field)
    return int(text)


def read_move(form: Mapping[str, str]) -> str:
    text = form.get("move", "").strip()
    if not 1 <= len(text) <= LONGEST_MOVE:
        raise InvalidInput("move")
    return text


def read_laid(plan: Plan, pairs: Iterable[str]) -> Layout:
    """Faces on sites, written like ``h8:red``."""
    laid: dict[Site, Face] = {}
    for pair in pairs:
        site, _, face = pair.partition(":")
        place = plan.places.get(Site(site))
        if place is None or Face(face) not in place.faces:
            raise InvalidInput("laid")
        laid[Site(site)] = Face(face)
    if not 1 <= len(laid) <= MOST_LAID:
        raise InvalidInput("laid")
    return laid


def read_picture(form: Mapping[str, str]) -> PictureKind:
    """Which kind of picture is to be taken."""
    for kind in PICTURES:
        if form.get("picture") == kind:
            return kind
    raise InvalidInput("picture")


def read_labels(plan: Plan, form: Mapping[str, str]) -> dict[str, Face | None]:
    """What cut-outs show: ``cuts`` with one ``face`` for all of them, or pairs ``name:face``.

    No face at all means that a cut-out shows nothing of this game.
    """
    common = form.get("face", "")
    labels: dict[str, Face | None] = {}
    for text in form.get("cuts", "").split():
        name, colon, own = text.partition(":")
        face = own if colon else common
        if not re.fullmatch("[0-9a-f]{16}", name) or not _is_face(plan, face):
            raise InvalidInput("labels")
        labels[name] = Face(face) if face else None
    if not 1 <= len(labels) <= MOST_LABELS:
        raise InvalidInput("labels")
    return labels


def read_taps(fields: Mapping[str, str]) -> tuple[tuple[int, int], ...]:
    """Where a picture was tapped, in its pixels: earlier ``taps`` like ``12,340 55,60``, and the
    newest as browsers send it."""
    text = fields.get("taps", "")
    if "tap.x" in fields:
        text += f" {fields['tap.x']},{fields.get('tap.y', '')}"
    pairs = text.split()
    if len(pairs) > MOST_TAPS or not all(re.fullmatch(r"[0-9]{1,4},[0-9]{1,4}", p) for p in pairs):
        raise InvalidInput("taps")
    return tuple((int(x), int(y)) for x, _, y in (pair.partition(",") for pair in pairs))


def _is_face(plan: Plan, face: str) -> bool:
    return face in ("", EMPTY) or face in plan.piece_of


def read_path(text: str) -> str:
    """A page of ours to go back to; the scoreboard if it is none."""
    return text if re.fullmatch(r"/[a-z0-9/]*", text) and "//" not in text else "/"
