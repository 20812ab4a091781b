"""The kernel's TCP connections, from samples of each."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Columns = Mapping[str, Sequence[Any]]
Json = dict[str, Any]

MOST_CONNECTIONS = 64
"""Connections that a summary names, those that sent most."""


def connections(table: Columns) -> dict[tuple[str, int], dict[str, list[Any]]]:
    """The samples of each end of a connection, by host and the kernel's number, in order of time."""
    found: dict[tuple[str, int], dict[str, list[Any]]] = {}
    names = list(table)
    for values in zip(*table.values(), strict=True):
        row = dict(zip(names, values, strict=True))
        each = found.setdefault((row["host"], row["socket"]), {name: [] for name in names})
        for name, value in row.items():
            each[name].append(value)
    return found


def congestion_events(samples: Columns) -> list[Json]:
    """Between which samples the window of one end shrank, or segments were retransmitted.

    Time of the later sample, window before and after (segments), and retransmitted segments.
    """
    columns = (samples["t_ns"], samples["cwnd_segments"], samples["retransmits"])
    rows = list(zip(*columns, strict=True))
    return [
        {
            "t_ns": t_ns,
            "from_segments": before,
            "to_segments": after,
            "retransmits": retransmitted - retransmitted_before,
        }
        for (_, before, retransmitted_before), (t_ns, after, retransmitted) in pairwise(rows)
        if after < before or retransmitted > retransmitted_before
    ]


def summarise_sockets(table: Columns) -> list[Json]:
    """The sending ends that were seen with payload: totals, window and round trip, reductions."""
    rows = []
    for (host, _), samples in connections(table).items():
        if not samples["sent_bytes"][-1]:
            continue
        events = congestion_events(samples)
        windows, rtts = samples["cwnd_segments"], [rtt for rtt in samples["rtt_ns"] if rtt]
        rows.append(
            {
                "host": host,
                "local": samples["local"][-1],
                "remote": samples["remote"][-1],
                "cc": samples["cc"][-1],
                "samples": len(windows),
                "from_ns": samples["t_ns"][0],
                "to_ns": samples["t_ns"][-1],
                "sent_bytes": samples["sent_bytes"][-1],
                "retransmits": samples["retransmits"][-1],
                "cwnd_max_segments": max(windows),
                "cwnd_mean_segments": sum(windows) / len(windows),
                "rtt_mean_ns": sum(rtts) / len(rtts) if rtts else None,
                "reductions": sum(each["to_segments"] < each["from_segments"] for each in events),
            }
        )
    return sorted(rows, key=lambda row: -row["sent_bytes"])[:MOST_CONNECTIONS]
