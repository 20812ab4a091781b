"""How long to wait for an answer, from how long answers took (RFC 6298, sections 2 and 5.5)."""

from dataclasses import dataclass

FIRST_S = 10.0
"""Before anything was measured."""
LEAST_S = 1.0
MOST_S = 60.0
_MEAN_GAIN = 1 / 8
_DEVIATION_GAIN = 1 / 4
_DEVIATIONS = 4


@dataclass
class Patience:
    """The time-out of one kind of probe: mean + 4 deviations within bounds, doubled by each failure."""

    mean_s: float | None = None
    deviation_s: float = 0.0
    failures: int = 0
    """In a row."""

    def seconds(self) -> float:
        """How long to wait now."""
        settled = FIRST_S if self.mean_s is None else self.mean_s + _DEVIATIONS * self.deviation_s
        return min(MOST_S, max(LEAST_S, settled) * 2.0 ** min(self.failures, 6))

    def took(self, seconds: float) -> None:
        """An answer came after so long."""
        self.failures = 0
        if self.mean_s is None:
            self.mean_s, self.deviation_s = seconds, seconds / 2
            return
        self.deviation_s += _DEVIATION_GAIN * (abs(seconds - self.mean_s) - self.deviation_s)
        self.mean_s += _MEAN_GAIN * (seconds - self.mean_s)

    def failed(self) -> None:
        """None came in time."""
        self.failures += 1
