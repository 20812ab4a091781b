"""One experiment from the scenario file to the report: what ``longhaul run`` does."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.run import directory as directories
from longhaul.run import ending, live
from longhaul.run.session import Message


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
) -> int:
    """Run a scenario live, write results and report, print the summary; returns the exit code.

    ``prometheus`` is the ADDRESS:PORT at which metrics are served meanwhile, if at all; ``watch`` shows the
    links on the terminal.
    """
    from longhaul.run.exporter import listen
    from longhaul.run.progress import Progress
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    for warning in resolved.warnings:
        print(f"longhaul: {warning}", file=sys.stderr)
    listener = listen(prometheus) if prometheus else None
    prepared = live.prepare(resolved, runs=runs, argv=argv, journal=journal)
    with Progress(prepared.plan, watch=watch) as progress:
        finished = live.run(
            prepared, progress=progress.tell, sudo=sudo, listener=listener, memory_bytes=memory_bytes
        )
    summary = conclude(finished.directory, reason=finished.reason, report=report, strict=strict)
    show(summary, finished.directory, as_json=as_json, report=report)
    return exit_code(summary)


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
) -> int:
    """Simulate a scenario, write results and report, print the summary; returns the exit code."""
    from longhaul.run import sim
    from longhaul.run.progress import Simulating
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    for warning in resolved.warnings:
        print(f"longhaul: {warning}", file=sys.stderr)
    with Simulating(resolved.plan["duration_ns"]) as progress:
        finished = sim.run(resolved, runs=runs, argv=argv, progress=progress.tell, memory_bytes=memory_bytes)
    summary = conclude(finished.directory, reason=finished.reason, report=report)
    show(summary, finished.directory, as_json=as_json, report=report)
    return exit_code(summary)


def conclude(directory: Path, *, reason: str, report: bool, strict: bool = False) -> dict[str, Any]:
    """Turn what a run left in ``raw/`` into results, and write the report.

    ``strict``: a degraded network is a failure, now and whenever the results are written again.
    """
    from longhaul.run.results import write_results

    if strict:
        directories.update_run(directory, strict=True)
    summary = write_results(directory)
    ending.end(directory, reason)
    if report:
        from longhaul.report.html import write_report

        write_report(directory)
    return summary


def show(summary: Mapping[str, Any], directory: Path, *, as_json: bool, report: bool) -> None:
    """Print the summary on standard output, and on standard error where the rest is."""
    if as_json:
        print(json.dumps(summary, indent=1))
    else:
        from longhaul.report.console import Console
        from longhaul.report.terminal import print_summary

        print_summary(summary, Console())
    place = directory / "report.html" if report else directory
    print(f"{'report' if report else 'results'}: {place}", file=sys.stderr if as_json else sys.stdout)


def exit_code(summary: Mapping[str, Any]) -> int:
    """0 passed; 1 something failed; 4 not faithful; 70 crashed; 130 interrupted: as the outcome says."""
    return int(summary["outcome"]["exit_code"])


def ignore(_message: Message) -> None:
    """A listener for runs that nobody watches."""
