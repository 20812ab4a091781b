"""Flows and simulated parallel programs of a scenario, as in the plan."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, assert_never, cast

from longhaul import _longhaul, json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import AlgorithmSettings, Flow, Job, Plan, Tcp, TcpTraffic, Traffic
from longhaul.scenario.lower.congestion_control import CC_SYSCTL, DEFAULT_CC
from longhaul.scenario.lower.flow_names import flow_name, probe_name
from longhaul.scenario.lower.main_tables import choose_interface, interfaces_of, owner_of
from longhaul.scenario.lower.mptcp import subflows as subflows_between
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model.traffic import Kind, transport

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.scenario import Resolved

Json = dict[str, Any]

_DAY_NS = 86_400 * 10**9


def plan_flows(
    resolved: "Resolved", traffic: Iterable[Mapping[str, Any]], *, simulated: bool = True
) -> tuple[list[Flow], list[Json]]:
    """Those flows of the plan that ``traffic`` names, and rows that tell what belongs to what.

    Those that are not ``simulated`` are played in the hosts of a live run.

    Raises ScenarioError.
    """
    traffic = list(traffic)
    if simulated:
        _check_algorithms(resolved, [(("traffic", item["name"], "cc"), item.get("cc")) for item in traffic])
    plan, tcp = resolved.plan, resolved.tcp
    routes = Routes(plan) if interfaces_of(plan["nodes"]) else None
    flows: list[Flow] = []
    rows: list[Json] = []
    for item in traffic:
        for destination in item["destinations"]:
            kind: Kind = item["kind"]
            source, target = plan["nodes"][item["source"]], plan["nodes"][destination]
            ends = item.get("ends") or _ends(plan, item["source"], destination, routes)
            name = flow_name(item, source["name"], target["name"])
            named = source.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC
            # A real end has the kernel's, which need not be one that can be simulated.
            algorithm = (item.get("cc") or {"algorithm": named}) if simulated else {"algorithm": DEFAULT_CC}
            cc = algorithm["algorithm"] if simulated else (item.get("cc") or {}).get("algorithm")
            settings: Tcp = {**tcp.get(item["source"], {}), "ipv6": source["ipv4"] is None}
            subflows = _subflows(plan, item, destination, routes) if simulated else []
            flows.append(
                {
                    "name": name,
                    # A real program's kernel chooses the interfaces by the same tables.
                    "source": ends[0] if simulated or kind == "pcap" else item["source"],
                    "destination": ends[1] if simulated or kind == "pcap" else destination,
                    "start_ns": item.get("start_ns") or 0,
                    "stop_ns": item.get("stop_ns"),
                    "simulated": simulated,
                    "traffic": _traffic(
                        item, cast("AlgorithmSettings", algorithm), settings, subflows, simulated=simulated
                    ),
                }
            )
            rows.append(
                {
                    "name": item["name"],
                    "probe": probe_name(item, source["name"]) if kind == "ping" else None,
                    "kind": item["kind"],
                    "program": name,
                    "server": None,
                    "from": source["name"],
                    "to": target["name"],
                    "cc": cc if transport(item["kind"]) == "tcp" else None,
                    "rate_bits_per_s": item.get("rate_bits_per_s"),
                    "every_ns": item.get("every_ns"),
                    "start_ns": item.get("start_ns") or 0,
                    "start": item.get("start"),
                    "stop_ns": item.get("stop_ns"),
                    "volume_bytes": item.get("bytes"),
                    "simulated": simulated,
                    "mptcp": item.get("mptcp", False),
                }
            )
            if not simulated and kind != "pcap":
                # One end for all that a host has of a flow list, else one for each flow.
                listed = item["kind"] == "replay"
                rows[-1]["generator"] = f"{item['name']}.{source['name']}" if listed else name
                rows[-1]["server"] = f"{item['name']}.{target['name']}.server" if listed else f"{name}.server"
                rows[-1]["kernel_algorithm"] = item.get("kernel_algorithm")
    return flows, rows


def _ends(plan: Plan, source: int, destination: int, routes: Routes | None) -> tuple[int, int]:
    """The interfaces between which packets of a flow go; ``routes`` if hosts have several."""
    if routes is None:
        return source, destination
    mine = choose_interface(plan["nodes"], source, destination)
    return mine, routes.answering(destination, mine)


def _subflows(
    plan: Plan, item: Mapping[str, Any], destination: int, routes: Routes | None
) -> list[list[int]]:
    """The interfaces between which a connection of Multipath TCP has subflows; none: it has one path."""
    if not item.get("mptcp") or routes is None:
        return []
    pairs = subflows_between(plan["nodes"], routes, item["source"], destination)
    return [list(pair) for pair in pairs] if len(pairs) > 1 else []


def packets_file(item: Mapping[str, Any]) -> str:
    """Where in a run directory the packets of a flow of a capture are, which a host gets."""
    ends = f"-{item['source']}-{item['destinations'][0]}" if item.get("is_one_of_several") else ""
    return f"packets/{item['name']}{ends}.pcap"


def packets_files(resolved: "Resolved") -> dict[str, bytes]:
    """The packets of all captures of a live run, by their places in the run directory."""
    from longhaul.scenario.lower.pcap import rewritten

    real = [item for item in resolved.traffic if item["kind"] == "pcap" and not item["simulated"]]
    files = resolved.files() if real else {}
    return {packets_file(item): rewritten(item, files[item["file"]]).pcap(item["pair"]) for item in real}


def plan_jobs(resolved: "Resolved", wanted: Iterable[Mapping[str, Any]]) -> list[Job]:
    """Those simulated parallel programs of the plan that are ``wanted``. Raises ScenarioError."""
    jobs: list[Job] = []
    wanted = list(wanted)
    _check_algorithms(resolved, [(("programs", job["name"], "simulate", "cc"), job["cc"]) for job in wanted])
    for job in wanted:
        node = job["ranks"][0]
        source = resolved.plan["nodes"][node]
        named = source.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC
        tcp = {**resolved.tcp.get(node, {}), "ipv6": source["ipv4"] is None}
        jobs.append(cast("Job", {**job, "cc": job["cc"] or {"algorithm": named}, "tcp": tcp}))
    return jobs


def jobs_without_program(resolved: "Resolved") -> list[Mapping[str, Any]]:
    """Parallel programs that are simulated in a live run: they have nothing real to run."""
    programs = resolved.scenario.document.programs
    return [job for job in resolved.jobs if programs[job["name"]].run is None]


def simulated_ends(resolved: "Resolved") -> frozenset[int]:
    """Nodes that something sends from, or to, which a live run simulates."""
    ends = [job["ranks"] for job in jobs_without_program(resolved)]
    ends += [[flow["source"], *flow["destinations"]] for flow in resolved.traffic if flow["simulated"]]
    return frozenset(owner_of(resolved.plan["nodes"], node) for group in ends for node in group)


def real_ends(resolved: "Resolved") -> frozenset[int]:
    """Nodes on which a live run starts programs, be it as traffic."""
    from longhaul.scenario.check.names import program_hosts

    index = {node["name"]: position for position, node in enumerate(resolved.plan["nodes"])}
    programs = resolved.scenario.document.programs.values()
    ends = [[index[host] for host in program_hosts(each)] for each in programs if each.run]
    ends += [[flow["source"], *flow["destinations"]] for flow in resolved.traffic if not flow["simulated"]]
    return frozenset(owner_of(resolved.plan["nodes"], node) for group in ends for node in group)


def check(plan: Plan) -> None:
    """Refuse a plan whose flows or jobs cannot be simulated. Raises LonghaulError."""
    # Without duration, a live run ends with its programs.
    duration_ns = plan["duration_ns"] or (_DAY_NS if plan["programs"] else None)
    try:
        _longhaul.Simulation(json_text.compact({**plan, "duration_ns": duration_ns}).decode(), directory=None)
    except _longhaul.InvalidValueError as error:
        message, remedy = _by_name(plan, error.message), error.remedy or "change the scenario"
        raise LonghaulError(Code.ALGORITHM_PARAMETER, message, remedy=remedy, exit_code=2) from error


def _by_name(plan: Plan, message: str) -> str:
    """``message`` with the scenario's name for what is a number in the plan."""
    return re.sub(
        r"^flows\[(\d+)\]\.traffic", lambda found: f"traffic.{plan['flows'][int(found[1])]['name']}", message
    )


