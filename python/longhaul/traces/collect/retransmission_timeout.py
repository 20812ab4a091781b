"""The retransmission timeout of probes, from their round-trip times (RFC 6298, sections 2 and 5.5)."""

from dataclasses import dataclass

FIRST_S = 10.0
"""Before anything was measured."""
LEAST_S = 1.0
MOST_S = 60.0
_MEAN_GAIN = 1 / 8
_DEVIATION_GAIN = 1 / 4
_DEVIATIONS = 4


@dataclass
class RetransmissionTimeout:
    """The timeout of one kind of probe: SRTT + 4 RTTVAR within bounds, doubled by each failure."""

    srtt_s: float | None = None
    rttvar_s: float = 0.0
    failures: int = 0
    """In a row."""

    def seconds(self) -> float:
        """The timeout now, in seconds."""
        settled = FIRST_S if self.srtt_s is None else self.srtt_s + _DEVIATIONS * self.rttvar_s
        return min(MOST_S, max(LEAST_S, settled) * 2.0 ** min(self.failures, 6))

    def add_sample(self, seconds: float) -> None:
        """Include the round-trip time of a probe, in seconds."""
        self.failures = 0
        if self.srtt_s is None:
            self.srtt_s, self.rttvar_s = seconds, seconds / 2
            return
        self.rttvar_s += _DEVIATION_GAIN * (abs(seconds - self.srtt_s) - self.rttvar_s)
        self.srtt_s += _MEAN_GAIN * (seconds - self.srtt_s)

    def back_off(self) -> None:
        """Double the timeout: a probe had no reply in time."""
        self.failures += 1
