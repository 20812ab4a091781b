"""A scenario in the discrete-event simulator: the same network with simulated endpoints."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from longhaul import _longhaul, json_text, log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.results.ending import Ending
from longhaul.run import flows
from longhaul.run.memory import MemoryLimit, MemoryLimitError, warn
from longhaul.run.pacing import with_owners
from longhaul.run.random_starts import with_starts
from longhaul.run.shards import Division, Shards, automatic, configured, recorded
from longhaul.storage import replace_text

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Json = dict[str, Any]

Chosen = Division | Literal["auto"] | None
"""The division of a simulation into shards; None: it has one shard."""

EVENTS_AT_ONCE = 200_000
"""Between two looks at the clock and at signals: some 20 ms."""

KEPT_EVERY_S = 1.0
"""Between two times that a simulation writes what it has counted so far."""

Progress = Callable[[float, float], None]
"""Is told simulated and real seconds."""


@dataclass(frozen=True)
class Simulated:
    """A simulated run that has ended."""

    directory: Path
    reason: str
    """``duration``, ``flows``, ``interrupted``, or ``failed``: it reached its memory limit."""


def real_programs(resolved: "Resolved") -> list[str]:
    """The programs that no simulation runs."""
    simulated = {job["name"] for job in resolved.jobs}
    return [each["name"] for each in resolved.plan["programs"] if each["name"] not in simulated]


def simulated_plan(resolved: "Resolved") -> tuple[Plan, list[Json]]:
    """What a simulation executes, and rows that tell what of it belongs to what.

    Raises ScenarioError, or LonghaulError if there is nothing to simulate.
    """
    resolved = with_starts(resolved)
    _refuse_what_never_ends(resolved)
    simulated, rows = flows.plan_flows(resolved, resolved.traffic)
    jobs = flows.plan_jobs(resolved, resolved.jobs)
    if not simulated and not jobs:
        raise LonghaulError(
            Code.NO_TRAFFIC,
            "the scenario has no traffic to simulate",
            remedy="add for example traffic: {bulk: {kind: tcp, from: a, to: b}}",
            exit_code=2,
        )
    plan: Plan = {**resolved.plan, "programs": [], "flows": simulated, "jobs": jobs}
    return with_owners(resolved, plan, rows), rows


def run(
    resolved: "Resolved",
    *,
    runs: Path,
    argv: list[str],
    progress: Progress,
    name: str | None = None,
    made: Callable[[Path], None] = lambda _directory: None,
    memory_bytes: int | None = None,
    shards: Shards = 1,
) -> Simulated:
    """Simulate to the end. Ctrl-C and the memory limit end it early and keep its results so far.

    It may use ``memory_bytes`` of memory, by default half of what is free. Each of ``shards`` has a thread.
    ``made`` is told the run directory before anything is simulated.
    """
    left_out = real_programs(resolved)
    if left_out:
        log.warn_of(f"programs are real, and not part of a simulation: {', '.join(left_out)}")
    plan, rows = simulated_plan(resolved)
    flows.check(plan)
    warn(resolved, memory_bytes)
    division = shards if shards == "auto" else configured(plan, shards)
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
        made(directory)
        ended = _simulate(plan, directory, progress, MemoryLimit(memory_bytes), division)
        ending.end(directory, ended.status, ended.reason)
    return Simulated(directory, ended.status)


EARLY = (KeyboardInterrupt, MemoryLimitError)
"""What ends a simulation early, with its results so far."""


def early_ending(error: BaseException) -> Ending:
    """How a simulation ended by one of these."""
    if isinstance(error, MemoryLimitError):
        return Ending(ending.FAILED, str(error))
    return ending.of_error(error)


def _simulate(
    plan: Plan, directory: Path, progress: Progress, limit: MemoryLimit, division: Chosen
) -> Ending:
    """Simulate ``plan`` into ``directory``; returns how it ended."""
    account = Account(plan, directory, limit, division)
    ended = Ending("duration" if plan["duration_ns"] is not None else "flows")
    try:
        while not account.simulation.advance(EVENTS_AT_ONCE):
            progress(account.simulation.now_ns() / 1e9, account.wall_s())
            account.keep()
    except EARLY as error:
        ended = early_ending(error)
    account.write(account.simulation.finish(), ended)
    return ended


class Account:
    """What a simulation has counted, as ``raw/engine.json`` has it: in the end, and now and then before."""

    def __init__(self, plan: Plan, directory: Path, limit: MemoryLimit, division: Chosen = None) -> None:
        """Of a simulation of ``plan`` that begins now, records into ``directory`` and has a memory limit."""
        text = json_text.compact(plan).decode()
        self.simulation = _longhaul.Simulation(text, directory=str(directory))
        if division == "auto":
            duration_ns = plan["duration_ns"]
            seconds = None if duration_ns is None else duration_ns / 1e9
            division = automatic(self.simulation, text, seconds=seconds)
        if division is not None:
            self.simulation.divide(division.partition)
            directories.update_run(directory, **recorded(plan, division))
        self._shards = division.shards if division else 1
        self._directory, self._limit = directory, limit
        self._began_s, self._began_cpu_s = time.monotonic(), time.process_time()
        self._next_s = self._began_s + KEPT_EVERY_S

    def wall_s(self) -> float:
        """Real time since the beginning."""
        return time.monotonic() - self._began_s

    def keep(self) -> None:
        """Write what there is once a second, should the run be killed; that takes 2 % of the time at most.

        Raises MemoryLimitError.
        """
        self._limit.check()
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._write(self.simulation.so_far())
            self._next_s = time.monotonic() + max(KEPT_EVERY_S, 50 * (time.monotonic() - now_s))

    def write(self, counted: str, ended: Ending) -> None:
        """Write what there was in the end, a JSON object, and how that came."""
        self._write(counted)
        ended_json = json.dumps({"ended": ended.status, "reason": ended.reason}, indent=1)
        replace_text(self._directory / "raw" / "ended.json", ended_json)

    def _write(self, counted: str) -> None:
        times = {
            "wall_s": self.wall_s(),
            "cpu_s": time.process_time() - self._began_cpu_s,
            "shards": self._shards,
        }
        # Megabytes of a large network: with three more keys, and otherwise as the engine wrote them.
        whole = f"{counted.rstrip().removesuffix('}')},{json.dumps(times).removeprefix('{')}"
        replace_text(self._directory / "raw" / "engine.json", whole)


def _refuse_what_never_ends(resolved: "Resolved") -> None:
    """Background traffic of a live run may end with its programs; here there are none."""
    from longhaul.scenario import ScenarioError

    message, remedy = "would never end without real programs", "add stop here, or duration at the top"
    endless = [
        flow["name"]
        for flow in resolved.traffic
        if resolved.plan["duration_ns"] is None
        and not any(flow.get(end) for end in ("stop_ns", "bytes", "count"))
    ]
    if endless:
        raise ScenarioError(
            [
                resolved.scenario.problem(Code.NEVER_ENDS, ("traffic", name), message, remedy)
                for name in endless
            ]
        )
