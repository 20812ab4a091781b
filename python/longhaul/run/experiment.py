"""One experiment from the scenario file to the report: what ``longhaul run`` does."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from longhaul.errors import LonghaulError
from longhaul.run import directory as directories
from longhaul.run import ending, live
from longhaul.run.session import Message, RunFailedError


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
    kept = results_so_far(prepared.directory, report=report, strict=strict, as_json=as_json)
    with kept, Progress(prepared.plan, watch=watch) as progress:
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


@contextmanager
def results_so_far(
    directory: Path, *, report: bool, strict: bool = False, as_json: bool | None = None
) -> Iterator[None]:
    """A live run that fails or crashes on its way within the block leaves results of what it recorded.

    Unless ``as_json`` is ``None``, they are printed. The error is passed on with the outcome's exit code.
    """
    try:
        yield
    except RunFailedError as error:
        if (directory / "raw" / "started.json").is_file():
            try:
                status = ending.read(directory).status
                summary = conclude(directory, reason=status, report=report, strict=strict)
                error.exit_code = exit_code(summary) or error.exit_code
                if as_json is not None:
                    show(summary, directory, as_json=as_json, report=report)
            except (OSError, ValueError, LonghaulError) as second:
                print(f"longhaul: results cannot be written: {_words(second)}", file=sys.stderr)
                print(f"longhaul: to try again: longhaul report {directory}", file=sys.stderr)
        raise


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


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


def conclude_ended(directory: Path, *, as_json: bool) -> int:
    """Write and print the results of a live run that has ended, whoever ended it; returns the exit code."""
    found = ending.settle(directory)
    summary = conclude(directory, reason=found.status, report=True)
    show(summary, directory, as_json=as_json, report=True)
    return exit_code(summary)


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
