"""One experiment, from the scenario file to the printed summary: ``longhaul run``, ``sim`` and ``down``."""

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from longhaul import json_text, log

if TYPE_CHECKING:
    from longhaul.run.virtual_clock import Clock


def run_experiment(
    scenario: Path,
    *,
    settings: Mapping[str, str],
    seed: int | None = None,
    runs: Path,
    argv: list[str],
    sudo: bool = False,
    journal: bool = False,
    prometheus: str | None = None,
    watch: bool = False,
    strict: bool = False,
    report: bool = True,
    as_json: bool = False,
    memory_bytes: int | None = None,
    clock: "Clock" = "real",
    kernel: str | None = None,
    on: str | None = None,
    ssh: str = "ssh",
    tunnel: Literal["plain", "encrypted"] = "plain",
    shards: int | Literal["auto"] = 1,
) -> int:
    """Run a scenario live, write results and report, print the summary; returns the exit code.

    ``on`` names the machines that it runs on, if there are several; ``shards`` is the number of engine
    threads.

    On the ``virtual`` clock, every host runs a Linux of its own, of version ``kernel`` if one is given.
    ``prometheus`` is the ADDRESS:PORT at which metrics are served meanwhile, if at all; ``watch`` shows the
    links on the terminal.
    """
    from longhaul.cli.progress import Progress
    from longhaul.machines import run as divided_run
    from longhaul.machines.allocations import allocation_of
    from longhaul.machines.learnt_networks import with_learnt_networks
    from longhaul.machines.parts import Options
    from longhaul.machines.placement import place
    from longhaul.machines.virtual_hosts import place_hosts
    from longhaul.run import conclusion, live, live_shards
    from longhaul.run.announcement import announce, announce_live
    from longhaul.run.exporter import listen
    from longhaul.run.virtual_clock import clock_of
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    log.warn(*resolved.warnings)
    if as_json:
        log.leave_out_notes()
    virtual = clock_of(clock, resolved.scenario, kernel)
    (announce_live if virtual is None else announce)(resolved)
    listener = listen(prometheus) if prometheus else None
    is_divided = on is not None and virtual is None
    planned = live.plan_run(resolved, journal=journal, clock=virtual, sudo=sudo, on_machines=is_divided)
    threads = live_shards.threads_of(planned.plan, shards)
    if is_divided:
        live_shards.refuse(planned.plan, option="--on")
    log.warn(*planned.warnings)
    with nullcontext() if on is None else allocation_of(on, ssh=ssh, sudo=sudo) as allocation:
        placement = None
        if allocation is not None and virtual is not None:
            remote_machines = place_hosts(resolved, planned.plan, allocation.machines)
            planned = replace(planned, clock=replace(virtual, remote_machines=remote_machines))
        elif allocation is not None:
            if (learnt := with_learnt_networks(resolved, allocation.machines)) is not resolved:
                resolved = learnt
                planned = live.plan_run(resolved, journal=journal, sudo=sudo, on_machines=True)
            placement = place(resolved, planned.plan, allocation.machines)
        prepared = live.begin(planned, runs=runs, argv=argv)
        kept = conclusion.results_so_far(
            prepared.directory,
            report=report,
            strict=strict,
            shown=lambda summary: show(summary, prepared.directory, as_json=as_json, report=report),
        )
        with kept, Progress(prepared.plan, watch=watch) as progress:
            if placement is not None:
                options = Options(encrypts=tunnel == "encrypted", memory_bytes=memory_bytes)
                finished = divided_run.run(
                    prepared.directory,
                    placement,
                    name=prepared.run,
                    progress=progress.tell,
                    options=options,
                    listener=listener,
                )
            else:
                finished = live.run(
                    prepared,
                    progress=progress.tell,
                    sudo=sudo,
                    listener=listener,
                    memory_bytes=memory_bytes,
                    shards=threads,
                )
    summary = conclude(finished.directory, reason=finished.reason, report=report, strict=strict)
    show(summary, finished.directory, as_json=as_json, report=report)
    return conclusion.exit_code(summary)


