"""Errors of the appliance: settings, pins, socket."""


class FirmwareError(Exception):
    """Base class for all errors of the appliance."""


class BadSettings(FirmwareError, ValueError):
    """The settings or the pin map cannot be used; names file, place, expected and got."""


class PanelLost(FirmwareError, OSError):
    """The pins of buttons and lamps cannot be used."""


class WireBlocked(FirmwareError, OSError):
    """The command socket cannot be opened."""


class BadRequest(FirmwareError, ValueError):
    """A request does not make sense for the game that is being played."""


class Unavailable(FirmwareError):
    """A request asks for something that this table does not have or cannot do now."""
