"""Simulated flows, replayed captures and switches in live runs on several machines."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from machine_room import MachineRoom, machine_room, missing
from packet_captures import write_datagrams
from two_machines import COMMAND, assert_nothing_left, assert_ran, command, run

from longhaul import _longhaul

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

AHEAD_S = 1_000
"""How far ahead the clock of the second machine is."""
NETWORK = """\
version: 1
name: wan
duration: 4s
nodes:
  par: {kind: router, place: m1}
  nyc: {kind: router, place: m2}
  lon: {kind: router, place: m1}
  hub: {kind: switch}
  par1: {kind: host, attach: par, profile: slow}
  par2..3: {kind: host, attach: par, profile: lan}
  nyc1..2: {kind: host, attach: nyc, profile: lan}
  lon1: {kind: host, attach: lon, profile: lan}
  hub1..2: {kind: host, attach: hub, profile: lan}
profiles:
  lan: {delay: 15us, rate: 1Gbit}
  slow: {delay: 15us, rate: 5Mbit}
links:
  atlantic: {endpoints: [par, nyc], rate: 40Mbit, delay: 20ms}
  channel: {endpoints: [nyc, lon], rate: 30Mbit, delay: 10ms}
  uplink: {endpoints: [hub, nyc], delay: 1ms}
"""
SIMULATED = """\
  bulk: {kind: tcp, from: nyc2, to: par2, flows: 2, stop: 3500ms, cc: cubic, simulated: true}
  file: {kind: tcp, from: par3, to: nyc1, bytes: 400kB, cc: reno, simulated: true}
  noise: {kind: udp, from: par2, to: nyc2, rate: 3Mbit, arrivals: poisson, stop: 3s, simulated: true}
  around: {kind: udp, from: par2, to: lon1, rate: 2Mbit, stop: 3s, simulated: true}
  probe: {kind: ping, from: nyc1, to: lon1, every: 20ms, count: 150, simulated: true}
  hop: {kind: ping, from: lon1, to: par, every: 20ms, count: 150, simulated: true}
  web: {kind: requests, from: par3, to: nyc1, gap: 50ms, size: 20kB, stop: 3s, simulated: true}
  steady: {kind: pcap, file: steady.pcap, from: par3, to: hub1, start: 1500ms}
"""
REAL = """\
  rtt: {kind: ping, from: par1, to: nyc1, every: 20ms}
  near: {kind: ping, from: hub1, to: hub2, every: 20ms}
  far: {kind: ping, from: hub2, to: par1, every: 20ms}
  load: {kind: tcp, from: par1, to: nyc2, stop: 3s, cc: cubic}
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2, monotonic_s=(0, AHEAD_S)) as found:
        yield found


def written(work: Path, text: str) -> Path:
    write_datagrams(work / "steady.pcap", 400)
    path = work / "wan.yaml"
    path.write_text(text)
    return path


def directory_of(work: Path) -> Path:
    return (work / "runs/wan/latest").resolve()


def simulated_alone(directory: Path) -> dict[str, Any]:
    """What the engine's own flows of the run's plan do in a simulation, by name and stream."""
    plan = json.loads((directory / "plan.json").read_text())
    plan["flows"] = [flow for flow in plan["flows"] if flow["simulated"] or flow["traffic"]["kind"] == "pcap"]
    simulation = _longhaul.Simulation(json.dumps(plan), directory=None)
    while not simulation.advance(1_000_000):
        pass
    found: dict[str, Any] = json.loads(simulation.finish())
    return found


def assert_each_packet_has_one_fate(engine: dict[str, Any]) -> None:
    packets = engine["packets"]
    fates = sum(count for fate, count in packets.items() if fate not in ("injected", "copied", "replies"))
    assert packets["injected"] + packets["copied"] + packets["replies"] == fates
    assert packets["lost_between_machines"] == 0


def assert_links_are_exact(engine: dict[str, Any]) -> None:
    """What was offered to a link left it, met another fate there, or is still there."""
    left = ("delivered", "lost", "overflowed", "dropped", "down", "too_big", "waiting", "flying")
    for link in engine["links"]:
        for way in ("forward", "reverse"):
            counts = link[way]
            met = sum(counts[f"{name}_packets"] for name in left)
            assert counts["offered_packets"] + counts["copied_packets"] == met, (link["name"], way, counts)


def bounds_ns(summary: dict[str, Any]) -> int:
    """How far clocks of the machines may be from what is known, there and back."""
    return sum(each["clock_bound_ns"] for each in summary["machines"]["crossings"])


