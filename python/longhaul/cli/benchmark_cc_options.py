"""The options of ``longhaul benchmark-cc``, and what they ask for."""

from dataclasses import dataclass
from pathlib import Path

from longhaul.benchmark.benchmark import Asked
from longhaul.benchmark.cc.suite import CC
from longhaul.benchmark.suite import Size
from longhaul.cli.benchmark_command import modes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

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


def asked(options: Options) -> Asked:
    """What the options ask for. Raises LonghaulError where they contradict each other."""
    if options.paper and options.mode == "live":
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "the draft's scale is simulated only",
            remedy="leave out --live or --paper",
            exit_code=2,
        )
    size = Size(
        most_bits_per_s=None if options.paper else options.most_bits_per_s,
        every_case=options.full or options.paper,
        stretch=PAPER_STRETCH if options.paper else 1.0,
    )
    return Asked(
        suite=CC,
        subjects=options.controls,
        modes=modes("sim" if options.paper else options.mode),
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
