"""A scenario simulated: the same network, simulated endpoints, a clock that jumps."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul import _longhaul
from longhaul.errors import LonghaulError
from longhaul.run import directory as directories

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Json = dict[str, Any]

EVENTS_AT_ONCE = 200_000
"""Between two looks at the clock and at signals: some 20 ms."""
DEFAULT_LAW = "cubic"
"""What Linux has, where neither flow nor host names another."""
DEFAULT_PAYLOAD = 1448
"""Of datagrams whose size the scenario leaves open, as iperf3 has it."""

Progress = Callable[[float, float], None]
"""Is told simulated and real seconds."""


@dataclass(frozen=True)
class Simulated:
    """A simulated run that has ended."""

    directory: Path
    reason: str
    """``duration``, ``flows`` or ``interrupted``."""


def plan_flows(resolved: "Resolved") -> tuple[list[Json], list[Json]]:
    """The flows of the plan, and rows that tell what belongs to what. Raises ScenarioError."""
    _check_laws(resolved)
    plan, tcp = resolved.plan, resolved.tcp
    flows, rows = [], []
    for item in resolved.traffic:
        for destination in item["destinations"]:
            source, target = plan["nodes"][item["source"]], plan["nodes"][destination]
            name = item["name"] if len(item["destinations"]) == 1 else f"{item['name']}.{target['name']}"
            named = source.get("sysctls", {}).get("net.ipv4.tcp_congestion_control") or DEFAULT_LAW
            law = item.get("cc") or {"law": named}
            settings = {**tcp.get(item["source"], {}), "ipv6": source["ipv4"] is None}
            flows.append(
                {
                    "name": name,
                    "source": item["source"],
                    "destination": destination,
                    "start_ns": item.get("start_ns") or 0,
                    "stop_ns": item.get("stop_ns"),
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
                    "cc": law["law"] if item["kind"] in ("tcp", "requests") else None,
                    "rate_bits_per_s": item.get("rate_bits_per_s"),
                    "every_ns": item.get("every_ns"),
                }
            )
    return flows, rows


def plan_jobs(resolved: "Resolved") -> list[Json]:
    """The simulated parallel programs of the plan."""
    jobs = []
    for job in resolved.jobs:
        node = job["ranks"][0]
        source = resolved.plan["nodes"][node]
        named = source.get("sysctls", {}).get("net.ipv4.tcp_congestion_control") or DEFAULT_LAW
        tcp = {**resolved.tcp.get(node, {}), "ipv6": source["ipv4"] is None}
        jobs.append({**job, "law": job["law"] or {"law": named}, "tcp": tcp})
    return jobs


def real_programs(resolved: "Resolved") -> list[str]:
    """The programs that no simulation runs."""
    simulated = {job["name"] for job in resolved.jobs}
    return [each["name"] for each in resolved.plan["programs"] if each["name"] not in simulated]


def simulated_plan(resolved: "Resolved") -> tuple[Json, list[Json]]:
    """What a simulation executes, and rows that tell what of it belongs to what.

    Raises ScenarioError, or LonghaulError if there is nothing to simulate.
    """
    flows, rows = plan_flows(resolved)
    jobs = plan_jobs(resolved)
    if not flows and not jobs:
        raise LonghaulError(
            "the scenario has no traffic to simulate",
            remedy="add for example traffic: {bulk: {kind: tcp, from: a, to: b}}",
            exit_code=2,
        )
    return {**resolved.plan, "programs": [], "flows": flows, "jobs": jobs}, rows


def run(
    resolved: "Resolved", *, runs: Path, argv: list[str], progress: Progress, name: str | None = None
) -> Simulated:
    """Simulate to the end. Ctrl-C ends it early and keeps what there is."""
    left_out = real_programs(resolved)
    if left_out:
        print(
            f"longhaul: programs are real, and not part of a simulation: {', '.join(left_out)}",
            file=sys.stderr,
        )
    plan, rows = simulated_plan(resolved)
    text = json.dumps(plan)
    try:
        _longhaul.Simulation(text, directory=None)
    except ValueError as error:
        raise LonghaulError(str(error), remedy="change the scenario", exit_code=2) from error
    directory = directories.create(
        runs,
        name or plan["name"],
        mode="sim",
        source=resolved.source,
        plan=plan,
        argv=argv,
        inputs=resolved.inputs,
    )
    for what, content in (
        ("traffic", rows),
        ("expectations", [dict(item) for item in resolved.expectations]),
        ("positions", dict(resolved.positions)),
    ):
        (directory / "raw" / f"{what}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    simulation = _longhaul.Simulation(text, directory=str(directory / "raw"))
    reason = "duration" if plan["duration_ns"] is not None else "flows"
    began, cpu = time.monotonic(), time.process_time()
    try:
        while not simulation.advance(EVENTS_AT_ONCE):
            progress(simulation.now_ns() / 1e9, time.monotonic() - began)
    except KeyboardInterrupt:
        reason = "interrupted"
    counted: Json = json.loads(simulation.finish())
    counted |= {"wall_s": time.monotonic() - began, "cpu_s": time.process_time() - cpu}
    for file, result in (("engine", counted), ("ended", {"ended": reason})):
        (directory / "raw" / f"{file}.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    directories.update_run(directory, status=reason)
    return Simulated(directory, reason)


def _check_laws(resolved: "Resolved") -> None:
    from longhaul.scenario import ScenarioError

    problems = []
    laws: list[tuple[tuple[str, ...], Json | None]] = [
        (("traffic", item["name"], "cc"), item.get("cc")) for item in resolved.traffic
    ]
    laws += [(("programs", job["name"], "simulate", "cc"), job["law"]) for job in resolved.jobs]
    for path, law in laws:
        try:
            if law:
                _longhaul.check_law(json.dumps(law))
        except ValueError as error:
            message, _, remedy = str(error).partition("; ")
            problems.append(resolved.scenario.problem(path, message, remedy or "see docs/models"))
    if problems:
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
                "payload_bytes": item.get("size_bytes") or DEFAULT_PAYLOAD,
                **{key: item[key] for key in ("bytes", "arrivals", "sizes", "on_off")},
            }
        case "requests":
            return {"kind": "requests", "gap": item["gap"], "size": item["size"], "law": law, "tcp": tcp}
        case _:
            return {
                "kind": "tcp",
                "streams": item.get("flows") or 1,
                "law": law,
                "tcp": tcp,
                "bytes": item.get("bytes"),
                "bits_per_s": item.get("rate_bits_per_s"),
            }
