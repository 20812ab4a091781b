"""Names of the columns of traces, here and in other tools."""

from collections.abc import Sequence

MARK = "# wantrace"
"""The first line of a trace says its version."""
VERSION = 1
ENDS = ("src", "dst")
"""The columns of a file with several links."""
FOREIGN = {"t": "t_s", "latency_ms": "rtt_ms", "bw_mbps": "rate_mbit"}
"""Spellings of others; their latency is of both ways."""


def respelled(header: Sequence[str], lines: Sequence[str]) -> list[str]:
    """``header`` with the spellings of others as ours.

    They count only beside a time called ``t``, or in a file that says that it is a trace: elsewhere
    ``latency_ms`` may be of one way.
    """
    marked = any(line.strip().startswith(MARK) for line in lines[:1])
    if "t" not in header and not marked:
        return list(header)
    return [FOREIGN.get(name, name) if FOREIGN.get(name) not in header else name for name in header]


def is_two_way(column: str) -> bool:
    """Whether the name of a column says that it is of a round trip: ``rtt_ms``, ``min_rtt_us``."""
    return "rtt" in column.lower().split("_")