def simulate(
    scenario: Path,
    *,
    settings: Mapping[str, str],
    seed: int | None = None,
    runs: Path,
    argv: list[str],
    report: bool = True,
    as_json: bool = False,
    memory_bytes: int | None = None,
    shards: int | Literal["auto"] = 1,
) -> int:
    """Simulate a scenario, write results and report, print the summary; returns the exit code."""
    from longhaul.cli.progress import Simulating
    from longhaul.run import conclusion, sim
    from longhaul.run.announcement import announce
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    log.warn(*resolved.warnings)
    if as_json:
        log.leave_out_notes()
    announce(resolved)
    with Simulating(resolved.plan["duration_ns"]) as progress:
        finished = sim.run(
            resolved,
            runs=runs,
            argv=argv,
            progress=progress.tell,
            memory_bytes=memory_bytes,
            shards=shards,
        )
    summary = conclude(finished.directory, reason=finished.reason, report=report)
    show(summary, finished.directory, as_json=as_json, report=report)
    return conclusion.exit_code(summary)


def consult_oracle(
    scenario: Path,
    *,
    settings: Mapping[str, str],
    seed: int | None = None,
    runs: Path,
    argv: list[str],
    kernel: str | None = None,
    super_packets: bool = False,
    as_json: bool = False,
) -> int:
    """Run a scenario on the virtual clock, with Longhaul's links and with Linux's, and print both results."""
    from longhaul.cli.progress import Progress
    from longhaul.oracle import api
    from longhaul.results import ending
    from longhaul.run import conclusion, live
    from longhaul.run.virtual_clock import virtual_clock
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    log.warn(*resolved.warnings)
    if as_json:
        log.leave_out_notes()
    clock = virtual_clock(resolved.scenario, kernel)
    accepted = api.accept(resolved)
    log.warn(*accepted.notes)
    prepared = live.prepare(resolved, runs=runs, argv=argv, clock=clock)
    with Progress(prepared.plan) as progress:
        finished = live.run(prepared, progress=progress.tell)
    summary = conclude(finished.directory, reason=finished.reason, report=False)
    if finished.reason == ending.INTERRUPTED:
        return conclusion.exit_code(summary)
    log.note("the same with the links of Linux ...")
    comparison = api.consult(accepted, finished.directory, summary, clock.kernel, super_packets=super_packets)
    if as_json:
        print(json_text.written(comparison.as_json()).decode())
    else:
        from longhaul.cli.terminal.oracle import print_oracle

        print_oracle(comparison)
    place = finished.directory / api.DIRECTORY
    print(f"results: {place}", file=sys.stderr if as_json else sys.stdout)
    return 0 if comparison.agrees else 1


def conclude_ended(directory: Path, *, as_json: bool) -> int:
    """Print the results of what ran in the background and has ended; returns its exit code."""
    from longhaul.results import directory as directories
    from longhaul.results import ending
    from longhaul.run import conclusion

    if directories.read_run(directory)["mode"] == "relay":
        from longhaul.cli.relay_command import show as show_relay
        from longhaul.relay.results import exit_code, finished_summary

        summary = finished_summary(directory)
        show_relay(summary, directory, as_json=as_json)
        return exit_code(summary)
    found = ending.settle(directory)
    summary = conclude(directory, reason=found.status, report=True)
    show(summary, directory, as_json=as_json, report=True)
    return conclusion.exit_code(summary)


def conclude(directory: Path, *, reason: str, report: bool, strict: bool = False) -> dict[str, Any]:
    """Write results and report of a run, and show on the terminal which part is being written."""
    from longhaul.cli.progress import Concluding
    from longhaul.run import conclusion

    with Concluding() as shown:
        return conclusion.conclude(
            directory, reason=reason, report=report, strict=strict, progress=shown.write
        )


def show(summary: Mapping[str, Any], directory: Path, *, as_json: bool, report: bool) -> None:
    """Print the summary on standard output, and on standard error where the rest is."""
    if as_json:
        print(json_text.written(summary).decode())
    else:
        from longhaul.cli.terminal.run import print_summary
        from longhaul.report.console import Console

        print_summary(summary, Console())
    place = directory / "report.html" if report else directory
    print(f"{'report' if report else 'results'}: {place}", file=sys.stderr if as_json else sys.stdout)
