"""What the page's server refuses, as status and JSON."""

from typing import Any

from longhaul.errors import LonghaulError
from longhaul.scenario.editing import EditError
from longhaul.scenario.problems import ScenarioError


class RefusedError(LonghaulError):
    """A request that is refused with a status of HTTP of its own."""

    def __init__(self, status: int, message: str, *, remedy: str | None = None) -> None:
        """Say ``message`` and ``remedy`` with ``status``."""
        super().__init__(message, remedy=remedy, exit_code=2)
        self.status = status
        self.told: dict[str, Any] = {}
        """More than message and remedy, where a run's own process refused."""


def status_of(error: LonghaulError) -> int:
    """400 for what the user can mend; 409 for what this machine cannot; 500 for what is nobody's wish."""
    if isinstance(error, RefusedError):
        return error.status
    return {3: 409, 70: 500}.get(error.exit_code, 400)


def as_json(error: LonghaulError) -> dict[str, Any]:
    """``{"error": {message, remedy, line, column ...}}``."""
    told: dict[str, Any] = {"message": error.message, "remedy": error.remedy}
    if isinstance(error, RefusedError):
        told |= error.told
    if isinstance(error, EditError):
        told |= {"line": error.line, "column": error.column, "in_range": error.in_range}
    if isinstance(error, ScenarioError):
        first = error.problems[0]
        told = {"message": first.message, "remedy": first.remedy, "path": first.path}
        told |= {"line": first.place.line, "column": first.place.column}
        told["problems"] = [problem.as_json() for problem in error.problems]
    return {"error": told}
