"""Real programs and simulated traffic in one run, from the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from .conftest import Command

CHAIN = """
version: 1
name: chain
seed: 5
{duration}
nodes:
  a: {{kind: host}}
  r: {{kind: router}}
  b: {{kind: host}}
  c: {{kind: host}}
links:
  near: {{endpoints: [a, r], delay: 1ms, loss: 1%}}
  far: {{endpoints: [r, b], delay: {{base: 4ms, jitter: {{dist: uniform, half_width: 1ms}}}}, rate: 20Mbit}}
  side: {{endpoints: [r, c], delay: 1ms}}
{rest}
"""
TRAFFIC = """
traffic:
  probe: {kind: ping, from: a, to: b, every: 20ms}
  bulk: {kind: tcp, from: c, to: b, flows: 2, simulated: true}
  web: {kind: requests, from: a, to: c, gap: 50ms, size: 20kB, stop: 1s, simulated: true}
  hop: {kind: ping, from: c, to: r, every: 20ms, simulated: true}
events:
  - {at: 1s, link: far, set: {rate: 10Mbit}, over: 500ms}
"""


def scenario(work: Path, rest: str, *, duration: str = "duration: 2s") -> str:
    (work / "chain.yaml").write_text(CHAIN.format(rest=rest, duration=duration))
    return "chain.yaml"


def summary(work: Path, name: str = "chain") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / "runs" / name / "latest" / "summary.json").read_text())
    return found


def test_a_mixed_run_has_both_kinds_in_every_table(longhaul: Command, work: Path) -> None:
    expect = "expect:\n  - {metric: fidelity.simulated.p50, max: 1s}\n  - {metric: flows.web.done, min: 15}\n"
    result = longhaul("run", scenario(work, TRAFFIC + expect))
    assert result.returncode in (0, 4), result.stdout + result.stderr
    directory = (work / "runs/chain/latest").resolve()
    assert "-mixed-" in directory.name
    assert json.loads((directory / "run.json").read_text())["mode"] == "mixed"
    found = summary(work)
    assert [(flow["flow"], flow["simulated"]) for flow in found["flows"]] == [("bulk", True), ("web", True)]
    assert [(probe["name"], probe["simulated"]) for probe in found["probes"]] == [
        ("probe", False),
        ("hop", True),
    ]
    assert all(each["met"] for each in found["expectations"])
    # There and back to the router, without a queue: 2 x 1 ms.
    assert found["probes"][1]["rtt_p50_ns"] == 2_000_000
    assert found["probes"][0]["rtt_min_ns"] > 2 * 4_000_000
    flows = pq.read_table(directory / "flows.parquet").to_pydict()
    assert set(zip(flows["flow"], flows["simulated"], strict=True)) == {("bulk", True)} | {
        ("web", True) for flow in flows["flow"] if flow == "web"
    }
    assert set(pq.read_table(directory / "probes.parquet").to_pydict()["simulated"]) == {False, True}
    assert re.search(r"bulk .* sim cubic", result.stdout)
    assert "simulated hosts:" in result.stdout
    report = (directory / "report.html").read_text()
    assert "mixed run of" in report
    assert "simulated tcp" in report


def test_a_mixed_run_is_the_model_too(longhaul: Command, work: Path) -> None:
    longhaul("run", scenario(work, TRAFFIC), "--journal", "--no-report")
    answer = longhaul("compare", "--replay", "runs/chain/latest")
    assert answer.returncode == 0, answer.stdout
    (injected,) = (int(text) for text in re.findall(r"replayed (\d+) packets", answer.stdout))
    assert injected == summary(work)["packets"]["injected"] > 1_000
    # The router answered both the simulated and no real packets.
    assert summary(work)["packets"]["answered"] > 50


def test_mixed_and_simulated_runs_are_compared(longhaul: Command, work: Path) -> None:
    name = scenario(work, TRAFFIC)
    longhaul("run", name, "--no-report")
    longhaul("sim", name, "--no-report")
    answer = longhaul("compare", "runs/chain", "--json")
    assert answer.returncode == 0, answer.stderr
    compared = json.loads(answer.stdout)
    assert [group["name"].rpartition(" ")[2] for group in compared["groups"]] == ["mixed", "sim"]
    rows = {row["metric"] for row in compared["metrics"]}
    assert {"flows.bulk.goodput", "probes.probe.b.rtt.p50", "probes.hop.r.rtt.p50"} <= rows


def test_a_program_that_only_simulates_runs_live_and_ends_the_run(longhaul: Command, work: Path) -> None:
    rest = """
