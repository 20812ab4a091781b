"""The measurements of one direction of a path over time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

RTT, DELAY, RATE = "rtt_ms", "delay_ms", "rate_mbit"
COLUMNS = (RTT, DELAY, RATE)
"""The columns of a trace: round trip, one way, and rate; a trace has one or more of them."""

Row = tuple[float, Sequence[float | None]]
"""Time in s, and the value of each column."""
LONG_PAUSE = 10
"""Periods without any row after which a trace is doubtful."""


@dataclass(frozen=True)
class Way:
    """From where to where, and how it was measured."""

    source: str
    destination: str
    tool: str | None = None
    period_s: float | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """Source and destination."""
        return self.source, self.destination

    def __str__(self) -> str:
        """``a > b``."""
        return f"{self.source} > {self.destination}"


@dataclass(frozen=True)
class Trace:
    """Samples at ascending times; each holds until the next, the last as long as the one before it.

    A value of ``None`` is a gap: that nothing is known, not that nothing passed.
    """

    times_s: tuple[float, ...]
    columns: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    """By name, of :data:`COLUMNS`, each as long as the times."""
    way: Way | None = None

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.times_s)

    def rows(self) -> Iterable[Row]:
        """Row by row, columns in their order."""
        return zip(self.times_s, zip(*self.columns.values(), strict=True), strict=True)

    def period_s(self) -> float:
        """Between one row and the next: as noted, or the median; 0 of a single row."""
        if self.way and self.way.period_s:
            return self.way.period_s
        steps = self.steps_s()
        return median(steps) if steps else 0.0

    def steps_s(self) -> list[float]:
        """From each row to the next."""
        return [after - before for before, after in zip(self.times_s, self.times_s[1:], strict=False)]

    def durations_s(self) -> list[float]:
        """How long each row holds; a single one for its period, or 0."""
        steps = self.steps_s()
        return [*steps, steps[-1] if steps else self.period_s()]

    def span_s(self) -> float:
        """From the first row to the end of the last."""
        return sum(self.durations_s())
