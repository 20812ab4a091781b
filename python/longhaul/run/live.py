"""Live runs: real programs, real packets, and simulated traffic where the scenario says so."""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from longhaul import log, storage, subprocesses
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Flow, Node, Plan
from longhaul.results import directory as directories
from longhaul.results import ending, machine_records
from longhaul.results.certificate import load_certificate
from longhaul.results.live_records import LiveRecords, kept_joined
from longhaul.run import congestion_control, flows, host_settings, live_shards, mpi, ports, signals, traffic
from longhaul.run.learnt_networks import with_learnt_networks
from longhaul.run.memory import limit_of, warn
from longhaul.run.pacing import with_owners
from longhaul.run.random_starts import with_starts
from longhaul.run.session import Message, Session, search_path
from longhaul.run.sockets import socket_path
from longhaul.run.virtual_clock import VirtualClock
from longhaul.scenario.lower.compensation import compensate
from longhaul.scenario.lower.congestion_control import CC_SYSCTL, DEFAULT_CC
from longhaul.scenario.model.traffic import TRANSFER_KINDS, transport

if TYPE_CHECKING:
    import socket

    from longhaul.diagnostics import Diagnostic
    from longhaul.scenario import Resolved
    from longhaul.scenario.model.node import Tcp

Progress = Callable[[Message], None]


@dataclass(frozen=True)
class Finished:
    """A live run that has ended."""

    directory: Path
    reason: str
    """``duration``, ``programs``, ``stopped``, ``interrupted``, or ``failed`` (by its memory limit)."""


@dataclass(frozen=True)
class Planned:
    """What a live run does, before anything is written."""

    resolved: "Resolved"
    clock: VirtualClock | None
    plan: Plan
    rows: "list[dict[str, Any]]"
    """Tell what of the plan belongs to which traffic."""
    certificate: Mapping[str, Any] | None
    """Of the machine's calibration."""
    warnings: "tuple[Diagnostic, ...]"
    foreign: Sequence[Mapping[str, Any]] = ()
    """Network namespaces of hosts that are not the run's own."""


@dataclass(frozen=True)
class Prepared:
    """A live run that can begin."""

    name: str
    run: str
    """Unique short name, for sockets and control groups."""
    directory: Path
    plan: Path
    resolved: "Resolved"
    clock: VirtualClock | None = None
    """The virtual clock, if hosts are kernels of their own."""
    foreign: Sequence[Mapping[str, Any]] = ()
    """Network namespaces of hosts that are not the run's own."""


def prepare(
    resolved: "Resolved",
    *,
    runs: Path,
    argv: list[str],
    name: str | None = None,
    journal: bool = False,
    clock: VirtualClock | None = None,
    sudo: bool = False,
) -> Prepared:
    """Turn real traffic into programs, check that they exist, and make the run directory.

    With a virtual ``clock``, hosts will be kernels of their own. With ``sudo``, it will run as root.
    """
    planned = plan_run(resolved, journal=journal, clock=clock, sudo=sudo)
    log.warn(*planned.warnings)
    return begin(planned, runs=runs, argv=argv, name=name)


