"""How the network of a run was divided into shards, engine threads or machines."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from longhaul.page.responses.shards import Crossing, DividedCut, DividedPart, DividedRun
from longhaul.plan import Plan

Json = Mapping[str, Any]


def divided(run: Json, plan: Plan, summary: Json | None) -> DividedRun | None:
    """The parts of a run by its ``run.json``, with their fidelity by its summary, if there is one already.

    ``None`` for a run in one part, and for one of a version that did not record where nodes were.
    """
    if run.get("host_machines"):
        return _of_hosts(run["host_machines"])
    partition: list[int] = run.get("partition") or []
    if len(partition) != len(plan["nodes"]) or not partition:
        return None
    about: list[Json] = run.get("machines") or [
        {"name": f"shard-{number}"} for number in range(max(partition) + 1)
    ]
    names = [str(each["name"]) for each in about]
    found: Json = (summary or {}).get("machines") or {}
    measured = {each["name"]: each for each in found.get("machines", ())}
    nodes = [node["name"] for node in plan["nodes"]]
    links = {link["name"]: link for link in plan["links"]}
    parts: list[DividedPart] = []
    for number, each in enumerate(about):
        of = measured.get(each["name"], {})
        parts.append(
            {
                "name": names[number],
                "host": each.get("host"),
                "nodes": [name for name, part in zip(nodes, partition, strict=True) if part == number],
                "cores": of.get("cores", each.get("cores")),
                "lateness_p50_ns": of.get("lateness_p50_ns"),
                "lateness_p99_ns": of.get("lateness_p99_ns"),
                "stalled_share": of.get("stalled_share"),
            }
        )
    cuts: list[DividedCut] = [
        {
            "link": each["link"],
            "delay_ns": each["delay_ns"],
            "parts": [names[partition[end]] for end in links[each["link"]]["endpoints"]],
        }
        for each in run.get("cuts") or ()
    ]
    kind: Literal["shards", "threads", "machines"] = "shards"
    if "machines" in run:
        kind = "machines" if any(each["host"] for each in parts) else "threads"
    return {
        "kind": kind,
        "parts": parts,
        "cuts": cuts,
        "crossings": cast("list[Crossing]", list(found.get("crossings", ()))),
    }


def _of_hosts(machines: Sequence[Json]) -> DividedRun:
    """The machines of hosts on the virtual clock: the network itself is in one part, and nothing is late."""
    parts: list[DividedPart] = [
        {
            "name": each["name"],
            "host": each["host"],
            "nodes": list(each["hosts"]),
            "cores": each["cores"],
            "lateness_p50_ns": None,
            "lateness_p99_ns": None,
            "stalled_share": None,
        }
        for each in machines
    ]
    return {"kind": "machines", "parts": parts, "cuts": [], "crossings": []}
