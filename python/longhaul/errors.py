"""The one kind of error that a user meets."""


class LonghaulError(Exception):
    """A problem of the user's, not of the program: said in one line, with what helps."""

    def __init__(self, message: str, *, remedy: str | None = None, exit_code: int = 1) -> None:
        """Say ``message`` and, behind a semicolon, ``remedy``; end with ``exit_code``."""
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy
        self.exit_code = exit_code
