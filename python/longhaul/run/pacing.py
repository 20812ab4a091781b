"""Matching of packets to pacing classes, once the senders are known."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Direction, Link, PacingRule, Plan, Sender, Way

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Json = dict[str, Any]
ICMP = (1, 58)


def with_owners(
    resolved: "Resolved",
    plan: Plan,
    flow_rows: Sequence[Mapping[str, Any]],
    real_rows: Sequence[Mapping[str, Any]] = (),
) -> Plan:
    """``plan`` with rules that know the flows, ports and jobs of their traffic and programs.

    ``flow_rows`` tell of the plan's flows, ``real_rows`` of what its programs send.
    """
    if not resolved.owners:
        return plan
    links = list(plan["links"])
    rules: dict[tuple[int, Way], list[list[PacingRule]]] = {}
    for owner in resolved.owners:
        place = (owner.link, owner.way)
        pacing = links[owner.link][owner.way].get("pacing")
        assert pacing is not None, "an owner is of a rule of this pacing"
        each = rules.setdefault(place, [[rule] for rule in pacing["rules"]])
        flows = enumerate(zip(plan["flows"], flow_rows, strict=True))
        senders: list[Sender] = [
            {"flow": position}
            for position, (flow, row) in flows
            if flow["simulated"] and row["name"] in owner.traffic
        ]
        jobs = [job["name"] for job in plan["jobs"]]
        senders += [{"job": position} for position, name in enumerate(jobs) if name in owner.programs]
        rule = pacing["rules"][owner.rule]
        each[owner.rule] = [{**rule, "senders": senders}] if senders else []
        real = [row for row in real_rows if row["name"] in owner.traffic and not row["simulated"]]
        each[owner.rule] += _real(plan, rule, real)
        real_programs = [program["name"] for program in plan["programs"]]
        if unknown := [name for name in owner.programs if name in real_programs]:
            raise LonghaulError(
                Code.PACING_INVALID,
                f'a live run cannot tell which packets are of program "{unknown[0]}"',
                remedy="write port: or to: in place of program: in its pacing class",
                exit_code=2,
            )
    for (link, way), grouped in rules.items():
        links[link] = _with_rules(links[link], way, [rule for group in grouped for rule in group])
    return {**plan, "links": links}


def _with_rules(link: Link, way: Way, rules: Sequence[PacingRule]) -> Link:
    direction = link[way]
    pacing = direction.get("pacing")
    assert pacing is not None, "a host paces before it"
    paced: Direction = {**direction, "pacing": {**pacing, "rules": rules}}
    return {**link, "forward": paced} if way == "forward" else {**link, "reverse": paced}


def _real(plan: Plan, rule: PacingRule, rows: Sequence[Mapping[str, Any]]) -> list[PacingRule]:
    """Rules for what real programs send: by the ports of their servers, and echo requests by their hosts."""
    ports = {}
    for program in plan["programs"]:
        if plays := program.get("plays"):
            ports[program["name"]] = plays["port"]
        elif ready := program["ready"]:
            ports[program["name"]] = ready["tcp_port"]
    mine = sorted({ports[row["server"]] for row in rows if row["server"] in ports})
    made: list[PacingRule] = [{**rule, "ports": [[port, port] for port in mine]}] if mine else []
    names = [node["name"] for node in plan["nodes"]]
    pinged = sorted(
        {names.index(row[end]) for row in rows if row["kind"] == "ping" for end in ("to", "from")}
    )
    echo: list[PacingRule] = [
        {**rule, "protocol": protocol, "destinations": pinged} for protocol in ICMP if pinged
    ]
    return made + echo
