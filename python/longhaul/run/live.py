"""A scenario run live: real programs, real packets."""

import json
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from longhaul.errors import LonghaulError
from longhaul.run import directory as directories
from longhaul.run import traffic
from longhaul.run.certificate import load_certificate
from longhaul.run.compensation import compensate
from longhaul.run.session import Message, Session
from longhaul.run.state import socket_path

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

Progress = Callable[[Message], None]


@dataclass(frozen=True)
class Finished:
    """A live run that has ended."""

    directory: Path
    reason: str
    """``duration``, ``programs``, ``stopped`` or ``interrupted``."""


@dataclass(frozen=True)
class Prepared:
    """A live run that can begin."""

    name: str
    run: str
    """Unique short name, for sockets and control groups."""
    directory: Path
    plan: Path


def prepare(
    resolved: "Resolved", *, runs: Path, argv: list[str], name: str | None = None, journal: bool = False
) -> Prepared:
    """Turn traffic into programs, check that they exist, and make the run directory."""
    _refuse_what_only_a_simulation_can(resolved)
    plan: dict[str, Any] = dict(resolved.plan)
    if journal:
        plan["measure"] = {**plan["measure"], "journal": True}
    flows = [dict(item) for item in resolved.traffic]
    needed = {"ping" if flow["kind"] == "ping" else "iperf3" for flow in flows}
    traffic.require(needed)
    services = [program for program in plan["programs"] if program["service"]]
    others = [program for program in plan["programs"] if not program["service"]]
    made, rows = traffic.realise(plan, flows, duration_ns=plan["duration_ns"])
    plan["programs"] = (
        services
        + [program for program in made if program["service"]]
        + others
        + [program for program in made if not program["service"]]
    )
    certificate = load_certificate()
    compensated = resolved.scenario.document.compensate
    if compensated:
        if certificate is None:
            raise LonghaulError(
                "compensate: this machine's base latency is not known",
                remedy="measure it once with: longhaul calibrate",
                exit_code=3,
            )
        plan, warnings = compensate(plan, certificate["base_one_way_ns"])
        for warning in warnings:
            print(f"longhaul: {warning}", file=sys.stderr)
    directory = directories.create(
        runs,
        name or plan["name"],
        mode="live",
        source=resolved.source,
        plan=plan,
        argv=argv,
        inputs=resolved.inputs,
    )
    directories.update_run(directory, certificate=certificate, compensated=compensated)
    for what, content in (
        ("traffic", rows),
        ("expectations", [dict(item) for item in resolved.expectations]),
        ("positions", dict(resolved.positions)),
    ):
        (directory / "raw" / f"{what}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    run = f"{plan['name'][:24]}-{secrets.token_hex(3)}"
    return Prepared(name or plan["name"], run, directory, directory / "plan.json")


def run(prepared: Prepared, *, progress: Progress, sudo: bool = False) -> Finished:
    """Run to the end. Ctrl-C and SIGTERM end it early and keep what there is."""
    session = Session(
        prepared.plan,
        prepared.directory,
        run=prepared.run,
        socket_path=socket_path(prepared.run),
        sudo=sudo,
    )
    reason = "failed"
    try:
        with _interruptions(session):
            for message in session.events():
                progress(message)
                if message.get("event") == "ended":
                    reason = str(message["reason"])
    finally:
        session.kill()
        directories.update_run(prepared.directory, status=reason)
    return Finished(prepared.directory, reason)


def _refuse_what_only_a_simulation_can(resolved: "Resolved") -> None:
    from longhaul.scenario import ScenarioError
    from longhaul.scenario.tcp import only_simulated

    scenario, problems = resolved.scenario, []
    remedy = "run it with longhaul sim, or leave it out"
    for flow in resolved.traffic:
        if flow["only_simulated"]:
            message = "no real program sends like that: it is simulated only"
            problems.append(scenario.problem(("traffic", flow["name"]), message, remedy))
        elif len(flow.get("cc") or {}) > 1:
            message = "the kernel's laws take no parameters: they are simulated only"
            problems.append(scenario.problem(("traffic", flow["name"], "cc"), message, remedy))
    for name, program in scenario.document.programs.items():
        if program.run is None:
            message = "has nothing to run: it is simulated only"
            problems.append(
                scenario.problem(("programs", name), message, "add run: COMMAND, or use longhaul sim")
            )
    own = [(("nodes", name, "tcp"), node.tcp) for name, node in scenario.document.nodes.items() if node.tcp]
    for path, tcp in [(("tcp",), scenario.document.tcp), *own]:
        for field in only_simulated(tcp):
            where = (*path, field.partition(":")[0])
            problems.append(scenario.problem(where, f"{field} is simulated only", remedy))
    if problems:
        raise ScenarioError(problems)


@contextmanager
def _interruptions(session: Session) -> Iterator[None]:
    """The first signal asks the run to end; the second ends it at once."""
    asked = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            session.kill()
            os._exit(130)
        asked = True
        session.stop(interrupted=True)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
