"""Namespaces, devices and routes of a network, as commands."""

from longhaul.oracle.api import accept
from longhaul.oracle.layout import Layout, layout
from longhaul.scenario import parse_scenario, resolve

THREE = b"""\
version: 1
name: three
duration: 1s
nodes: {a: {kind: host}, r: {kind: router}, b: {kind: host}}
links:
  a-r: {endpoints: [a, r], delay: 1ms}
  r-b: {endpoints: [r, b], delay: 1ms, rate: 10Mbit, loss: 1%}
"""


def made() -> Layout:
    resolved = resolve(parse_scenario(THREE, name="three.yaml"))
    return layout(resolved.plan, accept(resolved).chains)


def lines(program: str, namespace: str) -> list[str]:
    return [
        line
        for command in made().commands
        if command.argv[:3] == (program, "-n", namespace)
        for line in command.lines
    ]


def test_each_node_and_the_links_have_a_namespace() -> None:
    assert made().namespaces == ("n0", "n1", "n2", "links")


def test_packets_are_counted_in_the_order_of_the_stages() -> None:
    forward = [
        (each.role, each.namespace, each.device)
        for each in made().counters
        if (each.link, each.way) == (1, "forward")
    ]
    assert forward == [
        ("loss", "n1", "lh1a"),
        ("queue", "links", "lh1a0i"),
        ("serialiser", "links", "lh1a1i"),
        ("delay", "links", "lh1b"),
    ]


def test_a_delay_alone_is_between_the_nodes() -> None:
    (only,) = [each for each in made().counters if (each.link, each.way) == (0, "reverse")]
    assert (only.role, only.namespace, only.device) == ("delay", "links", "lh0a")


def test_packets_go_from_device_to_device() -> None:
    redirections = [line.split() for line in lines("tc", "links") if line.startswith("filter")]
    ways = {words[3]: words[-1] for words in redirections}
    assert ways["lh1a"] == "lh1a0i"
    assert ways["lh1a0o"] == "lh1a1i"
    assert ways["lh1a1o"] == "lh1b"
    assert ways["lh0a"] == "lh0b"


def test_a_host_reaches_what_is_behind_its_neighbour_through_it() -> None:
    routes = [line for line in lines("ip", "n0") if line.startswith("route") and "10." in line]
    assert routes == [
        "route add 10.1.255.254/32 dev lh0a src 10.1.0.1",
        "route add 10.1.0.2/32 via 10.1.255.254 dev lh0a onlink src 10.1.0.1",
    ]


def test_neighbours_are_known_so_that_nobody_asks_for_them() -> None:
    assert "neigh add 10.1.255.254 lladdr 02:00:00:00:00:02 dev lh0a nud permanent" in lines("ip", "n0")
    (device,) = [
        line
        for command in made().commands
        for line in command.lines
        if line.startswith("link add lh0b netns n1 ")
    ]
    assert "address 02:00:00:00:00:02 " in device


def test_devices_take_super_packets_only_if_they_are_to() -> None:
    resolved = resolve(parse_scenario(THREE, name="three.yaml"))
    chains = accept(resolved).chains

    def lines(super_packets: bool) -> str:
        made = layout(resolved.plan, chains, super_packets=super_packets)
        return "\n".join(line for command in made.commands for line in command.lines)

    devices = lines(False).count("link set lh")
    assert lines(False).count("gso_max_segs 1") == devices
    assert (lines(True).count("gso_max_segs"), lines(True).count("link set lh")) == (0, devices)
