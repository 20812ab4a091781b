"""Ports in runs on several machines: interfaces and namespaces of the machine that their host is on."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_ports import least_rtt_ms, wait_until
from machine_room import MachineRoom, machine_room, missing
from two_machines import agents, asked, assert_nothing_left, command, environment, longhaul, run

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

ROUTED = """\
version: 1
name: wan
nodes:
  par: {{kind: router, place: m1}}
  nyc: {{kind: router, place: m2}}
  west: {{kind: host, attach: par, port: {{nic: eth1, subnets: [192.168.1.0/24]}}}}
  east: {{kind: host, attach: nyc, port: {{nic: eth1, subnets: [192.168.2.0/24]}}}}
  blue: {{kind: host, attach: par, port: {{netns: {blue}, interface: wan0}}}}
  nyc1: {{kind: host, attach: nyc}}
links:
  atlantic: {{endpoints: [par, nyc], rate: 50Mbit, delay: 20ms}}
"""
BRIDGED = """\
version: 1
name: wan
nodes:
  par: {kind: router, place: m1}
  nyc: {kind: router, place: m2}
  ams: {kind: router, place: m2}
  west: {kind: host, attach: par, port: {nic: eth1, mode: bridge}}
  east: {kind: host, attach: nyc, port: {nic: eth1, mode: bridge}}
  south: {kind: host, attach: ams, port: {nic: eth2, mode: bridge}}
links:
  atlantic: {endpoints: [par, nyc], rate: 50Mbit, delay: 20ms}
  channel: {endpoints: [par, ams], rate: 50Mbit, delay: 30ms}
