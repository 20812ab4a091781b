"""``longhaul show``: a resolved scenario as plain data."""

from collections.abc import Mapping
from typing import cast

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS, BundleModel, Direction, Link, LinkModel, Node, Plan
from longhaul.scenario.lower.congestion_control import CC_SYSCTL
from longhaul.scenario.lower.link_models import Plain, bdp_bytes, plan_bits_per_s, plan_mean_ns
from longhaul.scenario.lower.main_tables import choose_interface
from longhaul.scenario.lower.paths import Routes, Way
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.syntax.problems import did_you_mean


def describe(
    resolved: Resolved,
    *,
    source: str | None = None,
    destination: str | None = None,
    all_pairs: bool = False,
    most_paths: int | None = None,
) -> Plain:
    """Nodes, links and paths of a scenario.

    Paths are those between one host and another of each pair of sites; with ``source`` or ``destination``
    those that begin or end there; with ``all_pairs`` those between any two hosts. ``most_paths`` are told.
    """
    plan = resolved.plan
    routes = Routes(plan)
    return {
        "name": plan["name"],
        "seed": plan["seed"],
        "duration_ns": plan["duration_ns"],
        "nodes": [
            {**_node(node, index, routes, plan), "function": resolved.functions[node["name"]]}
            for index, node in enumerate(plan["nodes"])
        ],
        "links": [_link(link, plan, resolved.round_trips.get(link["name"], {})) for link in plan["links"]],
        "pacing": [
            row for link in range(len(plan["links"])) for way in WAYS for row in _classes(resolved, link, way)
        ],
        "paths": [
            _path(way, routes, plan)
            for pair in _pairs(routes, plan, source, destination, all_pairs)[:most_paths]
            if (way := routes.way(*pair)) is not None
        ],
        "programs": [
            {"name": each["name"], "host": plan["nodes"][each["host"]]["name"], "argv": each["argv"]}
            for each in plan["programs"]
        ],
        "events": len(plan["events"]),
        "warnings": [each.as_json() for each in resolved.warnings],
    }


def _node(node: Node, index: int, routes: Routes, plan: Plan) -> Plain:
    hub = routes.hub(index)
    attached = plan["nodes"][routes.owners[hub]]["name"] if hub != index else None
    buffers = node["sysctls"].get("net.ipv4.tcp_rmem", "").split()
    return {
        **{key: node[key] for key in ("name", "kind", "ipv4", "ipv6", "mtu")},
        "attached_to": attached,
        "tcp_buffer_bytes": int(buffers[2]) if buffers else None,
        "congestion_control": node["sysctls"].get(CC_SYSCTL),
    }


def _link(link: Link, plan: Plan, round_trips: Mapping[planned.Way, str]) -> Plain:
    round_trip_ns = sum(plan_mean_ns(link[way]["delay"]) for way in WAYS)
    return {
        "name": link["name"],
        "endpoints": [plan["nodes"][end]["name"] for end in link["endpoints"]],
        "mtu": link["mtu"],
        "round_trip_ns": round_trip_ns,
        **{
            way: {
                **_direction(link[way], link["mtu"], round_trip_ns),
                "delay_is_half_of": round_trips.get(way),
            }
            for way in WAYS
        },
    }


def _direction(direction: Direction | LinkModel, mtu: int, round_trip_ns: int) -> Plain:
    """The models, the queue in every unit that it can be told in, and the same of parallel routes."""
    rate = plan_bits_per_s(direction)
    limit_packets, limit_bytes = direction["queue"]["limit_packets"], direction["queue"]["limit_bytes"]
    size = (
        limit_bytes
        if limit_bytes is not None
        else (limit_packets * mtu if limit_packets is not None else None)
    )
    bundle: BundleModel | None = cast("Direction", direction).get("bundle")
    return {
        **direction,
        "mean_delay_ns": plan_mean_ns(direction["delay"]),
        "bits_per_s": rate,
        "bdp_bytes": bdp_bytes(rate, round_trip_ns) if rate else None,
        "queue_bytes": size,
        "queue_full_packets": size // mtu if size is not None else None,
        "queue_ns": size * 8 * 10**9 // rate if size is not None and rate else None,
        "routes": [_direction(route, mtu, round_trip_ns) for route in bundle["routes"]] if bundle else [],
    }


