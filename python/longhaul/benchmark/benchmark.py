"""``longhaul benchmark-cc``, from the names of algorithms to its files."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul import _longhaul, processes
from longhaul.benchmark import outcomes
from longhaul.benchmark.case import Case
from longhaul.benchmark.cases import SCENARIOS, Size
from longhaul.benchmark.results import evaluate
from longhaul.benchmark.trials import Mode, Outcome, Trial, cores, perform_all
from longhaul.benchmark.writing import as_plain, write
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending, run_record
from longhaul.run.congestion_control import available
from longhaul.scenario.syntax.problems import did_you_mean

Json = dict[str, Any]
LIVE_OVERHEAD_S = 2.0
"""What a live run takes beside its duration."""
SIMULATED_S = 1.2
"""What a simulated run takes beside its packets."""
HOPS_PER_S = 5e6
"""Packets that go through a link, simulated; six for each across the congested link and back."""
NAME = "benchmark-cc"


@dataclass(frozen=True)
class Asked:
    """What is to be compared, and how."""

    controls: tuple[str, ...]
    modes: tuple[Mode, ...]
    only: tuple[str, ...]
    size: Size
    seeds: int
    """Simulated runs of each case."""
    repeat: int
    """Live runs of each case."""
    seed: int
    at_once: int
    """Live runs at a time."""
    tries: int
    """How often a live run is tried that the machine disturbs."""
    keep: bool
    runs: Path


@dataclass(frozen=True)
class Planned:
    """All runs of a benchmark."""

    asked: Asked
    cases: tuple[Case, ...]
    trials: tuple[Trial, ...]
    not_live: tuple[str, ...]
    """Controls that this kernel does not have."""
    not_simulated: tuple[str, ...]
    """Controls that only the kernel has."""

    def expected_s(self, trials: Sequence[Trial], pace: float = 1.0) -> float:
        """How long these runs should take; simulated ones ``pace`` times as long as expected."""
        live = sum(each.case.duration_s + LIVE_OVERHEAD_S for each in trials if each.mode == "live")
        simulated = sum(simulated_s(each.case) for each in trials if each.mode == "sim")
        return live / self.asked.at_once + simulated * pace / cores()


def simulated_s(case: Case) -> float:
    """What a simulated run of a case should take on one core."""
    return SIMULATED_S + 6 * case.bits_per_s * case.duration_s / 12_000 / HOPS_PER_S


@dataclass(frozen=True)
class Benchmarked:
    """A benchmark that has ended."""

    directory: Path
    plain: Json
    """The contents of ``results.json``."""
    interrupted: bool


Told = Callable[[Planned, int, float, Outcome | None], None]
"""Is told how many runs are done, the seconds left, and what ended last."""


@cache
def kernel_controls() -> tuple[str, ...]:
    """Algorithms that real hosts can use here: the kernel's own, and those that can be loaded for a run."""
    loadable = [name for name, obstacle in _longhaul.bpf_algorithms(load=True) if obstacle is None]
    return tuple(dict.fromkeys(available() + loadable))


def is_simulated(control: str) -> bool:
    """Whether there is a model of this control."""
    return control in _longhaul.algorithms()


def plan(asked: Asked) -> Planned:
    """Everything that is to be run. Raises LonghaulError for controls or scenarios that nobody knows."""
    known = {each.name for each in SCENARIOS}
    for name in asked.only:
        if name not in known:
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'there is no scenario "{name}"',
                remedy=did_you_mean(name, sorted(known)),
                exit_code=2,
            )
    live = kernel_controls() if "live" in asked.modes else ()
    controls = tuple(dict.fromkeys(asked.controls))
    for control in controls:
        if not is_simulated(control) and control not in kernel_controls():
            kernel = ", ".join(kernel_controls()) or "none"
            raise LonghaulError(
                Code.ALGORITHM_UNKNOWN,
                f'unknown congestion-control algorithm "{control}"',
                remedy=f"name one of the models (docs/models/README.md), or of this kernel: {kernel}",
                exit_code=2,
            )
    not_live = tuple(each for each in controls if each not in live) if "live" in asked.modes else ()
    not_simulated = tuple(each for each in controls if "sim" in asked.modes and not is_simulated(each))
    if asked.modes == ("live",) and len(not_live) == len(controls):
        raise LonghaulError(
            Code.ALGORITHM_NOT_LIVE,
            f"this kernel has none of {', '.join(controls)}",
            remedy=f"name one of {', '.join(live) or 'none'}, or compare simulated: --sim",
            exit_code=3,
        )
    cases = cases_of(asked.only, asked.size)
    trials = tuple(_trials(asked, cases, controls, not_live, not_simulated))
    return Planned(asked, cases, trials, not_live, not_simulated)


def _trials(
    asked: Asked,
    cases: Sequence[Case],
    controls: Sequence[str],
    not_live: Sequence[str],
    not_simulated: Sequence[str],
) -> Iterator[Trial]:
    """Simulated runs first; repetitions outermost, so that what is done early covers everything."""
    for mode, count, missing in (
        ("sim", asked.seeds, not_simulated),
        ("live", asked.repeat, not_live),
    ):
        if mode not in asked.modes:
            continue
        chosen: Mode = "sim" if mode == "sim" else "live"
        mine = [control for control in controls if control not in missing]
        for repeat in range(count):
            for case in cases:
                pairs = [(control, standard) for standard in case.standards or (None,) for control in mine]
                # What the standard has among its equals is what others are measured against.
                pairs += [(each, each) for each in case.standards if _has(each, mode)]
                for control, standard in dict.fromkeys(pairs):
                    if standard is None or _has(standard, mode):
                        yield Trial(case, control, standard, chosen, repeat, asked.seed + repeat, asked.tries)


