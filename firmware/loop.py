"""The one thread that owns the game: takes messages, decides, writes the journal, then shows."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import Empty
from time import monotonic

from rules import games
from rules.commands import (
    Answer,
    Command,
    Correct,
    Lay,
    PlayMoves,
    Press,
    Request,
    StartGame,
    TakeBack,
    TakePicture,
    Teach,
    Tidy,
)
from rules.errors import JournalLost, RulesError, StaleCommand
from rules.events import Event, MoveRefused
from rules.game import Seat
from rules.journal import Journal
from rules.session import Session, decide, evolve
from rules.status import Mode, Question, Status, Trouble

from .buttons import Buttons
from .choose import Ask, Book, Decision, Refuse
from .debounce import Timing
from .errors import BadRequest, Unavailable
from .eyes import CameraEyes
from .inbox import (
    Active,
    Activity,
    Asked,
    CameraBack,
    CameraGone,
    Code,
    Crashed,
    Edge,
    Inbox,
    Message,
    Pictured,
    Reply,
    Seen,
    Stop,
    Unseen,
)
from .lamps import lit, patterns
from .panel import Panel
from .teacher import Teacher
from .virtual import VirtualTabletop

log = logging.getLogger(__name__)

TAP_S = 0.08
"""How long a virtual finger stays on a button for a short press."""
BLINK_TICK_S = 0.05
IDLE_TICK_S = 1.0


@dataclass(frozen=True, slots=True)
class _Look:
    """A press that is being read."""

    number: int
    seat: Seat


class Loop:
    """Everything in here happens on one thread, except ``inbox.put``."""

    def __init__(
        self,
        journal: Journal,
        inbox: Inbox,
        eyes: CameraEyes,
        *,
        panel: Panel | None = None,
        tabletop: VirtualTabletop | None = None,
        teacher: Teacher | None = None,
        timing: Timing | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._journal = journal
        self._inbox = inbox
        self._eyes = eyes
        self._panel = panel
        self._tabletop = tabletop
        self._teacher = teacher
        self._timing = timing or Timing()
        self._buttons = Buttons(panel, self._timing)
        self._clock = clock
        self._observers: list[Callable[[Session | None, Status], None]] = []
        self._running = True
        self._notice = journal.notice
        self._camera = "none"
        self._camera_problem = ""
        self._activity: Activity = "still"
        self._trouble: Trouble | None = None
        self._looks = 0
        self._questions = 0
        self._look: _Look | None = None
        self._question: Question | None = None
        self._refused: Seat | None = None
        self.session = self._replay()
        self.status = self._current()
        self._follow()

    def observe(self, observer: Callable[[Session | None, Status], None]) -> None:
        """Call ``observer`` now and after every change, on the loop's thread."""
        self._observers.append(observer)
        _tell(observer, self.session, self.status)

    def run(self) -> None:
        """Work until ``Stop`` comes."""
        while self._running:
            try:
                message = self._inbox.get(timeout=self._wait_s())
            except Empty:
                pass
            else:
                self.take(message)
            self.tick()

    def take(self, message: Message) -> None:
        """One thing that happened."""
        match message:
            case Edge(seat, down, at_s):
                for push in self._buttons.turn(seat, down, at_s):
                    self._press(seat, push == "long")
            case Asked(request, reply):
                reply(self._answer(request))
            case Seen(number, decision):
                if self._look and self._look.number == number:
                    self._act_on(decision, self._look.seat)
            case Unseen(number, reason, trouble):
                if self._look and self._look.number == number:
                    self._ask(self._look.seat, Ask(reason, trouble=trouble))
            case Active(activity, trouble):
                self._activity, self._trouble = activity, trouble
                self._follow_trouble()
            case Pictured(number, outcome):
                if self._teacher:
                    self._teacher.take(number, outcome)
            case CameraGone(reason):
                self._camera_problem = reason
                if self._teacher:
                    self._teacher.fail("camera_lost")
                if self._look:
                    self._ask(self._look.seat, Ask("camera_lost"))
            case CameraBack(name):
                self._camera, self._camera_problem = name, ""
            case Crashed(error):
                raise error
            case Stop():
                self._running = False
        self._show()

    def tick(self) -> None:
        """What only needs time to pass: held buttons, and lamps that blink."""
        now_s = self._clock()
        for seat, push in self._buttons.wait(now_s):
            self._press(seat, push == "long")
            self._show()
        if self._panel:
            self._panel.show([lit(p, now_s) for p in self.status.lamps])

    def _wait_s(self) -> float:
        """How long nothing is due, unless a message comes."""
        blinks = any(p in ("slow", "double") for p in self.status.lamps)
        now_s = self._clock()
        soon = [max(0.0, t - now_s) for t in self._buttons.due_s()]
        return min([BLINK_TICK_S if blinks else IDLE_TICK_S, *soon])

    def _replay(self) -> Session | None:
        """The game in the journal; one that cannot be replayed is reported and left alone."""
        try:
            return self._journal.session()
        except RulesError as error:
            log.error("the last game cannot be continued: %s", error)
            self._notice = self._notice or str(error)
            return None

    def _press(self, seat: Seat, long: bool) -> None:
        session = self.session
        if session is None or seat >= len(session.opening.names):
            return  # a button where nobody sits
        if long:
            self._try(TakeBack(session.seq, seat, "panel"))
            return
        if self._look and self._look.seat in (seat, session.game.standings(session.state).to_act):
            return  # already being read; of two at once, the one whose turn it is
        self._drop()
        if session.held:
            self._try(PlayMoves((), session.seq, seat, "panel"))  # refused, with the reason
            return
        if self._camera_problem:
            self._ask(seat, Ask("camera_lost"))
            return
        self._looks += 1
        self._look = _Look(self._looks, seat)
        self._eyes.look(self._looks, session, seat)

    def _act_on(self, decision: Decision, seat: Seat) -> None:
        """What the camera saw, put to the session; a refusal too, so that it is written down."""
        assert self.session is not None
        match decision:
            case Book(moves) | Refuse(moves):
                self._try(PlayMoves(moves, self.session.seq, seat, "camera"))
            case Ask():
                self._ask(seat, decision)

    def _ask(self, seat: Seat, ask: Ask) -> None:
        self._drop()
        self._questions += 1
        self._question = Question(
            self._questions, seat, ask.code, ask.choices, ask.differences, ask.trouble
        )

    def _follow_trouble(self) -> None:
        """A question because of a trouble lasts as long as one does."""
        question = self._question
        if question and question.trouble and self._activity != "hands":
            self._question = replace(question, trouble=self._trouble) if self._trouble else None

    def _drop(self) -> None:
        """Forget the look, question or refusal that is open."""
        if self._look:
            self._eyes.forget()
        self._look = self._question = self._refused = None

    def _try(self, command: Command) -> None:
        """A command of the table itself: nobody waits for a reply, the status shows what came."""
        try:
            self._carry_out(command)
        except Unavailable as error:
            log.error("%s", error)
            self._drop()

    def _carry_out(self, command: Command) -> Event:
        """Decide, write down, and only then let it be so; the last event."""
        events = decide(self.session, command)
        if not events:
            raise BadRequest("moves: expected at least one, got none")
        try:
            last = self._journal.append(events)
        except JournalLost as error:
            self._notice = f"the journal cannot be written: {error}"
            self.session = self._replay()  # whether it was written after all, only the file knows
            raise Unavailable(self._notice) from error
        before = self.session
        for seq, event in enumerate(events, last - len(events) + 1):
            self.session = evolve(self.session, event, seq)
        if self._teacher and self.session:
            self._teacher.heed(
                before, self.session, command, self._looks, self._question is not None
            )
        self._drop()
        final = events[-1]
        if isinstance(final, MoveRefused):
            if final.source in ("camera", "panel"):
                self._refused = final.by
        else:
            self._notice = ""
            self._follow()
        return final

    def _follow(self) -> None:
        self._eyes.follow(self.session)
        if self._tabletop:
            self._tabletop.follow(self.session)

    def _answer(self, request: Command | Request) -> Reply:
        try:
            code, message = self._perform(request)
        except StaleCommand as error:
            code, message = "stale", str(error)
        except (RulesError, BadRequest) as error:
            code, message = "invalid", str(error)
        except Unavailable as error:
            code, message = "unavailable", str(error)
        return Reply(code, self._seq, message)

    def _perform(self, request: Command | Request) -> tuple[Code, str]:
        match request:
            case StartGame() | PlayMoves() | TakeBack() | Correct():
                return _outcome(self._carry_out(request))
            case Answer():
                return self._take_answer(request)
            case Press(seat, long):
                self._push(seat, long)
            case Lay(faces):
                session, tabletop = self._virtual()
                tabletop.lay(session, faces)
            case Tidy():
                session, tabletop = self._virtual()
                tabletop.follow(session)
            case _:
                return self._teach(request)
        return "done", ""

    def _teach(self, request: Teach) -> tuple[Code, str]:
        if self._teacher is None:
            raise Unavailable("this table has no place for lessons")
        if isinstance(request, TakePicture):
            if self._camera_problem:
                raise Unavailable(self._camera_problem)
            if self._tabletop:
                self._tabletop.show(games.find(request.game).plan, self.session)
        return self._teacher.perform(request)

    def _take_answer(self, answer: Answer) -> tuple[Code, str]:
        question = self._question
        if question is None or question.number != answer.question:
            raise StaleCommand(f"question {answer.question} is no longer open")
        if answer.by not in (None, question.seat):
            return "refused", "this question is for another seat"
        if answer.choice is None:
            self._drop()
            return "done", ""
        if not 0 <= answer.choice < len(question.choices):
            last = len(question.choices) - 1
            raise BadRequest(f"choice: expected 0 to {last} or null, got {answer.choice}")
        choice = question.choices[answer.choice]
        if choice.takes_back:
            return _outcome(self._carry_out(TakeBack(self._seq, answer.by, "camera")))
        return _outcome(self._carry_out(PlayMoves(choice.moves, self._seq, answer.by, "camera")))

    def _push(self, seat: Seat, long: bool) -> None:
        """A press from a page: on virtual pins it takes the same way as one of a finger."""
        session = self._playing()
        if not 0 <= seat < len(session.opening.names):
            last = len(session.opening.names) - 1
            raise BadRequest(f"seat: expected 0 to {last}, got {seat}")
        held_s = self._timing.long_press_s + TAP_S if long else TAP_S
        if not (self._panel and self._panel.push(seat, held_s, self._clock())):
            self._press(seat, long)

    def _playing(self) -> Session:
        if self.session is None:
            raise BadRequest("no game has been started")
        return self.session

    def _virtual(self) -> tuple[Session, VirtualTabletop]:
        if self._tabletop is None:
            raise Unavailable("the camera looks at a real table, where only hands can lay things")
        return self._playing(), self._tabletop

    @property
    def _seq(self) -> int:
        return self.session.seq if self.session else 0

    def _show(self) -> None:
        """Tell the observers, if anything they see has changed."""
        status = self._current()
        if status == self.status:
            return
        self.status = status
        for observer in self._observers:
            _tell(observer, self.session, status)

    def _current(self) -> Status:
        mode, session = self._mode(), self.session
        concerned: Seat | None = None
        if self._question:
            concerned = self._question.seat
        elif self._look:
            concerned = self._look.seat
        else:
            concerned = self._refused
        seats = len(session.opening.names) if session else 0
        to_act = session.game.standings(session.state).to_act if session else None
        return Status(
            mode=mode,
            seq=self._seq,
            seat=concerned,
            question=self._question,
            lamps=patterns(mode, concerned, to_act, seats),
            camera=self._camera,
            problem=self._camera_problem or self._notice,
            trouble=self._trouble,
            lying=self._tabletop.lying() if self._tabletop and session else None,
            teaching=self._teacher.status if self._teacher else None,
        )

    def _mode(self) -> Mode:
        if self.session is None:
            return "idle"
        if self._question:
            return "question"
        if self._refused is not None:
            return "refused"
        if self._camera_problem:
            return "camera_lost"
        if self._activity == "trouble":
            return "trouble"
        if self._look:
            return "reading"
        return "hands" if self._activity == "hands" else "ready"


def _outcome(event: Event) -> tuple[Code, str]:
    if isinstance(event, MoveRefused):
        return "refused", ", ".join(v.code for v in event.violations)
    return "booked", ""


def _tell(
    observer: Callable[[Session | None, Status], None], session: Session | None, status: Status
) -> None:
    try:
        observer(session, status)
    except Exception:  # a page or a lamp must not stop a game
        log.exception("%r failed", observer)
