"""What the network's counts say of connections, datagrams and pings, from rows written by hand."""

from typing import Any

from longhaul.analysis.network_flows import (
    UNDELIVERED_FATES,
    Connection,
    EchoCounts,
    connections,
    datagrams,
    ping_counts,
    total,
)

A, B = "10.0.0.1", "10.0.0.2"


def row(
    protocol: int, source: str, destination: str, ports: tuple[int | None, int | None], **counts: int
) -> dict[str, Any]:
    names = ("sent", "retransmitted", "delivered", "copied", *UNDELIVERED_FATES)
    zero: dict[str, Any] = dict.fromkeys((f"{name}_packets" for name in names), 0)
    return {
        **zero,
        "flow": 1,
        "protocol": protocol,
        "source": source,
        "destination": destination,
        "source_port": ports[0],
        "destination_port": ports[1],
        "first_ns": 0,
        "new_bytes": 0,
        "payload_bytes": 0,
        "acknowledged_bytes": 0,
        "last_acknowledged_ns": None,
        **counts,
    }


def test_connections_are_those_to_the_port_in_the_order_of_their_beginning() -> None:
    rows = [
        row(6, A, B, (40_002, 5201), first_ns=20, new_bytes=900),
        row(6, A, B, (40_001, 5201), first_ns=10, new_bytes=37),
        row(6, A, B, (40_003, 80), first_ns=5),
        row(6, B, A, (5201, 40_002), acknowledged_bytes=801, last_acknowledged_ns=99),
        row(17, A, B, (40_002, 5201)),
    ]
    control, data = connections(rows, source=A, destination=B, port=5201)
    assert (control.data["source_port"], control.reverse) == (40_001, None)
    assert (data.in_order_bytes, data.last_acknowledged_ns) == (801, 99)
    assert data.ends == ("10.0.0.1:40002", "10.0.0.2:5201")
    assert total([control, data], "new_bytes") == 937


def test_no_more_arrived_in_order_than_was_sent() -> None:
    # SYN and FIN count as bytes of the sequence, and are not payload.
    found = Connection({"new_bytes": 1000}, {"acknowledged_bytes": 1001, "last_acknowledged_ns": 1})
    assert found.in_order_bytes == 1000
    assert Connection({"new_bytes": 1000}, None).in_order_bytes == 0


def test_datagrams_to_one_port_are_counted_together() -> None:
    rows = [
        row(17, A, B, (1, 6201), sent_packets=5, delivered_packets=4),
        row(17, A, B, (2, 6201), sent_packets=1, delivered_packets=1),
        row(17, A, B, (1, 6202), sent_packets=9),
    ]
    found = datagrams(rows, source=A, destination=B, port=6201)
    assert found is not None
    assert (found["sent_packets"], found["delivered_packets"]) == (6, 5)
    assert datagrams(rows, source=B, destination=A, port=6201) is None


def test_a_ping_is_lost_if_request_or_reply_is_and_what_is_on_its_way_is_not() -> None:
    rows = [
        row(
            1,
            A,
            B,
            (7, None),
            sent_packets=10,
            delivered_packets=6,
            down_packets=2,
            lost_packets=1,
            first_ns=3,
        ),
        row(1, B, A, (7, None), sent_packets=6, delivered_packets=3, down_packets=1),
        row(1, A, B, (8, None), sent_packets=99),
    ]
    # One request is still in the network, and two replies.
    found = ping_counts(rows, source=A, destination=B, identifier=7)
    assert found == EchoCounts(sent=10, received=3, lost=4, lost_down=3, first_ns=3)


def test_a_request_that_its_host_does_not_answer_is_lost() -> None:
    rows = [row(1, A, B, (7, None), sent_packets=4, delivered_packets=4)]
    assert ping_counts(rows, source=A, destination=B, identifier=7).lost == 4


def test_a_ping_that_sent_nothing_lost_nothing() -> None:
    assert ping_counts([], source=A, destination=B, identifier=7) == EchoCounts(0, 0, 0, 0, None)


def test_a_ping_over_ipv6_is_found_by_its_identifier() -> None:
    rows = [row(58, "fd00::1", "fd00::2", (7, None), sent_packets=2, delivered_packets=2)]
    assert ping_counts(rows, source="fd00::1", destination="fd00::2", identifier=7).sent == 2
