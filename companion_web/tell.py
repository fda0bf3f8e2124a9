"""Says what a snapshot holds, in one language."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rules import entry, games
from rules.errors import InvalidNotation
from rules.events import MoveCorrected, MoveRefused
from rules.game import AnyGame, GameInfo, Score, ScoreLine, Seat, Standings
from rules.session import Ply, Session, evolve
from rules.status import Question, Trouble
from rules.table import Face, Layout, Site
from rules.texts import CORE, Language, Texts, load
from rules.verdict import Verdict, Violation

from .access import Rights
from .view import (
    Cell,
    Difference,
    HeldMove,
    Move,
    Option,
    Place,
    Reason,
    Row,
    Scores,
    Side,
    Snapshot,
    StateLine,
    Wrong,
    gains,
    shifts,
    state_before,
)

TEXTS = Path(__file__).parent / "texts"

TONES = {
    "ready": "good",
    "idle": "calm",
    "hands": "busy",
    "reading": "busy",
    "question": "ask",
    "refused": "bad",
    "trouble": "lost",
    "camera_lost": "lost",
    "away": "lost",
}


class Teller:
    """Says in one language what a snapshot holds."""

    def __init__(self, snapshot: Snapshot, language: Language) -> None:
        self.snapshot = snapshot
        self.language = language
        self.ui = load(language, TEXTS)
        session = snapshot.session
        self.say: Texts = (
            games.speak(session.opening.game, language) if session else load(language, CORE)
        )

    def state(self) -> StateLine:
        status = self.snapshot.status
        mode = status.mode if status else "away"
        hint = self.ui.say(f"state_hint.{mode}")
        if status and status.trouble and not status.question:
            hint = f"{self.trouble(status.trouble)} {hint}"
        if status and status.problem:
            hint = f"{hint} ({status.problem})"
        return StateLine(mode, TONES[mode], self.ui.say(f"state.{mode}"), hint)

    def trouble(self, trouble: Trouble) -> str:
        """What is wrong with the picture, and what to do about it."""
        return self.say.say(f"trouble.{trouble.code}", trouble.fields)

    def word(self, track: str) -> str:
        word = self.say.word(track)
        return word[:1].upper() + word[1:]

    def letter(self, session: Session, track: str) -> str:
        return session.game.plan.letters.get(Face(track), "")

    def scores(self, session: Session, ply: Ply | None) -> Scores:
        """The score table after a move, with the changes that the move made."""
        before, after = _standings_around(session, ply)
        changes: dict[tuple[Seat, str], int] = {}
        for line in ply.lines if ply else ():
            key = (line.seat, line.track)
            changes[key] = changes.get(key, 0) + line.points
        lowest_counts = session.game.info.lowest_counts
        sides = tuple(
            Side(
                tuple(session.opening.names[s] for s in score.seats),
                score.seats,
                score.total,
                score.total - old.total,
                score.rank,
                after.to_act in score.seats,
                tuple(self.lamp(s) for s in score.seats),
            )
            for score, old in zip(after.scores, before.scores, strict=True)
        )
        tracks = dict.fromkeys(t.name for s in after.scores for t in s.tracks)
        rows = tuple(
            Row(t, tuple(_cell(s, t, changes, lowest_counts) for s in after.scores)) for t in tracks
        )
        return Scores(sides, rows, lowest_counts)

    def move(self, session: Session, ply: Ply) -> Move:
        notes = self.snapshot.record.notes
        game = session.game
        parsed = game.parse(ply.move)
        before = state_before(session, ply.number)
        return Move(
            ply.number,
            ply.seat,
            session.opening.names[ply.seat],
            ply.move,
            self.words(game, parsed),
            self.reasons(ply.lines),
            gains(ply.lines),
            tuple(self.say.say(f"unchecked.{code}") for code in ply.verdict.unchecked),
            notes[ply.number - 1] if ply.number <= len(notes) else None,
            game.footprint(before, parsed),
        )

    def words(self, game: AnyGame, move: Any) -> str:
        key, fields = game.describe(move)
        text = self.say.say(key, fields)
        return text[:1].upper() + text[1:]

    def reasons(self, lines: Iterable[ScoreLine]) -> tuple[Reason, ...]:
        return tuple(
            Reason(
                n,
                self.say.say(
                    f"line.{line.code}",
                    {
                        "track": line.track,
                        "points": line.points,
                        "sites": line.sites,
                        **line.fields,
                    },
                ),
                line.rule,
                line.points,
                line.track,
                line.sites,
            )
            for n, line in enumerate(lines)
        )

    def wrongs(self, violations: Iterable[Violation]) -> tuple[Wrong, ...]:
        return tuple(
            Wrong(
                self.say.say(f"violation.{v.code}", {"sites": v.sites, **v.fields}),
                v.rule,
                v.sites,
            )
            for v in violations
        )

    def option(self, session: Session, state: Any, move: Any) -> Option:
        """A possible move judged on a state."""
        game = session.game
        verdict = game.check(state, move)
        lines = game.apply(state, move).lines if verdict.legal else ()
        return Option(
            game.notate(move),
            self.words(game, move),
            session.opening.names[game.mover(state, move)],
            self.wrongs(verdict.violations),
            gains(lines),
            self.reasons(lines),
            tuple(game.footprint(state, move)),
        )

    def fitting(self, session: Session, laid: Layout) -> tuple[Option, ...]:
        """The next moves that some laid faces can mean."""
        state = session.state
        return tuple(
            self.option(session, state, move) for move in entry.fitting(session.game, state, laid)
        )

    def corrections(self, session: Session, number: int, laid: Layout) -> tuple[Option, ...]:
        """What a booked move could have been instead, with what that would do to later ones."""
        state = state_before(session, number)
        options = (
            self.option(session, state, move) for move in entry.fitting(session.game, state, laid)
        )
        return tuple(
            o if o.wrongs else self._with_consequences(session, number, o) for o in options
        )

    def _with_consequences(self, session: Session, number: int, option: Option) -> Option:
        game = session.game
        event = MoveCorrected(number, option.notation, "web")
        after = evolve(session, event, session.seq)
        standings = game.standings(session.state), game.standings(after.state)
        return replace(option, held=self.held(after), shifts=shifts(session, *standings))

    def choices(self, session: Session) -> tuple[Option, ...]:
        """The answers to the open question."""
        status = self.snapshot.status
        question = status.question if status else None
        return tuple(
            self._choice(session, choice.moves, choice.verdict, choice.takes_back)
            for choice in (question.choices if question else ())
        )

    def _choice(
        self, session: Session, moves: tuple[str, ...], verdict: Verdict, takes_back: bool
    ) -> Option:
        game, state = session.game, session.state
        words: list[str] = []
        lines: list[ScoreLine] = []
        sites: list[Site] = []
        names: dict[str, None] = {}
        for text in moves:
            move = game.parse(text)
            words.append(self.words(game, move))
            sites += game.footprint(state, move)
            names[session.opening.names[game.mover(state, move)]] = None
            if game.check(state, move).legal:
                applied = game.apply(state, move)
                state, lines = applied.state, [*lines, *applied.lines]
        return Option(
            " ; ".join(moves),
            " · ".join(words),
            ", ".join(names),
            self.wrongs(verdict.violations),
            gains(lines),
            self.reasons(lines),
            tuple(sites),
            takes_back,
        )

    def asked(self, question: Question) -> str:
        """Why the table asks; without choices some reasons need another sentence."""
        alone = f"question_alone.{question.code}"
        known = not question.choices and alone in self.ui
        why = self.ui.say(alone if known else f"question.{question.code}")
        return f"{self.trouble(question.trouble)} {why}" if question.trouble else why

    def differences(self) -> tuple[Difference, ...]:
        """Where the camera sees something else than the game says."""
        status = self.snapshot.status
        question = status.question if status else None
        return tuple(
            Difference(d.site, self.say.word(d.seen), self.say.word(d.expected))
            for d in (question.differences if question else ())
        )

    def held(self, session: Session) -> tuple[HeldMove, ...]:
        return tuple(
            HeldMove(
                h.number,
                self.words(session.game, session.game.parse(h.move)),
                self.wrongs(h.verdict.violations),
            )
            for h in session.held
        )

    def quiet(self, session: Session, rights: Rights) -> tuple[Option, ...]:
        """The moves that change nothing on the table and may be declared by this phone."""
        if session.held:
            return ()
        game, state = session.game, session.state
        moves = [game.parse(text) for text in _quiet(session.opening.game, state)]
        return tuple(
            self.option(session, state, m) for m in moves if rights.covers(game.mover(state, m))
        )

    def refused(self, session: Session, refusal: MoveRefused) -> tuple[str, ...]:
        """The moves that were refused."""
        said = []
        for text in refusal.moves:
            try:
                said.append(self.words(session.game, session.game.parse(text)))
            except InvalidNotation:
                said.append(text)
        return tuple(said)

    def last_words(self, session: Session) -> str:
        """The move that a take-back would take."""
        last = session.held[-1].move if session.held else session.last and session.last.move
        return self.words(session.game, session.game.parse(last)) if last else ""

    def lamp(self, seat: Seat | None) -> str:
        status = self.snapshot.status
        lamps = status.lamps if status else ()
        return lamps[seat] if seat is not None and seat < len(lamps) else "off"

    def over(self, session: Session) -> bool:
        return session.game.standings(session.state).over

    def winners(self, session: Session) -> list[str]:
        winners = session.game.standings(session.state).winners or ()
        return [session.opening.names[seat] for seat in winners]

    def most_seats(self, info: GameInfo) -> int:
        return max(n for variant in info.variants for n in variant.seats)

    def podium(self, session: Session) -> tuple[Place, ...]:
        standings = session.game.standings(session.state)
        return tuple(
            Place(s.rank, tuple(session.opening.names[seat] for seat in s.seats), s.total)
            for s in sorted(standings.scores, key=lambda s: (s.rank, s.seats))
        )

    def tie(self, session: Session) -> str:
        """How equal results were told apart, or that they were not; nothing without any."""
        scores = session.game.standings(session.state).scores
        best = [s for s in scores if s.total == max(other.total for other in scores)]
        if len(best) < 2:
            return ""
        first = [s for s in best if s.rank == min(other.rank for other in best)]
        names = session.opening.names
        together = self.join([names[seat] for s in best for seat in s.seats])
        if len(first) > 1:
            return self.ui.say("over.shared", names=together, total=best[0].total)
        winner = self.join([names[seat] for seat in first[0].seats])
        text = self.ui.say("over.tie", names=together, total=best[0].total, winner=winner)
        more = self.say.say("tie_break") if "tie_break" in self.say else ""
        return f"{text} {more}".strip()

    def join(self, names: list[str]) -> str:
        if len(names) < 2:
            return "".join(names)
        return f"{', '.join(names[:-1])} {self.ui.say('and')} {names[-1]}"

    def summary(self) -> str:
        """One sentence for those who listen instead of looking."""
        session = self.snapshot.session
        if session is None:
            return self.ui.say("welcome.none")
        standings = session.game.standings(session.state)
        parts = []
        if session.last is not None:
            move = self.move(session, session.last)
            parts.append(self.ui.say("summary.move", name=move.name, words=move.words))
            parts += [
                f"{self.word(g.track) if g.track else ''} {g.points:+d}."
                for g in move.gains
                if g.points
            ]
        if self.snapshot.record.refusal is not None:
            violations = self.snapshot.record.refusal.violations
            parts = [self.state().word + ".", *(w.text for w in self.wrongs(violations))]
        if standings.to_act is not None:
            name = session.opening.names[standings.to_act]
            parts.append(self.ui.say("summary.next", name=name))
        return " ".join(parts)


def _standings_around(session: Session, ply: Ply | None) -> tuple[Standings, Standings]:
    game = session.game
    if ply is None:
        start = game.standings(session.beginning)
        return start, start
    before = state_before(session, ply.number)
    return game.standings(before), game.standings(ply.state)


def _cell(
    score: Score, name: str, changes: Mapping[tuple[Seat, str], int], lowest_counts: bool
) -> Cell | None:
    track = next((t for t in score.tracks if t.name == name), None)
    if track is None:
        return None
    change = sum(changes.get((seat, name), 0) for seat in score.seats)
    return Cell(track.value, track.limit, change, lowest_counts and track.value == score.total)


@lru_cache(maxsize=4)
def _quiet(game: str, state: Any) -> tuple[str, ...]:
    return tuple(entry.quiet(games.find(game), state))
