"""Errors of the vision: lost hardware and foreign input; an unclear picture is a value."""


class VisionError(Exception):
    """Base class for all errors of the vision."""


class CameraLost(VisionError, OSError):
    """The camera gives no picture: not found, in use, not permitted, or stopped."""


class NotAPicture(VisionError, ValueError):
    """A file is not a picture that can be read; names the file, expected and got."""


class UnknownCamera(VisionError, LookupError):
    """No kind of camera has that name."""


class NotOnTheTable(VisionError, LookupError):
    """The plan of the table has no such site, or no such face on it."""


class NothingTaught(VisionError, ValueError):
    """There are too few examples to tell faces apart; says what was expected and got."""


class BoardUnclear(VisionError, ValueError):
    """Taps that no board fits; says what was expected and got."""
