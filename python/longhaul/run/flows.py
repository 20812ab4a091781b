"""What is simulated: flows and parallel programs of a scenario, as the plan has them."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from longhaul import _longhaul
from longhaul.errors import LonghaulError
from longhaul.run import transfers
from longhaul.scenario.tcp import CC_SYSCTL, DEFAULT_CC

if TYPE_CHECKING:
    from longhaul.scenario import Resolved
    from longhaul.scenario.problems import Problem

Json = dict[str, Any]

_DAY_NS = 86_400 * 10**9


def plan_flows(
    resolved: "Resolved", traffic: Iterable[Mapping[str, Any]], *, simulated: bool = True
) -> tuple[list[Json], list[Json]]:
    """Those flows of the plan that ``traffic`` names, and rows that tell what belongs to what.

    Those that are not ``simulated`` are played in the hosts of a live run.

    Raises ScenarioError.
    """
    traffic = list(traffic)
    if simulated:
        _check_laws(resolved, [(("traffic", item["name"], "cc"), item.get("cc")) for item in traffic])
    plan, tcp = resolved.plan, resolved.tcp
    flows, rows = [], []
    for item in traffic:
        for destination in item["destinations"]:
            source, target = plan["nodes"][item["source"]], plan["nodes"][destination]
            name = _name(item, source["name"], target["name"])
            named = source.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC
            # A real end has the kernel's, which need not be one that can be simulated.
            law = (item.get("cc") or {"law": named}) if simulated else {"law": DEFAULT_CC}
            cc = law["law"] if simulated else (item.get("cc") or {}).get("law")
            settings = {**tcp.get(item["source"], {}), "ipv6": source["ipv4"] is None}
            flows.append(
                {
                    "name": name,
                    "source": item["source"],
                    "destination": destination,
                    "start_ns": item.get("start_ns") or 0,
                    "stop_ns": item.get("stop_ns"),
                    "simulated": simulated,
                    "traffic": _traffic(item, law, settings),
                }
            )
            rows.append(
                {
                    "name": item["name"],
                    "kind": item["kind"],
                    "program": name,
                    "server": None,
                    "from": source["name"],
                    "to": target["name"],
                    "cc": cc if item["kind"] in ("tcp", *transfers.KINDS) else None,
                    "rate_bits_per_s": item.get("rate_bits_per_s"),
                    "every_ns": item.get("every_ns"),
                    "start_ns": item.get("start_ns") or 0,
                    "start": item.get("start"),
                    "stop_ns": item.get("stop_ns"),
                    "volume_bytes": item.get("bytes"),
                    "simulated": simulated,
                }
            )
            if not simulated:
                # One end for all that a host has of a flow list, else one for each flow.
                listed = item["kind"] == "replay"
                rows[-1]["player"] = f"{item['name']}.{source['name']}" if listed else name
                rows[-1]["server"] = f"{item['name']}.{target['name']}.server" if listed else f"{name}.server"
                rows[-1]["kernel_law"] = item.get("kernel_law")
    return flows, rows


def _name(item: Mapping[str, Any], source: str, target: str) -> str:
    if item["kind"] == "replay":
        return f"{item['name']}.{source}.{target}"
    return str(item["name"]) if len(item["destinations"]) == 1 else f"{item['name']}.{target}"


def plan_jobs(resolved: "Resolved", wanted: Iterable[Mapping[str, Any]]) -> list[Json]:
    """Those simulated parallel programs of the plan that are ``wanted``. Raises ScenarioError."""
    jobs = []
    wanted = list(wanted)
    _check_laws(resolved, [(("programs", job["name"], "simulate", "cc"), job["law"]) for job in wanted])
    for job in wanted:
        node = job["ranks"][0]
        source = resolved.plan["nodes"][node]
        named = source.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC
        tcp = {**resolved.tcp.get(node, {}), "ipv6": source["ipv4"] is None}
        jobs.append({**job, "law": job["law"] or {"law": named}, "tcp": tcp})
    return jobs


def jobs_without_program(resolved: "Resolved") -> list[Mapping[str, Any]]:
    """Parallel programs that are simulated in a live run: they have nothing real to run."""
    programs = resolved.scenario.document.programs
    return [job for job in resolved.jobs if programs[job["name"]].run is None]


def simulated_ends(resolved: "Resolved") -> frozenset[int]:
    """Nodes that something sends from, or to, which a live run simulates."""
    ends = [job["ranks"] for job in jobs_without_program(resolved)]
    ends += [[flow["source"], *flow["destinations"]] for flow in resolved.traffic if flow["simulated"]]
    return frozenset(node for group in ends for node in group)


def real_ends(resolved: "Resolved") -> frozenset[int]:
    """Nodes on which a live run starts programs, be it as traffic."""
    from longhaul.scenario.references import program_hosts

    index = {node["name"]: position for position, node in enumerate(resolved.plan["nodes"])}
    programs = resolved.scenario.document.programs.values()
    ends = [[index[host] for host in program_hosts(each)] for each in programs if each.run]
    ends += [[flow["source"], *flow["destinations"]] for flow in resolved.traffic if not flow["simulated"]]
    return frozenset(node for group in ends for node in group)


def check(plan: Mapping[str, Any]) -> None:
    """Refuse a plan whose flows or jobs cannot be simulated. Raises LonghaulError."""
    # Without duration, a live run ends with its programs.
    duration_ns = plan["duration_ns"] or (_DAY_NS if plan["programs"] else None)
    try:
        _longhaul.Simulation(json.dumps({**plan, "duration_ns": duration_ns}), directory=None)
    except ValueError as error:
        raise LonghaulError(_by_name(plan, str(error)), remedy="change the scenario", exit_code=2) from error


def _by_name(plan: Mapping[str, Any], message: str) -> str:
    """``message`` with the scenario's name for what is a number in the plan."""
    return re.sub(
        r"^flows\[(\d+)\]\.traffic", lambda found: f"traffic.{plan['flows'][int(found[1])]['name']}", message
    )


