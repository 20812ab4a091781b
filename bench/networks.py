"""Networks and flows that the simulator is measured on, as plans."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longhaul.scenario import parse_scenario, resolve

Plan = dict[str, Any]

WINDOW = 1000
"""Largest window on the chain, in segments. The path of 60 ms at 1 Gbit/s holds 833, a queue the rest, so
nothing is lost but by the model of loss."""
PAYLOAD = 8948
"""Of a segment in packets of 9000 bytes, with timestamps."""
ROUTERS_A_SIDE = 10
HOSTS_A_ROUTER = 8
ROUTERS_APART = 5
SEGMENTS_IN_FLIGHT = 20
"""Largest window on the torus and the fat tree."""
PORTS = 16
"""Of a switch of the fat tree."""


@dataclass(frozen=True)
class Chain:
    """S -1G- r1 -10G- r2 ... r6 -1G- D, 60 ms there and back, packets of 9000 bytes, queues of 1,000.

    One flow from S to D; with six, flow i goes from a source at router i to a sink at router i + 1.
    """

    flows: int
    seconds: float
    every: int
    """Packets from one loss to the next on each flow's link to its sink; 0: nothing is lost."""
    ack_every: int
    """Segments for one acknowledgement."""


def chain(what: Chain) -> Plan:
    """The plan of a chain."""
    nodes: dict[str, Any] = {f"r{i}": {"kind": "router"} for i in range(1, 7)}
    backbone = {"delay": "6ms", "rate": "10Gbit", "mtu": 9000, "queue": "1000p"}
    access = {"delay": "1us", "rate": "1Gbit", "mtu": 9000, "queue": "1000p"}
    links = {f"l{i}": {"endpoints": [f"r{i}", f"r{i + 1}"], **backbone} for i in range(1, 6)}
    for flow in range(what.flows):
        first, last = (1, 6) if flow == 0 else (flow, flow + 1)
        nodes |= {f"s{flow}": {"kind": "host"}, f"d{flow}": {"kind": "host"}}
        links[f"in{flow}"] = {"endpoints": [f"s{flow}", f"r{first}"], **access}
        links[f"out{flow}"] = {"endpoints": [f"r{last}", f"d{flow}"], **access}
    plan = resolved("chain", what.seconds, nodes, links)
    if what.every:
        for link in plan["links"]:
            if link["name"].startswith("out"):
                link["forward"]["loss"] = {"model": "periodic", "every": what.every}
    tcp = {"recovery": "sack", "delayed_ack": what.ack_every == 2, "buffer_bytes": 2 * WINDOW * PAYLOAD}
    place = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    plan["flows"] = [
        bulk(f"flow{flow}", place[f"s{flow}"], place[f"d{flow}"], tcp) for flow in range(what.flows)
    ]
    return plan


def torus(
    flows: int, seconds: float, *, starts_s: tuple[float, float], bits_per_s: int | None = None
) -> Plan:
    """A hundred routers in a torus, 800 hosts, 1,000 links; flows between random hosts five routers apart.

    All have the same round trip, and small windows, so that little queues and nothing is lost: a flow makes
    the same work however many there are. They begin one after the other within ``starts_s``.
    """
    side = range(ROUTERS_A_SIDE)
    nodes: dict[str, Any] = {f"r{x}-{y}": {"kind": "router"} for x in side for y in side}
    links: dict[str, Any] = {}
    core = {"delay": "5ms", "rate": "10Gbit", "queue": "1000p"}
    access = {"delay": "100us", "rate": "1Gbit", "queue": "1000p"}
    for x in side:
        for y in side:
            for x2, y2 in ((x + 1, y), (x, y + 1)):
                far = f"r{x2 % ROUTERS_A_SIDE}-{y2 % ROUTERS_A_SIDE}"
                links[f"core{len(links)}"] = {"endpoints": [f"r{x}-{y}", far], **core}
            for host in (f"h{x}-{y}-{k}" for k in range(HOSTS_A_ROUTER)):
                nodes[host] = {"kind": "host"}
                links[f"access-{host}"] = {"endpoints": [host, f"r{x}-{y}"], **access}
    plan = resolved("torus", seconds, nodes, links)
    place = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    rng = random.Random(1)
    tcp = {"recovery": "sack", "buffer_bytes": 2 * SEGMENTS_IN_FLIGHT * 1448}
    first, last = starts_s
    for flow in range(flows):
        x, y, across = rng.choice(side), rng.choice(side), rng.randint(0, ROUTERS_APART)
        x2, y2 = (x + across) % ROUTERS_A_SIDE, (y + ROUTERS_APART - across) % ROUTERS_A_SIDE
        source, sink = (
            f"h{router[0]}-{router[1]}-{rng.randrange(HOSTS_A_ROUTER)}" for router in ((x, y), (x2, y2))
        )
        start_ns = round((first + (last - first) * flow / flows) * 1e9)
        plan["flows"].append(
            bulk(f"flow{flow}", place[source], place[sink], tcp, start_ns=start_ns, bits_per_s=bits_per_s)
        )
    return plan


