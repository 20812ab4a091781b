"""Traces from and to the text of a CSV file, with warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, pairwise

from longhaul.diagnostics import Code, printable
from longhaul.scenario.syntax.column_names import ENDS, MARK, VERSION, is_two_way
from longhaul.scenario.syntax.csv_file import RATE as RATE_UNITS
from longhaul.scenario.syntax.csv_file import TIME, CsvFile, InputFile, ascending
from longhaul.scenario.traces.trace import COLUMNS, DELAY, LONG_PAUSE, RATE, RTT, Trace, Way
from longhaul.units.quantities import Rate, Span

_MILLI, _MEGA, _NANO = Decimal(10**6), Decimal(10**6), Decimal(10**9)
_TIMES = ("t", "time", "when", "at")
"""What the column of the time is called, before its unit; else it is the first with a unit of time."""


@dataclass(frozen=True)
class Reading:
    """The traces of a file, by link, and what need not be wrong with them."""

    traces: tuple[Trace, ...]
    warnings: tuple[str, ...] = ()


def read_text(file: InputFile) -> Reading:
    """The traces in ``file``. Raises :class:`FileError` with the first line that is wrong."""
    noted = _notes(file)
    table = CsvFile(file)
    time = _time_column(table)
    chosen = _columns(table, time)
    warnings = [
        f"{file.name}:{table.header_line}: column {printable(name)} is not read; name it "
        f"rtt_ms, delay_ms or rate_mbit if it is to be"
        for name in table.header
        if name not in (time, *chosen.values(), *ENDS)
    ]
    places = table.places()
    found = []
    for pair, lines in places.items() if places else [(None, None)]:
        way = noted.get(pair, Way(*pair)) if pair else next(iter(noted.values()), None)
        trace, times = _trace(table, time, chosen, lines, way)
        warnings += _pauses(table.file, trace, times)
        found.append(trace)
    return Reading(tuple(found), tuple(warnings))


def _notes(file: InputFile) -> Mapping[tuple[str, str], Way]:
    """What comments say about links; a version that is not ours is an error."""
    noted = {}
    for number, line in enumerate(file.lines, 1):
        words = line.split()
        if line.startswith(MARK) and words[2:3] != [str(VERSION)]:
            shown = printable(line.removeprefix(MARK).strip())
            raise file.wrong(
                Code.FOREIGN_FILE_MALFORMED,
                number,
                f'version "{shown}" of traces is not known',
                f"write {MARK} {VERSION}",
            )
        if words[:2] == ["#", "link"]:
            if len(words) < 4:
                raise file.wrong(
                    Code.FOREIGN_FILE_MALFORMED,
                    number,
                    "a link has two ends",
                    "write # link SOURCE DESTINATION tool=ping",
                )
            notes = dict(word.split("=", 1) for word in words[4:] if "=" in word)
            period = notes.get("period_s") or notes.get("period")
            seconds = float(file.number(number, period, most=Span.limit // 10**9)) if period else None
            noted[words[2], words[3]] = Way(words[2], words[3], notes.get("tool"), seconds or None)
    return noted


def _time_column(table: CsvFile) -> str:
    fitting = table.fitting(TIME)
    named = [name for name in fitting if name.rpartition("_")[0] in _TIMES]
    if not fitting:
        remedy = "call it t_s: the end of a column's name is its unit"
        raise table.file.wrong(
            Code.COLUMN_UNKNOWN, table.header_line, "there is no column of the time", remedy
        )
    return (named or fitting)[0]


def _columns(table: CsvFile, time: str) -> dict[str, str]:
    """Our names of the columns to read, and the file's: the first of each kind."""
    chosen: dict[str, str] = {}
    for name in table.fitting(TIME, but=time):
        parts = name.split("_")[:-1]
        if is_two_way(name) or name == "latency_ms":
            chosen.setdefault(RTT, name)
        elif "delay" in parts or "owd" in parts:
            chosen.setdefault(DELAY, name)
    for name in table.fitting(RATE_UNITS):
        chosen.setdefault(RATE, name)
    if not chosen:
        remedy = "name one rtt_ms (both ways), delay_ms (one way) or rate_mbit"
        raise table.file.wrong(
            Code.COLUMN_UNKNOWN, table.header_line, "there is neither round trip, delay nor rate", remedy
        )
    return chosen