def plan_run(
    resolved: "Resolved",
    *,
    journal: bool = False,
    clock: VirtualClock | None = None,
    sudo: bool = False,
    on_machines: bool = False,
) -> Planned:
    """Turn real traffic into programs, and check that they exist. Raises LonghaulError.

    In a run ``on_machines``, each looks for its own ports.
    """
    kernel = congestion_control.THIS_MACHINE if clock is None else clock.host_kernel
    if (
        not any(node["kind"] == "host" for node in resolved.plan["nodes"])
        and resolved.scenario.document.relay
    ):
        remedy = f"run it with longhaul relay {resolved.scenario.source.name}, or add hosts"
        raise LonghaulError(
            Code.NO_TRAFFIC, "the scenario has no hosts, but a relay", remedy=remedy, exit_code=2
        )
    if clock is None and not on_machines:
        resolved = with_learnt_networks(resolved)
    resolved = with_starts(resolved)
    _refuse_what_only_a_simulation_can(resolved, kernel)
    if clock is not None:
        resolved = clock.accepted(resolved)
    if sudo and not on_machines:
        # Each machine has its own.
        subprocesses.program("sudo")
    foreign = ports.require(resolved, sudo=sudo, on_machines=on_machines)
    host_settings.require(resolved, sudo=sudo)
    loaded = congestion_control.LoadedAlgorithms(kernel)
    plan, own = _with_own_flows(resolved, loaded, kernel)
    if journal:
        plan = {**plan, "measure": {**plan["measure"], "journal": True}}
    nodes = plan["nodes"]
    real = [
        _with_kernel_algorithm(item, nodes, loaded, kernel)
        for item in resolved.traffic
        if _needs_programs(item)
    ]
    traffic.require(command for flow in real for command in traffic.commands(flow))
    services = [program for program in plan["programs"] if program["service"]]
    others = [program for program in plan["programs"] if not program["service"]]
    mpi.require(plan["programs"], path=search_path())
    made, rows = traffic.realise(plan, real, duration_ns=plan["duration_ns"])
    made += traffic.parts(plan["nodes"], plan["flows"], own)
    nodes = _with_room_for_connections(plan["nodes"], plan["flows"])
    order = [item["name"] for item in resolved.traffic]
    rows = sorted(rows + own, key=lambda row: order.index(row["name"]))
    plan = {
        **plan,
        "nodes": congestion_control.hosts_with(nodes, loaded),
        "programs": (
            services
            + [program for program in made if program["service"]]
            + others
            + [program for program in made if not program["service"]]
        ),
    }
    is_virtual = clock is not None
    # Hosts on the virtual clock are root's, whoever runs them, and see no marks of removed files.
    is_root = is_virtual or sudo or os.geteuid() == 0
    plan = host_settings.with_images(resolved, plan, is_root=is_root, merged=is_virtual)
    if loaded.plan():
        plan = {**plan, "algorithms": loaded.plan()}
    plan = with_owners(resolved, plan, own, rows)
    warnings: list[Diagnostic] = []
    certificate = load_certificate()
    if resolved.scenario.document.compensate and clock is None:
        if certificate is None:
            raise LonghaulError(
                Code.NOT_CALIBRATED,
                "compensate: this machine's base latency is not known",
                remedy="measure it once with: longhaul calibrate",
                exit_code=3,
            )
        plan, warnings = compensate(plan, certificate["base_one_way_ns"])
    from longhaul.scenario.lower.demands import concerns

    warnings += traffic.concerns(resolved, real)
    if clock is None:
        warnings += (
            *concerns(resolved, certificate),
            *congestion_control.default_concerns(resolved.plan),
        )
    return Planned(resolved, clock, plan, rows, certificate, tuple(warnings), foreign)


def begin(planned: Planned, *, runs: Path, argv: list[str], name: str | None = None) -> Prepared:
    """Make the run directory."""
    resolved, plan, clock = planned.resolved, planned.plan, planned.clock
    is_mixed = plan["jobs"] or any(flow["simulated"] for flow in plan["flows"])
    directory = directories.create_for(
        resolved,
        runs=runs,
        name=name,
        mode="virtual" if clock is not None else "mixed" if is_mixed else "live",
        plan=plan,
        argv=argv,
        rows=planned.rows,
    )
    with ending.recorded(directory):
        packets = flows.packets_files(resolved)
        if packets:
            storage.make_directory(directory / "packets")
        for place, content in packets.items():
            storage.replace_bytes(directory / place, content)
        host_settings.write(directory, host_settings.contents(resolved, plan["nodes"]))
        if clock is None:
            compensated = resolved.scenario.document.compensate
            directories.update_run(directory, certificate=planned.certificate, compensated=compensated)
        else:
            directories.update_run(directory, guest_kernel=clock.as_json())
    run = f"{plan['name'][:24]}-{secrets.token_hex(3)}"
    plan_file = directory / "plan.json"
    return Prepared(name or plan["name"], run, directory, plan_file, resolved, clock, planned.foreign)


