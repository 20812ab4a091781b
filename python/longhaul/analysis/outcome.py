"""The outcome of a run: passed, failed, interrupted, crashed or running, and every failure.

:func:`evaluate_outcome` is the only function that decides it. ``summary.json`` has what it returns; the exit
code, the terminal, the report, the page and Python show that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from signal import Signals
from typing import Any, Literal

from longhaul.units.text import time_text

Json = Mapping[str, Any]

State = Literal["passed", "failed", "interrupted", "crashed", "running"]
Kind = Literal["program", "service", "flow", "transfer", "expectation", "network", "hosts"]

EARLY = ("stopped", "interrupted")
"""Ends of a run before its time, by its user."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One thing that failed."""

    kind: Kind
    name: str
    """Of the program, flow, request or metric."""
    host: str | None = None
    """Where it ran; None for what has no single place."""
    reason: str
    """What is wrong with it, without its name."""
    exit: int | None = None
    signal: int | None = None
    log: str | None = None
    """Whose log says more; None without one."""
    lines: tuple[str, ...] = ()
    """The last lines of that log."""

    @property
    def text(self) -> str:
        """``program crash on a1: exit code 3, expected 0``."""
        return f"{self.kind} {self.name}{f' on {self.host}' if self.host else ''}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a run ended."""

    state: State
    detail: str = ""
    """What to say behind the state: the first failure, the reason of a crash, or what passed."""
    reason: str | None = None
    """Why it crashed, or could not begin or go on."""
    failures: tuple[Failure, ...] = ()
    exit_code: int | None = None
    """Of the command that made the run; None while it is running."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the headline."""
        return {**asdict(self), "headline": self.headline}

    @property
    def headline(self) -> str:
        """One line for people, such as ``Failed: program load on a1: exit code 3, expected 0.``."""
        return f"{self.state.capitalize()}{f': {self.detail}' if self.detail else ''}."

    @classmethod
    def from_dict(cls, content: Json) -> "Outcome":
        """From what :meth:`as_dict` gave."""
        failures = tuple(Failure(**{**each, "lines": tuple(each["lines"])}) for each in content["failures"])
        fields = {key: value for key, value in content.items() if key != "headline"}
        return cls(**{**fields, "failures": failures})

    def with_lines(self, lines: Mapping[str, tuple[str, ...]]) -> "Outcome":
        """The same with the last lines of logs, by whose they are."""
        failures = tuple(replace(each, lines=lines.get(each.log or "", ())) for each in self.failures)
        return replace(self, failures=failures)


def evaluate_outcome(
    summary: Json | None, *, status: str | None = None, reason: str | None = None, strict: bool = False
) -> Outcome:
    """The outcome of a run from its ``summary`` (None: it has none) and the ``status`` of its ``run.json``.

    ``reason`` is why a run crashed, where that is known. ``strict``: a degraded network and starved hosts are
    failures.
    """
    ended = status or (summary or {}).get("ended")
    if ended == "running":
        return Outcome(state="running")
    if summary is None:
        why = reason or "the run left no results"
        if ended == "failed":
            return Outcome(state="failed", detail=why, reason=why, exit_code=1)
        if ended == "interrupted":
            return Outcome(state="interrupted", detail="before there were results", exit_code=130)
        return Outcome(state="crashed", detail=why, reason=why, exit_code=70)
    failures = tuple(_failures(summary, strict=strict))
    code = _exit_code(summary, failures)
    if ended in ("failed", "crashed"):
        why = reason or _engine_failure(summary) or "the run's own processes ended early"
        own = 70 if ended == "crashed" else 1
        return Outcome(
            state="crashed" if ended == "crashed" else "failed",
            detail=why,
            reason=why,
            failures=failures,
            exit_code=code if code == 4 else own,
        )
    if ended == "interrupted":
        parts = (f"after {time_text(summary.get('duration_ns'))}", _first(failures))
        detail = "; ".join(part for part in parts if part)
        return Outcome(state="interrupted", detail=detail, failures=failures, exit_code=130)
    if failures:
        return Outcome(state="failed", detail=_first(failures), failures=failures, exit_code=code)
    return Outcome(state="passed", detail=_passed(summary, ended), exit_code=0)


def program_failure(program: Json) -> str | None:
    """Why a program of a run counts as failed; None if it does not, or has not ended.

    ``program`` is a row of ``programs`` in the summary, or the supervisor's message of its end.
    """
    if program.get("error"):
        return f"could not start: {program['error']}"
    exit_code, number = program.get("exit"), program.get("signal")
    if program.get("stopped_by_run") or (exit_code is None and number is None):
        return None
    expected = program.get("expect_exit")
    if program.get("service"):
        # A service has no end of its own, unless the scenario says with which code it may end.
        if program.get("may_end") or (expected is not None and exit_code == expected):
            return None
        at_ns = program.get("end_ns")
        at = f" at {time_text(at_ns)}" if at_ns is not None and at_ns > 0 else ""
        return f"ended{at}, before the run stopped it: {_end(program)}"
    if expected is None or exit_code == expected:
        return None
    return f"killed by {_end(program)}" if number is not None else f"{_end(program)}, expected {expected}"


