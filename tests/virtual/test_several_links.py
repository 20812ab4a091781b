"""Hosts with several links, and hosts that forward: their kernels have a network card for each link."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from virtual_runs import Longhaul, Ran

SCENARIOS = Path(__file__).parents[2] / "scenarios"
PROGRAMS = "/usr/sbin:/usr/bin:/sbin:/bin"
TWO_PATHS = """\
version: 1
name: two
seed: 3
duration: 4s
addresses: ipv4
tcp: {congestion_control: reno}
nodes:
  a: {kind: host}
  b: {kind: host}
  east: {kind: router}
  west: {kind: router}
links:
  a-east: {endpoints: [a, east], delay: 1ms, rate: 50Mbit}
  east-b: {endpoints: [east, b], delay: 1ms, rate: 50Mbit}
  a-west: {endpoints: [a, west], delay: 2ms, rate: 20Mbit}
  west-b: {endpoints: [west, b], delay: 2ms, rate: 20Mbit}
"""
CHAIN = """\
version: 1
name: two
seed: 3
duration: 2s
nodes:
  left: {kind: host, forward: true}
  right: {kind: host, forward: true}
  core: {kind: router}
  a: {kind: host, attach: left}
  b: {kind: host, attach: right}
links:
  left-core: {endpoints: [left, core], delay: 5ms, rate: 10Mbit}
  core-right: {endpoints: [core, right], delay: 5ms, rate: 10Mbit}
traffic:
  echo: {kind: ping, from: a, to: b, every: 20ms}
  copy: {kind: tcp, from: a, to: b, cc: reno, start: 500ms}
programs:
  hops: {run: tracepath -n -4 b, hosts: [a], expect_exit: 0}
"""
AT_A_SWITCH = """\
version: 1
name: two
seed: 3
duration: 2s
tcp: {congestion_control: reno}
profiles: {lan: {delay: 50us, rate: 1Gbit}}
nodes:
  room: {kind: switch}
  a: {kind: host, attach: room, profile: lan}
  b: {kind: host, attach: room, profile: lan}
  core: {kind: router}
  c: {kind: host, attach: core, profile: lan}
links:
  room-core: {endpoints: [room, core], delay: 2ms, rate: 100Mbit}
traffic:
  near: {kind: ping, from: a, to: b, every: 100ms}
  far: {kind: ping, from: a, to: c, every: 100ms}
  copy: {kind: tcp, from: c, to: a, cc: reno, start: 500ms, bytes: 5MB}
programs:
  who: {run: ip neigh, hosts: [a], start: 400ms, expect_exit: 0}
