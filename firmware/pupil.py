"""Reads with what was taught, and learns from what players say about pictures of their game."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.errors import RulesError
from rules.game import AnyGame
from rules.lessons import Lessons
from rules.table import EMPTY, Face, Plan, Site
from rules.teaching import Lesson

if TYPE_CHECKING:
    from vision.board import BoardPicture, BoardPlace
    from vision.rectify import TableImage
    from vision.teaching.reading import Reader

log = logging.getLogger(__name__)

HELD = 12
"""So many presses can still be learnt from; earlier pictures are forgotten."""


BARE = 0.9
"""A site that is believed bare as surely as this shows no piece, whatever is said."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """By what a table is read."""

    plan: Plan
    reader: Reader
    place: BoardPlace
    """Where the board lies unless it is found elsewhere."""
    boards: Sequence[BoardPicture] | None = None
    """By what the board is found between the cards; None: by its drawing."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The picture of a press, packed: a table has a megapixel."""

    image: TableImage
    png: bytes


class Pupil:
    """What the table knows of the pieces of the game on it; belongs to the camera's thread."""

    def __init__(self, lessons: Callable[[str], Lessons] | None = None) -> None:
        self._lessons = lessons
        self._game: AnyGame | None = None
        self._lesson: Lesson | None = None
        self._reader: Reader | None = None
        self._held: dict[int, _Held] = {}
        self._said: dict[int, Mapping[Site, Face]] = {}

    def study(self, game: AnyGame) -> Knowledge:
        """What is known of this game: by the newest lesson that can be used, else by drawings."""
        self._game, self._lesson = game, None
        place = self.find_place(game.info.name, game.plan)
        newest = self._lessons(game.info.name).newest(game.plan) if self._lessons else None
        if newest:
            from vision.teaching.reading import LessonReader, list_boards

            number, lesson = newest
            try:
                reader = LessonReader(game.plan, lesson)
                boards = list_boards(game.plan, lesson)
            except RulesError as error:
                log.warning("lesson %d cannot be used: %s", number, error)
            else:
                log.info("reading %s by lesson %d", game.info.name, number)
                self._lesson, self._reader = lesson, reader
                return Knowledge(game.plan, reader, place, boards)
        from vision.looks import DrawnLooks
        from vision.observe import Observer

        return Knowledge(game.plan, Observer(game.plan, DrawnLooks(game.plan)), place)

    def find_place(self, game: str, plan: Plan) -> BoardPlace:
        """Where the board of a game was said to lie."""
        from vision.teaching.reading import read_place

        return read_place(plan, self._lessons(game).taps(plan) if self._lessons else ())

    def remember(self, number: int, image: TableImage) -> None:
        """Keep the picture of a press for a while; only a taught table learns more."""
        if self._lesson is None:
            return
        from vision.teaching.cutting import to_png

        self._held[number] = _Held(replace(image, bgr=image.bgr[:0]), to_png(image.bgr))
        for old in sorted(self._held.keys() - self._said.keys())[:-HELD]:
            del self._held[old]

    def learn(self, number: int, faces: Mapping[Site, Face]) -> None:
        """Somebody has said what lies on these sites in the picture of press ``number``."""
        if number in self._held:
            self._said[number] = faces

    def conclude(self) -> bool:
        """The game is over: whether a new lesson was kept of what was said in it."""
        said, held = self._said, self._held
        self._said, self._held = {}, {}
        if not (said and self._lessons and self._game and self._lesson and self._reader):
            return False
        from vision.teaching.cutting import from_png
        from vision.teaching.learning import learn

        plan, lesson = self._game.plan, self._lesson
        for number, faces in said.items():
            image = replace(held[number].image, bgr=from_png(held[number].png))
            seen = self._reader.observe(image).beliefs
            # Where the table was surely bare, somebody has laid the piece later.
            shown = {s: f for s, f in faces.items() if seen.get(s, {}).get(EMPTY, 0.0) < BARE}
            lesson = learn(plan, lesson, image, shown)
        if lesson.cuts == self._lesson.cuts:
            return False
        try:
            kept = self._lessons(lesson.game).keep(lesson, by="play")
        except RulesError as error:
            log.warning("what was learnt in play is lost: %s", error)
            return False
        log.info(
            "lesson %d of %s: with what was said about %d presses", kept, lesson.game, len(said)
        )
        return True
