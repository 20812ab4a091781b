"""Scenarios of relays, and their plans."""

import json
from typing import Any

from longhaul.scenario import Resolved, parse_scenario, resolve
from longhaul.scenario.lower.relay import plan_relay

HEAD = """
version: 1
name: t
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}
links:
  unused: {endpoints: [a, c], delay: 100ms}
  ab: {endpoints: [a, b], delay: 18ms, rate: 3Mbit}
  bc: {endpoints: [b, c], delay: 7ms, forward: {rate: 5Mbit}}
"""

THREE = """
relay:
  clusters:
    a: {gateway: 127.1.0.1, machines: 127.1.0.0/24, names: {n1..2: 127.1.0.11}}
    b: {gateway: 127.2.0.1, machines: [127.2.0.0/24, "fd00:2::/64"], names: {n11: 127.2.0.11}}
    far: {site: c, gateway: 127.3.0.1, machines: 127.3.0.0/24, names: {away: 10.9.9.9}}
  socks: 1080
  forwards:
    - {listen: 15201, from: a, to: "n11:5201"}
    - {listen: "127.1.0.2:53", from: a, to: "[fd00:2::1]:53", protocol: udp}
"""


def resolved_of(text: str, **settings: str) -> Resolved:
    """A scenario of three sites and section ``text``, resolved."""
    return resolve(parse_scenario((HEAD + text).encode(), name="t.yaml", settings=settings))


def plan_of(text: str, *, gateway: str | None = None) -> dict[str, Any]:
    """The plan of its relay, as it reaches Rust."""
    plan: dict[str, Any] = json.loads(json.dumps(plan_relay(resolved_of(text), gateway=gateway).plan))
    return plan
