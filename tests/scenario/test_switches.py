"""Switches: addresses of their segments, and what does without them."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.export.files import export
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import Resolved, parse_scenario, resolve
from longhaul.scenario.lower.paths import Routes

SEGMENT = b"""
version: 1
name: segment
duration: 1s
nodes:
  r1: {kind: router}
  s1..2: {kind: switch}
  a1..3: {kind: host, attach: s1}
  d: {kind: host, attach: s2}
  gate: {kind: host, forward: true}
  inner: {kind: host, attach: gate}
  both: {kind: host, attach: r1}
links:
  trunk: {endpoints: [s1, s2], delay: 1ms}
  up: {endpoints: [r1, s2], delay: 2ms}
  out: {endpoints: [gate, s2], delay: 3ms}
  second: {endpoints: [both, s1], delay: 4ms}
"""


def resolved(text: bytes = SEGMENT) -> Resolved:
    return resolve(parse_scenario(text, name="segment.yaml"))


def test_a_segment_of_several_switches_is_one_network() -> None:
    nodes = {node["name"]: node for node in resolved().plan["nodes"]}
    hosts = ("a1", "a2", "a3", "d", "both.s1", "gate.s2")
    addresses = [str(nodes[name]["ipv4"]) for name in hosts]
    networks = {address.split(".")[1] for address in addresses}
    assert len(networks) == 1
    assert len(set(addresses)) == len(hosts)
    for name in hosts:
        assert nodes[name]["segment"] == {"ipv4": 16, "ipv6": 64}
    assert all(nodes[name]["ipv4"] is None and "segment" not in nodes[name] for name in ("s1", "s2"))
    # Who is not at a switch has an address of another site.
    for name in ("r1", "both", "inner"):
        assert str(nodes[name]["ipv4"]).split(".")[1] not in networks
        assert "segment" not in nodes[name]


def test_paths_lead_through_switches() -> None:
    plan = resolved().plan
    routes = Routes(plan)
    index = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    steps = routes.steps(index["a1"], index["inner"])
    assert steps is not None
    assert [plan["links"][link]["name"] for link, _way in steps] == ["a1-s1", "trunk", "out", "inner-gate"]


def test_what_knows_no_switches_refuses_them_by_name() -> None:
    with pytest.raises(LonghaulError, match="s1 is a switch"):
        export(resolved(), "shell", machines=None, kernel=Kernel())
