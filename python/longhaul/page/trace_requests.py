"""Requests about traces: those of the directory, one with edits, and a new file of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page import folder
from longhaul.page.bodies import TraceCollection, TraceSave, TraceWish
from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.jobs import Job
from longhaul.page.responses.traces import TraceFile, TraceFiles, TraceLink, TraceSaved, TraceView
from longhaul.scenario.traces import Trace
from longhaul.scenario.traces.builtin import is_builtin, sets_as_plain
from longhaul.scenario.traces.csv_text import Reading
from longhaul.scenario.traces.editing import TraceEdit, edited
from longhaul.scenario.traces.files import read_traces, write_traces
from longhaul.scenario.traces.reshaping import only
from longhaul.traces.validation import as_plain

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}\.(csv|parquet|up|down|mahi)")
KIND = "trace"
_MOST_FILES = 200
_MOST_POINTS = 2_000
"""Of a trace, that the page draws."""


@dataclass(frozen=True)
class TraceRequests:
    """Answers about the traces of one directory."""

    directory: Path
    jobs: Jobs

    def files(self, _asked: Asked) -> TraceFiles:
        """The files that ``longhaul trace`` reads, and the built-in traces."""
        names = [path.name for path in sorted(self.directory.iterdir()) if _NAME.fullmatch(path.name)]
        return {
            "files": [found for name in names[:_MOST_FILES] if (found := self._file(name)) is not None],
            "built_in": [
                f"{each['set']}:{kind['kind']}" for each in sets_as_plain() for kind in each["kinds"]
            ],
        }

    def look(self, _asked: Asked, body: TraceWish) -> TraceView:
        """A trace after edits, with its statistics. Raises LonghaulError for what no trace may have."""
        read = self._read(body)
        reading = _edited(read, body)
        trace = reading.traces[0]
        facts = as_plain(trace)
        rows = list(_thinned(trace))
        return cast(
            "TraceView",
            {
                "from": facts["from"],
                "to": facts["to"],
                "links": [_link(each) for each in read.traces],
                "rows": facts["rows"],
                "span_s": facts["span_s"],
                "period_s": facts["period_s"],
                "times_s": [trace.times_s[row] for row in rows],
                "columns": {name: [values[row] for row in rows] for name, values in trace.columns.items()},
                "statistics": facts["columns"],
                "warnings": list(reading.warnings),
            },
        )

    def save(self, asked: Asked, body: TraceSave) -> TraceSaved:
        """Write a trace after edits as a new CSV file."""
        name = asked.path["name"]
        path = self._new(name)
        trace = _edited(self._read(body), body).traces[0]
        try:
            write_traces(path, [trace])
        except LonghaulError as error:
            if error.code is not Code.FILE_EXISTS:
                raise
            raise _exists(name) from None
        return {"name": name, "rows": len(trace)}

    def collect(self, _asked: Asked, body: TraceCollection) -> Job:
        """Measure a trace into a new CSV file, as ``longhaul trace collect --to`` does."""
        path = self._new(body.name)
        if path.exists():
            raise _exists(body.name)
        period = [] if body.period is None else [f"--period={body.period}"]
        return self.jobs.start(
            [
                "trace",
                "collect",
                # In one word each, so that none can be another option.
                f"--to={body.to}",
                f"--style={body.style}",
                f"--duration={body.duration}",
                *period,
                *(["--both"] if body.both else []),
                f"--out={body.name}",
            ],
            kind=KIND,
            title=f"trace of {body.to}",
            alone=("calibrate", KIND),
            read=lambda _line: None,
        )

    def _new(self, name: str) -> Path:
        """Where a new CSV file would be."""
        path = folder.place(self.directory, name)
        if path.suffix != ".csv":
            raise RefusedError(
                Code.NAME_INVALID, 400, f"{name} is not a CSV file", remedy="end the name with .csv"
            )
        return path

    def _file(self, name: str) -> TraceFile | None:
        """What is in a file; ``None`` for a table that is none of traces, such as one of requests."""
        try:
            traces = read_traces(str(self._path(name))).traces
        except LonghaulError as error:
            if error.code in (Code.COLUMN_UNKNOWN, Code.NOT_A_TABLE):
                return None
            first = error.diagnostics[0]
            place = f"line {first.span.line}: " if first.span else ""
            return {"name": name, "links": [], "problem": f"{place}{first.message}"}
        return {"name": name, "links": [_link(each) for each in traces], "problem": None}

    def _read(self, body: TraceWish) -> Reading:
        return read_traces(body.name if is_builtin(body.name) else str(self._path(body.name)))

    def _path(self, name: str) -> Path:
        """A file of the directory; nothing but a plain name leads anywhere."""
        path = self.directory / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise RefusedError(
                Code.PAGE_NOT_FOUND, 404, "there is no such trace", remedy="read the list again"
            )
        if not path.resolve().is_relative_to(self.directory.resolve()):
            raise folder.outside(name)
        return path


def _exists(name: str) -> RefusedError:
    return RefusedError(Code.FILE_EXISTS, 409, f"{name} already exists", remedy="choose another name")


def _edited(reading: Reading, body: TraceWish) -> Reading:
    """The trace of the link that is wanted, after edits, alone."""
    ends = None if body.link is None else (body.link[0], body.link[1])
    (trace, *_others) = only(reading.traces, ends)
    if not body.edits:
        return Reading((trace,), reading.warnings)
    edits = [TraceEdit(**each.model_dump()) for each in body.edits]
    return edited(trace, edits, name=body.name)


def _link(trace: Trace) -> TraceLink:
    plain = as_plain(trace)
    return cast(
        "TraceLink",
        {
            **{key: plain[key] for key in ("from", "to", "rows", "span_s")},
            "columns": list(trace.columns),
        },
    )


def _thinned(trace: Trace) -> Iterator[int]:
    """Rows to draw: all, or of each of equal parts those with the extremes of each column."""
    count = len(trace)
    parts = _MOST_POINTS // (2 * len(trace.columns))
    if count <= _MOST_POINTS:
        yield from range(count)
        return
    for part in range(parts):
        rows = range(part * count // parts, (part + 1) * count // parts)
        found = {rows[0]}
        for values in trace.columns.values():
            known = [row for row in rows if values[row] is not None]
            if known:
                found |= {min(known, key=values.__getitem__), max(known, key=values.__getitem__)}  # type: ignore[arg-type]
        yield from sorted(found)
