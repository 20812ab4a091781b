"""Simulated flows and replayed captures in live runs whose network is divided among engine threads."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from packet_captures import write_datagrams

from longhaul import _longhaul

pytestmark = pytest.mark.waiting

COMMAND = str(Path(sys.executable).parent / "longhaul")
NETWORK = """\
version: 1
name: chain
duration: 3s
nodes:
  r1..4: {kind: router}
  a1..2: {kind: host, profile: lan, attach: r1}
  b1: {kind: host, profile: lan, attach: r2}
  c1: {kind: host, profile: lan, attach: r3}
  d1..2: {kind: host, profile: lan, attach: r4}
profiles: {lan: {delay: 13us, rate: 1Gbit}}
links:
  one: {endpoints: [r1, r2], rate: 50Mbit, delay: 20ms}
  two:
    endpoints: [r2, r3]
    rate: 20Mbit
    delay: {base: 25ms, jitter: {dist: uniform, half_width: 1ms}}
    loss: 1%
  three: {endpoints: [r3, r4], delay: 20ms}
"""
SIMULATED = """\
  bulk: {kind: tcp, from: d2, to: a2, flows: 2, stop: 1500ms, simulated: true}
  back: {kind: tcp, from: a1, to: c1, bytes: 300kB, cc: reno, simulated: true}
  noise: {kind: udp, from: a1, to: d1, rate: 3Mbit, arrivals: poisson, stop: 2s, simulated: true}
  probe: {kind: ping, from: a1, to: d1, every: 20ms, count: 60, simulated: true}
  hop: {kind: ping, from: c1, to: r1, every: 20ms, count: 60, simulated: true}
  web: {kind: requests, from: a2, to: c1, gap: 50ms, size: 20kB, stop: 1s, simulated: true}
events:
  - {at: 1s, link: one, set: {delay: 30ms}}
"""
PROGRAMS = """\
programs:
  sum: {simulate: {kind: allreduce, bytes: 4kB, repeat: 8, compute: 2ms}, hosts: [a1, b1, c1, d1..2]}
"""
FATES = ("lost", "overflowed", "dropped", "delivered", "held")
SECOND = 10**9


def run(place: Path, text: str, *options: str) -> Path:
    (place / "chain.yaml").write_text(text)
    argv = [COMMAND, "run", "chain.yaml", "--no-report", *options]
    done = subprocess.run(argv, cwd=place, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 4), done.stderr + done.stdout
    return (place / "runs/chain/latest").resolve()


def engine_of(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((directory / "raw/engine.json").read_text())
    return found


def simulated_alone(directory: Path) -> dict[str, Any]:
    """What the flows of the run's plan do in a simulation."""
    plan = json.loads((directory / "plan.json").read_text())
    simulation = _longhaul.Simulation(json.dumps(plan), directory=None)
    while not simulation.advance(1_000_000):
        pass
    found: dict[str, Any] = json.loads(simulation.finish())
    return found


