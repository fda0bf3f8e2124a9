"""Errors of the pages."""


class WebError(Exception):
    """Base class for all errors of the pages."""


class TableAway(WebError, OSError):
    """The table process does not answer."""


class InvalidInput(WebError, ValueError):
    """A form holds something the page cannot use; ``code`` is the text ``input.<code>``."""

    def __init__(self, code: str, **fields: str | int) -> None:
        super().__init__(code, fields)
        self.code = code
        self.fields = fields
