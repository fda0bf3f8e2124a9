"""Decides what to do with what the camera saw after a press: book it, refuse it, or ask."""

from dataclasses import dataclass, replace
from math import exp

from rules.entry import quiet
from rules.game import Seat
from rules.session import Session
from rules.status import Choice, Difference, Trouble
from rules.table import EMPTY
from rules.verdict import LEGAL, Verdict
from vision.matching import Explanation, differ, match, taken_back
from vision.observation import Observation

MARGIN = 4.0
"""How much better (as a logarithm, 4 is about 1 in 55) the best explanation must fit than any
other one, and than an unchanged table. Above the cost of an illegal move, so that a reading is
never settled by legality alone. Of 90 legal turns on virtual tables all led by 7.5 and more; of 500
others none was booked wrong and one was asked about."""

TIE = 1e-6
"""Explanations whose scores differ by less fit equally well."""

CHOICES = 3
"""A question offers at most so many answers."""

WORTH_ASKING = 7.0
"""Explanations that fit worse than the best one by more than this (1 in 1,100) are not offered."""


@dataclass(frozen=True, slots=True)
class Book:
    """The picture is clear and the moves are legal."""

    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The picture is clear and the last of the moves is not legal."""

    moves: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Ask:
    """The picture does not decide; ``code`` says why."""

    code: str
    choices: tuple[Choice, ...] = ()
    differences: tuple[Difference, ...] = ()
    trouble: Trouble | None = None


Decision = Book | Refuse | Ask


def choose(
    session: Session, seen: Observation, seat: Seat, trouble: Trouble | None = None
) -> Decision:
    """What to do after ``seat`` has pressed and the camera has seen ``seen``.

    Whether it was that seat's turn is left to the session, which says so in its refusal.
    """
    decision = _decide(session, seen, seat)
    if trouble is None:
        return decision
    if isinstance(decision, Ask):
        return replace(decision, trouble=trouble)
    layout = session.game.layout(session.state)
    if trouble.code != "foreign" or all(layout.get(s, EMPTY) != EMPTY for s in trouble.sites):
        return decision
    # What lies where nothing should may be part of the move: people tell.
    verdict = decision.verdict if isinstance(decision, Refuse) else LEGAL
    return Ask("unclear", (Choice(decision.moves, verdict, 1.0),), trouble=trouble)


def _decide(session: Session, seen: Observation, seat: Seat) -> Decision:
    game, state = session.game, session.state
    differences = differ(game.layout(state), seen)
    explanations = _explain(session, seen)
    if not explanations:
        if differences:
            return Ask("mismatch", (), differences)
        hidden = len(seen.beliefs) < len(game.plan.sites)
        return Ask("unclear" if hidden else "nothing_changed", _declarable(session, seat))
    best = explanations[0]
    ours = [e for e in explanations if set(e.movers) <= {seat}]
    if ours and best.score - ours[0].score < TIE and not ours[0].unexplained:
        # Who pressed tells a bonus tile of one's own from a tile of the next player.
        explanations = ours
        best = ours[0]
    choices = _offer(explanations)
    if best.takes_back and not best.unexplained:
        return Ask("taken_back", choices)
    if best.unexplained or best.takes_back:
        open_sites = [d for d in differences if d.site in best.unexplained]
        return Ask("mismatch", choices, tuple(open_sites) or differences)
    rivals = [e for e in explanations[1:] if best.verdict.legal or e.verdict.legal]
    lead = best.score - rivals[0].score if rivals else best.score
    unseen = not best.laid.keys() <= seen.beliefs.keys()
    if min(lead, best.score) < MARGIN or len(set(best.movers)) > 1 or unseen:
        same_picture = rivals and lead < TIE and rivals[0].laid == best.laid
        return Ask("several" if same_picture else "unclear", choices)
    if best.verdict.legal:
        return Book(best.moves)
    return Refuse(best.moves, best.verdict)


def _explain(session: Session, seen: Observation) -> list[Explanation]:
    found = list(match(session.game, session.state, seen))
    if session.last is not None:
        previous = session.last.previous
        before = previous.state if previous else session.beginning
        back = taken_back(session.game, before, session.state, seen)
        if back is not None:
            found.append(back)
    return sorted(found, key=lambda e: -e.score)


def _offer(explanations: list[Explanation]) -> tuple[Choice, ...]:
    """The best few as answers, with their share of the likelihood of all, the unchanged table's
    included."""
    best = max(explanations[0].score, 0.0)
    total = exp(-best) + sum(exp(e.score - best) for e in explanations)
    return tuple(
        Choice(e.moves, e.verdict, exp(e.score - best) / total, e.takes_back)
        for e in explanations[:CHOICES]
        if e.score >= explanations[0].score - WORTH_ASKING
    )


def _declarable(session: Session, seat: Seat) -> tuple[Choice, ...]:
    """The legal moves of this seat that leave the table as it is."""
    game, state = session.game, session.state
    moves = [m for m in quiet(game, state) if game.mover(state, game.parse(m)) == seat]
    return tuple(Choice((m,), LEGAL, 1 / len(moves)) for m in moves[:CHOICES])
