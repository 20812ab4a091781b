"""Simulated flows whose two ends were on different machines, each of which recorded what its own end knew.

A row of ``flows.csv`` has what the sender knows, and the bytes that the receiver has counted. A machine that
has only the receiver writes a row with those bytes alone.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from longhaul.plan import Plan

Json = dict[str, Any]

_FLOW, _STREAM, _RECEIVED = 1, 2, 4
"""Columns of ``flows.csv``, in which the time is the first."""
TIMES = ("done_ns", "began_ns", "arrived_ns")
"""Of a flow's result, by the clock of its machine."""


class DividedFlows:
    """Joins samples of flows: first :meth:`note` those of all receivers, then ask for whole rows."""

    def __init__(self, plan: Plan, partition: Sequence[int], interval_ns: int) -> None:
        """``partition`` has the machine of each node. Samples are one interval apart, or nearly."""
        ends = {
            flow["name"]: (partition[flow["source"]], partition[flow["destination"]])
            for flow in plan["flows"]
        }
        self._receivers = {name: there for name, (here, there) in ends.items() if here != there}
        """The machine of the receiver, of flows whose sender is on another one."""
        self._tolerance_ns = interval_ns // 2
        self._received: dict[tuple[str, str], tuple[list[int], list[str]]] = {}
        """What receivers counted, and when, by flow and stream."""

    def is_receivers(self, row: Sequence[str], machine: int) -> bool:
        """Whether ``machine`` has only the receiver of the stream of this row."""
        return self._receivers.get(row[_FLOW]) == machine

    def note(self, row: Sequence[str]) -> None:
        """Take in a row of a receiver; those of one stream come in order of time."""
        times, counts = self._received.setdefault((row[_FLOW], row[_STREAM]), ([], []))
        times.append(int(row[0]))
        counts.append(row[_RECEIVED])

    def joined(self, row: Sequence[str]) -> list[str]:
        """A row of a sender's machine, with what the receiver counted then."""
        if row[_FLOW] not in self._receivers:
            return list(row)
        whole = list(row)
        whole[_RECEIVED] = self._received_at((row[_FLOW], row[_STREAM]), int(row[0]))
        return whole

    def _received_at(self, stream: tuple[str, str], t_ns: int) -> str:
        """What was counted in the sample nearest to this time, or before it if none is near."""
        times, counts = self._received.get(stream, ([], []))
        later = bisect_right(times, t_ns)
        since_ns = t_ns - times[later - 1] if later else None
        until_ns = times[later] - t_ns if later < len(times) else None
        if (
            until_ns is not None
            and until_ns <= self._tolerance_ns
            and (since_ns is None or until_ns < since_ns)
        ):
            return counts[later]
        return counts[later - 1] if later else "0"


def joined_results(plan: Plan, results: Iterable[Json]) -> list[Json]:
    """One result for each stream, of what the machines say of their ends."""
    positions = {flow["name"]: position for position, flow in enumerate(plan["flows"])}
    found: dict[tuple[int, int], Json] = {}
    for result in results:
        key = positions[result["name"]], result["stream"]
        found[key] = _joined(found[key], result) if key in found else result
    return [found[key] for key in sorted(found)]


def _joined(one: Json, other: Json) -> Json:
    """What both ends of a stream say. The receiver has its bytes, and the sender knows when it was done."""
    sender, receiver = (other, one) if "bytes" in one else (one, other)
    span_s = sender["span_s"]
    goodput = receiver["bytes"] * 8 / span_s if span_s > 0 else None
    return {**receiver, **sender, "goodput_bits_per_s": goodput}