Laws = Iterable[tuple[tuple[str, ...], Json | None]]
"""Where a scenario names a congestion control, and which."""


def named_laws(resolved: "Resolved") -> Laws:
    """Of all traffic and all simulated programs."""
    yield from ((("traffic", item["name"], "cc"), item.get("cc")) for item in resolved.traffic)
    yield from ((("programs", job["name"], "simulate", "cc"), job["law"]) for job in resolved.jobs)


def law_problems(resolved: "Resolved", laws: Laws) -> "list[Problem]":
    """What of ``laws`` has no model, or gives it wrong parameters."""
    found = []
    for path, law in laws:
        if not law:
            continue
        try:
            _longhaul.check_law(json.dumps(law))
        except ValueError as error:
            found.append(resolved.scenario.problem(path, *_law_refusal(str(law["law"]), str(error))))
    return found


def _law_refusal(name: str, text: str) -> tuple[str, str]:
    """What is wrong, and the remedy."""
    from longhaul.scenario.problems import did_you_mean

    message, _, remedy = text.partition("; ")
    if message == f'unknown variant "{name}"':
        return f'there is no congestion control "{name}"', did_you_mean(name, re.findall('"([^"]+)"', remedy))
    return message, remedy or "see docs/models"


def _check_laws(resolved: "Resolved", laws: Laws) -> None:
    from longhaul.scenario import ScenarioError

    if problems := law_problems(resolved, laws):
        raise ScenarioError(problems)


def _traffic(item: Mapping[str, Any], law: Json, tcp: Json) -> Json:
    match item["kind"]:
        case "ping":
            return {
                "kind": "ping",
                "every_ns": item["every_ns"],
                "payload_bytes": item.get("size_bytes") or 56,
                "count": item.get("count"),
            }
        case "udp":
            return {
                "kind": "udp",
                "bits_per_s": item["rate_bits_per_s"],
                "payload_bytes": item["size_bytes"],
                **{key: item[key] for key in ("bytes", "arrivals", "sizes", "on_off")},
            }
        case "requests":
            return {"kind": "requests", "gap": item["gap"], "size": item["size"], "law": law, "tcp": tcp}
        case "replay":
            return {"kind": "replay", "transfers": item["transfers"], "law": law, "tcp": tcp}
        case _:
            streams, volume = item.get("flows") or 1, item.get("bytes")
            return {
                "kind": "tcp",
                "streams": streams,
                "law": law,
                "tcp": tcp,
                # As iperf3 counts them: all streams together.
                "bytes": None if volume is None else -(-volume // streams),
                "bits_per_s": item.get("rate_bits_per_s"),
            }
