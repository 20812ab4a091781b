"""TCP connections as the kernels of the hosts see them."""

import json

import pyarrow.parquet as pq
from virtual_runs import BETWEEN_TWO, Run

BULK = BETWEEN_TWO + "traffic: {bulk: {kind: tcp, from: a, to: b, cc: reno, start: 250ms, stop: 850ms}}\n"
INTERVAL_NS = 100_000_000


def test_they_are_sampled_while_segments_are_sent_and_change_none(run: Run) -> None:
    ran = run(BULK)
    without = run(BULK + "measure: {sockets: false}\n")

    assert (ran.code, without.code) == (0, 0), ran.stderr + without.stderr
    table = pq.read_table(ran.directory / "sockets.parquet").to_pydict()
    times = sorted(set(table["t_ns"]))
    assert times == [INTERVAL_NS * step for step in range(3, 3 + len(times))]
    assert 900_000_000 <= times[-1] <= 1_400_000_000, (
        "until the queue is empty, and the last segments acknowledged"
    )
    assert set(table["host"]) == {"a", "b"}
    sent = [
        (cc, rtt, count)
        for host, cc, rtt, count in zip(
            table["host"], table["cc"], table["min_rtt_ns"], table["sent_bytes"], strict=True
        )
        # The other connection of iperf3 is its control.
        if host == "a" and count > 1000
    ]
    assert {cc for cc, _, _ in sent} == {"reno"}
    # A handshake's round trip: two of 10 ms, and 60 bytes each way at 100 Mbit/s.
    exact_us = 2 * (10_000 + 60 * 0.08)
    assert all(abs(rtt / 1000 - exact_us) < 1 for _, rtt, _ in sent)
    counts = [count for _, _, count in sent]
    assert counts == sorted(counts)
    assert json.loads((ran.directory / "summary.json").read_text())["sockets"]
    assert not (without.directory / "sockets.parquet").exists()
    assert ran.digest == without.digest


# A gigabit and 100 ms, where slow start overshoots by more than a whole window.
OVERSHOOT = """\
version: 1
name: two
duration: 4s
addresses: ipv4
tcp: {buffers: 25MiB, congestion_control: reno, recovery: sack}
nodes:
  a: {kind: host}
  b: {kind: host}
  r: {kind: router}
links:
  a-r: {endpoints: [a, r], delay: 1ms, rate: 1Gbit}
  r-b: {endpoints: [r, b], delay: 49ms, rate: 500Mbit, queue: 1000p}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: reno}}
"""


def test_a_receiver_has_room_for_what_waits_for_lost_segments(run: Run) -> None:
    ran = run(OVERSHOOT)

    assert ran.code == 0, ran.stderr
    counters = json.loads((ran.directory / "fidelity.json").read_text())["host_counters"]
    memory = ("PruneCalled", "RcvPruned", "OfoPruned", "TCPOFODrop", "TCPRcvQDrop")
    assert not {(host, name) for host in counters for name in memory if counters[host].get(name)}
    assert ran.summary["drops"]["packets"] > 1000
