"""Transfers over real TCP connections: requests and flow lists are those of the simulator."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from longhaul.units.text import time_text

from .conftest import Command

STAR = """
version: 1
name: star
seed: 7
{head}
nodes:
  r: {{kind: router}}
  a: {{kind: host, attach: r, profile: lan}}
  b: {{kind: host, attach: r, profile: lan}}
  c: {{kind: host, attach: r, profile: lan}}
profiles: {{lan: {{delay: 10ms{link}}}}}
traffic:
{traffic}
"""
RTT_NS = 40_000_000
WEB = """
  web: {kind: requests, from: a, to: [b, c], stop: 1s,
        gap: {dist: exponential, mean: 20ms}, size: {dist: pareto, shape: 1.5, mean: 20kB}}
"""
LISTED = [(0, "a", "b", 1), (100, "b", "c", 5000), (100, "a", "c", 70_000), (50, "a", "b", 300_000)]


def run(
    longhaul: Command, work: Path, how: str, traffic: str, *, head: str = "duration: 2s", link: str = ""
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The flows of a run by name, and its transfers."""
    (work / "star.yaml").write_text(STAR.format(traffic=traffic, head=head, link=link))
    result = longhaul(how, "star.yaml", "--no-report")
    # A machine that is busy with other tests may not be faithful.
    assert result.returncode in ((0, 4) if how == "run" else (0,)), result.stdout + result.stderr
    latest = work / "runs/star/latest"
    found = json.loads((latest / "summary.json").read_text())
    rows = pq.read_table(latest / "requests.parquet").to_pylist()
    return {flow["flow"]: flow for flow in found["flows"]}, rows