"""


@pytest.fixture
def run(longhaul: Longhaul, work: Path) -> Callable[[str], Ran]:
    """Runs a scenario on the virtual clock."""

    def call(scenario: str) -> Ran:
        (work / "two.yaml").write_text(scenario)
        done = longhaul("run", "two.yaml", "--clock", "virtual", "--no-report")
        return Ran(done, (work / "runs" / "two" / "latest").resolve())

    return call


def test_each_path_has_the_round_trip_of_arithmetic_and_the_host_an_address_at_each(
    run: Callable[[str], Ran],
) -> None:
    ran = run(
        TWO_PATHS
        + "traffic:\n  echo: {kind: ping, from: a, to: [b, b.west], every: 100ms, size: 56B}\n"
        + "programs:\n  addresses: {run: ip -4 -brief address, hosts: [b], expect_exit: 0}\n"
    )

    assert ran.code == 0, ran.stdout + ran.stderr
    rtts = {each["to"]: each["rtt_min_ns"] for each in ran.summary["probes"]}
    # 84 bytes at 50 and at 20 Mbit/s take 13.44 and 33.6 us on each of four links; ping(8) has three digits.
    assert rtts == {"b": 4_050_000, "b.west": 8_130_000}
    found = dict(re.findall(r"^(eth\d)\s.*?(\d[\d.]+)/32", ran.log("addresses.out"), re.MULTILINE))
    assert sorted(found) == ["eth0", "eth1"]


def test_a_connection_of_multipath_tcp_has_the_rates_of_both_paths_and_survives_one(
    run: Callable[[str], Ran],
) -> None:
    bulk = "traffic:\n  bulk: {kind: tcp, from: a, to: b, mptcp: true, cc: cubic, stop: 3900ms}\n"
    both = run(TWO_PATHS + bulk)
    down = run(
        TWO_PATHS.replace("4s", "8s")
        + bulk.replace("3900ms", "7900ms")
        + "events: [{at: 2s, link: a-east, down: true}]\n"
    )

    (flow,) = both.summary["flows"]
    assert both.code == 0, both.stdout + both.stderr
    assert flow["goodput_bits_per_s"] >= 0.85 * 70e6
    (flow,) = down.summary["flows"]
    assert flow["error"] is None
    links = {(each["name"], each["way"]): each["achieved"] for each in down.summary["links"]}
    # Of eight seconds the other path carried data in two.
    assert links["west-b", "forward"]["rate_bits_per_s"] >= 0.75 * 20e6
    assert links["east-b", "forward"]["rate_bits_per_s"] <= 2 / 8 * 50e6


def test_hosts_that_forward_are_hops_of_their_own_and_runs_repeat(run: Callable[[str], Ran]) -> None:
    first, second = run(CHAIN), run(CHAIN)

    assert first.code == 0, first.stdout + first.stderr
    (probe,) = first.summary["probes"]
    # 84 bytes at 10 Mbit/s take 67.2 us on each of four links beside 20 ms; ping(8) shows three digits.
    assert probe["rtt_min_ns"] == 20_300_000
    hops = re.findall(r"^\s*\d+:\s+(10\.[\d.]+)", first.log("hops.out"), re.MULTILINE)
    assert len(dict.fromkeys(hops)) == 4
    (flow,) = first.summary["flows"]
    assert flow["goodput_bits_per_s"] > 5e6
    assert first.digest == second.digest


def test_hosts_at_a_switch_find_each_other_by_arp_and_others_by_its_router(
    run: Callable[[str], Ran],
) -> None:
    ran = run(AT_A_SWITCH)

    assert ran.code == 0, ran.stdout + ran.stderr
    near, far = ran.summary["probes"]
    # Delays of 200 us and 4.2 ms, and the times of 84 bytes at 1 Gbit/s and 100 Mbit/s.
    assert (near["rtt_min_ns"], far["rtt_min_ns"]) == (202_000, 4_220_000)
    neighbours = dict(re.findall(r"^(10[\d.]+) dev eth0 lladdr (\S+)", ran.log("who.out"), re.MULTILINE))
    # The other host, and the router.
    assert len(set(neighbours.values())) == len(neighbours) == 2
    copies = {each["name"]: each["goodput_bits_per_s"] for each in ran.summary["flows"]}
    assert copies["copy"] > 80e6


@pytest.mark.skipif(shutil.which("bird", path=PROGRAMS) is None, reason="bird is not installed")
def test_a_routing_daemon_takes_the_detour_and_runs_repeat(longhaul: Longhaul, work: Path) -> None:
    (work / "two.yaml").write_bytes((SCENARIOS / "ospf-ring.yaml").read_bytes())
    digests = []
    for _ in range(2):
        done = longhaul("run", "two.yaml", "--clock", "virtual", "--no-report")
        ran = Ran(done, (work / "runs" / "ospf-ring" / "latest").resolve())
        assert ran.code == 0, ran.stdout + ran.stderr
        (probe,) = ran.summary["probes"]
        # Two links more, of 5 ms each, while one is down.
        assert (probe["rtt_min_ns"], probe["lost"] > 0) == (20_000_000, True)
        digests.append(ran.digest)
    assert digests[0] == digests[1]