def announced(message: Json, planned: Json) -> Json:
    """A program as the supervisor's ``message`` of its end has it, and as the plan does.

    For :func:`program_failure` and :func:`ending_text`.
    """
    return {**planned, "error": message.get("message"), **message}


def has_started(program: Json) -> bool:
    """Whether a program of a summary began; its start may not have come before the end of the run."""
    return program.get("start_ns") is not None


def ending_text(program: Json) -> str:
    """How a program of a summary ended, in a few words for a table."""
    if program.get("error"):
        return "could not start"
    if program.get("stopped_by_run"):
        return "stopped at the end"
    if program.get("exit") is None and program.get("signal") is None:
        return "running" if has_started(program) else "not started"
    return _end(program).replace("exit code", "exit")


def signal_text(number: int) -> str:
    """``SIGKILL (signal 9)``."""
    try:
        return f"{Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def _end(program: Json) -> str:
    number = program.get("signal")
    return f"exit code {program['exit']}" if number is None else signal_text(number)


def _failures(summary: Json, *, strict: bool) -> Iterator[Failure]:
    verdict = summary["fidelity"]["verdict"]
    if verdict == "invalid" or (strict and verdict == "degraded"):
        reasons = [each["what"] for each in summary["fidelity"]["reasons"] if each["verdict"] == verdict]
        why = "; ".join(reasons) or "see fidelity.json"
        yield Failure(kind="network", name=verdict, reason=why)
    hosts = summary["fidelity"].get("hosts") or {}
    if strict and hosts.get("state") == "starved":
        yield Failure(
            kind="hosts", name="starved", reason="; ".join(each["what"] for each in hosts["reasons"])
        )
    flows = {each["flow"]: each for each in summary.get("flows", ()) if each.get("error")}
    for program in summary.get("programs", ()):
        why_not = program_failure(program)
        # A flow and the program that sends it have one name, and fail as one.
        flow = flows.pop(program["name"], None)
        reasons = [each for each in ((flow or {}).get("error"), why_not) if each]
        if not reasons:
            continue
        yield Failure(
            kind="flow" if flow else "service" if program["service"] else "program",
            name=program["name"],
            host=program["host"],
            reason="; ".join(reasons),
            exit=program["exit"],
            signal=program["signal"],
            log=program["name"],
        )
    for name, flow in flows.items():
        yield Failure(kind="flow", name=name, host=flow["from"], reason=flow["error"])
    for request in (summary.get("planned_transfers") or {}).get("requests", ()):
        if request["accepted"] and not request["met"]:
            why = request["reason"] or "not satisfied"
            yield Failure(kind="transfer", name=request["request"], host=request["from"], reason=why)
    for each in summary["expectations"]:
        if expectation_state(each, summary.get("ended")) == "failed":
            yield Failure(kind="expectation", name=each["metric"], reason=each["why"])


def expectation_state(expectation: Json, ended: str | None) -> Literal["passed", "failed", "not measured"]:
    """``not measured`` is not a failure: the user ended the run before there was anything to measure."""
    if expectation["met"]:
        return "passed"
    return "not measured" if ended in EARLY and expectation["value"] is None else "failed"


def _exit_code(summary: Json, failures: tuple[Failure, ...]) -> int:
    """4 if the network was not what the scenario says, or an ``else: untrusted`` failed; 1 for the rest."""
    untrusted = any(
        each["else"] == "untrusted" and expectation_state(each, summary.get("ended")) == "failed"
        for each in summary["expectations"]
    )
    if untrusted or any(each.kind in ("network", "hosts") for each in failures):
        return 4
    return 1 if failures else 0


def _engine_failure(summary: Json) -> str | None:
    reasons = summary["fidelity"]["reasons"]
    return next((each["what"] for each in reasons if each["verdict"] == "invalid"), None)


def _first(failures: tuple[Failure, ...]) -> str:
    if not failures:
        return ""
    more = len(failures) - 1
    rest = f"; and {more} more failure{'s' if more > 1 else ''}" if more else ""
    return f"{failures[0].text.removesuffix('.')}{rest}"


def _passed(summary: Json, ended: str | None) -> str:
    programs = [each for each in summary.get("programs", ()) if not each["service"]]
    waiting = [each["name"] for each in programs if not has_started(each)]
    expected = [(each["metric"], expectation_state(each, ended)) for each in summary["expectations"]]
    unmeasured = [metric for metric, state in expected if state == "not measured"]
    counts = [
        _count(len(programs) - len(waiting), "program"),
        _count(len(summary.get("flows", ())), "flow"),
        _count(len(expected) - len(unmeasured), "expectation"),
    ]
    missing = f"not measured: {', '.join(unmeasured)}" if unmeasured else ""
    unstarted = f"not started: {', '.join(waiting)}" if waiting else ""
    early = f"stopped after {time_text(summary.get('duration_ns'))}" if ended == "stopped" else ""
    return ", ".join(each for each in (*counts, missing, unstarted, early) if each)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''}" if number else ""