def replayed(directory: Path) -> str:
    argv = [COMMAND, "compare", "--replay", str(directory)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_switch_is_on_the_machine_of_its_hosts(room: MachineRoom, work: Path) -> None:
    assert_ran(run(room, written(work, NETWORK + "traffic:\n" + REAL)))
    directory = directory_of(work)
    record = json.loads((directory / "run.json").read_text())
    assert [cut["link"] for cut in record["cuts"]] == ["atlantic", "channel"]
    summary = json.loads((directory / "summary.json").read_text())
    probes = {probe["name"]: probe for probe in summary["probes"]}
    assert probes["near"]["received"] > 100
    # Two cables of the switch, there and back.
    assert probes["near"]["rtt_min_ns"] > 4 * 15e3
    assert probes["far"]["received"] > 50
    assert probes["far"]["rtt_min_ns"] > 2 * 21e6 - 1e5 - bounds_ns(summary)
    engine = json.loads((directory / "raw/engine.json").read_text())
    assert_each_packet_has_one_fate(engine)
    assert_links_are_exact(engine)
    assert_nothing_left(room)


def test_simulated_flows_and_captures_cross_between_machines_beside_real_traffic(
    room: MachineRoom, work: Path
) -> None:
    dump = "programs:\n  dump: {run: tcpdump -i eth0 -n -l udp port 4000, host: hub1, service: true}\n"
    path = written(work, NETWORK + "traffic:\n" + SIMULATED + REAL + dump)
    argv = [word for word in command(room, path, "--journal") if word != "--no-report"]
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, timeout=180, check=False)
    assert_ran(done)
    directory = directory_of(work)
    assert "-mixed-" in directory.name
    assert (directory / "report.html").is_file()
    assert not (directory / "machines").exists()
    engine = json.loads((directory / "raw/engine.json").read_text())
    summary = json.loads((directory / "summary.json").read_text())
    assert_each_packet_has_one_fate(engine)
    assert_links_are_exact(engine)
    # Only what the kernels of the hosts dropped makes it invalid.
    hosts = json.loads((directory / "raw/hosts.json").read_text())
    dropped = sum(sum(counts.values()) for counts in hosts.values())
    assert (summary["fidelity"]["verdict"] == "invalid") == (dropped > 0), summary["fidelity"]["reasons"]
    alone = simulated_alone(directory)
    flows = {(flow["name"], flow["stream"]): flow for flow in engine["flows"]}
    expected = {(flow["name"], flow["stream"]): flow for flow in alone["flows"]}
    assert list(flows) == list(expected)
    for name in ("bulk", "file"):
        there = [flow["goodput_bits_per_s"] for key, flow in expected.items() if key[0] == name]
        here = [flow["goodput_bits_per_s"] for key, flow in flows.items() if key[0] == name]
        assert sum(here) == pytest.approx(sum(there), rel=0.05), name
    assert flows["file", 0]["bytes"] == 400_000
    assert flows["file", 0]["arrived_ns"] < flows["file", 0]["done_ns"]
    # The sender and the receiver of datagrams are on two machines, and their delay is between two clocks.
    for name, least_ms in (("noise", 20), ("around", 30), ("steady.par3.hub1", 21)):
        here, there = flows[name, 0], expected[name, 0]
        assert here["sent"] == here["received"] == there["sent"] > 300
        assert here["bytes"] == here["bytes_sent"] == there["bytes"]
        assert min(here["delay"]["cdf"])[0] > least_ms * 1e6 - bounds_ns(summary) - 25_000
        assert here["delay"]["p50_ns"] == pytest.approx(there["delay"]["p50_ns"], abs=2e6)
    assert flows["web", 0]["done"] == expected["web", 0]["done"] > 30
    # Times around the median of few requests are 7 % apart: one that takes longer moves it to the next.
    assert flows["web", 0]["took"]["p50_ns"] == pytest.approx(expected["web", 0]["took"]["p50_ns"], rel=0.08)
    for name in ("probe", "hop"):
        assert flows[name, 0]["sent"] == flows[name, 0]["received"] == 150
    probes = {probe["name"]: probe for probe in summary["probes"]}
    assert probes["probe"]["received"] == 150
    assert probes["rtt"]["received"] > 50
    assert probes["near"]["received"] > 100
    assert probes["far"]["received"] > 50
    reported = {flow["name"]: flow for flow in summary["flows"]}
    assert reported["load"]["bytes"] > 500_000
    assert reported["steady"]["sent_packets"] == 400
    seen = re.findall(
        r"IP 10\.\S+\.4000 > 10\.\S+\.4000: UDP, length 100", (directory / "logs/dump.out").read_text()
    )
    # The service may have begun late.
    assert len(seen) > 200
    assert f"replayed {engine['packets']['injected']} packets" in replayed(directory)


