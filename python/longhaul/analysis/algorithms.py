"""Which congestion-control algorithm each host of a live run used, and what a simulation of it uses."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from longhaul.plan import Plan
from longhaul.scenario.lower.congestion_control import CC_SYSCTL, DEFAULT_CC
from longhaul.units.text import few_text

Json = Mapping[str, Any]


def flow_algorithm(flow: Json) -> str:
    """``cubic+reno``: those that a flow's connections used, else the configured one; empty without any."""
    return "+".join(flow.get("algorithms") or ()) or flow.get("cc") or ""


def summarise_algorithms(
    plan: Plan, defaults: Mapping[str, str], sockets: Json, *, own_ends: Set[str]
) -> list[dict[str, Any]]:
    """A row for each host: its ``default``, the one that was ``configured``, and its connections.

    ``defaults`` are the kernel's, by host. ``sockets`` are the kernel's samples of connections, by column.
    ``connections`` counts those that sent payload, by algorithm; those of the run's own traffic, whose
    addresses and ports are ``own_ends``, are left out.
    """
    names = {each["name"]: str(each["cc"]["algorithm"]) for each in plan.get("algorithms", ())}
    seen: dict[str, dict[Any, str]] = {}
    columns = [sockets.get(name, ()) for name in ("host", "socket", "cc", "sent_bytes", "local", "remote")]
    for host, socket, algorithm, sent, local, remote in zip(*columns, strict=True):
        if sent and local not in own_ends and remote not in own_ends:
            seen.setdefault(host, {})[socket] = names.get(algorithm, algorithm)
    return [
        {
            "host": node["name"],
            "default": names.get(defaults[node["name"]], defaults[node["name"]]),
            "configured": names.get(configured, configured),
            "connections": dict(Counter(seen.get(node["name"], {}).values())),
        }
        for node in plan["nodes"]
        if node["name"] in defaults
        for configured in [node.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC]
    ]


def algorithms_text(hosts: Sequence[Json]) -> str | None:
    """``reno on a1, b1 (configured: cubic)``: the defaults of hosts, those that are alike together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for each in hosts:
        alike.setdefault((each["default"], each["configured"]), []).append(each["host"])
    texts = [
        f"{used} on {few_text(names)}" + ("" if used == wanted else f" (configured: {wanted})")
        for (used, wanted), names in alike.items()
    ]
    return "; ".join(texts) or None


def algorithm_warnings(
    hosts: Sequence[Json], flows: Sequence[Json], *, with_programs: Set[str], is_watched: bool
) -> Iterator[Json]:
    """Where real connections used another algorithm than the scenario names, or than a simulation uses.

    ``with_programs`` are the hosts that ran programs of the scenario. Unless their connections were
    watched, each may have had some.
    """
    others: dict[tuple[str, str], list[str]] = {}
    for each in hosts:
        used = each["default"] in each["connections"] if is_watched else each["host"] in with_programs
        if each["default"] != each["configured"] and used:
            others.setdefault((each["default"], each["configured"]), []).append(each["host"])
    for (used_name, wanted), names in others.items():
        verb = "used" if is_watched else "may have used"
        shown = few_text(sorted(names))
        yield {
            "kind": "algorithm",
            "name": shown,
            "text": f"TCP connections of programs on {shown} {verb} {used_name}, where a simulation uses "
            f"{wanted}: results of the two modes differ; name one for both: "
            f"tcp: {{congestion_control: {used_name}}}",
        }
    for flow in flows:
        found = flow.get("algorithms") or []
        if flow.get("cc") and found and found != [flow["cc"]]:
            yield {
                "kind": "algorithm",
                "name": flow["flow"],
                "text": f"flow {flow['flow']} used {' and '.join(found)}, not {flow['cc']}",
            }
