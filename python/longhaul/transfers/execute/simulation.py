"""Transfer plans in the simulator, which stops where the controller has to decide."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from longhaul import _longhaul
from longhaul.plan import AlgorithmSettings, Flow, Plan
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.results.ending import Ending
from longhaul.run import flows
from longhaul.run.memory import MemoryLimit, warn
from longhaul.run.sim import EARLY, EVENTS_AT_ONCE, Account, Simulated, early_ending
from longhaul.scenario.lower.congestion_control import CC_SYSCTL, DEFAULT_CC
from longhaul.storage import replace_text
from longhaul.transfers.execute import preparation, results
from longhaul.transfers.execute.preparation import LEAD_S, Began, Job
from longhaul.transfers.plan.controller import Controller

Json = dict[str, Any]
_NS = 1e9


def run(
    job: Job,
    *,
    runs: Path,
    argv: list[str],
    name: str | None,
    progress: Callable[[float, float], None],
    memory_bytes: int | None = None,
    began: Began | None = None,
) -> Simulated:
    """Simulate until all requests are served or refused.

    Ctrl-C and the memory limit end it early and keep its results so far. It may use
    ``memory_bytes`` of memory, by default half of what is free. ``began`` hears once that it begins.
    """
    resolved = job.resolved
    background, rows = flows.plan_flows(resolved, resolved.traffic)
    made = _flows(job)
    plan: Plan = {
        **resolved.plan,
        "programs": [],
        "flows": background + made,
        "jobs": flows.plan_jobs(resolved, resolved.jobs),
        "duration_ns": preparation.horizon_ns(job),
    }
    flows.check(plan)
    warn(resolved, memory_bytes)
    rows += preparation.rows(job, simulated=True)
    for row, flow in zip(rows[len(background) :], made, strict=True):
        row["cc"] = flow["traffic"]["cc"]["algorithm"] if flow["traffic"]["kind"] == "tcp" else None
    directory = directories.create_for(
        resolved,
        runs=runs,
        name=name,
        mode="sim",
        plan=plan,
        argv=argv,
        rows=rows,
    )
    with ending.recorded(directory):
        ended = _simulate(
            job,
            plan,
            rows,
            directory,
            first=len(background),
            progress=progress,
            limit=MemoryLimit(memory_bytes),
            began=began,
        )
        ending.end(directory, ended.status, ended.reason)
    return Simulated(directory, ended.status)


def _simulate(
    job: Job,
    plan: Plan,
    rows: list[Json],
    directory: Path,
    *,
    first: int,
    progress: Callable[[float, float], None],
    limit: MemoryLimit,
    began: Began | None,
) -> Ending:
    """Carry out a plan of transfers; returns how it ended."""
    account = Account(plan, directory, limit)
    # A simulated sender that gave up does not come back.
    controller = job.controller(attempts=1)
    ended = Ending("flows")
    if began is not None:
        began(directory, controller, None)

    def tell(now_s: float) -> None:
        progress(now_s, account.wall_s())
        account.keep()

    try:
        drive(
            account.simulation,
            controller,
            job,
            first=first,
            horizon_s=(plan["duration_ns"] or 0) / _NS,
            progress=tell,
        )
    except EARLY as error:
        ended = early_ending(error)
    counted: Json = json.loads(account.simulation.finish())
    _since_begun(counted, rows, controller, directory)
    account.write(json.dumps(counted), ended)
    results.write(controller, directory, how={"mode": "sim", "program": "paced", "pacing": "segments"})
    return ended


def _since_begun(counted: Json, rows: list[Json], controller: Controller, directory: Path) -> None:
    """Let rates of transfers count from when they began; what was refused never did."""
    begun = {
        each.request.name: LEAD_S + each.begun_s for each in controller.transfers if each.begun_s is not None
    }
    named = {each.request.name for each in controller.transfers}
    for flow in counted["flows"]:
        if flow["name"] in begun:
            end_s = (flow["done_ns"] or counted["duration_ns"]) / _NS
            flow["span_s"] = end_s - begun[flow["name"]]
            flow["goodput_bits_per_s"] = flow["bytes"] * 8 / flow["span_s"] if flow["span_s"] > 0 else None
    kept = [
        {**row, "start_ns": round(begun.get(row["name"], 0) * _NS) or row["start_ns"]}
        for row in rows
        if row["name"] in begun or row["name"] not in named
    ]
    replace_text(directory / "raw" / "traffic.json", json.dumps(kept, indent=1))


def drive(
    simulation: _longhaul.Simulation,
    controller: Controller,
    job: Job,
    *,
    first: int,
    horizon_s: float,
    progress: Callable[[float], None],
) -> None:
    """Let ``controller`` pace the flows of ``simulation`` from position ``first`` on, until it is done."""
    openings = sorted(((each.release_s, index) for index, each in enumerate(job.case.requests)), reverse=True)
    changes = list(reversed(job.changes))
    watch_s, now_s = preparation.watch_s(job), 0.0
    while now_s < horizon_s:
        while openings and openings[-1][0] <= now_s:
            # One segment goes, so that its acknowledgement tells the receiver's window, which a SYN cannot.
            simulation.pace(first + openings.pop()[1], 1)
        while changes and changes[-1][0] <= now_s:
            _at, link, bits_per_s = changes.pop()
            controller.tell_link(link, bits_per_s, now_s - LEAD_S)
        if now_s >= LEAD_S:
            for order in controller.advance(now_s - LEAD_S):
                simulation.pace(first + order.index, round(order.bits_per_s))
        if controller.is_over:
            return
        times = [horizon_s, max(LEAD_S, controller.next_s(now_s - LEAD_S) + LEAD_S)]
        times += [each[-1][0] for each in (openings, changes) if each]
        if any(each.state == "moving" for each in controller.transfers):
            times.append(now_s + watch_s)
        # Whole nanoseconds: the simulator's clock must not come to stand before the instant.
        until_ns = max(math.ceil(min(times) * _NS), math.floor(now_s * _NS) + 1)
        _advance(simulation, until_ns, progress)
        now_s = until_ns / _NS
        for flow, received, arrived_ns, failed in simulation.progress():
            _tell(controller, flow - first, received, arrived_ns, failed=failed, now_s=now_s - LEAD_S)


def _advance(simulation: _longhaul.Simulation, until_ns: int, progress: Callable[[float], None]) -> None:
    while simulation.now_ns() < until_ns:
        before = simulation.now_ns()
        ended = simulation.advance(EVENTS_AT_ONCE, until_ns=until_ns)
        progress(simulation.now_ns() / _NS)
        if ended and simulation.now_ns() == before:
            return


def _tell(
    controller: Controller, index: int, received: int, arrived_ns: int | None, *, failed: bool, now_s: float
) -> None:
    if index < 0 or controller.transfers[index].state not in ("waiting", "moving"):
        return
    if arrived_ns is not None:
        controller.tell_done(index, arrived_ns / _NS - LEAD_S)
    elif failed:
        controller.tell_failure(index, now_s, why="its connection gave up")
    else:
        controller.tell_progress(index, received, now_s)


def _flows(job: Job) -> list[Flow]:
    resolved, found = job.resolved, list[Flow]()
    for request, (source, destination) in zip(job.case.requests, job.ends, strict=True):
        node = resolved.plan["nodes"][source]
        algorithm = node.get("sysctls", {}).get(CC_SYSCTL) or DEFAULT_CC
        found.append(
            {
                "name": request.name,
                "source": source,
                "destination": destination,
                "start_ns": round((request.release_s + LEAD_S) * _NS),
                "stop_ns": None,
                "simulated": True,
                "traffic": {
                    "kind": "tcp",
                    "streams": 1,
                    "cc": cast("AlgorithmSettings", {"algorithm": algorithm}),
                    "tcp": {**resolved.tcp.get(source, {}), "ipv6": node["ipv4"] is None},
                    "bytes": request.volume_bytes,
                    "bits_per_s": 1,
                    "held": True,
                },
            }
        )
    return found