def run(
    prepared: Prepared,
    *,
    progress: Progress,
    sudo: bool = False,
    listener: "socket.socket | None" = None,
    memory_bytes: int | None = None,
    scratch: Sequence[Path] = (),
    work: Path | None = None,
    quiet: bool = False,
    shards: Sequence[int] | None = None,
    began: Callable[[Session], None] = lambda _session: None,
) -> Finished:
    """Run to the end. Ctrl-C, SIGTERM, SIGHUP and the memory limit end it early and keep its results so far.

    Supervisor, engine and observer may use ``memory_bytes`` of memory, by default half of what is free.
    At ``listener``, if there is one, metrics are served meanwhile. ``scratch`` is removed should this process
    be killed. Programs begin in the directory ``work``, by default that of this process. A ``quiet`` run does
    not warn. ``shards`` says which engine thread each node has, if there are several.
    ``began`` is called with the session, which another thread may stop. Raises RunFailedError.
    """
    path = socket_path(prepared.run)
    served: AbstractContextManager[None] = nullcontext()
    if listener is not None:
        from longhaul.run.exporter import serving

        served = serving(listener, prepared.directory, path)
    if not quiet:
        warn(prepared.resolved, memory_bytes)
    ended = ending.Ending(ending.FAILED)
    guests: AbstractContextManager[dict[str, Any] | None]
    guests = nullcontext()
    if prepared.clock is not None:
        guests = prepared.clock.orders(prepared.resolved.plan, prepared.directory)
    joined: AbstractContextManager[None] = nullcontext()
    if shards is not None:
        parts = machine_records.shards_of(shards)
        plan = directories.read_plan(prepared.directory)
        directories.update_run(prepared.directory, machines=parts, **live_shards.record_of(plan, shards))
        names = [each["name"] for each in parts]
        every_ns = plan["measure"]["every_ns"]
        joined = kept_joined(LiveRecords(prepared.directory, plan, shards, names, interval_ns=every_ns))
    with ending.recorded(prepared.directory), guests as kernel:
        session = Session(
            prepared.plan,
            prepared.directory,
            run=prepared.run,
            socket_path=path,
            sudo=sudo,
            scratch=[*scratch, Path(kernel["directory"])] if kernel else scratch,
            memory_bytes=limit_of(memory_bytes),
            kernel=kernel,
            work=work,
            foreign=prepared.foreign,
            shards=shards,
        )
        try:
            began(session)
            with served, joined, _interruptions(session):
                for message in session.events():
                    progress(message)
                    if message.get("event") == "ended":
                        ended = ending.Ending(str(message["reason"]), message.get("why"))
        finally:
            session.kill()
            if shards is not None and (prepared.directory / machine_records.MACHINES).is_dir():
                machine_records.merge_shards(prepared.directory, plan, shards)
        ending.end(prepared.directory, ended.status, ended.reason)
    return Finished(prepared.directory, ended.status)


def _needs_programs(item: Mapping[str, Any]) -> bool:
    """Whether traffic is what programs of this machine send."""
    return not item["simulated"] and traffic.command(item) is not None


def _with_kernel_algorithm(
    item: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    loaded: congestion_control.LoadedAlgorithms,
    kernel: congestion_control.HostKernel,
) -> dict[str, Any]:
    """Real traffic, with its congestion control and the kernel's name of it."""
    if transport(item["kind"]) != "tcp":
        return dict(item)
    algorithm = item.get("cc") or {"algorithm": nodes[item["source"]]["sysctls"].get(CC_SYSCTL, DEFAULT_CC)}
    # A kernel without CUBIC has what it has.
    if algorithm == {"algorithm": DEFAULT_CC} and not kernel.has(DEFAULT_CC):
        return dict(item)
    return {**item, "cc": algorithm, "kernel_algorithm": loaded.name(algorithm)}


