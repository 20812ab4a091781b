"""Real senders and receivers of a run's own: what they send is what the simulator sends."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from .conftest import Command

PAIR = """
version: 1
name: pair
seed: 7
{head}
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  wire: {{endpoints: [a, b], delay: 4ms, rate: 1Gbit{link}}}
traffic:
{traffic}
"""
EVERY_KIND = """
  even: {kind: udp, from: a, to: b, rate: 4Mbit, size: 1000B}
  noise: {kind: udp, from: a, to: b, rate: 2Mbit, size: 500B, arrivals: poisson, sizes: exponential}
  bursts: {kind: udp, from: b, to: a, rate: 8Mbit, start: 200ms, stop: 1500ms,
           on: {dist: pareto, shape: 1.5, mean: 30ms}, off: {dist: exponential, mean: 30ms}}
  volume: {kind: udp, from: b, to: a, rate: 4Mbit, size: 1000B, bytes: 400kB}
"""


def run(
    longhaul: Command, work: Path, how: str, traffic: str, *, link: str = "", head: str = "duration: 2s"
) -> dict[str, dict[str, Any]]:
    """The flows of a run, by name."""
    (work / "pair.yaml").write_text(PAIR.format(traffic=traffic, link=link, head=head))
    result = longhaul(how, "pair.yaml", "--no-report")
    # A machine that is busy with other tests may not be faithful.
    assert result.returncode in ((0, 4) if how == "run" else (0,)), result.stdout + result.stderr
    found = json.loads((work / "runs/pair/latest/summary.json").read_text())
    return {flow["flow"]: flow for flow in found["flows"]}


def sent(work: Path) -> dict[str, tuple[int, int]]:
    """Datagrams and bytes that each real source of the last run sent."""
    logs = (work / "runs/pair/latest/logs").glob("*.out")
    reports = {path.stem: json.loads(path.read_text()) for path in logs}
    return {name: (each["sent"], each["bytes_sent"]) for name, each in reports.items() if "sent" in each}


def test_real_senders_follow_the_schedule_of_the_simulator(longhaul: Command, work: Path) -> None:
    simulated = run(longhaul, work, "sim", EVERY_KIND)
    real = run(longhaul, work, "run", EVERY_KIND)
    assert "-live-" in (work / "runs/pair/latest").resolve().name
    totals = {name: flow["streams"][0] for name, flow in simulated.items()}
    assert sent(work) == {name: (each["sent"], each["bytes_sent"]) for name, each in totals.items()}
    for name, flow in real.items():
        assert not flow["simulated"]
        assert flow["error"] is None
        assert flow["throughput_bits_per_s"] == pytest.approx(simulated[name]["throughput_bits_per_s"])
        # No packet may have left before its time or overtaken the wire.
        assert flow["send_lateness"]["count"] == totals[name]["sent"]
        assert flow["delay"]["p50_ns"] >= 4_000_000
    assert real["volume"]["bytes"] == 400_000
    assert real["volume"]["end_ns"] == simulated["volume"]["end_ns"]
    assert {flow["send_lateness"] for flow in simulated.values() if "send_lateness" in flow} == set()


def test_a_sink_measures_each_packet(longhaul: Command, work: Path) -> None:
    # A tenth of the packets, 1 ms apart, is held back by 3.5 ms, and overtaken by three.
    link = ", loss: 5%, reordering: {share: 10%, delay: 7500us}, duplicate: 10%"
    flows = run(
        longhaul, work, "run", "  even: {kind: udp, from: a, to: b, rate: 8Mbit, size: 1000B}\n", link=link
    )
    even = flows["even"]
    sink = json.loads((work / "runs/pair/latest/logs/even.server.out").read_text())
    (count, _bytes) = sent(work)["even"]
    assert count == 2000
    # Five standard deviations of so many draws.
    assert even["loss"] == pytest.approx(0.05, abs=5 * (0.05 * 0.95 / count) ** 0.5)
    assert sink["copies"] / count == pytest.approx(0.095, abs=5 * (0.095 * 0.905 / count) ** 0.5)
    assert sink["received"] - sink["copies"] == round(count * (1 - even["loss"]))
    assert even["reordered"] == pytest.approx(0.095 * count, abs=5 * (0.095 * 0.905 * count) ** 0.5)


def test_intervals_of_a_flow_hold_all_that_arrived(longhaul: Command, work: Path) -> None:
    traffic = "  even: {kind: udp, from: a, to: b, rate: 4Mbit, size: 1000B, start: 500ms, stop: 1500ms}\n"
    flows = run(longhaul, work, "run", traffic)
    rows = pq.read_table(work / "runs/pair/latest/flows.parquet").to_pylist()
    assert sum(row["packets"] for row in rows) == 500
    bits = sum(row["bits_per_s"] * (row["end_s"] - row["start_s"]) for row in rows)
    assert bits == pytest.approx(flows["even"]["bytes"] * 8)
    assert [row["end_s"] for row in rows[:-1]] == [row["start_s"] for row in rows[1:]]
    # A live sender that waits for a CPU starts in a later interval; a simulated one does not.
    assert 0.5 - 1e-6 < rows[0]["start_s"] < 1.5
    assert all(row["delay_mean_ns"] >= 4_000_000 for row in rows)
    run(longhaul, work, "sim", traffic)
    simulated = pq.read_table(work / "runs/pair/latest/flows.parquet").to_pylist()
    first = next(row for row in simulated if row["bits_per_s"] > 0)
    assert first["start_s"] == pytest.approx(0.5)


def test_traffic_ends_with_what_it_was_to_send(longhaul: Command, work: Path) -> None:
    traffic = "  volume: {kind: udp, from: a, to: b, rate: 8Mbit, size: 1000B, bytes: 1MB}\n"
    flows = run(longhaul, work, "run", traffic, head="")
    assert flows["volume"]["bytes"] == 1_000_000
    # 1,000 datagrams, 1 ms apart.
    assert flows["volume"]["end_ns"] == 999_000_000


def test_measures_of_datagrams_can_be_expected(longhaul: Command, work: Path) -> None:
    traffic = """  even: {kind: udp, from: a, to: b, rate: 4Mbit, size: 1000B}
expect:
  - {metric: flows.even.delay.p50, min: 4ms, max: 1s}
  - {metric: flows.even.reordered, max: 0}
  - {metric: flows.even.send_lateness.p50, max: 1s}
"""
    run(longhaul, work, "run", traffic)
    assert "send_lateness" in (work / "runs/pair/latest/summary.json").read_text()
    run(longhaul, work, "sim", traffic)
    simulated = json.loads((work / "runs/pair/latest/summary.json").read_text())
    assert simulated["not_simulated"] == ["flows.even.send_lateness.p50"]
    assert [each["met"] for each in simulated["expectations"]] == [True, True]


def test_ipv6_alone_is_enough(longhaul: Command, work: Path) -> None:
    traffic = "  noise: {kind: udp, from: a, to: b, rate: 2Mbit, sizes: exponential}\n"
    head = "duration: 1s\naddresses: ipv6"
    simulated = run(longhaul, work, "sim", traffic, head=head)["noise"]
    real = run(longhaul, work, "run", traffic, head=head)["noise"]
    assert real["bytes"] > 0
    assert sent(work)["noise"][1] == simulated["streams"][0]["bytes_sent"]
    assert not re.search("too big", json.dumps(real))
