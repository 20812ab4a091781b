"""`longhaul sim` from the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import ROOT, Command

DUMBBELL = """
version: 1
name: dumbbell
seed: 3
duration: {duration}
nodes:
  a: {{kind: host, attach: r, profile: lan}}
  b: {{kind: host, attach: s, profile: lan}}
  r: {{kind: router}}
  s: {{kind: router}}
profiles: {{lan: {{delay: 10us, rate: 1Gbit}}}}
links: {{wan: {{endpoints: [r, s], delay: 10ms, rate: 100Mbit, queue: 1bdp}}}}
traffic:
{traffic}
"""

BULK = "  bulk: {kind: tcp, from: a, to: b}\n"


def scenario(work: Path, traffic: str = BULK, *, duration: str = "20s", rest: str = "") -> str:
    (work / "dumbbell.yaml").write_text(DUMBBELL.format(traffic=traffic, duration=duration) + rest)
    return "dumbbell.yaml"


def summary(work: Path, name: str = "dumbbell") -> dict:
    return json.loads((work / f"runs/{name}/latest/summary.json").read_text())


def test_what_runs_live_runs_simulated(longhaul: Command, work: Path) -> None:
    for name in ("two-clusters", "every-model", "parallel-routes", "ipv6-jumbo"):
        result = longhaul("sim", str(ROOT / f"scenarios/{name}.yaml"), "--no-report")
        assert result.returncode in (0, 1), result.stderr
        found = summary(work, name)
        packets = found["packets"]
        begun = packets["injected"] + packets["copied"] + packets["replies"]
        assert begun == sum(packets.values()) - begun
        assert found["simulation"]["speed"] > 0


def test_a_flow_fills_its_link_and_the_run_leaves_all_files(longhaul: Command, work: Path) -> None:
    traffic = (
        BULK + "  probe: {kind: ping, from: a, to: b, every: 100ms}\n  far: {kind: ping, from: a, to: s}\n"
    )
    result = longhaul("sim", scenario(work, traffic))
    assert result.returncode == 0, result.stderr
    found = summary(work)
    # 1,448 of 1,500 bytes are payload; the handshake and slow start take some 100 ms of 20 s.
    assert found["flows"][0]["goodput_bits_per_s"] == pytest.approx(100e6 * 1448 / 1500, rel=0.03)
    probe, far = found["probes"]
    assert probe["loss"] == 0
    assert probe["rtt_min_ns"] == pytest.approx(20.04e6, rel=0.01)
    assert far["rtt_min_ns"] < probe["rtt_min_ns"]
    directory = work / "runs/dumbbell/latest"
    for file in ("report.html", "links.parquet", "flows.parquet", "probes.parquet", "plan.json", "run.json"):
        assert (directory / file).stat().st_size > 0
    assert "Simulated" in (directory / "report.html").read_text()


def test_bytes_are_those_of_all_flows_together(longhaul: Command, work: Path) -> None:
    traffic = "  bulk: {kind: tcp, from: a, to: b, flows: 4, bytes: 10MB}\n"
    result = longhaul("sim", scenario(work, traffic), "--no-report")
    assert result.returncode == 0, result.stderr
    engine = json.loads((work / "runs/dumbbell/latest/raw/engine.json").read_text())
    assert [flow["bytes"] for flow in engine["flows"]] == [2_500_000] * 4


def test_equal_scenarios_have_equal_digests_and_other_seeds_others(longhaul: Command, work: Path) -> None:
    name = scenario(work, "  noise: {kind: udp, from: a, to: b, rate: 10Mbit, arrivals: poisson}\n")
    digests = []
    for seed in (3, 3, 4):
        text = (work / name).read_text().replace("seed: 3", f"seed: {seed}")
        (work / name).write_text(text)
        assert longhaul("sim", name, "--no-report").returncode == 0
        digests.append(summary(work)["simulation"]["digest"])
    assert digests[0] == digests[1] != digests[2]


def test_requests_are_counted_and_timed(longhaul: Command, work: Path) -> None:
    traffic = "  web: {kind: requests, from: a, to: b, gap: 100ms, size: 100kB, cc: reno, stop: 10.05s}\n"
    expect = "expect: [{metric: flows.web.done, equals: 100}, {metric: flows.web.took.p50, max: 200ms}]\n"
    result = longhaul("sim", scenario(work, traffic, rest=expect))
    assert result.returncode == 0, result.stdout
    # At least two round trips (SYN, then data and FIN) and 100 kB at 100 Mbit/s.
    assert summary(work)["flows"][0]["took_p50_ns"] > 48e6
    rows = (work / "runs/dumbbell/latest/raw/requests.csv").read_text().splitlines()
    assert len(rows) == 101


@pytest.mark.parametrize(
    ("traffic", "what"),
    [
        (
            "  bulk: {kind: tcp, from: a, to: b, cc: qubic}\n",
            'there is no congestion control "qubic"; did you mean "cubic"?',
        ),
        (
            "  bulk: {kind: tcp, from: a, to: b, cc: {algorithm: multcp, strems: 2}}\n",
            'unknown field "strems"',
        ),
        ("  bulk: {kind: tcp, from: a, to: b, cc: {algorithm: multcp, flows: 0}}\n", "traffic.bulk.cc"),
        (
            "  bulk: {kind: tcp, from: a, to: b, cc: {algorithm: rule, per_ack: 1 / cwin}}\n",
            'traffic.bulk.cc.per_ack: unknown variable "cwin"; known are cwnd, in_flight, rtt, min_rtt, ',
        ),
        (
            "  bulk: {kind: tcp, from: a, to: b, cc: {algorithm: rule, after_loss: (cwnd / 2}}\n",
            'traffic.bulk.cc.after_loss: the formula ends where ")" is expected; write a formula',
        ),
        (
            "  web: {kind: requests, from: a, to: b, gap: 0s, size: 1kB}\n",
            "traffic.web.gap: would start all requests at the same time",
        ),
    ],
)
def test_wrong_traffic_is_named_and_leaves_nothing(
    longhaul: Command, work: Path, traffic: str, what: str
) -> None:
    for command in ("sim", "check"):
        result = longhaul(command, scenario(work, traffic))
        assert result.returncode == 2
        assert what in result.stderr
    assert not (work / "runs").exists()


def test_nothing_to_simulate_is_said(longhaul: Command, work: Path) -> None:
    text = DUMBBELL.format(traffic="", duration="1s").replace(
        "traffic:\n", "programs: {p: {run: 'true', host: a}}"
    )
    (work / "d.yaml").write_text(text)
    result = longhaul("sim", "d.yaml")
    assert result.returncode == 2
    assert "no traffic to simulate" in result.stderr
    assert "p" in result.stderr


def test_what_is_only_simulated_does_not_run_live(longhaul: Command, work: Path) -> None:
    result = longhaul("run", scenario(work, rest="tcp: {delayed_ack: false}\n"))
    assert result.returncode == 2
    assert "tcp.delayed_ack" in result.stderr
    assert not (work / "runs").exists()


def test_what_one_host_does_only_simulated_does_not_run_live(longhaul: Command, work: Path) -> None:
    name = scenario(work)
    text = (work / name).read_text()
    own = "a: {kind: host, attach: r, profile: lan, tcp: {delayed_ack: false, recovery: tahoe, ecn: true}}"
    (work / name).write_text(text.replace("a: {kind: host, attach: r, profile: lan}", own))
    result = longhaul("run", name)
    assert result.returncode == 2
    assert "nodes.a.tcp.delayed_ack" in result.stderr
    assert "nodes.a.tcp.recovery: recovery: tahoe is simulated only" in result.stderr
    assert "nodes.a.tcp.ecn" not in result.stderr
    assert not (work / "runs").exists()


def test_ctrl_c_keeps_what_there_is(work: Path, environment: dict[str, str]) -> None:
    name = scenario(work, duration="100000s")
    command = [sys.executable, "-m", "longhaul.cli.main", "sim", name, "--no-report"]
    process = subprocess.Popen(
        command, cwd=work, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )
    records = work / "runs/dumbbell/latest/raw/samples.csv"
    for _ in range(200):
        time.sleep(0.05)
        if records.exists() and records.stat().st_size > 300_000:
            break
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(20) == 130
    assert summary(work)["ended"] == "interrupted"
    assert summary(work)["duration_ns"] > 1e9


def test_runs_are_compared_with_intervals(longhaul: Command, work: Path) -> None:
    name = scenario(
        work, "  noise: {kind: udp, from: a, to: b, rate: 120Mbit, arrivals: poisson}\n", duration="2s"
    )
    for runs, rate in (("slow", "120Mbit"), ("fast", "150Mbit")):
        (work / name).write_text((work / name).read_text().replace("120Mbit", rate))
        for seed in ("1", "2", "3"):
            assert longhaul("sim", name, "--seed", seed, "--runs", runs, "--no-report").returncode == 0
    result = longhaul("compare", "slow/dumbbell", "fast/dumbbell", "--json")
    assert result.returncode == 0, result.stderr
    rows = {row["metric"]: row for row in json.loads(result.stdout)["metrics"]}
    loss = rows["flows.noise.loss"]
    # The link takes 100 Mbit/s of 1,476 bytes with 1,448 of payload.
    assert loss["estimates"][0]["mean"] == pytest.approx(1 - 100 / 120 * 1448 / 1476, abs=0.02)
    assert loss["differs"] is True
    text = longhaul("compare", "slow/dumbbell", "fast/dumbbell").stdout
    assert "flows.noise.loss" in text
    assert "±" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_comparison_with_nothing_is_refused(longhaul: Command, work: Path) -> None:
    longhaul("sim", scenario(work, duration="1s"), "--no-report")
    assert "nothing to compare with" in longhaul("compare", "runs/dumbbell").stderr
    (work / "empty").mkdir()
    result = longhaul("compare", "runs/dumbbell/latest", "empty")
    assert result.returncode == 2
    assert "not a run directory" in result.stderr
