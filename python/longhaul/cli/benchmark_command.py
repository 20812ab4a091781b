"""``longhaul benchmark-cc`` from its options to its output."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from longhaul.benchmark import benchmark
from longhaul.benchmark.benchmark import Asked, Planned
from longhaul.benchmark.cases import Size
from longhaul.benchmark.trials import Mode
from longhaul.cli.benchmark_progress import Progress
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.units.text import duration_text

PAPER_STRETCH = 5.0
"""How much longer than for a live machine runs are at the draft's scale."""


@dataclass(frozen=True)
class Options:
    """As they were given."""

    controls: tuple[str, ...]
    mode: str | None
    only: tuple[str, ...]
    seeds: int
    repeat: int
    most_bits_per_s: int
    full: bool
    paper: bool
    seed: int
    at_once: int
    tries: int
    keep: bool
    runs: Path
    report: bool


def execute(options: Options, *, dry_run: bool, as_json: bool) -> int:
    """Run the benchmark and print its results; returns the exit code."""
    planned = benchmark.plan(asked(options))
    _say(planned)
    if dry_run:
        return 0
    with Progress(len(planned.trials)) as progress:
        done = benchmark.run(planned, told=progress.tell)
    if options.report:
        from longhaul.benchmark.page import write_benchmark_report

        write_benchmark_report(done.directory)
    if as_json:
        print(json.dumps(done.plain, indent=1))
    else:
        from longhaul.cli.terminal.benchmark import print_benchmark

        print_benchmark(done.plain)
    place = done.directory / "report.html" if options.report else done.directory
    print(f"report: {place}", file=sys.stderr if as_json else sys.stdout)
    if done.interrupted:
        return 130
    return 1 if done.plain["errors"] else 0


def asked(options: Options) -> Asked:
    """What the options ask for. Raises LonghaulError where they contradict each other."""
    if options.paper and options.mode == "live":
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "the draft's scale is simulated only",
            remedy="leave out --live or --paper",
            exit_code=2,
        )
    modes: tuple[Mode, ...] = ("sim", "live")
    if options.paper or options.mode == "sim":
        modes = ("sim",)
    elif options.mode == "live":
        modes = ("live",)
    size = Size(
        most_bits_per_s=None if options.paper else options.most_bits_per_s,
        every_case=options.full or options.paper,
        stretch=PAPER_STRETCH if options.paper else 1.0,
    )
    return Asked(
        controls=options.controls,
        modes=modes,
        only=options.only,
        size=size,
        seeds=options.seeds,
        repeat=options.repeat,
        seed=options.seed,
        at_once=options.at_once,
        tries=options.tries,
        keep=options.keep,
        runs=options.runs,
    )


def _say(planned: Planned) -> None:
    live = sum(each.mode == "live" for each in planned.trials)
    simulated = len(planned.trials) - live
    wanted = [f"{simulated} simulated" if simulated else "", f"{live} live" if live else ""]
    runs = " and ".join(each for each in wanted if each)
    time = duration_text(planned.expected_s(planned.trials))
    print(f"{runs or 'no'} runs of {len(planned.cases)} cases, some {time}", file=sys.stderr)
    if planned.not_live:
        print(f"not on this host, so simulated only: {', '.join(planned.not_live)}", file=sys.stderr)
    if planned.not_simulated:
        print(f"no model of it, so live only: {', '.join(planned.not_simulated)}", file=sys.stderr)
