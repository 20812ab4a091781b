"""What the page's server refuses, as status and JSON."""

from longhaul.errors import LonghaulError
from longhaul.page.answers.texts import Problem, Refusal, Refused
from longhaul.scenario.editing import EditError
from longhaul.scenario.problems import Problem as Found
from longhaul.scenario.problems import ScenarioError


class RefusedError(LonghaulError):
    """A request that is refused with a status of HTTP of its own."""

    def __init__(self, status: int, message: str, *, remedy: str | None = None) -> None:
        """Say ``message`` and ``remedy`` with ``status``."""
        super().__init__(message, remedy=remedy, exit_code=2)
        self.status = status
        self.told: Refusal | None = None
        """More than message and remedy, where a run's own process refused."""


def status_of(error: LonghaulError) -> int:
    """400 for what the user can mend; 409 for what this machine cannot; 500 for what is nobody's wish."""
    if isinstance(error, RefusedError):
        return error.status
    return {3: 409, 70: 500}.get(error.exit_code, 400)


def as_json(error: LonghaulError) -> Refused:
    """``error`` as an answer."""
    return {"error": _refusal(error)}


def as_problem(found: Found) -> Problem:
    """An error in a text."""
    return {
        "path": found.path,
        "line": found.place.line,
        "column": found.place.column,
        "width": found.place.width,
        "message": found.message,
        "remedy": found.remedy,
        "severity": "error",
    }


def _refusal(error: LonghaulError) -> Refusal:
    if isinstance(error, RefusedError) and error.told is not None:
        return error.told
    if isinstance(error, ScenarioError):
        problems = [as_problem(each) for each in error.problems]
        first = problems[0]
        return {
            "message": first["message"],
            "remedy": first["remedy"],
            "path": first["path"],
            "line": first["line"],
            "column": first["column"],
            "problems": problems,
        }
    told: Refusal = {"message": error.message, "remedy": error.remedy}
    if isinstance(error, EditError):
        told |= {"line": error.line, "column": error.column, "in_range": error.in_range}
    return told
