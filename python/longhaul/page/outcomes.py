"""The outcome of a run as the page shows it."""

from collections.abc import Iterable, Mapping
from typing import Any

from longhaul.analysis.outcome import Outcome
from longhaul.page.responses.runs import EndedProgram, FailureRow, OutcomeLine


def line_of(outcome: Outcome) -> OutcomeLine:
    """Its state, and what to say behind it."""
    return {"state": outcome.state, "detail": outcome.detail}


def failures_of(outcome: Outcome) -> list[FailureRow]:
    """What failed, with the last lines of each log."""
    return [
        {
            "kind": each.kind,
            "name": each.name,
            "host": each.host,
            "reason": each.reason,
            "text": each.text,
            "log": each.log,
            "lines": list(each.lines),
        }
        for each in outcome.failures
    ]


def programs_of(programs: Iterable[Mapping[str, Any]]) -> list[EndedProgram]:
    """How the programs of a summary ended."""
    return [
        {
            "name": each["name"],
            "host": each["host"],
            "ending": each.get("ending", ""),
            "failure": each.get("failure"),
        }
        for each in programs
    ]
