"""What a run on several machines tells of each of them, and of the packets that crossed between them."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.analysis.fidelity import late_quantile_ns

Json = dict[str, Any]


def summarise_machines(
    engine: Mapping[str, Any] | None, described: Sequence[Mapping[str, Any]]
) -> Json | None:
    """``machines``, and ``crossings`` from one to another; ``None`` for a run on one machine.

    ``described`` has the names, hosts and numbers of nodes of the machines, as ``run.json`` has them.
    """
    found: Mapping[str, Any] = (engine or {}).get("machines") or {}
    if not found:
        return None
    about = {each["name"]: each for each in described}
    return {
        "machines": [
            {
                "name": name,
                "host": about.get(name, {}).get("host"),
                "nodes": about.get(name, {}).get("nodes"),
                "cores": each["scheduling"]["cores"],
                "lateness_p50_ns": each["lateness"]["all"]["p50_ns"],
                "lateness_p99_ns": each["lateness"]["all"]["p99_ns"],
                "stalled_share": each["gaps"]["total_ns"] / max(each["duration_ns"], 1),
            }
            for name, each in found.items()
        ],
        "crossings": [
            _crossing(name, peer) for name, each in found.items() for peer in each["tunnel"]["peers"]
        ],
    }


def _crossing(name: str, peer: Mapping[str, Any]) -> Json:
    """Packets that came to a machine from another, as the receiver counted them."""
    early, late, clock = peer["early"], peer["late"], peer["clock"] or {}
    count = early["count"] + late["count"]
    return {
        "from": peer["machine"],
        "to": name,
        "packets": peer["received_packets"],
        "lost_packets": peer["lost_packets"],
        "late_packets": late["count"],
        "late_p99_ns": late_quantile_ns(late, count, 0.99),
        "late_max_ns": late["max_ns"],
        "rtt_min_ns": peer["round_trip_ns"],
        "clock_offset_ns": clock.get("offset_ns"),
        "clock_bound_ns": clock.get("bound_ns"),
        "clock_drift": clock.get("drift"),
    }
