"""Responses about shards: parts of a network that run in parallel, and the links between them."""

from typing import Literal

from typing_extensions import TypedDict


class ShardPart(TypedDict):
    """A shard: its nodes, and its share of the expected work."""

    share: float
    nodes: list[str]


class ShardCut(TypedDict):
    """A link between two shards, the least time that a packet takes on it, and the packets that are expected.

    Of a live run the packets are not known: each link counts as 1.
    """

    link: str
    lookahead_ns: float
    packets_per_s: float


class ShardPlan(TypedDict):
    """A division, as ``longhaul show --shards`` has it.

    ``reason``: why there is one shard. Of a simulation alone: ``speedup``, if each shard has a CPU core;
    ``computing_s``, the CPU time in one shard; ``crossing_packets_per_s``, in a simulated second.
    """

    shards: int
    reason: str | None
    speedup: float | None
    computing_s: float | None
    lookahead_ns: float | None
    crossing_packets_per_s: float | None
    cut: list[ShardCut]
    parts: list[ShardPart]


class DividedPart(TypedDict):
    """A shard, an engine thread or a machine of a run, with its nodes; of a live run also its fidelity."""

    name: str
    host: str | None
    nodes: list[str]
    cores: int | None
    lateness_p50_ns: float | None
    lateness_p99_ns: float | None
    stalled_share: float | None


class DividedCut(TypedDict):
    """A link between two parts of a run, by their names, and the least time that a packet takes on it."""

    link: str
    delay_ns: float
    parts: list[str]


_Ends = TypedDict("_Ends", {"from": str, "to": str})


class Crossing(_Ends):
    """Packets from one part of a live run to another, as the receiver counted them."""

    packets: int
    lost_packets: int | None
    late_packets: int
    late_p99_ns: float | None
    late_max_ns: float | None
    rtt_min_ns: float | None
    clock_offset_ns: float | None
    clock_bound_ns: float | None
    clock_drift: float | None


class DividedRun(TypedDict):
    """How the network of a run was divided, and how well its parts kept time."""

    kind: Literal["shards", "threads", "machines"]
    parts: list[DividedPart]
    cuts: list[DividedCut]
    crossings: list[Crossing]