def _trace(
    table: CsvFile, time: str, chosen: Mapping[str, str], lines: Sequence[int] | None, way: Way | None
) -> tuple[Trace, list[tuple[int, int]]]:
    """One link's rows; with the line and the time in ns of each."""
    times = table.column(time, TIME, at="time", most=Span.limit, lines=lines)
    scaled = times.scaled()
    ascending(table.file, scaled, what="time", strictly=True)
    columns = {ours: _values(table, theirs, ours, lines) for ours, theirs in chosen.items()}
    if lines is not None:
        columns = {name: values for name, values in columns.items() if any(v is not None for v in values)}
    seconds = tuple(float(value * times.factor / _NANO) for _line, value in times.values)
    return Trace(seconds, columns, way), scaled


def _values(table: CsvFile, theirs: str, ours: str, lines: Sequence[int] | None) -> tuple[float | None, ...]:
    units, scale = (RATE_UNITS, _MEGA) if ours == RATE else (TIME, _MILLI)
    factor = units[theirs.rpartition("_")[2]]
    most = (Rate.limit if ours == RATE else Span.limit) // factor
    values: list[float | None] = []
    for line, word in table.words(theirs, remedy="", lines=lines):
        value = table.file.number(line, word, most=most) if word else None
        if value == 0 and ours != RATE:
            what = f"a {'round trip' if ours == RTT else 'delay'} of 0"
            raise table.file.wrong(
                Code.CELL_INVALID, line, what, "leave the value empty where nothing came back", word=word
            )
        values.append(None if value is None else float(value * factor / scale))
    if lines is None and all(value is None for value in values):
        raise table.file.wrong(
            Code.COLUMN_UNKNOWN, table.header_line, f"{theirs} has no value", "remove the column"
        )
    return tuple(values)


def _pauses(file: InputFile, trace: Trace, times: list[tuple[int, int]]) -> list[str]:
    period = trace.period_s()
    most = LONG_PAUSE * period
    return [
        f"{file.name}:{line}: nothing for {(after - before) / 1e9:.6g} s, more than {LONG_PAUSE} periods of "
        f"{period:.6g} s; write rows with empty values where nothing was measured"
        for (_, before), (line, after) in pairwise(times)
        if after - before > most * 1e9
    ]


def text_of_traces(traces: Sequence[Trace]) -> str:
    """One trace as a file of one link; several, each with its way, as one of several links.

    Every number comes back as it was.
    """
    several = len(traces) > 1
    columns = [name for name in COLUMNS if any(name in trace.columns for trace in traces)]
    lines = [f"{MARK} {VERSION}", *(_note(trace.way) for trace in traces if trace.way)]
    lines.append(",".join(["t_s", *(ENDS if several else ()), *columns]))
    for trace in traces:
        ends = trace.way.ends if several and trace.way else ()
        nothing = (None,) * len(trace)
        values = [trace.columns.get(name, nothing) for name in columns]
        lines += [
            ",".join(chain([number(at)], ends, ("" if each is None else number(each) for each in row)))
            for at, *row in zip(trace.times_s, *values, strict=True)
        ]
    return "\n".join([*lines, ""])


def number(value: float) -> str:
    """The shortest text that is read as exactly ``value``."""
    return repr(float(value)).removesuffix(".0")


def _note(way: Way) -> str:
    notes = [f"tool={way.tool}"] if way.tool else []
    notes += [f"period_s={number(way.period_s)}"] if way.period_s else []
    return " ".join(["# link", way.source, way.destination, *notes])