def two_sites(seconds: float) -> Plan:
    """Two sites, 10 ms and 10 Gbit/s apart; three flows of 1 Gbit/s each way, each with hosts of its own."""
    nodes: dict[str, Any] = {site: {"kind": "router"} for site in ("a", "b")}
    wan = {"endpoints": ["a", "b"], "delay": "10ms", "rate": "10Gbit", "queue": "4000p"}
    links: dict[str, Any] = {"wan": wan}
    access = {"delay": "100us", "rate": "1Gbit", "queue": "1000p"}
    for number in range(6):
        for site in ("a", "b"):
            nodes[f"{site}{number}"] = {"kind": "host"}
            links[f"{site}{number}"] = {"endpoints": [f"{site}{number}", site], **access}
    plan = resolved("two-sites", seconds, nodes, links)
    place = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    tcp = {"recovery": "sack", "delayed_ack": True, "buffer_bytes": 8_000_000}
    for number in range(6):
        source, sink = ("a", "b") if number % 2 == 0 else ("b", "a")
        ends = place[f"{source}{number}"], place[f"{sink}{number}"]
        plan["flows"].append(bulk(f"flow{number}", *ends, tcp))
    return plan


def fat_tree(flows: int, seconds: float, *, starts_s: tuple[float, float], ports: int = PORTS) -> Plan:
    """A fat tree of switches (Al-Fares et al. 2008); with 16 ports, 1,024 hosts, 3,072 links of 10 Gbit/s.

    Flows between random hosts, with small windows, that begin one after the other within ``starts_s``. Delays
    differ by nanoseconds, so that each pair of edge switches has a shortest path of its own.
    """
    half, rng = range(ports // 2), random.Random(1)
    nodes: dict[str, Any] = {f"core{i}-{j}": {"kind": "router"} for i in half for j in half}
    links: dict[str, Any] = {}

    def link(near: str, far: str, delay_ns: int) -> None:
        endpoints = {"endpoints": [near, far], "delay": f"{delay_ns + rng.randrange(1000)}ns"}
        links[f"{near}_{far}"] = {**endpoints, "rate": "10Gbit", "queue": "1000p"}

    for pod in range(ports):
        for i in half:
            nodes |= {f"{level}{pod}-{i}": {"kind": "router"} for level in ("up", "edge")}
        for i in half:
            for j in half:
                host = f"h{pod}-{i}-{j}"
                nodes[host] = {"kind": "host"}
                link(host, f"edge{pod}-{i}", 100_000)
                link(f"edge{pod}-{i}", f"up{pod}-{j}", 1_000_000)
                link(f"up{pod}-{i}", f"core{i}-{j}", 1_000_000)
    plan = resolved("fat-tree", seconds, nodes, links)
    hosts = [position for position, node in enumerate(plan["nodes"]) if node["kind"] == "host"]
    tcp = {"recovery": "sack", "buffer_bytes": 2 * SEGMENTS_IN_FLIGHT * 1448}
    first, last = starts_s
    for flow in range(flows):
        source, sink = rng.sample(hosts, 2)
        start_ns = round((first + (last - first) * flow / flows) * 1e9)
        plan["flows"].append(bulk(f"flow{flow}", source, sink, tcp, start_ns=start_ns))
    return plan


def quiet_star(seconds: float) -> Plan:
    """A hundred sites of a thousand hosts around a hub; a hundred hosts send 1 Mbit/s each to random others.

    A scenario has at most 20,000 nodes, so the plan of one site with one host is copied.
    """
    nodes = {"hub": {"kind": "router"}, "site": {"kind": "router"}, "host": {"kind": "host"}}
    wan = {"endpoints": ["site", "hub"], "delay": "2ms", "rate": "10Gbit", "queue": "1000p"}
    lan = {"endpoints": ["host", "site"], "delay": "50us", "rate": "1Gbit", "queue": "1000p"}
    plan = resolved("quiet-star", seconds, nodes, {"wan": wan, "lan": lan})
    hub, site, host = plan["nodes"]
    wan, lan = plan["links"]
    nowhere = {"ipv4": None, "ipv6": None}
    plan["nodes"], plan["links"], hosts = [{**hub, **nowhere}], [], []
    for number in range(100):
        router = len(plan["nodes"])
        plan["nodes"].append({**site, **nowhere, "name": f"r{number}"})
        plan["links"].append({**wan, "name": f"wan{number}", "endpoints": [router, 0]})
        for name in (f"h{number}-{each}" for each in range(1000)):
            hosts.append(len(plan["nodes"]))
            plan["nodes"].append({**host, **nowhere, "name": name})
            plan["links"].append({**lan, "name": name, "endpoints": [hosts[-1], router]})
    rng = random.Random(1)
    for flow in range(100):
        source, sink = rng.sample(hosts, 2)
        plan["flows"].append(bulk(f"flow{flow}", source, sink, {"recovery": "sack"}, bits_per_s=1_000_000))
    return plan


def resolved(name: str, seconds: float, nodes: Mapping[str, Any], links: Mapping[str, Any]) -> Plan:
    """The plan of a scenario without traffic."""
    scenario = {
        "version": 1, "name": name, "duration": f"{seconds:g}s", "seed": 1, "nodes": nodes, "links": links
    }  # fmt: skip
    plan = dict(resolve(parse_scenario(json.dumps(scenario).encode(), name=name)).plan)
    plan["flows"] = []
    return plan


def bulk(
    name: str,
    source: int,
    destination: int,
    tcp: Mapping[str, Any],
    *,
    start_ns: int = 0,
    bits_per_s: int | None = None,
) -> dict[str, Any]:
    """A flow that sends until the end."""
    traffic = {
        "kind": "tcp",
        "streams": 1,
        "cc": {"algorithm": "reno"},
        "tcp": tcp,
        "bytes": None,
        "bits_per_s": bits_per_s,
    }
    ends = {"source": source, "destination": destination}
    return {"name": name, **ends, "start_ns": start_ns, "stop_ns": None, "traffic": traffic}