def _classes(resolved: Resolved, link: int, way: planned.Way) -> list[Plain]:
    """The classes of the host that paces before this direction; those of single flows are one row."""
    wire = resolved.plan["links"][link]
    pacing = wire[way].get("pacing")
    if pacing is None:
        return []
    nodes = [node["name"] for node in resolved.plan["nodes"]]
    owners = {owner.rule: owner for owner in resolved.owners if (owner.link, owner.way) == (link, way)}
    rules: dict[int, Plain] = {}
    for place, rule in enumerate(pacing["rules"]):
        owner = owners.get(place)
        rules[rule["class"]] = {
            "to": [nodes[each] for each in rule["destinations"]],
            "ports": rule["ports"],
            "protocol": rule["protocol"],
            "dscp": rule["dscp"],
            "traffic": list(owner.traffic) if owner else [],
            "programs": list(owner.programs) if owner else [],
            "flows": rule["flows"],
        }
    rows, skipped = [], 0
    for position, each in enumerate(pacing["classes"]):
        if position < skipped:
            continue
        owned = rules.get(position)
        flows = owned["flows"] if owned else 0
        skipped = position + max(flows, 1)
        rows.append(
            {
                "host": nodes[wire["endpoints"][WAYS.index(way)]],
                "link": wire["name"],
                "class": each["name"].removesuffix(".1") if flows else each["name"],
                **{key: value for key, value in each.items() if key != "name"},
                "takes": owned,
                "is_default": position == pacing["default"],
            }
        )
    return rows


def _path(way: Way, routes: Routes, plan: Plan) -> Plain:
    names = [node["name"] for node in plan["nodes"]]
    there = [names[node] for node in routes.nodes_of(way.source, way.there)]
    back = [names[node] for node in routes.nodes_of(way.destination, way.back)]
    return {
        "from": there[0],
        "to": there[-1],
        "nodes": there,
        "back": back,
        "hops": len(way.there),
        "one_way_ns": way.one_way_ns,
        "return_ns": way.return_ns,
        "round_trip_ns": way.round_trip_ns,
        "bottleneck": None if way.bottleneck is None else plan["links"][way.bottleneck]["name"],
        "bits_per_s": way.bits_per_s,
        "bdp_bytes": way.bdp_bytes,
        "mtu": way.mtu,
    }


def _pairs(
    routes: Routes, plan: Plan, source: str | None, destination: str | None, all_pairs: bool
) -> list[tuple[int, int]]:
    position = {node["name"]: index for index, node in enumerate(plan["nodes"])}
    for name in (source, destination):
        if name is not None and name not in position:
            raise LonghaulError(
                Code.NODE_UNKNOWN,
                f'there is no node "{name}"',
                remedy=did_you_mean(name, position),
                exit_code=2,
            )
    hosts = [index for index, node in enumerate(plan["nodes"]) if node["kind"] == "host"]
    groups = list(routes.representatives().values())
    first = hosts if all_pairs else [group[0] for group in groups]
    sources = [position[source]] if source else first
    destinations = [position[destination]] if destination else first
    one_side = source is not None or destination is not None
    pairs = [
        (a, b)
        for a in sources
        for b in destinations
        if routes.owners[a] != routes.owners[b] and (one_side or a < b)
    ]
    if not all_pairs and not one_side:
        pairs += [(group[0], group[1]) for group in groups if len(group) > 1]
    # Two hosts, and an interface by which one of them reaches the other, have one path.
    by_path = {(choose_interface(plan["nodes"], a, b), b): (a, b) for a, b in sorted(pairs, reverse=True)}
    return sorted(by_path.values())
