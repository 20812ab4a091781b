"""Connections, datagrams and pings of real traffic, from the network's counts by flow.

A row of counts is one direction of a connection, all datagrams from one port to another, or the echo
messages of one identifier, as ``raw/flow_counts.csv`` has it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

UNDELIVERED_FATES = (
    "lost",
    "overflowed",
    "dropped",
    "down",
    "no_route",
    "ttl_expired",
    "too_big",
    "answered",
    "pacer_dropped",
    "filtered",
    "looped",
)
TCP, UDP, ICMP, ICMPV6 = 6, 17, 1, 58


@dataclass(frozen=True)
class Connection:
    """A TCP connection as the network counted it, from the side that sends the data."""

    data: Json
    """Counts of the direction of the data."""
    reverse: Json | None
    """Counts of the opposite direction; None if nothing ever came back."""

    @property
    def in_order_bytes(self) -> int:
        """Payload that the receiver acknowledged: it arrived in order. SYN and FIN do not count."""
        acknowledged = 0 if self.reverse is None else int(self.reverse["acknowledged_bytes"])
        return min(acknowledged, int(self.data["new_bytes"]))

    @property
    def last_acknowledged_ns(self) -> int | None:
        """When the receiver last acknowledged something new."""
        found = None if self.reverse is None else self.reverse["last_acknowledged_ns"]
        return None if found is None else int(found)

    @property
    def ends(self) -> tuple[str, str]:
        """Address and port of the sender and of the receiver."""
        row = self.data
        return (
            end_text(row["source"], row["source_port"]),
            end_text(row["destination"], row["destination_port"]),
        )


@dataclass(frozen=True)
class EchoCounts:
    """Echo requests from one host to another and their replies."""

    sent: int
    received: int
    lost: int
    """Sent without an answer; what was still in the network when the run ended is not lost."""
    lost_down: int
    """Of these, lost because a link was down."""
    first_ns: int | None
    """When the first request left."""


def end_text(address: str, port: int | None) -> str:
    """``10.0.0.1:5201`` or ``[fd00::1]:5201``, as the kernel's records have it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def connections(rows: Sequence[Json], *, source: str, destination: str, port: int) -> list[Connection]:
    """The TCP connections from one address to a port of another, in the order in which they began."""
    opposite = {
        (row["destination_port"], row["source_port"]): row
        for row in rows
        if row["protocol"] == TCP and row["source"] == destination and row["destination"] == source
    }
    found = [
        Connection(row, opposite.get((row["source_port"], port)))
        for row in rows
        if row["protocol"] == TCP
        and row["source"] == source
        and row["destination"] == destination
        and row["destination_port"] == port
    ]
    return sorted(found, key=lambda each: each.data["first_ns"])


def datagrams(rows: Sequence[Json], *, source: str, destination: str, port: int) -> dict[str, int] | None:
    """Counts of all datagrams from one address to a port of another; None if there are none."""
    found = [
        row
        for row in rows
        if row["protocol"] == UDP
        and (row["source"], row["destination"], row["destination_port"]) == (source, destination, port)
    ]
    names = ("sent_packets", "payload_bytes", "delivered_packets", "copied_packets")
    return {name: sum(int(row[name]) for row in found) for name in names} if found else None


def ping_counts(rows: Sequence[Json], *, source: str, destination: str, identifier: int) -> EchoCounts:
    """The echo requests of one ``ping`` and their replies, counted."""
    request, reply = (
        next((row for row in rows if _is_echo(row, ends, identifier)), None)
        for ends in ((source, destination), (destination, source))
    )
    if request is None:
        return EchoCounts(0, 0, 0, 0, None)
    answered = 0 if reply is None else int(reply["sent_packets"])
    received = 0 if reply is None else int(reply["delivered_packets"])
    ended = _ended(request) + _ended(reply)
    # A host that did not answer a request that reached it lost it, too.
    silent = max(int(request["delivered_packets"]) - answered, 0)
    sent = int(request["sent_packets"])
    return EchoCounts(
        sent=sent,
        received=received,
        lost=min(ended + silent, max(sent - received, 0)),
        lost_down=min(_of(request, "down") + _of(reply, "down"), max(sent - received, 0)),
        first_ns=int(request["first_ns"]),
    )


def total(connections: Sequence[Connection], name: str) -> int:
    """A count of the direction of the data, over all connections."""
    return sum(int(each.data[name]) for each in connections)


def _is_echo(row: Json, ends: tuple[str, str], identifier: int) -> bool:
    return (
        row["protocol"] in (ICMP, ICMPV6)
        and (row["source"], row["destination"]) == ends
        and row["source_port"] == identifier
    )


def _ended(row: Json | None) -> int:
    return sum(_of(row, fate) for fate in UNDELIVERED_FATES)


def _of(row: Json | None, fate: str) -> int:
    return 0 if row is None else int(row[f"{fate}_packets"])
