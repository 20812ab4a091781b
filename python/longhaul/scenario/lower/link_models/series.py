"""Values that follow points in time from a CSV file."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from longhaul.diagnostics import Code, printable
from longhaul.scenario.expand.topologies.laid import TRACE
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.model.delay import DelayTrace
from longhaul.scenario.model.rate import RateTrace
from longhaul.scenario.syntax.column_names import ENDS
from longhaul.scenario.syntax.csv_file import TIME, CsvFile, Units, ascending
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.units.quantities import Span

Points = Sequence[Sequence[int]]
"""Time in ns and value, times ascending, the first at 0."""


@dataclass(frozen=True)
class Read:
    """What a model follows of a file."""

    points: list[list[int]]
    column: str
    is_round_trip: bool
    """Whether the column was of a round trip, so that the values are half of it."""


def read_points(model: DelayTrace | RateTrace, inputs: Inputs, *, units: Units, most: int) -> Read:
    """The points of the file that ``model`` names; time counts from its first row, an empty value is a gap.

    What was read is kept: both directions of a link, and many links, may follow one file. Raises
    :class:`ScenarioValueError` and :class:`FileError`.
    """
    key = (model.trace, model.source, model.to, model.time, model.column, tuple(units))
    found = inputs.series.get(key)
    if found is None:
        found = inputs.series[key] = _read(model, inputs, units=units, most=most)
    return found


def _read(model: DelayTrace | RateTrace, inputs: Inputs, *, units: Units, most: int) -> Read:
    if model.trace == TRACE and units is TIME:
        return Read(_of_topology(model, inputs), "delay_ns", False)
    table = inputs.table(model.trace, at="trace")
    lines = _lines(model, table, inputs)
    times = table.column(model.time, TIME, at="time", most=Span.limit, lines=lines)
    column = table.column(model.column, units, at="column", most=most, but=times.name, lines=lines, gaps=True)
    at_ns = times.whole()
    ascending(table.file, zip(times.lines, at_ns, strict=True), what="time", strictly=True)
    start = at_ns[0]
    values = column.whole(one_way=units is TIME)
    points = [[at - start, value] for at, value in zip(at_ns, values, strict=True)]
    return Read(points, column.name, units is TIME and column.is_round_trip)


def _of_topology(model: DelayTrace | RateTrace, inputs: Inputs) -> list[list[int]]:
    """The delays of the link between two nodes of a topology, in either direction."""
    wanted = (model.source or "", model.to or "")
    found = inputs.delays.get(wanted) or inputs.delays.get(wanted[::-1])
    if found is None:
        known = [f"{a} to {b}" for a, b in inputs.delays]
        message = f'"{TRACE}" has no link between "{wanted[0]}" and "{wanted[1]}"'
        remedy = did_you_mean(" to ".join(wanted), known) if known else "topology: constellation has such"
        raise ScenarioValueError(Code.TRACE_LINK, ("trace",), message, remedy)
    return found


def _lines(model: DelayTrace | RateTrace, table: CsvFile, inputs: Inputs) -> Sequence[int] | None:
    """The rows of the link that ``model`` means, where the file has several."""
    wanted = (model.source, model.to)
    places = table.places()
    if places is None:
        if model.source is not None:
            message = f'"{printable(model.trace)}" has one link only: no columns {" and ".join(ENDS)}'
            raise ScenarioValueError(Code.TRACE_LINK, ("from",), message, "leave out from and to")
        return None
    known = list(places)
    if model.source is None and len(known) == 1:
        return None
    if model.source is None:
        first, last = known[0]
        message = f'"{printable(model.trace)}" has {len(known)} links'
        raise ScenarioValueError(
            Code.TRACE_LINK, ("trace",), message, f"say which: from: {first}, to: {last}"
        )
    chosen = wanted if wanted in known else wanted[::-1]
    if chosen not in known:
        for key, name in (("from", model.source), ("to", model.to)):
            hosts = sorted({host for pair in known for host in pair})
            if name not in hosts:
                message = f'"{printable(model.trace)}" has no host "{printable(str(name))}"'
                raise ScenarioValueError(Code.TRACE_LINK, (key,), message, did_you_mean(str(name), hosts))
        message = f'"{printable(model.trace)}" has no link between {wanted[0]} and {wanted[1]}'
        raise ScenarioValueError(
            Code.TRACE_LINK, ("to",), message, did_you_mean("", [f"{a} to {b}" for a, b in known])
        )
    if chosen != wanted:
        there = f"{wanted[0]} to {wanted[1]}"
        inputs.warn(
            Code.TRACE_ONE_DIRECTION,
            table.file,
            f"has no rows from {there}; the rows of the opposite direction are used",
        )
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
