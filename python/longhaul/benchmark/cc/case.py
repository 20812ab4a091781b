"""One case of the benchmark: its network, its senders, and its measuring interval."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from longhaul.benchmark.suite import Json, SuiteCase

Kind = Literal["basic", "ramp-up", "release", "arrival", "impact", "fairness", "bottlenecks"]
Camp = Literal["tested", "standard"]

EDGE = 10
"""The rate of edge links, in central ones: only those are congested."""


@dataclass(frozen=True)
class Flow:
    """A transfer that goes on to the end, between two hosts that do nothing else."""

    name: str
    near_ms: float
    """Delay of the link of its sender, one way."""
    far_ms: float
    """And of its receiver."""
    camp: Camp = "tested"
    start_s: float = 0.0
    spread_s: float = 0.0
    """It starts at a random time between ``start_s`` and so much later."""
    enters: str = "r1"
    leaves: str = "r2"


@dataclass(frozen=True)
class Cross:
    """Datagrams that mind no congestion."""

    name: str
    near_ms: float
    far_ms: float
    bits_per_s: int
    start_s: float
    stop_s: float | None = None
    """To the end if left out."""
    enters: str = "r1"
    leaves: str = "r2"


@dataclass(frozen=True, kw_only=True)
class Case(SuiteCase):
    """A case, for any control."""

    kind: Kind
    central: Mapping[str, Json]
    """The links that are congested, between routers, in the direction of the flows (forward)."""
    flows: tuple[Flow, ...]
    cross: tuple[Cross, ...] = ()

    @property
    def senders(self) -> tuple[Flow | Cross, ...]:
        """All that send."""
        return (*self.flows, *self.cross)

    @property
    def flow_count(self) -> int:
        """How many transfers it has."""
        return len(self.flows)


def document(case: Case, *, control: str, standard: str | None, seed: int) -> Json:
    """The scenario of one run: ``control`` for the tested flows, ``standard`` for the others.

    When flows start depends on the seed and their names alone, so that all controls meet the same.
    """
    traffic: Json = {}
    # iperf3 counts whole seconds: it is asked for more than there are, and ends with the run.
    stop = f"{round(1000 * (case.duration_s + 5))}ms"
    for flow in case.flows:
        chance = Random(f"{seed}/{case.name}/{flow.name}").random()
        start_ms = round(1000 * (flow.start_s + chance * flow.spread_s))
        traffic[flow.name] = {
            "kind": "tcp",
            **_ends(flow),
            "cc": control if flow.camp == "tested" else standard,
            "start": f"{start_ms}ms",
            "stop": stop,
        }
    for cross in case.cross:
        ends = {} if cross.stop_s is None else {"stop": f"{round(1000 * cross.stop_s)}ms"}
        traffic[cross.name] = {
            "kind": "udp",
            **_ends(cross),
            "rate": f"{cross.bits_per_s}bit",
            "start": f"{round(1000 * cross.start_s)}ms",
            **ends,
        }
    return {
        "version": 1,
        "name": case.scenario,
        "seed": seed,
        "duration": f"{round(1000 * case.duration_s)}ms",
        "addresses": "ipv4",
        "nodes": _nodes(case),
        "links": {**case.central, **_edges(case)},
        "traffic": traffic,
        "measure": {"every": f"{case.every_ms}ms"},
    }


def receiving(name: str) -> str:
    """The link, in its forward direction, over which a flow reaches its receiver."""
    return f"to-{name}"


def sending(name: str) -> str:
    """The link, in its forward direction, over which a flow leaves its sender."""
    return f"from-{name}"


def _ends(flow: Flow | Cross) -> Json:
    return {"from": f"s-{flow.name}", "to": f"d-{flow.name}"}


def _nodes(case: Case) -> Json:
    routers = dict.fromkeys(end for link in case.central.values() for end in link["endpoints"])
    hosts = [end for flow in case.senders for end in _ends(flow).values()]
    return {
        **{name: {"kind": "host"} for name in hosts},
        **{name: {"kind": "router"} for name in routers},
    }


def _edges(case: Case) -> Json:
    found: Json = {}
    edge = {"rate": f"{EDGE * case.bits_per_s}bit", "queue": "100ms"}
    for flow in case.senders:
        ends = _ends(flow)
        found[sending(flow.name)] = {
            "endpoints": [ends["from"], flow.enters],
            "delay": f"{round(1e6 * flow.near_ms)}ns",
            **edge,
        }
        found[receiving(flow.name)] = {
            "endpoints": [flow.leaves, ends["to"]],
            "delay": f"{round(1e6 * flow.far_ms)}ns",
            **edge,
        }
    return found
