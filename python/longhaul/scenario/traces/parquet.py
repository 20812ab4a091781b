"""Traces as Parquet: the same columns, nulls for gaps, link metadata."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.column_names import ENDS, VERSION
from longhaul.scenario.traces.trace import COLUMNS, DELAY, RTT, Trace, Way

_KEY = b"longhaul.trace"


def content_of(traces: Sequence[Trace]) -> bytes:
    """``traces`` as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    several = len(traces) > 1
    names = [name for name in COLUMNS if any(name in trace.columns for trace in traces)]
    arrays: dict[str, Any] = {"t_s": pa.array([at for trace in traces for at in trace.times_s], pa.float64())}
    if several:
        for position, end in enumerate(ENDS):
            hosts = [trace.way.ends[position] for trace in traces if trace.way for _ in trace.times_s]
            arrays[end] = pa.array(hosts, pa.string())
    for name in names:
        values = [each for trace in traces for each in trace.columns.get(name, (None,) * len(trace))]
        arrays[name] = pa.array(values, pa.float64())
    ways = [asdict(trace.way) if trace.way else None for trace in traces]
    notes = json.dumps({"wantrace": VERSION, "links": ways}).encode()
    table = pa.table(arrays).replace_schema_metadata({_KEY: notes})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def read_parquet(path: Path) -> tuple[Trace, ...]:
    """The traces in ``path``; raises :class:`LonghaulError`, which says the row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        names = [name for name in COLUMNS if name in table.column_names]
        numbers = {name: table.column(name).cast(pa.float64()).to_pylist() for name in ["t_s", *names]}
        pairs = list(zip(*(_hosts(table, end) for end in ENDS), strict=True)) if _several(table) else []
    except KeyError:
        twice = [each for each in ("t_s", *COLUMNS, *ENDS) if table.column_names.count(each) > 1]
        what = f"has several columns {twice[0]}" if twice else "has no column t_s"
        raise _wrong(path, what, "write t_s, rtt_ms and rate_mbit, each once") from None
    except (OSError, pa.ArrowException) as error:
        reason = printable(str(error).splitlines()[0])
        raise _wrong(path, reason, "name a Parquet file with t_s, rtt_ms and rate_mbit") from None
    if not names or not table.num_rows:
        raise _wrong(path, "has no rtt_ms, delay_ms or rate_mbit", "write one of them")
    for row, hosts in enumerate(pairs):
        if not all(hosts):
            raise _wrong(path, f"row {row + 1}: a link without {ENDS[bool(hosts[0])]}", "name both ends")
    try:
        noted = _ways((table.schema.metadata or {}).get(_KEY))
    except (ValueError, KeyError, TypeError):
        remedy = f"write it with longhaul trace convert, or remove {_KEY.decode()} from its metadata"
        raise _wrong(path, "its notes on links are damaged", remedy) from None
    found = []
    for pair in dict.fromkeys(pairs) or [None]:
        rows = [row for row, each in enumerate(pairs) if each == pair] if pair else range(table.num_rows)
        way = (
            next((way for way in noted if way.ends == pair), Way(*pair)) if pair else next(iter(noted), None)
        )
        found.append(_trace(path, numbers, rows, way))
    return tuple(found)


def _several(table: Any) -> bool:
    return set(ENDS) <= set(table.column_names)


def _hosts(table: Any, end: str) -> list[str | None]:
    import pyarrow as pa

    column = table.column(end).cast(pa.string())
    # What says that it is UTF-8 need not be.
    column.validate(full=True)
    hosts: list[str | None] = column.to_pylist()
    return hosts


def _ways(notes: bytes | None) -> list[Way]:
    """The links of the metadata; raises ValueError, KeyError or TypeError where it has another form."""
    links = json.loads(notes)["links"] if notes else []
    ways = [Way(**each) for each in links if each]
    for way in ways:
        texts = (way.source, way.destination, "" if way.tool is None else way.tool)
        period_s = 0 if way.period_s is None else way.period_s
        if not all(isinstance(each, str) for each in texts) or not isinstance(period_s, int | float):
            raise TypeError(way)
        if not 0 <= period_s < float("inf"):
            raise ValueError(way)
    return ways


def _trace(path: Path, numbers: dict[str, list[float | None]], rows: Sequence[int], way: Way | None) -> Trace:
    times: list[float] = []
    for row in rows:
        at = numbers["t_s"][row]
        if at is None or not 0 <= at < float("inf") or (times and at <= times[-1]):
            remedy = "sort the rows by time, each later than the one before"
            raise _wrong(path, f"row {row + 1}: the time {at} is not later", remedy)
        times.append(at)
    columns = {}
    for name in numbers:
        values = tuple(numbers[name][row] for row in rows)
        for row, value in zip(rows, values, strict=True):
            wrong = value is not None and not 0 <= value < float("inf")
            if wrong or (value == 0 and name in (RTT, DELAY)):
                remedy = "write more than 0, or nothing for a gap"
                raise _wrong(path, f"row {row + 1}: a {name} of {value}", remedy)
        if name != "t_s" and any(value is not None for value in values):
            columns[name] = values
    return Trace(tuple(times), columns, way)


def _wrong(path: Path, message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.FOREIGN_FILE_MALFORMED, f"{path}: {message}", remedy=remedy, exit_code=2)
