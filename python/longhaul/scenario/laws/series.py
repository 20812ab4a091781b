"""Values that follow a list of points of time, read from a CSV file."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from longhaul.scenario.inputs import TIME, CsvFile, Inputs, LawError, Units, ascending
from longhaul.scenario.model.delay import DelayTrace
from longhaul.scenario.model.rate import RateTrace
from longhaul.scenario.problems import did_you_mean, printable
from longhaul.scenario.traces.spelling import ENDS
from longhaul.scenario.units import Span

Points = Sequence[Sequence[int]]
"""Time in ns and value, times ascending, the first at 0."""


@dataclass(frozen=True)
class Read:
    """What a law follows of a file."""

    points: list[list[int]]
    column: str
    is_round_trip: bool
    """Whether the column was of a round trip, so that the values are half of it."""


def read_points(law: DelayTrace | RateTrace, inputs: Inputs, *, units: Units, most: int) -> Read:
    """The points of the file that ``law`` names; time counts from its first row, an empty value is a gap.

    What was read is kept: both directions of a link, and many links, may follow one file. Raises
    :class:`LawError` and :class:`FileError`.
    """
    key = (law.trace, law.source, law.to, law.time, law.column, tuple(units))
    found = inputs.series.get(key)
    if found is None:
        found = inputs.series[key] = _read(law, inputs, units=units, most=most)
    return found


def _read(law: DelayTrace | RateTrace, inputs: Inputs, *, units: Units, most: int) -> Read:
    table = inputs.table(law.trace, at="trace")
    lines = _lines(law, table, inputs)
    times = table.column(law.time, TIME, at="time", most=Span.limit, lines=lines)
    column = table.column(law.column, units, at="column", most=most, but=times.name, lines=lines, gaps=True)
    at_ns = times.whole()
    ascending(table.file, zip(times.lines, at_ns, strict=True), what="time", strictly=True)
    start = at_ns[0]
    values = column.whole(one_way=units is TIME)
    points = [[at - start, value] for at, value in zip(at_ns, values, strict=True)]
    return Read(points, column.name, units is TIME and column.is_round_trip)


def _lines(law: DelayTrace | RateTrace, table: CsvFile, inputs: Inputs) -> Sequence[int] | None:
    """The rows of the link that ``law`` means, where the file has several."""
    wanted = (law.source, law.to)
    places = table.places()
    if places is None:
        if law.source is not None:
            message = f'"{printable(law.trace)}" has one link only: no columns {" and ".join(ENDS)}'
            raise LawError(("from",), message, "leave out from and to")
        return None
    known = list(places)
    if law.source is None and len(known) == 1:
        return None
    if law.source is None:
        first, last = known[0]
        message = f'"{printable(law.trace)}" has {len(known)} links'
        raise LawError(("trace",), message, f"say which: from: {first}, to: {last}")
    chosen = wanted if wanted in known else wanted[::-1]
    if chosen not in known:
        for key, name in (("from", law.source), ("to", law.to)):
            hosts = sorted({host for pair in known for host in pair})
            if name not in hosts:
                message = f'"{printable(law.trace)}" has no host "{printable(str(name))}"'
                raise LawError((key,), message, did_you_mean(str(name), hosts))
        message = f'"{printable(law.trace)}" has no link between {wanted[0]} and {wanted[1]}'
        raise LawError(("to",), message, did_you_mean("", [f"{a} to {b}" for a, b in known]))
    if chosen != wanted:
        there = f"{wanted[0]} to {wanted[1]}"
        inputs.warn(table.file, f"has no rows from {there}; those of the way back are taken")
    return places[chosen]


def length_ns(points: Points, *, linear: bool = False) -> int:
    """How long ``points`` last: in steps, the last one as long as the one before it."""
    if len(points) == 1:
        return 0
    last = points[-1][0]
    return last if linear else 2 * last - points[-2][0]


def repeat_ns(points: Points) -> int | None:
    """After how long ``points`` begin again: one more step after the last; a single one never does."""
    return length_ns(points) or None


def mean(points: Points, *, linear: bool = False) -> int:
    """The mean over their length, weighted with time; straight lines by the trapezoidal rule."""
    length = length_ns(points, linear=linear)
    if not length:
        return points[0][1]
    if linear:
        doubled = sum((end - begin) * (first + second) for (begin, first), (end, second) in pairwise(points))
    else:
        doubled = 2 * sum((end - begin) * first for (begin, first), (end, _second) in pairwise(points))
        doubled += 2 * (length - points[-1][0]) * points[-1][1]
    return round(Fraction(doubled, 2 * length))
