"""Values that follow a list of points of time, read from a CSV file."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from longhaul.scenario.inputs import TIME, CsvFile, Inputs, Units, ascending
from longhaul.scenario.units import Span

Points = Sequence[tuple[int, int]]
"""(time in ns, value), times ascending, the first at 0."""


def read_points(
    name: str, inputs: Inputs, *, column: str | None, time: str | None, units: Units, most: int
) -> list[tuple[int, int]]:
    """The points of file ``name``; time counts from its first row."""
    table = CsvFile(inputs.file(name, at="trace"))
    times = table.column(time, TIME, at="time", most=Span.limit)
    values = table.column(column, units, at="column", most=most, but=times.name)
    rows = times.scaled()
    ascending(table.file, rows, what="time", strictly=True)
    start = rows[0][1]
    return [(at - start, value) for (_, at), (_, value) in zip(rows, values.scaled(), strict=True)]


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
    total = Fraction(0)
    for (begin, first), (end, second) in pairwise(points):
        total += (end - begin) * (Fraction(first + second, 2) if linear else first)
    if not linear:
        total += (length - points[-1][0]) * points[-1][1]
    return round(total / length)
