"""Errors of the programmer, of the disk or of foreign input; a player's mistake is a Verdict."""


class RulesError(Exception):
    """Base class for all errors of the rules core."""


class InvalidNotation(RulesError, ValueError):
    """The text is not the notation of any move of this game."""


class IllegalMove(RulesError, ValueError):
    """A move was applied that ``check`` does not allow."""


class InvalidSetup(RulesError, ValueError):
    """A game was started with a variant, number of seats or option it does not have."""


class UnknownGame(RulesError, LookupError):
    """No game of that name is installed."""


class BrokenGame(RulesError, ValueError):
    """A game's folder cannot be used: a file is missing, or its contents are wrong."""


class InvalidValue(RulesError, ValueError):
    """Data from outside does not have the promised form; names the path, expected and got."""


class StaleCommand(RulesError):
    """The command was made for an older state of the table."""


class BrokenJournal(RulesError, OSError):
    """A journal entry cannot be read or replayed."""


class JournalLost(RulesError, OSError):
    """The disk does not give or take what the journal asks of it."""


class JournalTooNew(RulesError, OSError):
    """The journal was written by a newer version of the program; it is left untouched."""


class JournalInUse(RulesError, OSError):
    """Another process is already writing this journal."""


class LessonLost(RulesError, OSError):
    """The disk does not take what has been taught."""