def test_a_simulated_ping_has_the_rtt_of_the_model_within_the_bound_of_the_clocks(
    room: MachineRoom, work: Path
) -> None:
    traffic = "  probe: {kind: ping, from: par2, to: nyc1, every: 20ms, count: 150, simulated: true}\n"
    assert_ran(run(room, written(work, NETWORK + "traffic:\n" + traffic)))
    directory = directory_of(work)
    summary = json.loads((directory / "summary.json").read_text())
    rows = pq.read_table(directory / "probes.parquet").to_pylist()
    rtts = sorted(row["rtt_ns"] for row in rows if row["rtt_ns"])
    assert len(rtts) == 150
    # 84 bytes take 16.8 us at 40 Mbit/s and 0.672 us at 1 Gbit/s, four times and twice.
    model_ns = 2 * (20e6 + 2 * 15e3) + 2 * (84 * 8 / 40e6 + 2 * 84 * 8 / 1e9) * 1e9
    assert abs(rtts[len(rtts) // 2] - model_ns) < bounds_ns(summary) + 25_000


def test_simulated_programs_have_ranks_on_several_machines(room: MachineRoom, work: Path) -> None:
    programs = (
        "programs:\n"
        "  sum:\n"
        "    simulate: {kind: allreduce, bytes: 4kB, repeat: 30, compute: 2ms}\n"
        "    hosts: [par2..3, nyc1..2, lon1]\n"
        "  swap: {simulate: {kind: ping-pong, bytes: 1kB, repeat: 60}, hosts: [par2, nyc1]}\n"
    )
    traffic = "  rtt: {kind: ping, from: par1, to: nyc1, every: 20ms, count: 50}\n"
    text = NETWORK.replace("duration: 4s\n", "") + programs + "traffic:\n" + traffic
    assert_ran(run(room, written(work, text), "--journal"))
    directory = directory_of(work)
    engine = json.loads((directory / "raw/engine.json").read_text())
    summary = json.loads((directory / "summary.json").read_text())
    assert_each_packet_has_one_fate(engine)
    alone = simulated_alone(directory)
    for found, expected in zip(engine["jobs"], alone["jobs"], strict=True):
        assert found["iterations"] == expected["iterations"] == found["repeat"]
        # A busy machine delays some iterations, and none is ever early.
        assert found["wall_ns"] > 0.95 * expected["wall_ns"]
        # Each has two crossings or more, and another clock's error in them.
        assert found["iteration"]["p50_ns"] > expected["iteration"]["p50_ns"] - 2 * bounds_ns(summary)
        assert found["iteration"]["p50_ns"] == pytest.approx(expected["iteration"]["p50_ns"], rel=0.05)
    # Without duration, the run has waited for them.
    assert engine["duration_ns"] > max(job["wall_ns"] for job in engine["jobs"])
    assert [each["name"] for each in summary["programs"] if each.get("iterations")] == ["sum", "swap"]
    assert f"replayed {engine['packets']['injected']} packets" in replayed(directory)


def test_tables_of_flows_between_machines_have_both_ends(room: MachineRoom, work: Path) -> None:
    traffic = (
        "  back: {kind: tcp, from: nyc1, to: par2, bytes: 400kB, simulated: true}\n"
        "  noise: {kind: udp, from: par2, to: nyc2, rate: 3Mbit, stop: 3s, simulated: true}\n"
    )
    assert_ran(run(room, written(work, NETWORK + "traffic:\n" + traffic)))
    directory = directory_of(work)
    rows = pq.read_table(directory / "flows.parquet").to_pylist()
    for name, total in (("back", 400_000), ("noise", 3e6 / 8 * 3)):
        own = [row for row in rows if row["flow"] == name]
        received = sum(row["bits_per_s"] * (row["end_s"] - row["start_s"]) / 8 for row in own)
        assert received == pytest.approx(total, rel=0.05), name
    # The window is the sender's, and the bytes in each interval are the receiver's.
    assert all(row["window_segments"] > 0 for row in rows if row["flow"] == "back")


def test_a_run_without_duration_ends_when_what_is_simulated_on_all_machines_has(
    room: MachineRoom, work: Path
) -> None:
    traffic = (
        "  bulk: {kind: tcp, from: nyc1, to: par2, bytes: 200kB, simulated: true}\n"
        "  steady: {kind: pcap, file: steady.pcap, from: par3, to: hub1}\n"
    )
    path = written(work, (NETWORK + "traffic:\n" + traffic).replace("duration: 4s\n", ""))
    assert_ran(run(room, path))
    engine = json.loads((directory_of(work) / "raw/engine.json").read_text())
    flows = {flow["name"]: flow for flow in engine["flows"]}
    assert flows["bulk"]["bytes"] == 200_000
    # The last packet of the capture had arrived, too.
    assert flows["steady.par3.hub1"]["received"] == 400
    assert_each_packet_has_one_fate(engine)
    assert engine["packets"]["held"] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("place: m2", "place: m9"), "nodes.nyc.place: m9 is not one of the machines m1, m2"),
        (
            ("{kind: switch}", "{kind: switch, place: m1}"),
            "hub, nyc are on several machines, but switch hub joins them, and an Ethernet segment is on one",
        ),
        (
            ("rate: 40Mbit, delay: 20ms", "rate: 40Mbit, delay: 20ms, duplicate: 1%"),
            "--on does not support simulated pings on links that duplicate packets yet",
        ),
        (
            ("delay: 20ms", "delay: 100us"),
            "link atlantic: its delay of 100 µs is too small to cross from m1 to m2",
        ),
    ],
)
def test_what_machines_cannot_share_is_refused(
    room: MachineRoom, work: Path, change: tuple[str, str], said: str
) -> None:
    done = run(room, written(work, (NETWORK + "traffic:\n" + SIMULATED).replace(*change)))
    assert done.returncode in (2, 3), done.stderr + done.stdout
    assert said in done.stderr
    assert "; " in done.stderr
    assert_nothing_left(room)
