"""Commands that run a suite of the benchmark, from their options to their output."""

import json
import sys

from longhaul.benchmark import benchmark
from longhaul.benchmark.benchmark import Asked, Planned
from longhaul.benchmark.trials import Mode
from longhaul.benchmark.writing import in_words
from longhaul.cli.benchmark_progress import Progress
from longhaul.units.text import duration_text


def modes(mode: str | None) -> tuple[Mode, ...]:
    """The modes of runs that an option chooses; both without it."""
    match mode:
        case "sim":
            return ("sim",)
        case "live":
            return ("live",)
        case _:
            return ("sim", "live")


def execute(asked: Asked, *, dry_run: bool, report: bool, as_json: bool) -> int:
    """Run the benchmark and print its results; returns the exit code."""
    planned = benchmark.plan(asked)
    _say(planned)
    if dry_run:
        return 0
    with Progress(len(planned.trials)) as progress:
        done = benchmark.run(planned, told=progress.tell)
    if report:
        from longhaul.benchmark.page import write_benchmark_report

        write_benchmark_report(done.directory)
    if as_json:
        print(json.dumps(in_words(asked.suite, done.plain), indent=1))
    else:
        from longhaul.cli.terminal.benchmark import print_benchmark

        print_benchmark(asked.suite, done.plain)
    place = done.directory / "report.html" if report else done.directory
    print(f"report: {place}", file=sys.stderr if as_json else sys.stdout)
    if done.interrupted:
        return 130
    return 1 if done.plain["errors"] else 0


def _say(planned: Planned) -> None:
    live = sum(each.mode == "live" for each in planned.trials)
    simulated = len(planned.trials) - live
    wanted = [f"{simulated} simulated" if simulated else "", f"{live} live" if live else ""]
    runs = " and ".join(each for each in wanted if each)
    time = duration_text(planned.expected_s(planned.trials))
    print(f"{runs or 'no'} runs of {len(planned.cases)} cases, some {time}", file=sys.stderr)
    if planned.not_live:
        print(f"not on this host, so simulated only: {', '.join(planned.not_live)}", file=sys.stderr)
    for scenario, algorithms in planned.only_simulated.items():
        print(f"this kernel lacks {', '.join(algorithms)}, so not live: {scenario}", file=sys.stderr)
    if planned.not_simulated:
        print(f"no model of it, so live only: {', '.join(planned.not_simulated)}", file=sys.stderr)