def _has(control: str, mode: str) -> bool:
    return mode == "sim" or control in kernel_controls()


def run(planned: Planned, *, told: Told) -> Benchmarked:
    """Run everything and write the results. Ctrl-C ends it early; what is done counts."""
    asked = planned.asked
    if not planned.trials:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is nothing to run",
            remedy="see longhaul benchmark-cc --help",
            exit_code=2,
        )
    now = datetime.now(UTC)
    with directories.created(asked.runs / NAME, f"{now:%Y%m%dT%H%M%SZ}") as new:
        run_record.reserve(new.part)
        run_record.write(
            new.part / "benchmark.json",
            {
                "status": ending.RUNNING,
                "reason": None,
                "processes": {"benchmark": processes.identify()},
                "only": list(asked.only),
                **_head(planned, now.isoformat(timespec="seconds")),
            },
        )
    directory = new.directory
    with ending.recorded(directory):
        interruption = _perform(planned, directory, told)
        done = conclude(directory, planned.cases, interrupted=interruption is not None)
    if interruption is not None:
        ending.end(directory, ending.INTERRUPTED, interruption)
    else:
        errors = done.plain["errors"]
        reason = f"{len(errors)} runs could not be done, the first: {errors[0]}" if errors else None
        ending.end(directory, "incomplete" if errors else "done", reason)
    return done


def rewrite(directory: Path) -> Benchmarked:
    """The results of a benchmark again, also of one that was killed, from the outcomes that it wrote."""
    found = ending.settle(directory)
    known = run_record.read(directory / "benchmark.json")
    size = Size(known["most_bits_per_s"], known["every_case"], known["stretch"])
    return conclude(directory, cases_of(known["only"], size), interrupted=found.status != "done")


def conclude(directory: Path, cases: Sequence[Case], *, interrupted: bool) -> Benchmarked:
    """Write the results of the runs that are done."""
    known = run_record.read(directory / "benchmark.json")
    found, took_s = outcomes.read(directory, cases)
    results = evaluate(cases, known["controls"], found)
    kept = {name: value for name, value in known.items() if name not in _OF_RECORD}
    plain = as_plain(results, cases, {**kept, "took_s": took_s, "interrupted": interrupted})
    write(directory, plain)
    return Benchmarked(directory, plain, interrupted)


_OF_RECORD = ("status", "reason", "processes", "only")
"""What stands in ``benchmark.json`` alone."""


def cases_of(only: Sequence[str], size: Size) -> tuple[Case, ...]:
    """The cases of the scenarios ``only``, or of all."""
    return tuple(case for each in SCENARIOS if not only or each.name in only for case in each.cases(size))


def _perform(planned: Planned, directory: Path, told: Told) -> str | None:
    """Run everything; returns what interrupted it, if something did."""
    done: list[Outcome] = []
    began = time.monotonic()
    pace = 1.0
    try:
        for mode, at_once in (("sim", cores()), ("live", planned.asked.at_once)):
            mine = [each for each in planned.trials if each.mode == mode]
            started = time.monotonic()
            place, keep = directory / "runs", planned.asked.keep
            performed = perform_all(mine, place=place, keep=keep, at_once=at_once)
            for count, outcome in enumerate(performed, start=1):
                done.append(outcome)
                outcomes.append(directory, outcome, took_s=time.monotonic() - began)
                if mode == "sim" and count > 3:
                    expected = sum(simulated_s(each.trial.case) for each in done)
                    pace = (time.monotonic() - started) * cores() / expected
                left = _left(planned.trials, done)
                told(planned, len(done), planned.expected_s(left, pace), outcome)
                if outcome.interrupted:
                    return ending.REASONS[ending.INTERRUPTED]
    except KeyboardInterrupt as interruption:
        return str(interruption) or ending.REASONS[ending.INTERRUPTED]
    return None


def _left(trials: Sequence[Trial], outcomes: Sequence[Outcome]) -> list[Trial]:
    done = {
        (each.trial.case.name, each.trial.control, each.trial.standard, each.trial.mode, each.trial.repeat)
        for each in outcomes
    }
    return [
        each
        for each in trials
        if (each.case.name, each.control, each.standard, each.mode, each.repeat) not in done
    ]


def _head(planned: Planned, started: str) -> Json:
    asked = planned.asked
    return {
        "controls": list(dict.fromkeys(asked.controls)),
        "modes": list(asked.modes),
        "not_live": list(planned.not_live),
        "not_simulated": list(planned.not_simulated),
        "live_runs": asked.repeat if "live" in asked.modes else 0,
        "simulated_runs": asked.seeds if "sim" in asked.modes else 0,
        "seed": asked.seed,
        "most_bits_per_s": asked.size.most_bits_per_s,
        "every_case": asked.size.every_case,
        "stretch": asked.size.stretch,
        "live_at_once": asked.at_once,
        "live_tries": asked.tries,
        "started": started,
        "argv": sys.argv,
        "host": directories.machine(),
        "version": version("longhaul"),
    }
