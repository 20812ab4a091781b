"""The exception for every problem that a user can cause or fix."""

from typing import Any

from longhaul.diagnostics import Code, Diagnostic


class LonghaulError(Exception):
    """A problem of the user's, not of the program: said in one line, with what helps."""

    def __init__(self, code: Code, message: str, *, remedy: str | None = None, exit_code: int = 1) -> None:
        """Say ``message`` and, behind a semicolon, ``remedy``; end with ``exit_code``."""
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.exit_code = exit_code
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic(code, message, remedy),)
        """The problems; more than one if a file has several."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again from its attributes: another process cannot call a constructor with other arguments."""
        return _restored, (type(self), self.args, self.__dict__)

    @property
    def headline(self) -> str:
        """The error with its code, for the terminal."""
        return f"{self} [{self.code}]"


def _restored(kind: type[LonghaulError], args: tuple[Any, ...], attributes: dict[str, Any]) -> LonghaulError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error
