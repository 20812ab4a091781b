"""The network's counts of real flows, and samples of their TCP connections, from a run's records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from longhaul.analysis.network_flows import (
    UNDELIVERED_FATES,
    Connection,
    EchoCounts,
    connections,
    datagrams,
    ping_counts,
)
from longhaul.plan import Plan
from longhaul.results.raw_tables import Records
from longhaul.scenario.lower.main_tables import every_address

Json = dict[str, Any]
Array = np.ndarray[Any, Any]

_ENDS = ("protocol", "source", "source_port", "destination", "destination_port")
_COUNTED = (
    *(f"{name}_ns" for name in ("first", "last", "last_new", "last_acknowledged")),
    *("sent_packets", "sent_bytes", "payload_bytes", "new_bytes"),
    *("retransmitted_packets", "retransmitted_bytes", "acknowledged_bytes"),
    *("delivered_packets", "delivered_bytes", "copied_packets"),
    *(f"{fate}_packets" for fate in UNDELIVERED_FATES),
)
_COUNT_COLUMNS = ("flow", *_ENDS, *_COUNTED)
_SAMPLE_COLUMNS = ("t_ns", "flow", "retransmitted_packets", "acknowledged_bytes")


@dataclass(frozen=True)
class NetworkCounts:
    """What the network counted of every real flow."""

    rows: Sequence[Json]
    """One for each direction of a connection."""
    addresses: Mapping[str, Sequence[str]]
    """Of hosts and routers, by name, those of all interfaces."""
    samples: Mapping[int, dict[str, Array]]
    """Counts over time, by flow."""
    sockets: Mapping[tuple[str, str], dict[str, Array]] = field(default_factory=dict)
    """The kernel's samples of connections, by their local and remote end."""

    def connections(self, source: str, destination: str, port: int) -> list[Connection]:
        """The TCP connections from a host to a port of another, in the order in which they began.

        Each subflow of Multipath TCP is one.
        """
        found = [
            each
            for here, there in self._pairs(source, destination)
            for each in connections(self.rows, source=here, destination=there, port=port)
        ]
        return sorted(found, key=lambda each: each.data["first_ns"])

    def datagrams(self, source: str, destination: str, port: int) -> dict[str, int] | None:
        """Counts of all datagrams from a host to a port of another."""
        every = (
            datagrams(self.rows, source=here, destination=there, port=port)
            for here, there in self._pairs(source, destination)
        )
        found = [each for each in every if each is not None]
        return {name: sum(each[name] for each in found) for name in found[0]} if found else None

    def ping_counts(self, source: str, destination: str, identifier: int) -> EchoCounts:
        """What became of the echo requests with this identifier."""
        every = (
            ping_counts(self.rows, source=here, destination=there, identifier=identifier)
            for here, there in self._pairs(source, destination)
        )
        return next((each for each in every if each.sent), EchoCounts(0, 0, 0, 0, None))

    def payload_bytes(self, source: str, destination: str) -> int:
        """Payload that came from a host to another and was not sent before, over all its flows."""
        pairs = set(self._pairs(source, destination))
        mine = [row for row in self.rows if (row["source"], row["destination"]) in pairs]
        return sum(row["new_bytes"] if row["protocol"] == 6 else row["payload_bytes"] for row in mine)

    def _pairs(self, source: str, destination: str) -> list[tuple[str, str]]:
        """The addresses of two nodes, each with each."""
        here, there = self.addresses.get(source, ()), self.addresses.get(destination, ())
        return list(product(here, there))

    def algorithms(self, found: Sequence[Connection]) -> list[str]:
        """The congestion-control algorithms that the senders of these connections used.

        Of each connection the last one that the kernel reported: programs select theirs only after the
        connection is established, and the samples before that name the host's default.
        """
        known = [self.sockets[each.ends]["cc"] for each in found if each.ends in self.sockets]
        return sorted({str(names[-1]) for names in known})

    def intervals(self, connection: Connection, *, stream: int, every_ns: int) -> list[Json]:
        """A row for each sampling interval of a connection; those in which nothing happened are one."""
        data = self.samples.get(connection.data["flow"])
        if data is None:
            return []
        reverse = {} if connection.reverse is None else self.samples.get(connection.reverse["flow"], {})
        kernel = self.sockets.get(connection.ends, {})
        t_ns = np.union1d(data["t_ns"], reverse.get("t_ns", np.array([], dtype=np.int64)))
        received = np.minimum(_at(reverse, "acknowledged_bytes", t_ns), connection.data["new_bytes"])
        retransmitted = _at(data, "retransmitted_packets", t_ns)
        begin_ns = int(connection.data["first_ns"])
        t_ns, received, retransmitted = _with_pauses(
            t_ns, received, retransmitted, begin_ns=begin_ns, every_ns=every_ns
        )
        starts = np.concatenate([[begin_ns], t_ns[:-1]])
        window, rtt = (_latest(kernel, name, starts, t_ns) for name in ("cwnd_segments", "rtt_ns"))
        return [
            {
                "stream": stream,
                "start_s": start / 1e9,
                "end_s": end / 1e9,
                "bits_per_s": more * 8e9 / (end - start),
                "retransmits": int(repeated),
                "window_segments": _number(segments),
                "rtt_ns": _number(ns),
            }
            for start, end, more, repeated, segments, ns in zip(
                starts,
                t_ns,
                np.diff(received, prepend=0),
                np.diff(retransmitted, prepend=0),
                window,
                rtt,
                strict=True,
            )
            if end > start
        ]