def replayed(directory: Path) -> str:
    done = subprocess.run(
        [COMMAND, "compare", "--replay", str(directory)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


AT_NO_DISTANCE = re.sub("(, )?profile(s: .*\n|: lan)", "", NETWORK)
"""The same with links to hosts that take no time, so that packets of one instant meet."""


@pytest.mark.parametrize(
    ("shards", "network"), [(1, NETWORK), (2, NETWORK), (4, NETWORK), (1, AT_NO_DISTANCE)]
)
def test_simulated_flows_do_on_threads_exactly_what_they_do_in_a_simulation(
    work: Path, shards: int, network: str
) -> None:
    directory = run(work, network + "traffic:\n" + SIMULATED + PROGRAMS, "--shards", str(shards), "--journal")
    engine, alone = engine_of(directory), simulated_alone(directory)
    assert len(engine.get("machines", {})) == (shards if shards > 1 else 0)
    assert len(engine["flows"]) == len(alone["flows"]) == 7
    for here, there in zip(engine["flows"], alone["flows"], strict=True):
        # A ping that got no answer is not done, and takes as long as the run, which live is a bit longer.
        assert {**here, "span_s": None} == {**there, "span_s": None}
    (job,), (expected,) = engine["jobs"], alone["jobs"]
    assert expected["iterations"] == 8
    assert [job[name] for name in ("iterations", "wall_ns")] == [8, expected["wall_ns"]]
    # Threads tell when their ranks have finished an iteration to the nanosecond.
    assert job["iteration_ns"] == pytest.approx(expected["iteration_ns"], rel=0, abs=1)
    assert engine["links"] == alone["links"]
    assert {name: engine["packets"][name] for name in alone["packets"]} == alone["packets"]
    assert alone["packets"]["lost"] > 10
    assert engine["echo_fates"] == [list(each) for each in alone["echo_fates"]]
    assert f"replayed {engine['packets']['injected']} packets" in replayed(directory)


def test_tables_of_simulated_flows_on_threads_have_both_ends(work: Path) -> None:
    """The sender of each is on one thread, and its receiver on another."""
    directory = run(work, NETWORK + "traffic:\n" + SIMULATED, "--shards", "4")
    summary = json.loads((directory / "summary.json").read_text())
    assert "-mixed-" in directory.name
    flows = pq.read_table(directory / "flows.parquet").to_pylist()
    (back,) = [flow for flow in summary["flows"] if flow["flow"] == "back"]
    assert back["bytes"] == 300_000
    rows = [row for row in flows if row["flow"] == "back"]
    # Each interval has what the receiver's thread counted in it, and the window of the sender's.
    received = sum(row["bits_per_s"] * (row["end_s"] - row["start_s"]) / 8 for row in rows)
    assert 0.5 * 300_000 < received <= 300_000.5
    assert all(row["window_segments"] > 0 for row in rows)
    probes = pq.read_table(directory / "probes.parquet").to_pylist()
    rtts = [row["rtt_ns"] for row in probes if row["name"] == "probe" and row["rtt_ns"]]
    # Three links there and back, each with its least delay.
    assert min(rtts) > 2 * (20e6 + 24e6 + 20e6)
    assert not (directory / "machines").exists()


def test_real_and_simulated_packets_share_links_that_are_cut(work: Path) -> None:
    real = "  far: {kind: ping, from: b1, to: d1, every: 20ms}\n"
    directory = run(work, NETWORK + "traffic:\n" + real + SIMULATED, "--shards", "2", "--journal")
    engine = engine_of(directory)
    packets = engine["packets"]
    fates = sum(count for fate, count in packets.items() if fate not in ("injected", "copied", "replies"))
    assert packets["injected"] + packets["copied"] + packets["replies"] == fates
    summary = json.loads((directory / "summary.json").read_text())
    (far,) = [probe for probe in summary["probes"] if probe["name"] == "far"]
    assert far["received"] > 50
    assert far["rtt_min_ns"] > 2 * (24e6 + 20e6) - 1e5
    crossed = sum(
        peer["sent_packets"] for each in engine["machines"].values() for peer in each["tunnel"]["peers"]
    )
    assert f"  {crossed} times a packet went to another engine" in replayed(directory)


def test_a_run_without_duration_on_threads_waits_for_what_is_simulated(work: Path) -> None:
    text = NETWORK.replace("duration: 3s\n", "") + (
        "traffic:\n  bulk: {kind: tcp, from: d1, to: a1, bytes: 200kB, simulated: true}\n"
    )
    engine = engine_of(run(work, text, "--shards", "2"))
    (bulk,) = engine["flows"]
    assert bulk["bytes"] == 200_000
    assert bulk["arrived_ns"] < engine["duration_ns"] < bulk["arrived_ns"] + 3 * SECOND


def test_packets_of_a_capture_come_to_a_host_of_another_thread(work: Path) -> None:
    write_datagrams(work / "steady.pcap", 200)
    text = NETWORK + (
        "traffic:\n  steady: {kind: pcap, file: steady.pcap, from: a1, to: d1, start: 500ms}\n"
        "programs:\n  dump: {run: tcpdump -i eth0 -n -l udp port 4000, host: d1, service: true}\n"
    )
    directory = run(work, text, "--shards", "4", "--journal")
    (flow,) = json.loads((directory / "summary.json").read_text())["flows"]
    assert flow["sent_packets"] == 200
    # The link in the middle loses 1 %.
    assert 0 <= flow["lost_packets"] < 15
    assert flow["send_lateness"]["count"] == 200
    (there,) = simulated_alone(directory)["flows"]
    (here,) = engine_of(directory)["flows"]
    assert {**here, "span_s": None} == {**there, "span_s": None}
    seen = (directory / "logs/dump.out").read_text()
    assert re.search(r"IP 10\.\S+\.4000 > 10\.\S+\.4000: UDP, length 100", seen), seen
    assert "departures are the same, to the picosecond" in replayed(directory)


PROBE = "traffic:\n  probe: {kind: ping, from: a1, to: d1, every: 20ms, simulated: true}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            NETWORK + PROBE + "events:\n  - {at: 1s, link: three, set: {duplicate: 1%}}\n",
            "--shards does not support simulated pings on links that duplicate packets yet",
        ),
        (
            NETWORK.replace("delay: 20ms", "delay: 150us").replace("base: 25ms", "base: 1100us") + PROBE,
            "only links with a delay of at least 200 µs, with simulated traffic or replayed captures, can be",
        ),
    ],
)
def test_simulated_traffic_that_threads_cannot_share_is_refused(work: Path, text: str, said: str) -> None:
    (work / "chain.yaml").write_text(text)
    argv = [COMMAND, "run", "chain.yaml", "--shards", "2"]
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not (work / "runs").exists()
