"""mahimahi's packet-delivery traces: the times in ms at which 1500 bytes may leave.

Mahimahi: Accurate Record-and-Replay for HTTP (Netravali and others, USENIX ATC 2015), and mm-link(1).
"""

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.csv_file import MAX_ROWS, InputFile, ascending
from longhaul.scenario.traces.reshaping import held
from longhaul.scenario.traces.trace import RATE, Trace
from longhaul.units.quantities import Span

PACKET_BITS = 1500 * 8
MOST = MAX_ROWS
"""Opportunities that are written at most: as many as can be read."""


def text_of_opportunities(trace: Trace) -> str:
    """The rate of ``trace`` as opportunities; a gap holds the last rate.

    Each comes in the millisecond in which its bits have gathered; the last one comes at the end of the trace,
    which is the period. What is left of a packet then is lost.
    """
    if RATE not in trace.columns:
        message, remedy = "a trace without rate has no opportunities", "convert one with rate_mbit"
        raise LonghaulError(Code.TRACE_UNUSABLE, message, remedy=remedy, exit_code=2)
    gathered, start_ms, sent = 0.0, 0.0, 0
    times: list[int] = []
    for rate, duration_s in zip(held(trace.columns[RATE]), trace.durations_s(), strict=True):
        bits_per_ms = rate * 1e3
        end = gathered + bits_per_ms * duration_s * 1e3
        count = int(end / PACKET_BITS + 1e-9)
        if count > MOST:
            raise LonghaulError(
                Code.TRACE_UNUSABLE,
                f"more than {MOST} opportunities",
                remedy="take a shorter or slower trace",
                exit_code=2,
            )
        for number in range(sent + 1, count + 1):
            at = start_ms + (number * PACKET_BITS - gathered) / bits_per_ms
            times.append(_up(at))
        sent, gathered, start_ms = count, end, start_ms + duration_s * 1e3
    if not times or start_ms < 1:
        raise LonghaulError(
            Code.TRACE_UNUSABLE,
            "the trace is too short or too slow for one packet",
            remedy="use a longer or faster one",
            exit_code=2,
        )
    times[-1] = _up(start_ms)
    return "\n".join([*map(str, times), ""])


def read_opportunities(file: InputFile, *, bin_s: float) -> Trace:
    """The rate over each ``bin_s`` of a list of opportunities; a last bin that is cut counts by its length.

    Raises :class:`FileError`.
    """
    rows = [(line, float(file.number(line, text, most=Span.limit // 10**6))) for line, text in file.rows()]
    ascending(file, [(line, round(at * 1e6)) for line, at in rows], what="time", strictly=False)
    period_ms, bin_ms = rows[-1][1], bin_s * 1e3
    if not period_ms:
        raise file.wrong(
            Code.TRACE_UNUSABLE,
            rows[-1][0],
            "no time is after 0",
            "the last time is the period: write a later one",
        )
    if not bin_ms > 0:
        raise LonghaulError(Code.ARGUMENT_INVALID, "a bin of 0", remedy="write for example 1s", exit_code=2)
    bins = max(1, -int(-(period_ms - 1e-6) // bin_ms))
    counts = [0] * bins
    for _line, at in rows:
        # Bins are open on the left, as a packet that goes at their end has gathered in them.
        counts[min(bins - 1, max(0, -int(-(at - 1e-6) // bin_ms) - 1))] += 1
    rates = []
    for number, count in enumerate(counts):
        length_ms = min(bin_ms, period_ms - number * bin_ms)
        rates.append(count * PACKET_BITS / length_ms / 1e3)
    return Trace(tuple(number * bin_ms / 1e3 for number in range(bins)), {RATE: tuple(rates)})


def _up(ms: float) -> int:
    """The next whole millisecond, but for what rounding added."""
    return -int(-(ms - 1e-6) // 1)
