"""One experiment from the scenario file to the report: what ``longhaul run`` does."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        finished = live.run(prepared, progress=progress.tell, sudo=sudo, listener=listener)
    summary = conclude(finished.directory, reason=finished.reason, report=report)
    show(summary, finished.directory, as_json=as_json, report=report)
    return exit_code(summary, reason=finished.reason, strict=strict)


def simulate(
    scenario: Path,
    *,
    settings: Mapping[str, str],
    seed: int | None = None,
    runs: Path,
    argv: list[str],
    report: bool = True,
    as_json: bool = False,
) -> int:
    """Simulate a scenario, write results and report, print the summary; returns the exit code."""
    from longhaul.run import sim
    from longhaul.run.progress import Simulating
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings), seed=seed)
    for warning in resolved.warnings:
        print(f"longhaul: {warning}", file=sys.stderr)
    with Simulating(resolved.plan["duration_ns"]) as progress:
        finished = sim.run(resolved, runs=runs, argv=argv, progress=progress.tell)
    summary = conclude(finished.directory, reason=finished.reason, report=report)
    show(summary, finished.directory, as_json=as_json, report=report)
    return exit_code(summary, reason=finished.reason, strict=False)


def conclude(directory: Path, *, reason: str, report: bool) -> dict[str, Any]:
    """Turn what a run left in ``raw/`` into results, and write the report."""
    from longhaul.run.results import write_results

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


def exit_code(summary: Mapping[str, Any], *, reason: str, strict: bool) -> int:
    """0 good; 1 a program or an expectation failed; 4 not faithful; 130 interrupted."""
    from longhaul.analysis.fidelity import exit_code as judge

    if reason == "interrupted":
        return 130
    return judge(summary, strict=strict)


def ignore(_message: Message) -> None:
    """A listener for runs that nobody watches."""
