"""A benchmark, from the names of its subjects to its files."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul import processes
from longhaul.benchmark import outcomes
from longhaul.benchmark.algorithms import is_simulated, kernel_algorithms
from longhaul.benchmark.results import evaluate
from longhaul.benchmark.suite import Size, Suite, SuiteCase
from longhaul.benchmark.suites import suite_named
from longhaul.benchmark.trials import Mode, Outcome, Trial, cores, perform_all
from longhaul.benchmark.writing import as_plain, write
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending, run_record
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.text import count_text

Json = dict[str, Any]
LIVE_OVERHEAD_S = 2.0
"""What a live run takes beside its duration."""
SIMULATED_S = 1.2
"""What a simulated run takes beside its packets."""
HOPS_PER_S = 5e6
"""Packets that go through a link, simulated; six for each across the congested link and back."""


@dataclass(frozen=True)
class Asked:
    """What is to be compared, and how."""

    suite: Suite
    subjects: tuple[str, ...]
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
    cases: tuple[SuiteCase, ...]
    trials: tuple[Trial, ...]
    not_live: tuple[str, ...]
    """Subjects that cannot be run live here."""
    not_simulated: tuple[str, ...]
    """Subjects without a model."""

    @property
    def only_simulated(self) -> dict[str, tuple[str, ...]]:
        """Scenarios that the kernel lacks algorithms for, and these."""
        found: dict[str, tuple[str, ...]] = {}
        for case in self.cases if "live" in self.asked.modes else ():
            lacking = tuple(each for each in case.algorithms if each not in kernel_algorithms())
            if lacking:
                found[case.scenario] = lacking
        return found

    def expected_s(self, trials: Sequence[Trial], pace: float = 1.0) -> float:
        """How long these runs should take; simulated ones ``pace`` times as long as expected."""
        live = sum(each.case.duration_s + LIVE_OVERHEAD_S for each in trials if each.mode == "live")
        simulated = sum(simulated_s(each.case) for each in trials if each.mode == "sim")
        return live / self.asked.at_once + simulated * pace / cores()


def simulated_s(case: SuiteCase) -> float:
    """What a simulated run of a case should take on one core."""
    return SIMULATED_S + 6 * case.bits_per_s * case.duration_s / 12_000 / HOPS_PER_S


@dataclass(frozen=True)
class Benchmarked:
    """A benchmark that has ended."""

    directory: Path
    plain: Json
    """Its results, with the keys of :func:`as_plain`."""
    interrupted: bool


Told = Callable[[Planned, int, float, Outcome | None], None]
"""Is told how many runs are done, the seconds left, and what ended last."""


def plan(asked: Asked) -> Planned:
    """Everything that is to be run. Raises LonghaulError for subjects or scenarios that nobody knows."""
    suite = asked.suite
    known = {each.name for each in suite.scenarios}
    for name in asked.only:
        if name not in known:
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'there is no scenario "{name}"',
                remedy=did_you_mean(name, sorted(known)),
                exit_code=2,
            )
    subjects = tuple(dict.fromkeys(asked.subjects))
    suite.check(subjects)
    missing = {
        mode: tuple(each for each in subjects if not _run_here(suite.needs(each), mode))
        for mode in asked.modes
    }
    if asked.modes == ("live",) and len(missing["live"]) == len(subjects):
        kernel = ", ".join(kernel_algorithms()) or "none"
        raise LonghaulError(
            Code.ALGORITHM_NOT_LIVE,
            f"this kernel has none of {', '.join(subjects)}",
            remedy=f"name one of {kernel}, or compare simulated: --sim",
            exit_code=3,
        )
    cases = suite.cases(asked.only, asked.size)
    trials = tuple(_trials(asked, cases, subjects, missing))
    return Planned(asked, cases, trials, missing.get("live", ()), missing.get("sim", ()))


def _trials(
    asked: Asked, cases: Sequence[SuiteCase], subjects: Sequence[str], missing: Mapping[Mode, Sequence[str]]
) -> Iterator[Trial]:
    """Simulated runs first; repetitions outermost, so that what is done early covers everything."""
    needs = asked.suite.needs
    modes: tuple[tuple[Mode, int], ...] = (("sim", asked.seeds), ("live", asked.repeat))
    for mode, count in modes:
        if mode not in asked.modes:
            continue
        mine = [subject for subject in subjects if subject not in missing[mode]]
        for repeat in range(count):
            for case in cases:
                if not _run_here(case.algorithms, mode):
                    continue
                pairs = [(subject, standard) for standard in case.standards or (None,) for subject in mine]
                # What the standard has among its equals is what others are measured against.
                pairs += [(each, each) for each in case.standards if _run_here(needs(each), mode)]
                for subject, standard in dict.fromkeys(pairs):
                    if standard is None or _run_here(needs(standard), mode):
                        yield Trial(case, subject, standard, mode, repeat, asked.seed + repeat, asked.tries)


def _run_here(algorithms: Sequence[str], mode: Mode) -> bool:
    """Whether all of these can be run so on this machine."""
    return all(is_simulated(each) if mode == "sim" else each in kernel_algorithms() for each in algorithms)


def run(planned: Planned, *, told: Told) -> Benchmarked:
    """Run everything and write the results. Ctrl-C ends it early; what is done counts."""
    asked = planned.asked
    if not planned.trials:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is nothing to run",
            remedy=f"see longhaul {asked.suite.name} --help",
            exit_code=2,
        )
    now = datetime.now(UTC)
    with directories.created(asked.runs / asked.suite.name, f"{now:%Y%m%dT%H%M%SZ}") as new:
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
        done = conclude(asked.suite, directory, planned.cases, interrupted=interruption is not None)
    if interruption is not None:
        ending.end(directory, ending.INTERRUPTED, interruption)
    else:
        errors = done.plain["errors"]
        reason = (
            f"{count_text(len(errors), 'run')} could not be done, the first: {errors[0]}" if errors else None
        )
        ending.end(directory, "incomplete" if errors else "done", reason)
    return done


def rewrite(directory: Path) -> Benchmarked:
    """The results of a benchmark again, also of one that was killed, from the outcomes that it wrote."""
    found = ending.settle(directory)
    known = run_record.read(directory / "benchmark.json")
    suite = suite_named(known.get("suite"))
    size = Size(known["most_bits_per_s"], known["every_case"], known["stretch"])
    return conclude(suite, directory, suite.cases(known["only"], size), interrupted=found.status != "done")


def conclude(suite: Suite, directory: Path, cases: Sequence[SuiteCase], *, interrupted: bool) -> Benchmarked:
    """Write the results of the runs that are done."""
    known = run_record.read(directory / "benchmark.json")
    found, took_s = outcomes.read(directory, cases)
    subjects = known[suite.words.subjects]
    results = evaluate(suite, cases, subjects, found)
    kept = {name: value for name, value in known.items() if name not in _OF_RECORD}
    plain = as_plain(suite, results, cases, {**kept, "took_s": took_s, "interrupted": interrupted})
    write(suite, directory, plain)
    return Benchmarked(directory, plain, interrupted)


_OF_RECORD = ("status", "reason", "processes", "only")
"""What stands in ``benchmark.json`` alone."""


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
        (each.trial.case.name, each.trial.subject, each.trial.standard, each.trial.mode, each.trial.repeat)
        for each in outcomes
    }
    return [
        each
        for each in trials
        if (each.case.name, each.subject, each.standard, each.mode, each.repeat) not in done
    ]


def _head(planned: Planned, started: str) -> Json:
    asked = planned.asked
    return {
        "suite": asked.suite.name,
        asked.suite.words.subjects: list(dict.fromkeys(asked.subjects)),
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
