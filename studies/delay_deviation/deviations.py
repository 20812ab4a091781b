"""The deviation of a packet's delay from the delay that was configured, and its quantiles over packets."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from datagrams import ROW

Place = Literal["ports", "programs"]
PLACES: dict[Place, int] = {"ports": 1, "programs": 2}
"""Where packets are seen, with the column of the time: as the kernels of the hosts hand them to the network
and take them from it, and as the programs send and receive them."""


@dataclass(frozen=True)
class Deviations:
    """Deviations of the packets of a flow, in ns: absolute values, and the range with its sign."""

    packets: int
    missing: int
    """Sent and not received, or without a time stamp."""
    median_ns: int
    p99_ns: int
    worst_ns: int
    least_ns: int
    """Negative: a packet was early."""
    most_ns: int


def deviations(delays_ns: Sequence[int], configured_ns: int, *, sent: int) -> Deviations:
    """Deviations of the delays of the packets that arrived, of ``sent``.

    A quantile is the least value that at least this share of the packets does not exceed (nearest rank).
    """
    if not delays_ns:
        raise ValueError("no packet arrived")
    signed = sorted(delay_ns - configured_ns for delay_ns in delays_ns)
    absolute = sorted(map(abs, signed))
    return Deviations(
        packets=len(signed),
        missing=sent - len(signed),
        median_ns=_nearest_rank(absolute, 50),
        p99_ns=_nearest_rank(absolute, 99),
        worst_ns=absolute[-1],
        least_ns=signed[0],
        most_ns=signed[-1],
    )


def _nearest_rank(ordered: Sequence[int], percent: int) -> int:
    return ordered[-(-len(ordered) * percent // 100) - 1]


def delays_ns(source: Path, sink: Path, place: Place) -> tuple[list[int], int]:
    """One-way delays of the datagrams that both programs report, and how many were sent."""
    column = PLACES[place]
    sent, received = _rows(source), _rows(sink)
    left = {row[0]: row[column] for row in sent if row[column]}
    return [row[column] - left[row[0]] for row in received if row[0] in left], len(sent)


def _rows(path: Path) -> list[tuple[int, ...]]:
    values = array("q")
    values.frombytes(path.read_bytes())
    return [tuple(values[at : at + ROW]) for at in range(0, len(values), ROW)]
