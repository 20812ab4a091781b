"""Refused requests as HTTP status and JSON."""

from longhaul.diagnostics import Code, Diagnostic
from longhaul.diagnostics.explanations import explanations
from longhaul.errors import LonghaulError
from longhaul.page.responses.texts import Problem, Refusal, Refused
from longhaul.scenario.edit.edits import EditError
from longhaul.scenario.syntax.problems import ScenarioError


class RefusedError(LonghaulError):
    """A request that is refused with a status of HTTP of its own."""

    def __init__(self, code: Code, status: int, message: str, *, remedy: str | None = None) -> None:
        """Say ``message`` and ``remedy`` with ``status``."""
        super().__init__(code, message, remedy=remedy, exit_code=2)
        self.status = status
        self.told: Refusal | None = None
        """More than message and remedy, where a run's own process refused."""


def status_of(error: LonghaulError) -> int:
    """400 for an error of the user, 409 for what this machine cannot do, 500 for a defect."""
    if isinstance(error, RefusedError):
        return error.status
    by_code = {Code.PAGE_CONFLICT: 409, Code.PAGE_NOT_FOUND: 404}
    return by_code.get(error.code) or {3: 409, 70: 500}.get(error.exit_code, 400)


def as_json(error: LonghaulError) -> Refused:
    """``error`` as an answer."""
    return {"error": _refusal(error)}


def explained(code: Code) -> str:
    """What ``code`` means, in a paragraph."""
    found = explanations()[code]
    return f"{found.title[:1].upper()}{found.title[1:]}. {found.text}"


def as_problem(found: Diagnostic) -> Problem:
    """A diagnostic for the page, whose file is the text that it shows."""
    return {
        "code": found.code,
        "explanation": explained(found.code),
        "path": found.path,
        "line": found.span.line if found.span else None,
        "column": found.span.column if found.span else None,
        "width": found.span.width if found.span else 1,
        "message": found.message,
        "remedy": found.remedy,
        "severity": found.severity,
    }


def _refusal(error: LonghaulError) -> Refusal:
    if isinstance(error, RefusedError) and error.told is not None:
        return error.told
    if isinstance(error, ScenarioError):
        problems = [as_problem(each) for each in error.diagnostics]
        first = problems[0]
        return {
            "code": error.code,
            "explanation": explained(error.code),
            "message": first["message"],
            "remedy": first["remedy"],
            "path": first["path"],
            "line": first["line"],
            "column": first["column"],
            "problems": problems,
        }
    told: Refusal = {
        "code": error.code,
        "explanation": explained(error.code),
        "message": error.message,
        "remedy": error.remedy,
    }
    if isinstance(error, EditError):
        told |= {"line": error.line, "column": error.column, "in_range": error.in_range}
    return told