"""
ETHERNETS = {"c1": ("m1", "eth1"), "c2": ("m2", "eth1"), "c3": ("m2", "eth2")}
"""Hosts that know nothing of a run, each with the machine and the interface that a cable joins it with."""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    with machine_room(tmp_path_factory.mktemp("room"), 2) as found:
        try:
            for name, (machine, device) in ETHERNETS.items():
                ip("netns", "add", found.namespace(name))
                link = ("link", "add", "eth0", "type", "veth", "peer", "name", device)
                ip("-n", found.namespace(name), *link, "netns", found.namespace(machine))
                ip("-n", found.namespace(name), "link", "set", "eth0", "up")
                ip("-n", found.namespace(machine), "link", "set", device, "up")
            ip("netns", "add", found.namespace("blue"))
            ip("-n", found.namespace("blue"), "link", "set", "lo", "up")
            yield found
        finally:
            for name in (*ETHERNETS, "blue"):
                subprocess.run(["ip", "netns", "del", found.namespace(name)], check=False)


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


@contextmanager
def addressed(room: MachineRoom, hosts: Mapping[str, str], *, routers: Mapping[str, str]) -> Iterator[None]:
    """The hosts behind interfaces have these addresses, and default routes by these routers."""
    try:
        for name, address in hosts.items():
            ip("-n", room.namespace(name), "address", "add", address, "dev", "eth0")
        for name, router in routers.items():
            ip("-n", room.namespace(name), "route", "add", "default", "via", router)
        yield
    finally:
        for name in hosts:
            ip("-n", room.namespace(name), "address", "flush", "dev", "eth0")


def pinged(room: MachineRoom, name: str, address: str) -> float:
    """The least RTT to an address in milliseconds."""
    done = subprocess.run(
        room.at(name, "ping", "-n", "-c", "10", "-i", "0.1", address),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return least_rtt_ms(done.stdout)


def state_of(room: MachineRoom) -> list[str]:
    """What a run could leave in the namespaces and at the interfaces that are not its own."""
    found = [ip("-n", room.namespace("blue"), *what) for what in (["-o", "address"], ["route"], ["rule"])]
    for machine, device in ETHERNETS.values():
        found.append(ip("-details", "-n", room.namespace(machine), "link", "show", device))
        listed = subprocess.run(
            room.at(machine, "cat", "/proc/net/packet"), capture_output=True, text=True, check=True
        )
        found.append(listed.stdout)
    return found


@contextmanager
def brought_up(room: MachineRoom, work: Path, text: str) -> Iterator[None]:
    (work / "wan.yaml").write_text(text)
    asked(room, work, "up", "wan.yaml", "--on", str(room.hostfile), "--ssh", room.ssh)
    try:
        yield
    finally:
        longhaul(room, work, "down")


def results(work: Path, name: str) -> Any:
    return json.loads((work / "runs/wan/latest-live" / name).read_text())


CLUSTERS = {"c1": "192.168.1.11/24", "c2": "192.168.2.11/24"}
GATEWAYS = {"c1": "192.168.1.1", "c2": "192.168.2.1"}


def test_clusters_and_namespaces_of_two_machines_are_joined_by_one_network(
    room: MachineRoom, work: Path
) -> None:
    before = state_of(room)
    with (
        addressed(room, CLUSTERS, routers=GATEWAYS),
        brought_up(room, work, ROUTED.format(blue=room.namespace("blue"))),
    ):
        assert 40 <= pinged(room, "c1", "192.168.2.11") < 60
        assert 40 <= pinged(room, "blue", "192.168.2.11") < 60
        assert "dev wan0" in ip("-n", room.namespace("blue"), "route", "get", "192.168.2.11")
        # A host of the run on the other machine, from a namespace of this one.
        out = asked(room, work, "exec", "nyc1", "--", "ping", "-n", "-c", "4", "-i", "0.05", "blue")
        assert 40 <= least_rtt_ms(out) < 60
        # The gateway answers for itself.
        assert pinged(room, "c2", "192.168.2.1") < 5
    assert_nothing_left(room)
    wait_until(lambda: state_of(room) == before)
    ports = results(work, "raw/engine.json")["ports"]
    for name in ("west", "east"):
        assert ports[name]["read_packets"] >= 4
        assert ports[name]["unresolved_packets"] == 0
    assert results(work, "raw/engine.json")["packets"]["lost_between_machines"] == 0


def test_each_machine_learns_the_networks_behind_its_interface(room: MachineRoom, work: Path) -> None:
    text = re.sub(r", subnets: \[[^]]*\]", "", ROUTED).format(blue=room.namespace("blue"))
    assert "subnets" not in text
    gateways = {"m1": "192.168.1.1/24", "m2": "192.168.2.1/24"}
    try:
        for machine, address in gateways.items():
            ip("-n", room.namespace(machine), "address", "add", address, "dev", "eth1")
        ip("-n", room.namespace("m2"), "route", "add", "10.20.0.0/16", "via", "192.168.2.11")
        with addressed(room, CLUSTERS, routers=GATEWAYS), brought_up(room, work, text):
            assert 40 <= pinged(room, "c1", "192.168.2.11") < 60
            assert pinged(room, "c2", "192.168.2.1") < 5
        nodes = {each["name"]: each.get("port") for each in results(work, "plan.json")["nodes"]}
        assert [each["address"] for each in nodes["west"]["subnets"]] == ["192.168.1.0"]
        learnt = {each["address"]: each.get("via") for each in nodes["east"]["subnets"]}
        assert learnt == {"192.168.2.0": None, "10.20.0.0": "192.168.2.11"}
        # ``run --on`` learns them as ``up --on`` does.
        (work / "wan.yaml").write_text(text.replace("name: wan", "name: wan\nduration: 1s"))
        with addressed(room, CLUSTERS, routers=GATEWAYS):
            done = run(room, work / "wan.yaml")
        assert done.returncode == 0, done.stderr + done.stdout
    finally:
        for machine in gateways:
            ip("-n", room.namespace(machine), "address", "flush", "dev", "eth1")
    assert_nothing_left(room)


def test_an_interface_without_an_address_is_refused_with_its_machine(room: MachineRoom, work: Path) -> None:
    path = work / "wan.yaml"
    path.write_text(ROUTED.replace(", subnets: [192.168.2.0/24]", "").format(blue=room.namespace("blue")))
    done = run(room, path)
    assert done.returncode == 3, done.stderr + done.stdout
    said = "nodes.east.port: eth1 has no address on machine m2 from which the networks behind it could be"
    assert said in done.stderr
    assert_nothing_left(room)


def test_frames_of_bridged_interfaces_cross_between_machines(room: MachineRoom, work: Path) -> None:
    hosts = {"c1": "10.1.0.1/24", "c2": "10.1.0.2/24", "c3": "10.1.0.3/24"}
    with addressed(room, hosts, routers={}), brought_up(room, work, BRIDGED):
        # The first question is for all hosts of the segment, and its answer for one.
        assert 40 <= pinged(room, "c1", "10.1.0.2") < 60
        assert 60 <= pinged(room, "c1", "10.1.0.3") < 80
        assert 100 <= pinged(room, "c2", "10.1.0.3") < 120
    engine = results(work, "raw/engine.json")
    read = {name: port["read_packets"] for name, port in engine["ports"].items()}
    written = {name: port["written_packets"] for name, port in engine["ports"].items()}
    # Stations are learned from frames of other machines: what is for one host went to it alone.
    assert written["south"] < read["west"] + read["east"] - 4
    assert engine["packets"]["lost_between_machines"] == 0
    assert_nothing_left(room)


def test_a_killed_agent_leaves_nothing_at_ports(room: MachineRoom, work: Path) -> None:
    before = state_of(room)
    with (
        addressed(room, CLUSTERS, routers=GATEWAYS),
        brought_up(room, work, ROUTED.format(blue=room.namespace("blue"))),
    ):
        assert state_of(room) != before
        for pid in agents(room, "m1"):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: state_of(room) == before)
    assert_nothing_left(room)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("nyc: {{kind: router, place: m2}}", "nyc: {{kind: router}}"),
            "nodes.east.port: nic:eth1 is of one machine, and nothing says of which; write place: MACHINE at",
        ),
        (
            ("nic: eth1, subnets: [192.168.2", "nic: eth7, subnets: [192.168.2"),
            'nodes.east.port: machine m2: there is no network interface "eth7"; ',
        ),
        (
            ("nic: eth1, subnets: [192.168.1", "nic: eth0, force: true, subnets: [192.168.1"),
            "nodes.west.port: machine m1: eth0 carries the packets of the run to the machine at 10.77.2.1; ",
        ),
        (
            ("place: m2", "place: m1"),
            "nodes.east.port: nic:eth1 is already the port of west; write a host for each port",
        ),
    ],
)
def test_a_port_that_its_machine_does_not_have_is_refused(
    room: MachineRoom, work: Path, change: tuple[str, str], said: str
) -> None:
    path = work / "wan.yaml"
    path.write_text(ROUTED.replace(*change).format(blue=room.namespace("blue")))
    done = run(room, path)
    assert done.returncode in (2, 3), done.stderr + done.stdout
    assert said in done.stderr
    assert_nothing_left(room)


def test_one_machine_has_one_interface_of_a_name(room: MachineRoom, work: Path) -> None:
    path = work / "wan.yaml"
    path.write_text(ROUTED.format(blue=room.namespace("blue")))
    # Without --on and the options behind it.
    argv = [
        word for word in command(room, path) if word not in ("--on", str(room.hostfile), "--ssh", room.ssh)
    ]
    done = subprocess.run(
        argv, cwd=work, env=environment(work), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3
    assert "nic:eth1 is already the port of west on this machine; run it on the machines" in done.stderr
