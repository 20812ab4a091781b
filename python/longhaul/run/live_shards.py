"""The division of a live network into shards: engine threads of one machine, or machines.

A live network can be cut at any link with a delay; a simulation needs more
(:mod:`longhaul.run.shards`).
"""

from collections.abc import Sequence
from typing import Any, Literal

from longhaul import _longhaul, json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS, Plan
from longhaul.run.shards import Load, divisions, evaluated, parts_of, processors, recorded
from longhaul.units.text import time_text

_ROUTER_WORK = 0.2
"""Work of a router beside that of a host."""


def load_of(plan: Plan) -> Load:
    """What :func:`divided` knows of a live network.

    Hosts are the work, and all links carry as many packets: the traffic of real programs is not known before.
    """
    delays = dict(_longhaul.live_cuts(json_text.compact(plan).decode()))
    nodes = [1.0 if node["kind"] == "host" else _ROUTER_WORK for node in plan["nodes"]]
    links = [
        (link["endpoints"][0], link["endpoints"][1], 1.0, float(delays.get(position, 0)))
        for position, link in enumerate(plan["links"])
    ]
    owners = [
        (position, owner)
        for position, node in enumerate(plan["nodes"])
        if (owner := node.get("of")) is not None
    ]
    return Load(None, nodes, links, owners)


def divided(load: Load, capacities: Sequence[int]) -> list[int] | None:
    """The shard of each node, in the division with the largest least delay of a cut, or ``None``.

    The shard with the largest of ``capacities`` has most work.
    """
    count = len(capacities)
    found = list(divisions(load, count))
    if not found:
        return None
    best = max(found, key=lambda division: (division.lookahead_ns, -max(division.work)))
    by_work = sorted(range(count), key=lambda part: -best.work[part])
    by_capacity = sorted(range(count), key=lambda shard: -capacities[shard])
    shard_of = dict(zip(by_work, by_capacity, strict=True))
    return [shard_of[part] for part in best.partition]


def engine_threads(plan: Plan, shards: int | Literal["auto"]) -> list[int] | None:
    """The engine thread of each node, in a run on one machine with so many; ``None`` for one.

    ``auto`` leaves half of the processors to programs, and takes fewer threads where the network cannot be
    cut so often. Raises LonghaulError if it cannot be divided into ``shards``.
    """
    load = load_of(plan)
    least_ns = _longhaul.LEAST_THREAD_DELAY_NS if has_engine_traffic(plan) else 0
    counts = range(processors() // 2, 1, -1) if shards == "auto" else [shards]
    for count in counts:
        partition = divided(load, [1] * count) if count > 1 else None
        if partition is not None:
            division = evaluated(load, partition, count)
            if not division.cut or division.lookahead_ns >= least_ns:
                return partition
    if shards in ("auto", 1):
        return None
    enough = (
        f" of at least {time_text(least_ns)}, with simulated traffic or replayed captures,"
        if least_ns
        else ""
    )
    raise LonghaulError(
        Code.NOT_DIVISIBLE,
        f"the network cannot be divided into {shards} shards: only links with a delay{enough} can be cut, "
        "and no parallel routes or links of switches",
        remedy="use fewer shards, or --shards auto",
        exit_code=2,
    )


def preview(plan: Plan, shards: int | Literal["auto"]) -> dict[str, Any]:
    """How a live run of ``plan`` would be divided among engine threads, as a preview of a simulation has it.

    Its speed-up is not known, as the traffic of real programs is not. Raises LonghaulError.
    """
    threads = threads_of(plan, shards)
    load = load_of(plan)
    reason = None
    if threads is None and shards == "auto":
        reason = f"auto leaves half of the CPU cores to programs, and there are {processors()}"
        if found := unsupported(plan):
            reason = f"{', '.join(found)} need one engine thread"
    partition = threads or [0] * len(plan["nodes"])
    division = evaluated(load, partition, max(partition) + 1)
    return {
        "shards": division.shards,
        "reason": reason,
        "speedup": None,
        "computing_s": None,
        "lookahead_ns": division.lookahead_ns if division.cut else None,
        "crossing_packets_per_s": None,
        **parts_of(plan, division, load),
    }


def record_of(plan: Plan, threads: Sequence[int]) -> dict[str, Any]:
    """What ``run.json`` has of a run whose nodes have these engine threads."""
    return recorded(plan, evaluated(load_of(plan), list(threads), max(threads) + 1))


def threads_of(plan: Plan, shards: int | Literal["auto"]) -> list[int] | None:
    """What ``--shards`` asks for: the engine thread of each node, or ``None`` for one thread.

    Raises LonghaulError if the network cannot be divided so, or has what divided networks do not support.
    """
    if shards == "auto" and unsupported(plan):
        return None
    threads = None if shards == 1 else engine_threads(plan, shards)
    if threads is not None:
        refuse(plan, option="--shards")
    return threads


def refuse(plan: Plan, *, option: str) -> None:
    """Raises LonghaulError if ``plan`` has what networks that ``option`` divides do not support yet."""
    if found := unsupported(plan):
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"{option} does not support {', '.join(found)} yet",
            remedy=f"leave out {option}",
            exit_code=2,
        )


def has_engine_traffic(plan: Plan) -> bool:
    """Whether the engine of a live run sends packets itself: simulated ones, or those of captures."""
    flows = any(flow["simulated"] or flow["traffic"]["kind"] == "pcap" for flow in plan["flows"])
    return bool(plan["jobs"]) or flows


def unsupported(plan: Plan) -> list[str]:
    """What ``plan`` has that divided networks do not support yet."""
    simulated = [flow for flow in plan["flows"] if flow["simulated"]]
    pings = any(flow["traffic"]["kind"] == "ping" for flow in simulated)
    duplicates = any(link[way].get("duplicate") for link in plan["links"] for way in WAYS) or any(
        event["change"].get("duplicate") for event in plan["events"]
    )
    found = [
        (any(job.get("after") for job in plan["jobs"]), "simulated programs that start after others"),
        (any(flow["traffic"].get("subflows") for flow in simulated), "simulated Multipath TCP"),
        (pings and duplicates, "simulated pings on links that duplicate packets"),
    ]
    return [what for applies, what in found if applies]
