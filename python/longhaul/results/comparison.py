"""Runs on disk, in groups, with their metrics."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.analysis.comparison import Row, compare, digest, independent, simulated
from longhaul.analysis.differences import Facts, facts
from longhaul.analysis.metrics import metrics
from longhaul.analysis.parameters import Parameter, names, parameters
from longhaul.analysis.stealing import Stolen, cross_bits_per_s, stolen_bandwidth
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending
from longhaul.results.run_files import kept_json, reading
from longhaul.scenario.model.metrics import DEFAULT_METRICS, unknown_metric

_MOST_TOLD = 3


@dataclass(frozen=True)
class Group:
    """Runs that are repetitions of each other."""

    name: str
    runs: tuple[Path, ...]


def find(path: Path) -> Group:
    """The run in ``path``, or all runs in it. Raises LonghaulError if there are none."""
    if (path / "plan.json").is_file():
        return Group(str(path), (path,))
    if (path / "sweep.json").is_file():
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            f"{path} is a sweep, whose report compares its own variants",
            remedy="see longhaul report of it; single variants can be simulated with longhaul sim --set",
            exit_code=2,
        )
    runs = sorted(
        each for each in path.glob("[!.]*") if not each.is_symlink() and (each / "plan.json").is_file()
    )
    if not runs:
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{path} is not a run directory, and has none in it",
            remedy="name one, such as runs/NAME/latest-sim, or runs/NAME for all runs of a name",
            exit_code=2,
        )
    return Group(str(path), tuple(runs))


def find_all(paths: Sequence[Path]) -> list[Group]:
    """A group for each path; of a single path, one for each mode and each scenario of its runs."""
    groups = [find(path) for path in paths]
    if len(groups) == 1:
        with reading(*groups[0].runs):
            groups = split(groups[0])
    if len(groups) < 2:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is nothing to compare with",
            remedy="name two runs, or a directory with live and simulated ones, or with several scenarios",
            exit_code=2,
        )
    return groups


def split(group: Group) -> list[Group]:
    """Its runs in groups of repetitions: those that differ in nothing but the seed.

    A group is named after its mode and, if a mode has several, after what differs.
    """
    alike: dict[tuple[str, str, str], list[Path]] = {}
    for run in group.runs:
        alike.setdefault(_kind(run), []).append(run)
    of_mode = {mode: [runs for (each, *_), runs in alike.items() if each == mode] for mode, *_ in alike}
    found = []
    for mode, variants in sorted(of_mode.items()):
        names = _told_apart([runs[0] for runs in variants])
        for name, runs in zip(names, variants, strict=True):
            found.append(Group(", ".join(filter(None, (group.name, mode, name))), tuple(runs)))
    return found


def _kind(run: Path) -> tuple[str, str, str]:
    """What repetitions have in common: mode, scenario, and what users changed meanwhile."""
    changes = [each for each in _summary(run).get("changes", ()) if each.get("kind") == "intervention"]
    mode = str(kept_json(run, "run.json").get("mode"))
    return mode, directories.variant_of_run(run), json.dumps(changes, sort_keys=True)


def _told_apart(runs: Sequence[Path]) -> list[str]:
    """What each of several runs has that others do not, in a few words; nothing for a single one."""
    if len(runs) < 2:
        return [""] * len(runs)
    found = names(parameters([facts_of(run) for run in runs]), len(runs))
    return [name or f"variant {place + 1}" for place, name in enumerate(found)]


def side_names(groups: Sequence[Sequence[Path]]) -> list[str]:
    """A name for each side of a comparison, made of what differs: ``cc=reno``, ``mode=sim``, ``seed=2``.

    Sides of repetitions are not named after seeds. Sides that are alike are numbered from the second on.
    """
    firsts = [kept_json(runs[0], "run.json") for runs in groups]
    further = [Parameter("mode", tuple(str(each.get("mode")) for each in firsts))]
    if all(len(runs) == 1 for runs in groups):
        further.append(Parameter("seed", tuple(str(each.get("seed")) for each in firsts)))
    found = parameters([facts_of(runs[0]) for runs in groups])
    return names(found, len(groups), further=further)


def facts_of(run: Path) -> Facts:
    """What a run was asked for. Raises LonghaulError if its files are missing or damaged."""
    rows = kept_json(run, "raw/traffic.json") if (run / "raw/traffic.json").is_file() else ()
    return facts(kept_json(run, "plan.json"), rows)


def check_repetitions(group: Group) -> None:
    """Refuse runs that are not repetitions of one another. Raises LonghaulError."""
    kinds = split(group)
    if len(kinds) < 2:
        return
    words = "; ".join(each.name.removeprefix(f"{group.name}, ") for each in kinds[:_MOST_TOLD])
    raise LonghaulError(
        Code.RUNS_NOT_COMPARABLE,
        f"{group.name} has runs that are not repetitions of one another: they are of {words}",
        remedy="name the runs of each side by themselves, or compare that directory alone",
        exit_code=2,
    )


def compare_groups(groups: Sequence[Group], patterns: Sequence[str]) -> list[Row]:
    """Every metric that all runs have; see :func:`longhaul.analysis.comparison.compare`.

    Raises LonghaulError for a pattern that matches nothing that any run measured, and for a group whose runs
    are not repetitions.
    """
    for group in groups:
        check_repetitions(group)
    summaries = [[_summary(run) for run in repetitions(group)] for group in groups]
    found = [[metrics(each) for each in group] for group in summaries]
    known = dict.fromkeys(name for group in found for run in group for name in run)
    for pattern in patterns:
        wrong = unknown_metric(pattern, known)
        if wrong:
            raise LonghaulError(Code.RUNS_NOT_COMPARABLE, wrong[0], remedy=wrong[1], exit_code=2)
    return compare(
        found,
        patterns or DEFAULT_METRICS,
        digests=[[digest(each) for each in group] for group in summaries],
    )


def repetitions(group: Group) -> list[Path]:
    """Its runs; of simulations that were made several times the first alone."""
    found = [simulated(kept_json(run, "run.json"), _summary(run)) for run in group.runs]
    return [group.runs[place] for place in independent(found)]


@dataclass(frozen=True)
class ComparedGroup:
    """A group of runs in a report: its name, in what it differs, and how many of its runs count."""

    name: str
    """Says if some of its runs do not count."""
    differs: str
    """Empty if the name says it, or if nothing is known to differ."""
    runs: int


def compared_groups(groups: Sequence[Group]) -> list[ComparedGroup]:
    """What is reported of each group."""
    found = []
    for group, differs in zip(groups, side_names([each.runs for each in groups]), strict=True):
        count = len(repetitions(group))
        copies = f", but for {len(group.runs) - count} copies" if count < len(group.runs) else ""
        found.append(
            ComparedGroup(
                group.name + copies, "" if _names_difference(group.name, differs) else differs, count
            )
        )
    return found


def _names_difference(name: str, differs: str) -> bool:
    """Whether a name has every value of what differs as a word."""
    values = [each.rpartition("=")[2] for each in differs.split(", ")]
    return all(re.search(rf"\b{re.escape(each)}\b", name) for each in values)


def check_comparable(groups: Sequence[Group]) -> None:
    """See that a report can hold these side by side, and that each run has results.

    Raises LonghaulError if a run is there twice, is that of a relay, or has not ended, and if the first side
    has no metric in common with any other.
    """
    with reading(*(run for group in groups for run in group.runs)):
        _check_comparable(groups)


def _check_comparable(groups: Sequence[Group]) -> None:
    seen: dict[Path, Group] = {}
    for group in groups:
        for run in group.runs:
            other = seen.get(run.resolve())
            if other is not None:
                where = f"it is in {other.name} and in {group.name}"
                twice = f"{run} is twice in {group.name}"
                raise LonghaulError(
                    Code.RUNS_NOT_COMPARABLE,
                    twice if other is group else f"{run} would be compared with itself: {where}",
                    remedy="name each run once",
                    exit_code=2,
                )
            seen[run.resolve()] = group
            _summary(run)
    if not any(compare_groups([groups[0], other], ["*"]) for other in groups[1:]):
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            "the runs have no metric in common",
            remedy="compare runs whose flows, pings or links have the same names; summary.json has them",
            exit_code=2,
        )


def check_run(run: Path) -> None:
    """See that a run has ended, and measures that others have, too. Raises LonghaulError."""
    kept_json(run, "run.json")
    if not (run / "summary.json").is_file() and ending.read(run).is_running:
        raise LonghaulError(
            Code.RESULTS_INCOMPLETE,
            f"{run} has not ended",
            remedy="wait for its end; if it was killed, see what it left with longhaul report",
            exit_code=2,
        )
    if "clusters" in kept_json(run, "plan.json"):
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            f"{run} is that of a relay, which has other measures",
            remedy="its results are in summary.json, messages.parquet and connections.parquet",
            exit_code=2,
        )


def compare_cross_traffic(groups: Sequence[Group], flow: str) -> Stolen:
    """What ``flow`` takes from all other flows in the last group, beyond the first.

    Raises LonghaulError if a run has no such flow, or no other.
    """
    try:
        ends = [[_summary(run) for run in repetitions(group)] for group in (groups[0], groups[-1])]
        base, variant = ([cross_bits_per_s(each, flow) for each in group] for group in ends)
        equal, other = ([digest(each) for each in group] for group in ends)
        return stolen_bandwidth(flow, base, variant, digests=(equal, other))
    except LonghaulError as error:
        raise LonghaulError(
            error.code, f"--flow: {error.message}", remedy=error.remedy, exit_code=2
        ) from error


def _summary(run: Path) -> dict[str, Any]:
    check_run(run)
    if not (run / "summary.json").is_file():
        from longhaul.results.summary import write_results  # which most comparisons do not need

        return write_results(run)
    content: dict[str, Any] = kept_json(run, "summary.json")
    return content