def _with_own_flows(
    resolved: "Resolved",
    loaded: congestion_control.LoadedAlgorithms,
    kernel: congestion_control.HostKernel,
) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan with the flows that are no programs', simulated or real, and rows that tell whose they are."""
    plan = resolved.plan
    background = [item for item in resolved.traffic if item["simulated"]]
    played = [
        _with_kernel_algorithm(item, plan["nodes"], loaded, kernel)
        for item in resolved.traffic
        if not item["simulated"] and not _needs_programs(item)
    ]
    simulated, rows = flows.plan_flows(resolved, background)
    jobs = flows.plan_jobs(resolved, flows.jobs_without_program(resolved))
    real, more = flows.plan_flows(resolved, played, simulated=False)
    plan = {**plan, "flows": [*simulated, *real], "jobs": jobs}
    if plan["flows"] or plan["jobs"]:
        flows.check(plan)
    if simulated or jobs:
        plan = {
            **plan,
            "nodes": _without_foreign_algorithms(plan["nodes"], flows.real_ends(resolved), kernel),
        }
    return plan, rows + more


def _with_room_for_connections(nodes: Sequence[Node], planned: Sequence[Flow]) -> list[Node]:
    """Hosts that make many transfers may use a port again after a second: theirs would not last a minute."""
    clients = {
        each["source"]
        for each in planned
        if not each["simulated"] and each["traffic"]["kind"] in TRANSFER_KINDS
    }
    reuse = {"net.ipv4.tcp_tw_reuse": "1"}
    return [
        {**node, "sysctls": {**reuse, **node["sysctls"]}} if index in clients else node
        for index, node in enumerate(nodes)
    ]


def _without_foreign_algorithms(
    nodes: Sequence[Node], real: frozenset[int], kernel: congestion_control.HostKernel
) -> list[Node]:
    """The hosts; those with simulated ends only may name an algorithm that their kernel lacks."""
    return [
        {
            **node,
            "sysctls": {name: value for name, value in node["sysctls"].items() if name != CC_SYSCTL},
        }
        if index not in real and not kernel.has(node["sysctls"].get(CC_SYSCTL, "reno"))
        else node
        for index, node in enumerate(nodes)
    ]


def _refuse_what_only_a_simulation_can(resolved: "Resolved", kernel: congestion_control.HostKernel) -> None:
    from longhaul.scenario import ScenarioError

    real = (item for item in resolved.traffic if not item["simulated"])
    problems = congestion_control.problems(resolved, real, kernel)
    problems += _settings_only_simulated(resolved)
    if problems:
        raise ScenarioError(problems)


def _settings_only_simulated(resolved: "Resolved") -> "list[Diagnostic]":
    """TCP settings that no kernel has, of all hosts or of one, where something real would need them."""
    from longhaul.scenario.lower.tcp import only_simulated
    from longhaul.scenario.syntax.ranges import expand

    scenario, names = resolved.scenario, [node["name"] for node in resolved.plan["nodes"]]
    simulated = flows.simulated_ends(resolved) - flows.real_ends(resolved)
    exempt = {names[node] for node in simulated}
    settings: list[tuple[tuple[str, ...], Tcp]] = [
        (("nodes", written, "tcp"), node.tcp)
        for written, node in scenario.document.nodes.items()
        if node.tcp and not exempt.issuperset(expand(written))
    ]
    if flows.real_ends(resolved) or not simulated:
        settings.insert(0, (("tcp",), scenario.document.tcp))
    remedy = "run it with longhaul sim, or simulate all traffic of these hosts"
    return [
        scenario.problem(
            Code.SIMULATED_ONLY, (*path, field.partition(":")[0]), f"{field} is simulated only", remedy
        )
        for path, tcp in settings
        for field in only_simulated(tcp)
    ]


@contextmanager
def _interruptions(session: Session) -> Iterator[None]:
    """The first signal asks the run to end; the second ends it at once."""
    asked = False

    def on_signal(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            session.end_at_once(f"{signals.reason(number)} twice, which leaves no results")
        else:
            asked = True
            session.stop(status=ending.INTERRUPTED, why=signals.reason(number))

    with signals.handled(on_signal):
        yield
