"""Results of a benchmark: estimates over repetitions, and differences between live and simulated."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul.analysis.agreement import Agreement, agreement
from longhaul.analysis.estimates import Estimate, estimate
from longhaul.benchmark.suite import Measured, Suite, SuiteCase
from longhaul.benchmark.trials import DISTURBED, Mode, Outcome

Json = dict[str, Any]
Key = tuple[str, str, str | None, Mode]
"""Case, subject, standard, mode."""


@dataclass(frozen=True)
class Result:
    """One measure of one subject in one case, live or simulated."""

    scenario: str
    case: str
    """The case's label, and the standard that it was measured against."""
    subject: str
    mode: Mode
    measure: str
    estimate: Estimate
    values: tuple[float, ...]
    open_runs: int
    """In how many runs a time was not over before the end: they count with all the time there was."""


@dataclass(frozen=True)
class Compared:
    """A measure that there is live and simulated."""

    scenario: str
    case: str
    subject: str
    measure: str
    agreement: Agreement


@dataclass(frozen=True)
class Results:
    """All of a benchmark."""

    results: tuple[Result, ...]
    compared: tuple[Compared, ...]
    series: Mapping[tuple[str, str, Mode], Mapping[str, list[float]]]
    """Rates over time of the first run, by case, subject and mode."""
    verdicts: Mapping[str, int]
    """How many live runs were faithful, degraded, invalid."""
    disturbed: int
    """How many live runs the machine kept waiting too much, each time that they were tried."""
    errors: tuple[str, ...]


def evaluate(
    suite: Suite, cases: Sequence[SuiteCase], subjects: Sequence[str], outcomes: Iterable[Outcome]
) -> Results:
    """Gather what runs came to."""
    runs: dict[Key, dict[int, Measured]] = {}
    errors: list[str] = []
    verdicts: dict[str, int] = {}
    disturbed = 0
    for outcome in outcomes:
        trial, measured = outcome.trial, outcome.measured
        if measured is None:
            if not outcome.interrupted:
                what = f"{trial.case.name}, {trial.subject}, {trial.mode}, run {trial.repeat + 1}"
                errors.append(f"{what}: {outcome.error}")
            continue
        key = (trial.case.name, trial.subject, trial.standard, trial.mode)
        runs.setdefault(key, {})[trial.repeat] = measured
        if trial.mode == "live":
            verdicts[measured.verdict] = verdicts.get(measured.verdict, 0) + 1
            disturbed += measured.stopped > DISTURBED
    results: list[Result] = []
    series: dict[tuple[str, str, Mode], Mapping[str, list[float]]] = {}
    modes: tuple[Mode, ...] = ("live", "sim")
    for case in cases:
        for subject in subjects:
            for mode in modes:
                for standard in case.standards or (None,):
                    found = runs.get((case.name, subject, standard, mode))
                    if not found:
                        continue
                    base = runs.get((case.name, standard or "", standard, mode), {})
                    results += _of_case(suite, case, subject, standard, mode, found, base)
                    drawn = found[min(found)].series
                    if drawn:
                        series[case.name, subject, mode] = drawn
    return Results(
        tuple(results), tuple(_compare(suite, results)), series, verdicts, disturbed, tuple(sorted(errors))
    )


def _of_case(
    suite: Suite,
    case: SuiteCase,
    subject: str,
    standard: str | None,
    mode: Mode,
    found: Mapping[int, Measured],
    base: Mapping[int, Measured],
) -> list[Result]:
    label = case.label if standard is None else f"{case.label} beside {standard}".strip()
    both = sorted(set(found) & set(base))
    paired = [suite.pair(found[each], base[each]) for each in both]
    results = []
    for name in suite.of_kind[case.kind]:
        if name in suite.paired:
            raw = [each[name] for each in paired]
            digests = [_digest(found[each], base[each]) for each in both]
        else:
            raw = [found[repeat].values[name] for repeat in sorted(found)]
            digests = [found[repeat].digest for repeat in sorted(found)]
        horizon = case.to_s - case.event_s if name in suite.horizon else None
        measured = [
            (value, digest)
            for value, digest in zip(raw, digests, strict=True)
            for value in (horizon if value is None else value,)
            if value is not None
        ]
        if measured:
            values, results_of = zip(*measured, strict=True)
            missing = sum(each is None for each in raw) if horizon is not None else 0
            mean = estimate(values, results_of)
            results.append(Result(case.scenario, label, subject, mode, name, mean, values, missing))
    return results


def _digest(*runs: Measured) -> str | None:
    """Of the results of several runs together; ``None`` if one is live."""
    digests = [each.digest for each in runs]
    return None if None in digests else " ".join(map(str, digests))


def _compare(suite: Suite, results: Sequence[Result]) -> list[Compared]:
    live = {
        (each.scenario, each.case, each.subject, each.measure): each
        for each in results
        if each.mode == "live"
    }
    found = []
    for each in results:
        real = live.get((each.scenario, each.case, each.subject, each.measure))
        if each.mode == "sim" and real is not None:
            judged = agreement(real.estimate, each.estimate, least=suite.measures[each.measure].least)
            found.append(Compared(each.scenario, each.case, each.subject, each.measure, judged))
    return found