def planned(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The plan without its results."""
    keys = ("name", "from", "to", "number", "start_ns", "bytes")
    return sorted(tuple(row[key] for key in keys) for row in rows)


def write_list(work: Path, rows: list[tuple[int, str, str, int]]) -> None:
    lines = "".join(f"{start},{source},{to},{size}\n" for start, source, to, size in rows)
    (work / "flows.csv").write_text("start_ms,from,to,bytes\n" + lines)


def test_real_requests_are_those_of_the_simulator(longhaul: Command, work: Path) -> None:
    simulated, expected = run(longhaul, work, "sim", WEB)
    real, rows = run(longhaul, work, "run", WEB)
    assert planned(rows) == planned(expected)
    assert len(rows) > 50
    for name, flow in real.items():
        assert not flow["simulated"]
        assert flow["error"] is None
        assert flow["done"] == simulated[name]["done"]
        assert flow["bytes"] == simulated[name]["bytes"]
        assert flow["goodput_bits_per_s"] == pytest.approx(simulated[name]["goodput_bits_per_s"])
        assert flow["send_lateness"]["count"] == flow["done"]
    assert all(row["took_ns"] >= 2 * RTT_NS for row in rows)
    assert {row["simulated"] for row in rows} == {False}
    servers = (work / "runs/star/latest/logs").glob("web.*.server.out")
    read = [json.loads(path.read_text())["bytes"] for path in servers]
    assert sorted(read) == sorted(flow["bytes"] for flow in real.values())


def test_small_transfers_take_the_round_trips_of_slow_start(longhaul: Command, work: Path) -> None:
    # A round trip for the handshake; then windows of 10, 20, 40 segments of 1448 bytes, none of which is
    # full at the end: there is room for what closes, and the other end answers that.
    trips = {1000: 2, 12_000: 2, 40_000: 3, 80_000: 4}
    times = [(start, size) for start, size in enumerate([*trips] * 5)]
    write_list(work, [(start * 200, "a", "b", size) for start, size in times])
    traffic = "  small: {kind: replay, file: flows.csv, cc: reno}\n"
    _flows, rows = run(longhaul, work, "sim", traffic, head="")
    assert [row["took_ns"] for row in rows] == [trips[row["bytes"]] * RTT_NS for row in rows]
    _flows, rows = run(longhaul, work, "run", traffic, head="")
    for size, count in trips.items():
        took = sorted(row["took_ns"] for row in rows if row["bytes"] == size)
        assert len(took) == 5
        assert took[0] >= count * RTT_NS
        assert took[2] == pytest.approx(count * RTT_NS, abs=8e6)


@pytest.mark.parametrize("how", ["sim", "run"])
def test_a_flow_list_has_many_sources_and_destinations(longhaul: Command, work: Path, how: str) -> None:
    write_list(work, LISTED)
    traffic = "  trace: {kind: replay, file: flows.csv, start: 200ms}\n"
    flows, rows = run(longhaul, work, how, traffic, head="")
    assert sorted((row["start_ns"], row["from"], row["to"], row["bytes"]) for row in rows) == sorted(
        (200_000_000 + start * 1_000_000, source, to, size) for start, source, to, size in LISTED
    )
    trace = flows["trace"]
    assert (trace["from"], trace["to"], trace["done"]) == ("2 hosts", "2 hosts", 4)
    assert trace["bytes"] == trace["volume_bytes"] == sum(size for *_, size in LISTED)
    took = sorted(row["took_ns"] for row in rows)
    assert trace["took_max_ns"] == took[-1]
    # Quantiles are right to two digits.
    assert trace["took_p50_ns"] == pytest.approx(took[1], rel=0.01)
    ends = [row["start_ns"] + (row["late_ns"] or 0) + row["took_ns"] for row in rows]
    assert trace["end_ns"] == pytest.approx(max(ends), abs=2)
    assert trace["goodput_bits_per_s"] == pytest.approx(trace["bytes"] * 8e9 / (max(ends) - 200_000_000))


@pytest.mark.parametrize("how", ["sim", "run"])
def test_what_has_not_ended_with_the_run_is_not_done(longhaul: Command, work: Path, how: str) -> None:
    # In half a second, 10 Mbit/s carry 625 kB at most.
    write_list(work, [(0, "a", "b", 5_000_000), (100, "a", "c", 1000), (700, "a", "b", 1000)])
    traffic = "  trace: {kind: replay, file: flows.csv}\n"
    link = ", rate: 10Mbit"
    flows, rows = run(longhaul, work, how, traffic, head="duration: 500ms", link=link)
    found = {row["start_ns"]: row["took_ns"] for row in rows}
    assert found[0] is None
    assert found[100_000_000] is not None
    assert len(found) == 2
    assert flows["trace"]["done"] == 1
    assert 100_000 < flows["trace"]["bytes"] < 625_000
    assert flows["trace"]["end_ns"] is None
    assert flows["trace"]["error"] is None


def test_many_transfers_at_one_instant_are_all_made(longhaul: Command, work: Path) -> None:
    # More than a process may usually have open.
    write_list(work, [(100, "a", "b", 1000)] * 1500)
    flows, rows = run(longhaul, work, "run", "  storm: {kind: replay, file: flows.csv}\n", head="")
    assert flows["storm"]["done"] == len(rows) == 1500
    assert flows["storm"]["bytes"] == 1_500_000
    assert flows["storm"]["error"] is None


def test_transfers_are_made_in_ipv6_alone(longhaul: Command, work: Path) -> None:
    head = "duration: 2s\naddresses: ipv6"
    simulated, _ = run(longhaul, work, "sim", WEB, head=head)
    real, _ = run(longhaul, work, "run", WEB, head=head)
    assert {name: flow["bytes"] for name, flow in real.items()} == {
        name: flow["bytes"] for name, flow in simulated.items()
    }


def test_measures_of_transfers_can_be_expected(longhaul: Command, work: Path) -> None:
    write_list(work, LISTED)
    traffic = """  trace: {kind: replay, file: flows.csv}
expect:
  - {metric: flows.trace.done, equals: 4}
  - {metric: flows.trace.took.p99, min: 80ms, max: 2s}
  - {metric: flows.trace.send_lateness.p50, max: 1s}
"""
    for how in ("run", "sim"):
        run(longhaul, work, how, traffic, head="")
        found = json.loads((work / "runs/star/latest/summary.json").read_text())
        assert all(each["met"] for each in found["expectations"])
        assert len(found["expectations"]) == (3 if how == "run" else 2)


def test_the_page_has_the_figures_of_transfers_in_tables_that_scroll(longhaul: Command, work: Path) -> None:
    write_list(work, LISTED)
    traffic = f"{WEB}\n  trace: {{kind: replay, file: flows.csv}}\n"
    (work / "star.yaml").write_text(STAR.format(traffic=traffic, head="duration: 2s", link=""))
    assert longhaul("sim", "star.yaml").returncode == 0
    latest = work / "runs/star/latest"
    flows = json.loads((latest / "summary.json").read_text())["flows"]
    page = (latest / "report.html").read_text()
    for flow in flows:
        took = [time_text(flow[f"took_{quantile}_ns"]) for quantile in ("p50", "p99", "max")]
        cells = [flow["flow"], f"{flow['done']:,}", f"{flow['bytes']:,}", *took]
        assert re.search("<tr><td>" + '</td><td class="n">'.join(map(re.escape, cells)), page), flow["flow"]
    assert sorted(flow["flow"] for flow in flows) == ["trace", "web.b", "web.c"]
    # A table that is wider than the page moves by itself.
    tables = len(re.findall(r"<table\b", page))
    assert len(re.findall(r'<div class="scroll" tabindex="0"><table\b', page)) == tables > 4


def test_a_algorithm_that_the_kernel_has_not_is_said(longhaul: Command, work: Path) -> None:
    write_list(work, LISTED)
    traffic = "  trace: {kind: replay, file: flows.csv, cc: tahoe}\n"
    (work / "star.yaml").write_text(STAR.format(traffic=traffic, head="", link=""))
    result = longhaul("run", "star.yaml", "--no-report")
    assert result.returncode == 2
    assert 'star.yaml:13:46: traffic.trace.cc: this kernel has no "tahoe"' in result.stderr
    assert "Traceback" not in result.stderr
    assert longhaul("sim", "star.yaml", "--no-report").returncode == 0


def test_a_sweep_has_one_row_for_a_flow_list(longhaul: Command, work: Path) -> None:
    write_list(work, LISTED)
    traffic = "  trace: {kind: replay, file: flows.csv}\nsweep: {axes: {seed: [1, 2]}}\n"
    (work / "star.yaml").write_text(STAR.format(traffic=traffic, head="", link=""))
    result = longhaul("sweep", "star.yaml")
    assert result.returncode == 0, result.stdout + result.stderr
    table = pq.read_table(work / "runs/star/latest/summary.parquet").to_pylist()
    done = [row["mean"] for row in table if row["metric"] == "flows.trace.done"]
    assert done == [4, 4]
    parts = pq.read_table(work / "runs/star/latest/parts").to_pylist()
    row, _again = (each for each in parts if each["item"] == "flows.trace")
    assert row["bytes"] == sum(size for *_, size in LISTED)
    assert row["timeouts"] is None, "transfers count none"
