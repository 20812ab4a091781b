"""Gigabit Ethernet against arithmetic: eWAN's Table III has 941 and 957 Mbit/s."""

import json
from pathlib import Path

import pytest

import longhaul
from longhaul.calibrate.probe import Measured
from longhaul.calibrate.wires import Transport, gigabit, payload_rate, steady
from longhaul.errors import LonghaulError

SCENARIO = """
version: 1
name: wire
duration: 3s
addresses: ipv4
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 100us, rate: 1Gbit, count: ethernet, queue: 16MiB}}
measure: {monitor: {links: [wan], every: 10ms}}
traffic: {flow: {FLOW, from: a, to: b}}
"""


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


@pytest.mark.parametrize(
    ("log", "reason"),
    [("", "exit code 1, signal None"), ('{"error": "unable to connect"}', "unable to connect")],
)
def test_a_measurement_whose_program_failed_says_so(log: str, reason: str) -> None:
    ended = [{"name": "sink", "error": None, "exit": 1, "signal": None}]
    run = Measured(engine={}, hosts={}, programs=ended, logs={"sink": log})
    with pytest.raises(LonghaulError, match=f'"sink" of the measurement failed: {reason}; measure again'):
        run.report("sink")


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_no_more_crosses_a_gigabit_than_arithmetic_says(transport: Transport) -> None:
    wire = gigabit(transport)
    assert 0.4 < wire.shown_bits_per_s / wire.expected_bits_per_s < 1.005  # a busy machine sends less


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_gigabit_ethernet_carries_what_arithmetic_says(transport: Transport, tmp_path: Path) -> None:
    """In every bin of 10 ms in which the wire never rests, however seldom a shared machine keeps it busy."""
    flows = {"tcp": "kind: tcp, cc: cubic", "udp": "kind: udp, rate: 1.1Gbit, size: 1472B"}
    scenario = tmp_path / "wire.yaml"
    scenario.write_text(SCENARIO.replace("FLOW", flows[transport]))
    table = longhaul.run_live(scenario, runs=tmp_path / "runs", report=False).table("monitor")
    columns = ("link", "way", "delivered_wire_bytes", "delivered_bytes", "delivered_packets")
    rows = [
        row[2:]
        for row in zip(*(table[each] for each in columns), strict=True)
        if row[:2] == ("wan", "forward")
    ]
    bin_bytes, frame = 10e-3 * 1e9 / 8, 1538
    assert max(wire for wire, _ip, _packets in rows) <= bin_bytes + frame
    full = [row for row in rows if row[0] >= bin_bytes - frame]
    assert len(full) > 20
    headers = {"tcp": 52, "udp": 28}[transport]
    payload = sum(ip - headers * packets for _wire, ip, packets in full)
    shown = 8 * payload / (len(full) * 10e-3)
    assert shown == pytest.approx(payload_rate(transport), rel=0.005)
