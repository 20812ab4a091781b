"""Programs and traffic."""

import re
import shlex
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import (
    AlsoText,
    Count,
    HostName,
    HostRanges,
    Name,
    Strict,
    Text,
    Word,
    problem,
)
from longhaul.scenario.model.start import START_OF_RUN, After, ProgramStart, check_stop
from longhaul.scenario.model.traffic import CongestionControl
from longhaul.units.quantities import Size, Span

ENTRYPOINT = "image:entrypoint"
"""As the first word of ``run``: what the image of the host says that it starts."""
_OWN_METRICS = ("wall_time", "exit")
_READY_WITHIN = Span(10 * 10**9)


class Ready(Strict):
    """How to tell that a service can be used: it listens on a TCP port."""

    tcp: Annotated[int, Count(at_least=1, at_most=65_535)]
    within: Span = _READY_WITHIN


def _ready(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    kind, colon, port = str(value).partition(":")
    if kind != "tcp" or not colon or not port.isdecimal() or len(port) > 5:
        raise problem(
            Code.ADDRESS_MALFORMED,
            f'"{str(value)[:40]}" does not say when it is ready',
            'write for example "tcp:8080"',
        )
    return {"tcp": int(port)}


def _argv(value: Any) -> Any:
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise problem(
                Code.COMMAND_INVALID, f"cannot be split into words: {str(error).lower()}", "close the quotes"
            ) from None
    elif isinstance(value, list):
        words = value
    else:
        raise problem(Code.WRONG_TYPE, "must be a command", 'write for example "run: ping -c 3 nyc1"')
    if not words:
        raise problem(Code.COMMAND_INVALID, "is empty", 'write for example "run: ping -c 3 nyc1"')
    return words


def _exit(value: Any) -> Any:
    if value == "any":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 255:
        raise problem(Code.OUT_OF_RANGE, "must be an exit code", 'write a number from 0 to 255, or "any"')
    return value


class Simulate(Strict):
    """What stands for a program in a simulation: ranks that exchange messages over TCP."""

    kind: Literal["ping-pong", "allreduce", "alltoall", "halo", "broadcast", "recorded"]
    bytes: Annotated[Size | None, Field(examples=["1MiB"])] = None
    """Of each message; of ``allreduce`` and ``broadcast``, of the data."""
    file: Text | None = None
    """Of ``recorded``: what every rank does, as ``longhaul-workload record`` writes it."""
    algorithm: Literal["flat", "binomial", "recursive-doubling", "ring", "two-level"] = "recursive-doubling"
    """Of ``allreduce``; ``two-level`` adds up within each site, whose first ranks then exchange directly."""
    repeat: Annotated[int, Count(at_least=1, at_most=10**6)] = 1
    compute: Span = Span(0)
    """What every rank computes before each iteration."""
    slots: Annotated[int, Count(at_least=1, at_most=1024)] = 1
    """Ranks on each host."""
    cc: CongestionControl | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Simulate":
        recorded = self.kind == "recorded"
        if recorded and self.file is None:
            raise problem(Code.KEY_MISSING, "does not say what was recorded", "add file: NAME.csv")
        if not recorded and self.bytes is None:
            raise problem(Code.KEY_MISSING, 'has no "bytes"', "add for example bytes: 1MiB")
        for field in ("bytes", "algorithm", "compute") if recorded else ("file",):
            if field in self.model_fields_set:
                what = "is in the file" if recorded else 'belongs to kind "recorded"'
                raise problem(Code.KEY_OUT_OF_PLACE, what, "remove it", at=field)
        return self


class OutputMetric(Strict):
    """A number that a program prints: a pattern that finds it in a line, or a key of lines in JSON."""

    pattern: Text | None = None
    """A regular expression; its group ``value``, that with the metric's name, or its only group."""
    key: Annotated[Text | None, Field(alias="json", examples=["solver.residual"])] = None
    """The key of an object that is a line; with points for objects in it."""
    unit: Text = ""
    """Shown behind the value."""
    take: Literal["last", "first", "min", "max", "mean", "sum", "p50", "p99"] = "last"
    """Of several values in the output."""

    @model_validator(mode="after")
    def _one(self) -> "OutputMetric":
        if (self.pattern is None) == (self.key is None):
            raise problem(
                Code.KEYS_CONFLICT if self.pattern is not None else Code.KEY_MISSING,
                "must say where the number is, once",
                "write pattern: 'residual = ([0-9.e-]+)', or json: KEY",
            )
        return self

    def as_json(self) -> dict[str, str | None]:
        """What results need of it."""
        return {"pattern": self.pattern, "json": self.key, "unit": self.unit, "take": self.take}


def _output_metric(value: Any) -> Any:
    return {"pattern": value} if isinstance(value, str) else value


class Program(Strict):
    """A real program, or what stands for it in a simulation.

    ``host``, ``hosts`` and ``each`` exclude one another.
    """

    run: (
        Annotated[
            tuple[Word, ...],
            BeforeValidator(_argv),
            Field(strict=False, examples=["ping -c 3 nyc1"]),
            AlsoText(".+"),
        ]
        | None
    ) = None
    """Split into words as a shell would; never passed through one. ``image:entrypoint`` starts what the image
    of the host starts by itself, with further words in place of the image's arguments."""
    simulate: Simulate | None = None
    host: HostName | None = None
    hosts: HostRanges | None = None
    """Hosts that one program spans (MPI): it starts on the first and finds all in LONGHAUL_HOSTS."""
    slots: Annotated[int, Count(at_least=1, at_most=1024)] = 1
    """Ranks that may be started on each of ``hosts``."""
    ranks: Literal["by-cluster", "round-robin"] = "by-cluster"
    """Whether ranks fill a host before they go to the next, or visit all hosts in turn."""
    each: HostRanges | None = None
    """Hosts that each run the program."""
    start: ProgramStart = START_OF_RUN
    """A time; a distribution of it, so that seeds have others; or ``after NAME``: when that has ended."""
    stop: Span | None = None
    expect_exit: Annotated[int | None, BeforeValidator(_exit), AlsoText("^any$", "any")] = 0
    service: bool = False
    """Serves the others: starts before the clock, is stopped at the end."""
    ready: Annotated[Ready, BeforeValidator(_ready), AlsoText("^tcp:[0-9]+$", "tcp:8080")] | None = None
    cwd: Text | None = None
    env: dict[Name, Word] = Field(default_factory=dict)
    metrics: dict[Name, Annotated[OutputMetric, BeforeValidator(_output_metric), AlsoText(".+")]] = Field(
        default_factory=dict
    )
    """Numbers that it prints on standard output, as metrics ``programs.PROGRAM.NAME``."""

    @model_validator(mode="after")
    def _consistent(self) -> "Program":
        places = sum(each is not None for each in (self.host, self.hosts, self.each))
        if places != 1:
            raise problem(
                Code.KEYS_CONFLICT if places else Code.KEY_MISSING,
                "must say where it runs, once",
                "write host: NAME, hosts: [...] or each: [...]",
            )
        if self.run is None and self.simulate is None:
            remedy = "write run: COMMAND, or simulate: {kind: allreduce, bytes: 1MiB}"
            raise problem(Code.KEY_MISSING, 'has no "run"', remedy)
        if self.simulate and self.hosts is None:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "a simulated program spans hosts", "write hosts: [a, b]", at="simulate"
            )
        for field in {"slots", "ranks"} & self.model_fields_set:
            if self.hosts is None or self.run is None:
                raise problem(
                    Code.KEY_OUT_OF_PLACE,
                    f'"{field}" needs "run" and "hosts"',
                    "write hosts: [a, b]",
                    at=field,
                )
        if self.metrics and self.run is None:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "a simulated program prints nothing", "add run: COMMAND", at="metrics"
            )
        for name, metric in self.metrics.items():
            _check_metric(name, metric)
        if self.ready and not self.service:
            raise problem(Code.KEY_OUT_OF_PLACE, '"ready" belongs to a service', "add service: true")
        if self.service and isinstance(self.start, After):
            raise problem(
                Code.START_REFERENCE,
                "a service starts before the run's clock and cannot wait for a program",
                "remove the start, or the service",
                at="start",
            )
        check_stop(self.start, self.stop)
        return self


def _check_metric(name: str, metric: OutputMetric) -> None:
    if name in _OWN_METRICS:
        raise problem(
            Code.NAME_DUPLICATE,
            f'"{name}" is a metric of every program',
            f"write for example {name}_printed",
            at="metrics",
        )
    if metric.pattern is None:
        return
    try:
        pattern = re.compile(metric.pattern)
    except re.error as error:
        raise problem(
            Code.METRIC_PATTERN,
            f'"{name}" is not a regular expression: {error.msg}',
            "write \\( for a bracket",
            at="metrics",
        ) from None
    if not {"value", name} & pattern.groupindex.keys() and pattern.groups != 1:
        groups = f"{pattern.groups} groups, none called value" if pattern.groups else "no group"
        raise problem(
            Code.METRIC_PATTERN,
            f'the pattern of "{name}" has {groups}',
            "put the number in brackets: 'x = ([0-9.]+)'",
            at="metrics",
        )
