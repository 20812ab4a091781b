"""Statistics of a trace."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from longhaul.scenario.traces.trace import LONG_PAUSE, Trace

PERCENTILES = (5, 50, 95, 99)


@dataclass(frozen=True)
class Summary:
    """The values of one column; each row counts alike."""

    column: str
    count: int
    """Rows with a value."""
    gaps: int
    """Rows without."""
    mean: float
    sd: float
    """Of a sample; 0 of a single value."""
    least: float
    percentiles: tuple[float, ...]
    """Of :data:`PERCENTILES`, by linear interpolation."""
    most: float


def summaries(trace: Trace) -> list[Summary]:
    """Each column of ``trace``, but those without a value."""
    found = []
    for name, column in trace.columns.items():
        values = sorted(value for value in column if value is not None)
        if values:
            found.append(
                Summary(
                    column=name,
                    count=len(values),
                    gaps=len(column) - len(values),
                    mean=statistics.fmean(values),
                    sd=statistics.stdev(values) if len(values) > 1 else 0.0,
                    least=values[0],
                    percentiles=tuple(percentile(values, share) for share in PERCENTILES),
                    most=values[-1],
                )
            )
    return found


def pauses(trace: Trace) -> int:
    """How often there was no row for more than ten periods."""
    most = LONG_PAUSE * trace.period_s()
    return sum(step > most for step in trace.steps_s()) if most else 0


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that ``share`` per cent of ``ordered`` values lie below."""
    place = (len(ordered) - 1) * share / 100
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
