"""Start times of traffic and programs: fixed, random, or after another program."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import AlsoText, Name, Strict, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.model.distribution import (
    AnyTimes,
    Constant,
    Empirical,
    TimeDistribution,
    Uniform,
    members,
    normalised,
)
from longhaul.units.quantities import Span

START_OF_RUN: "Constant[Span]" = Constant(dist="constant", value=Span(0))


class After(Strict):
    """When another program has ended."""

    dist: Literal["after"]
    program: Name


def _traffic_start(value: Any) -> Any:
    if isinstance(value, str) and value.split()[:1] == ["after"]:
        raise problem(
            Code.START_REFERENCE,
            "only programs can start after another",
            "write a time, for example start: 2s",
        )
    return value


TrafficStart = Annotated[TimeDistribution, BeforeValidator(_traffic_start)]
"""A :data:`TimeDistribution`."""


def _start(value: Any) -> Any:
    if isinstance(value, dict) and "after" in value:
        raise problem(
            Code.START_REFERENCE,
            "names a program in braces",
            f"write start: after {value['after'] if isinstance(value['after'], str) else 'fetch'}",
        )
    words = value.split() if isinstance(value, str) else []
    if words[:1] != ["after"]:
        return normalised(value)
    if len(words) != 2:
        raise problem(
            Code.START_REFERENCE, "does not name one program", "write for example start: after fetch"
        )
    return {"dist": "after", "program": words[1]}


ProgramStart = Annotated[
    After | AnyTimes,
    Chosen("dist", {"after": After, **members(Span)}),
    BeforeValidator(_start),
    AlsoText(Span.pattern(), "18s"),
    AlsoText("^after [^ ]+$", "after fetch"),
]
"""A :data:`TimeDistribution`, or another program's end."""


def earliest_ns(start: Any) -> int:
    """The least time that a start is known not to go below, in ns."""
    match start:
        case Constant():
            return int(start.value.ns)
        case Uniform():
            return int(start.low.ns)
        case Empirical() if start.values:
            return int(min(each.ns for each in start.values))
    return 0


def latest_ns(start: Any) -> int | None:
    """The largest time that a :data:`TimeDistribution` may give, in ns; ``None`` if it has no bound."""
    match start:
        case Constant():
            return int(start.value.ns)
        case Uniform():
            return int(start.high.ns)
        case Empirical() if start.values:
            return int(max(each.ns for each in start.values))
    return None


def check_stop(start: Any, stop: Span | None) -> None:
    """Refuse a ``stop`` that may come before the start."""
    if stop is None:
        return
    if isinstance(start, After):
        remedy = "remove the stop, or write a time as start"
        raise problem(
            Code.STOP_BEFORE_START,
            "has a stop, but its start time is unknown: it starts after another program",
            remedy,
            at="stop",
        )
    if stop.ns <= earliest_ns(start):
        raise problem(Code.STOP_BEFORE_START, "stops before it starts", "write a stop later than the start")
    latest = latest_ns(start)
    if latest is None:
        remedy = "write for example start: {dist: uniform, low: 0s, high: 1s}, or remove the stop"
        raise problem(
            Code.STOP_BEFORE_START, "may start after it stops: its start has no bound", remedy, at="start"
        )
    if stop.ns <= latest:
        raise problem(
            Code.STOP_BEFORE_START,
            "may start after it stops",
            "let its start end before its stop",
            at="start",
        )
