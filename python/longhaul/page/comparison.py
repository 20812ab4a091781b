"""Comparisons for the page: the data of ``longhaul report --compare``."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from longhaul.analysis.differences import differences
from longhaul.analysis.estimates import Estimate as Measured
from longhaul.analysis.estimates import runs_text
from longhaul.page import run_list
from longhaul.page.bodies import RunComparison
from longhaul.page.responses.studies import Comparison, Contrast, Estimate, Metric
from longhaul.report.chart_json import chart_json
from longhaul.report.comparison import difference_text
from longhaul.report.comparison_charts import distributions, over_time
from longhaul.report.comparison_page import MOST_DIFFERENCES, Answer, answer, cautions, write_comparison
from longhaul.report.comparison_runs import sides
from longhaul.results import experiments
from longhaul.results.comparison import Group, check_repetitions, check_run, side_names, split
from longhaul.results.run_files import reading
from longhaul.scenario.model.metrics import DEFAULT_METRICS, matching_metrics, unit_of


def compare(groups: Sequence[Sequence[Path]], body: RunComparison) -> Comparison:
    """Groups of runs side by side, the first of which is what others are compared with.

    Raises LonghaulError if there are too many, if one is running or that of a relay, or if a group has runs
    that are not repetitions.
    """
    every = [run for group in groups for run in group]
    with reading(*every):
        groups, kinds = _sides(groups, body)
        found = sides([*zip(_names(groups), groups, strict=True)])
        compared = answer(found, first=body.metrics or DEFAULT_METRICS)
        charts = [over_time(found), distributions(found)] if body.charts else []
        return {
            "groups": [
                {
                    "letter": side.letter,
                    "name": side.name,
                    "ids": [run_list.id_of(run) for run in group],
                    "runs": len(side.runs),
                }
                for side, group in zip(found, groups, strict=True)
            ],
            "metrics": _metrics(compared, body.metrics),
            "differences": [
                {"subject": each.subject, "what": each.what, "values": list(each.values)}
                for each in differences([side.runs[0].facts for side in found])[:MOST_DIFFERENCES]
            ],
            "cautions": cautions(found),
            "repeated": 1 < kinds < len(groups),
            "charts": [chart_json(each) for each in charts if each is not None],
        }


def write_report(path: Path, groups: Sequence[Sequence[Path]], body: RunComparison) -> None:
    """Write the report of the same comparison. Raises LonghaulError as :func:`compare` does."""
    groups, _ = _sides(groups, body)
    found = sides([*zip(_names(groups), groups, strict=True)])
    command = shlex.join(
        ["longhaul", "report", "--compare", *(str(run) for group in groups for run in group)]
    )
    write_comparison(path, found, first=body.metrics or DEFAULT_METRICS, command=command)


def _sides(groups: Sequence[Sequence[Path]], body: RunComparison) -> tuple[Sequence[Sequence[Path]], int]:
    """The groups that are wanted, and how many there are of runs that differ in more than the seed."""
    every = list(dict.fromkeys(run for group in groups for run in group))
    for run in every:
        check_run(run)
    kinds = split(Group("", tuple(every)))
    if body.grouped:
        # In the order in which they were chosen.
        return sorted((each.runs for each in kinds), key=lambda runs: every.index(runs[0])), len(kinds)
    for group in groups:
        check_repetitions(Group("the list", tuple(group)))
    return groups, len(kinds)


def _names(groups: Sequence[Sequence[Path]]) -> list[str]:
    """The names that the list of runs has; groups of repetitions are named after what differs among them."""
    if any(len(group) > 1 for group in groups):
        return side_names(groups)
    listed = [experiments.one(group[0]) for group in groups]
    is_one_name = len({each.experiment.name for each in listed}) == 1
    has_modes = len({each.experiment.mode for each in listed}) > 1
    return [
        ", ".join(
            filter(
                None,
                (
                    each.differs if is_one_name and not each.annotations.title else each.label,
                    each.experiment.mode if has_modes else "",
                ),
            )
        )
        for each in listed
    ]


def _metrics(compared: Answer, patterns: Sequence[str]) -> list[Metric]:
    every = [*compared.shown, *compared.rest]
    wanted = (
        {name for pattern in patterns for name in matching_metrics(pattern, every)} if patterns else every
    )
    shown = frozenset(compared.shown)
    found: list[Metric] = []
    for name in (each for each in every if each in wanted):
        rows = [table.get(name) for table in compared.by_metric]
        some = next(row for row in rows if row is not None)
        contrasts: list[Contrast | None] = [
            {
                "difference": row.difference,
                "half_width": row.difference_half_width,
                "differs": row.differs,
                "text": difference_text(row),
            }
            if row
            else None
            for row in rows
        ]
        found.append(
            {
                "metric": name,
                "unit": unit_of(name),
                "first": name in shown,
                "estimates": [
                    _estimate(some.estimates[0]),
                    *(_estimate(row.estimates[-1]) if row else None for row in rows),
                ],
                "contrasts": contrasts,
            }
        )
    return found


def _estimate(found: Measured | None) -> Estimate | None:
    if found is None:
        return None
    return {
        "mean": found.mean,
        "half_width": found.half_width,
        "runs": found.runs,
        "repeats": found.repeats,
        "n": runs_text(found.runs, found.repeats),
    }
