"""A game from the journal for people and for other programs: in words, as JSON, as CSV."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rules import games
from rules.codec import encode, encode_tagged
from rules.errors import JournalLost
from rules.events import MoveCorrected, MovePlayed, MoveRefused, MoveTakenBack
from rules.game import Seat
from rules.journal import Entry, Reader
from rules.session import Session, evolve
from rules.texts import Language, Texts

from .errors import FirmwareError

INDENT = " " * 6


@dataclass(frozen=True, slots=True)
class Step:
    """A journal entry with the game before and after it."""

    entry: Entry
    before: Session | None
    session: Session


def read_game(path: Path, number: int | None = None) -> tuple[Step, ...]:
    """The game of that number (from 1) in a journal, the newest by default, entry by entry."""
    try:
        with Reader(path) as journal:
            starts = journal.games()
            if not starts:
                raise FirmwareError(f"{path}: expected at least one game, got none")
            if number is not None and not 1 <= number <= len(starts):
                raise FirmwareError(f"{path}: expected game 1 to {len(starts)}, got {number}")
            entries = journal.game(starts[(number or len(starts)) - 1].seq)
    except JournalLost as error:
        raise FirmwareError(f"{path}: expected a journal, got: {error}") from error
    steps: list[Step] = []
    session: Session | None = None
    for entry in entries:
        after = evolve(session, entry.event, entry.seq)
        steps.append(Step(entry, session, after))
        session = after
    return tuple(steps)


def tell(steps: Sequence[Step], language: Language = "en") -> Iterator[str]:
    """The game in words, line by line: every move with its reasons, every refusal, the result."""
    final = steps[-1].session
    texts = games.speak(final.game.info.name, language)
    opening = final.opening
    yield f"{texts.say('title')}, {texts.say(f'variants.{opening.variant}')}"
    yield f"{', '.join(opening.names)}; begun {steps[0].entry.at:%Y-%m-%d %H:%M} UTC"
    yield ""
    for step in steps[1:]:
        yield from _tell_step(step, texts)
    yield ""
    yield from _tell_standings(final, texts)


def _tell_step(step: Step, texts: Texts) -> Iterator[str]:
    session, event = step.session, step.entry.event
    match event:
        case MovePlayed(_, source) if session.last:
            ply = session.last
            name = session.opening.names[ply.seat]
            yield f"{ply.number:>4}. {name}: {say_move(session, ply.move, texts)}  [{source}]"
            for line in ply.lines:
                yield f"{INDENT}  {texts.say(f'line.{line.code}', line.fields, sites=line.sites)}"
            for code in ply.verdict.unchecked:
                yield f"{INDENT}  (unchecked) {texts.say(f'unchecked.{code}')}"
        case MoveRefused(moves, violations, source, by):
            words = "; ".join(say_move(session, m, texts) for m in moves) or "take back"
            yield f"   -  {_who(session, by)}{words}  [{source}]"
            for broken in violations:
                reason = texts.say(f"violation.{broken.code}", broken.fields, sites=broken.sites)
                rule = f" ({broken.rule})" if broken.rule else ""
                yield f"{INDENT}  refused: {reason}{rule}"
        case MoveTakenBack(number, source):
            yield f"   -  move {number} taken back  [{source}]"
        case MoveCorrected(number, move, source):
            yield f"   -  move {number} corrected: {say_move(session, move, texts)}  [{source}]"
            for held in session.held:
                words = say_move(session, held.move, texts)
                yield f"{INDENT}  move {held.number} is held: {words}"


def _tell_standings(session: Session, texts: Texts) -> Iterator[str]:
    standings = session.game.standings(session.state)
    names = session.opening.names
    rows = []
    for score in sorted(standings.scores, key=lambda s: s.rank):
        who = " + ".join(names[s] for s in score.seats)
        parts = "  ".join(f"{texts.word(t.name)} {t.value}" for t in score.tracks)
        rows.append((f"{score.rank}.", who, str(score.total), parts))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for rank, who, total, parts in rows:
        row = f"{rank:>{widths[0]}} {who:<{widths[1]}} {total:>{widths[2]}}   {parts}"
        yield row.rstrip()
    if standings.over:
        winners = ", ".join(names[s] for s in standings.winners or ()) or "nobody"
        yield f"{texts.say(f'ended.{standings.ended_by}')} Winner: {winners}."
    elif standings.to_act is not None:
        yield f"To act: {names[standings.to_act]}."


def say_move(session: Session, move: str, texts: Texts) -> str:
    """A move in the words of its game."""
    key, fields = session.game.describe(session.game.parse(move))
    return texts.say(key, fields)


def _who(session: Session, seat: Seat | None) -> str:
    """The name of a seat that was written down, if there is such a seat."""
    names = session.opening.names
    return f"{names[seat]}: " if seat is not None and 0 <= seat < len(names) else ""


def export_json(steps: Sequence[Step]) -> str:
    """All entries as they are written down, and what came of the moves."""
    final = steps[-1].session
    entries: list[dict[str, Any]] = [
        {"seq": s.entry.seq, "at": s.entry.at.isoformat(), **encode_tagged(s.entry.event)}
        for s in steps
    ]
    plies = [
        {
            "number": p.number,
            "seat": p.seat,
            "move": p.move,
            "lines": encode(p.lines),
            "unchecked": encode(p.verdict.unchecked),
        }
        for p in final.plies()
    ]
    data = {
        "entries": entries,
        "moves": plies,
        "held": encode(final.held),
        "standings": encode(final.game.standings(final.state)),
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def export_csv(steps: Sequence[Step]) -> str:
    """One row for each score line of the moves that count in the end."""
    final = steps[-1].session
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(("number", "player", "move", "code", "rule", "track", "points", "sites"))
    for ply in final.plies():
        name = _harmless(final.opening.names[ply.seat])
        if not ply.lines:
            table.writerow((ply.number, name, ply.move, "", "", "", 0, ""))
        for line in ply.lines:
            sites = " ".join(line.sites)
            row = (line.code, line.rule, line.track, line.points, sites)
            table.writerow((ply.number, name, ply.move, *row))
    return out.getvalue()


def _harmless(name: str) -> str:
    """A name that a spreadsheet will not take for a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name


def export_txt(steps: Sequence[Step]) -> str:
    """The story in English."""
    return "\n".join(tell(steps)) + "\n"


EXPORTS = {"json": export_json, "csv": export_csv, "txt": export_txt}
