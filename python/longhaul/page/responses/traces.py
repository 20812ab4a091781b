"""Responses about traces: measured delay and rate of a path over time."""

from typing import Literal

from typing_extensions import TypedDict

TraceColumn = Literal["rtt_ms", "delay_ms", "rate_mbit"]

_Ends = TypedDict("_Ends", {"from": str | None, "to": str | None})


class TraceLink(_Ends):
    """A trace of a file: the link that it is of, if the file says so, its rows, and how long it is."""

    rows: int
    span_s: float
    columns: list[TraceColumn]


class TraceFile(TypedDict):
    """A file of traces, or the ``problem`` that keeps it from being one."""

    name: str
    links: list[TraceLink]
    problem: str | None


class TraceFiles(TypedDict):
    """Those of the directory, and the names of built-in traces."""

    files: list[TraceFile]
    built_in: list[str]


class TraceStatistics(TypedDict):
    """Of a column, as ``longhaul trace show`` has it; each row counts alike."""

    column: TraceColumn
    count: int
    gaps: int
    mean: float
    sd: float
    least: float
    p5: float
    p50: float
    p95: float
    p99: float
    most: float


class TraceView(_Ends):
    """A trace after edits: its samples, each of which holds until the next, thinned out if there are many."""

    links: list[TraceLink]
    """All of its file."""
    rows: int
    span_s: float
    period_s: float
    times_s: list[float]
    columns: dict[TraceColumn, list[float | None]]
    statistics: list[TraceStatistics]
    warnings: list[str]


class TraceSaved(TypedDict):
    """A trace was saved."""

    name: str
    rows: int