def read_counts(records: Records, plan: Plan, sockets: pa.Table | None) -> NetworkCounts | None:
    """The counts of a live run; None if it has none, as runs of older versions."""
    counted = records.table("flow_counts", _COUNT_COLUMNS)
    if counted is None:
        return None
    sampled = records.table("flow_samples", _SAMPLE_COLUMNS)
    return NetworkCounts(
        rows=counted.to_pylist(),
        addresses=every_address(plan["nodes"]),
        samples={} if sampled is None else _split(sampled, ("flow",)),
        sockets={} if sockets is None else _split(sockets, ("local", "remote")),
    )


def table(counts: NetworkCounts) -> pa.Table:
    """``connections.parquet``: every real flow with what became of it; addresses with the names of hosts."""
    # Hosts come before the interfaces that they have more of.
    named = [(address, name) for name, every in counts.addresses.items() for address in every]
    hosts = dict(reversed(named))
    rows = [
        {
            "from": hosts.get(row["source"]),
            "to": hosts.get(row["destination"]),
            **{name: row[name] for name in (*_ENDS, *_COUNTED)},
        }
        for row in counts.rows
    ]
    text = {name: pa.string() for name in ("from", "to", "source", "destination")}
    schema = pa.schema([(name, text.get(name, pa.int64())) for name in ("from", "to", *_ENDS, *_COUNTED)])
    return pa.Table.from_pylist(rows, schema=schema)


def _split(rows: pa.Table, keys: tuple[str, ...]) -> dict[Any, dict[str, Array]]:
    """The columns of a table by the values of ``keys``, each in order of time."""
    columns = {name: rows.column(name).to_numpy(zero_copy_only=False) for name in rows.column_names}
    places: dict[Any, list[int]] = {}
    for place, key in enumerate(zip(*(columns[name] for name in keys), strict=True)):
        places.setdefault(key[0] if len(keys) == 1 else key, []).append(place)
    return {key: {name: values[mine] for name, values in columns.items()} for key, mine in places.items()}


def _with_pauses(
    t_ns: Array, received: Array, retransmitted: Array, *, begin_ns: int, every_ns: int
) -> tuple[Array, Array, Array]:
    """The samples, and one more at the end of each time in which nothing changed."""
    before_ns = np.concatenate([[begin_ns], t_ns[:-1]])
    paused = np.flatnonzero(t_ns - before_ns > 1.5 * every_ns)
    ends = t_ns[paused] - every_ns
    return (
        np.insert(t_ns, paused, ends),
        np.insert(received, paused, np.concatenate([[0], received])[paused]),
        np.insert(retransmitted, paused, np.concatenate([[0], retransmitted])[paused]),
    )


def _at(samples: Mapping[str, Array], name: str, t_ns: Array) -> Array:
    """A count at each of these times: that of the latest sample, 0 before the first."""
    if not len(samples.get("t_ns", ())):
        return np.zeros(len(t_ns), dtype=np.int64)
    places = np.searchsorted(samples["t_ns"], t_ns, side="right")
    found: Array = np.concatenate([[0], samples[name]])[places]
    return found


def _latest(samples: Mapping[str, Array], name: str, starts: Array, ends: Array) -> Array:
    """The latest sample within each interval; NaN where there is none, or 0: the kernel has none yet."""
    if not len(samples.get("t_ns", ())):
        return np.full(len(ends), np.nan)
    places = np.searchsorted(samples["t_ns"], ends, side="right") - 1
    values = samples[name].astype(float)[np.maximum(places, 0)]
    inside = (places >= 0) & (samples["t_ns"][np.maximum(places, 0)] > starts)
    return np.where(inside & (values > 0), values, np.nan)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