programs:
  reduce: {simulate: {kind: ping-pong, bytes: 1kB, repeat: 20}, hosts: [a, b]}
  noise: {run: sleep 0.2, host: c}
"""
    result = longhaul("run", scenario(work, rest, duration=""), "--no-report")
    assert result.returncode in (0, 4), result.stdout + result.stderr
    found = summary(work)
    assert found["ended"] == "programs"
    programs = {each["name"]: each for each in found["programs"]}
    # Twenty round trips of 10 ms, and one for the connection; jitter and losses come on top.
    assert 20 * 8e6 < programs["reduce"]["wall_ns"] < 5e9
    assert programs["reduce"]["iterations"] == 20
    assert found["duration_ns"] >= programs["reduce"]["wall_ns"]


def test_what_the_kernel_cannot_do_simulated_ends_can(longhaul: Command, work: Path) -> None:
    rest = """
tcp: {delayed_ack: false, congestion_control: stochastic}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: {algorithm: multcp, flows: 4}, simulated: true}
  other: {kind: tcp, from: a, to: b, simulated: true}
"""
    result = longhaul("run", scenario(work, rest), "--no-report")
    assert result.returncode in (0, 4), result.stdout + result.stderr
    assert [flow["cc"] for flow in summary(work)["flows"]] == ["multcp", "stochastic"]
    assert all(flow["goodput_bits_per_s"] > 1e5 for flow in summary(work)["flows"])


@pytest.mark.parametrize(
    ("command", "rest", "place", "remedy"),
    [
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: {algorithm: cubic, beta: 0.5}}}",
            "traffic.x.cc: the kernel's cubic takes no parameters",
            "add simulated: true",
        ),
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: fast}}",
            'traffic.x.cc: this kernel has no "fast", and it cannot be loaded (scalable, ',
            "add simulated: true",
        ),
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: {algorithm: rule, per_ack: 2 / cwnd}}}",
            'traffic.x.cc: this kernel has no "rule", and it cannot be loaded (scalable, ',
            "add simulated: true",
        ),
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: {algorithm: stochastic, streams: 100}}}",
            "traffic.x.cc: streams: the BPF algorithm has at most 32",
            "write a number from 1 to",
        ),
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: {algorithm: multcp, flow: 2}}}",
            'traffic.x.cc: unknown field "flow"',
            "flows",
        ),
        (
            "run",
            "tcp: {delayed_ack: false}\ntraffic: {x: {kind: tcp, from: a, to: b, simulated: true},"
            " y: {kind: ping, from: c, to: b}}",
            "tcp.delayed_ack",
            "simulate all traffic",
        ),
        (
            "run",
            "traffic: {x: {kind: tcp, from: a, to: b, cc: cubik, simulated: true}}",
            "traffic.x.cc",
            "cubic",
        ),
        (
            "run",
            "programs: {x: {simulate: {kind: halo, bytes: 1kB, cc: cubik}, hosts: [a, b]}}",
            "programs.x.simulate.cc",
            "cubic",
        ),
    ],
)
def test_what_cannot_run_mixed_is_refused_with_place_and_remedy(
    longhaul: Command, work: Path, command: str, rest: str, place: str, remedy: str
) -> None:
    result = longhaul(command, scenario(work, rest))
    assert result.returncode == 2
    assert place in result.stderr
    assert remedy in result.stderr
    assert not (work / "runs").exists()


def test_background_that_ends_with_programs_needs_an_end_in_a_simulation(
    longhaul: Command, work: Path
) -> None:
    rest = """
programs: {p: {run: ping -c 5 -i 0.05 b, host: a}}
traffic: {noise: {kind: udp, from: c, to: b, rate: 5Mbit, arrivals: poisson, simulated: true}}
"""
    name = scenario(work, rest, duration="")
    refused = longhaul("sim", name)
    assert refused.returncode == 2
    assert "traffic.noise: would never end" in refused.stderr
    assert "add stop here, or duration at the top" in refused.stderr
    assert longhaul("run", name, "--no-report").returncode in (0, 1, 4)
    assert summary(work)["ended"] == "programs"
    assert summary(work)["flows"][0]["goodput_bits_per_s"] == pytest.approx(5e6, rel=0.25)
