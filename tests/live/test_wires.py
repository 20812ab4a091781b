"""Gigabit Ethernet against arithmetic: eWAN's Table III has 941 and 957 Mbit/s."""

import json

import pytest

from longhaul.measure.wires import Transport, gigabit, payload_rate, steady

TRIES = 4
"""A machine that others use disturbs a sender now and then; a wrong wire is wrong each time."""


def test_what_packets_leave_of_a_gigabit_is_their_share_of_1538_bytes() -> None:
    assert payload_rate("tcp") == 1e9 * 1448 / 1538
    assert payload_rate("udp") == 1e9 * 1472 / 1538
    assert round(payload_rate("tcp") / 1e6, 1) == 941.5
    assert round(payload_rate("udp") / 1e6, 1) == 957.1
    # Jumbo frames of 9000 bytes.
    assert payload_rate("tcp", mtu=9000) == 1e9 * 8948 / 9038


def test_the_last_report_counts_without_its_first_and_last_second() -> None:
    seconds = [{"sum": {"bytes": size, "seconds": 1.0}} for size in (1, 10, 20, 3)]
    report = json.dumps({"intervals": seconds}, indent=1) + "\n"
    assert steady(report) == 8 * 15
    assert steady('{\n "error": "the client went away"\n}\n' + report) == 8 * 15


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_gigabit_ethernet_carries_what_arithmetic_says(transport: Transport) -> None:
    seen = []
    for _try in range(TRIES):
        wire = gigabit(transport)
        seen.append(wire.shown_bits_per_s)
        if wire.shown_bits_per_s == pytest.approx(wire.expected_bits_per_s, rel=0.005):
            return
    raise AssertionError(seen)