Algorithms = Iterable[tuple[tuple[str, ...], Json | None]]
"""Where a scenario names a congestion control, and which."""


def configured_algorithms(resolved: "Resolved") -> Algorithms:
    """Of all traffic and all simulated programs."""
    yield from ((("traffic", item["name"], "cc"), item.get("cc")) for item in resolved.traffic)
    yield from ((("programs", job["name"], "simulate", "cc"), job["cc"]) for job in resolved.jobs)


def algorithm_problems(resolved: "Resolved", algorithms: Algorithms) -> "list[Diagnostic]":
    """What of ``algorithms`` has no model, or gives it wrong parameters."""
    from longhaul.scenario.syntax.problems import did_you_mean

    known = _longhaul.algorithms()
    found = []
    for path, algorithm in algorithms:
        if not algorithm:
            continue
        name = str(algorithm["algorithm"])
        if name not in known:
            message = f'there is no congestion control "{name}"'
            near = did_you_mean(name, known)
            found.append(resolved.scenario.problem(Code.ALGORITHM_UNKNOWN, path, message, near))
            continue
        try:
            _longhaul.check_algorithm(json.dumps(algorithm))
        except _longhaul.InvalidValueError as error:
            remedy = error.remedy or "see docs/models"
            place = (*path, *filter(None, error.path.split(".")))
            found.append(resolved.scenario.problem(Code.ALGORITHM_PARAMETER, place, error.rule, remedy))
    return found


def _check_algorithms(resolved: "Resolved", algorithms: Algorithms) -> None:
    from longhaul.scenario import ScenarioError

    if problems := algorithm_problems(resolved, algorithms):
        raise ScenarioError(problems)


def _traffic(
    item: Mapping[str, Any],
    algorithm: AlgorithmSettings,
    tcp: Tcp,
    subflows: list[list[int]],
    *,
    simulated: bool,
) -> Traffic:
    kind: Kind = item["kind"]
    match kind:
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
                "bytes": item["bytes"],
                "arrivals": item["arrivals"],
                "sizes": item["sizes"],
                "on_off": item["on_off"],
            }
        case "requests":
            return {"kind": "requests", "gap": item["gap"], "size": item["size"], "cc": algorithm, "tcp": tcp}
        case "replay":
            return {"kind": "replay", "transfers": item["transfers"], "cc": algorithm, "tcp": tcp}
        case "pcap":
            return {
                "kind": "pcap",
                "packets": item["packets"],
                "repeat": item["repeat"],
                "every_ns": item["every_ns"],
                "file": None if simulated else packets_file(item),
            }
        case "tcp":
            streams, volume = item.get("flows") or 1, item.get("bytes")
            bulk: TcpTraffic = {
                "kind": "tcp",
                "streams": streams,
                "cc": algorithm,
                "tcp": tcp,
                # As iperf3 counts them: all streams together.
                "bytes": None if volume is None else -(-volume // streams),
                "bits_per_s": item.get("rate_bits_per_s"),
            }
            return cast("TcpTraffic", {**bulk, "subflows": subflows}) if subflows else bulk
        case _:
            assert_never(kind)
