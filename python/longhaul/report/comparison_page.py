"""The report of a comparison: one self-contained HTML file."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase
from math import ceil
from pathlib import Path
from typing import Any

from longhaul.analysis.comparison import Contrast, Row, compare, contrast
from longhaul.analysis.differences import differences, unlike
from longhaul.analysis.estimates import CONFIDENCE, Estimate, estimate
from longhaul.report.chart import Chart
from longhaul.report.chart_json import embedded
from longhaul.report.colours import SIDES
from longhaul.report.comparison import difference_text, estimate_text
from longhaul.report.comparison_charts import drawings
from longhaul.report.comparison_runs import Run, Side
from longhaul.report.page import page, write_page
from longhaul.results.run_files import reading
from longhaul.scenario.model.metrics import unit_of
from longhaul.storage import writing
from longhaul.units.text import time_text

MOST_METRICS = 12
"""In the answer; all others are folded away."""
MOST_DIFFERENCES = 30
_MOST_TOLD = 3
"""Metrics in the first sentences."""
_OF_LINKS = ("utilisation", "peak_rate", "loss", "overflowed", "queueing_delay.p50", "queueing_delay.p99")
"""What is asked of links between routers; the rest is folded away."""


def write_comparison(path: Path, sides: Sequence[Side], *, first: Sequence[str], command: str) -> Path:
    """Write the comparison of ``sides`` to ``path``, and return that.

    Metrics that match a pattern of ``first`` come before others; ``command`` writes it.
    Raises LonghaulError if it cannot be written.
    """
    with reading(*(run.directory for side in sides for run in side.runs)):
        content = page("comparison.html.j2", context={**draw(sides, first=first), "command": command})
    with writing(path):
        write_page(path, content)
    return path


def tables_of(sides: Sequence[Side]) -> list[list[Row]]:
    """Of each side but the first: every metric that both have, with the difference from the first side."""
    base = [run.metrics for run in sides[0].runs]
    equal = [run.digest for run in sides[0].runs]
    return [
        compare(
            [base, [run.metrics for run in side.runs]], digests=[equal, [run.digest for run in side.runs]]
        )
        for side in sides[1:]
    ]


@dataclass(frozen=True)
class Answer:
    """What a comparison says of metrics."""

    contrasts: Sequence[Contrast]
    """Of each side but the first, with the first."""
    by_metric: Sequence[dict[str, Row]]
    """The same, every metric by its name."""
    shown: Sequence[str]
    """What deserves to be seen first: significant differences, others, and what the caller named."""
    rest: Sequence[str]


def answer(sides: Sequence[Side], *, first: Sequence[str]) -> Answer:
    """Every metric of ``sides``; those that match a pattern of ``first`` come before others."""
    tables = tables_of(sides)
    inner = [each["name"] for each in sides[0].runs[0].summary["links"] if not each["access"]]
    patterns = [*first, *(f"links.{name}.*.{measure}" for name in inner for measure in _OF_LINKS)]
    asked = [
        row.metric
        for pattern in patterns
        for rows in tables
        for row in rows
        if fnmatchcase(row.metric, pattern)
    ]
    ahead = [name for name in asked if any(fnmatchcase(name, pattern) for pattern in first)]
    contrasts = [contrast([row for row in rows if row.metric in set(asked)], first=ahead) for rows in tables]
    by_metric = [{row.metric: row for row in rows} for rows in tables]
    shown = _shown(contrasts, asked)
    rest = [name for name in dict.fromkeys(name for each in by_metric for name in each) if name not in shown]
    return Answer(contrasts, by_metric, shown, rest)


def draw(sides: Sequence[Side], *, first: Sequence[str]) -> dict[str, Any]:
    """What the report of a comparison shows, with its charts."""
    compared = answer(sides, first=first)
    made = {name: make() for name, make in drawings(sides, compared.shown).items()}
    shown, rest, by_metric = compared.shown, compared.rest, compared.by_metric
    found = differences([side.runs[0].facts for side in sides])
    runs = [(side, run, _conditions(run)) for side in sides for run in side.runs]
    machines = list(dict.fromkeys(each["machine"] for _, _, each in runs))
    return {
        "title": _title(sides),
        "sides": sides,
        "colours": [f"var(--c{place})" for place in range(1, len(SIDES) + 1)],
        "differences": found[:MOST_DIFFERENCES],
        "more_differences": len(found) - len(found[:MOST_DIFFERENCES]),
        "unlike": [(side, _unlike(side)) for side in sides if _unlike(side)],
        "untrusted": [(side, run) for side in sides for run in side.runs if run.verdict != "faithful"],
        "cautions": cautions(sides),
        "single": [side for side in sides if len(side.runs) == 1],
        "contrasts": [
            (
                side,
                each,
                ceil((1 - CONFIDENCE) * each.judged),
                [_line(row.metric, [{row.metric: row}]) for row in each.certain[:_MOST_TOLD]],
            )
            for side, each in zip(sides[1:], compared.contrasts, strict=True)
        ],
        "shown": [_line(metric, by_metric) for metric in shown],
        "rest": [_line(metric, by_metric) for metric in rest],
        "partial": _partial(sides, {*shown, *rest}),
        "charts": {name: embedded(chart) if chart else None for name, chart in made.items()},
        "conditions": runs,
        "machine": machines[0] if len(machines) == 1 else None,
        "texts": _texts(sides),
    }


def charts(sides: Sequence[Side], *, first: Sequence[str]) -> list[Chart]:
    """The charts that have something to draw; see :func:`draw`."""
    found = [make() for make in drawings(sides, answer(sides, first=first).shown).values()]
    return [chart for chart in found if chart]


def _title(sides: Sequence[Side]) -> str:
    names = list(dict.fromkeys(str(run.about.get("name")) for side in sides for run in side.runs))
    modes = list(dict.fromkeys(side.modes for side in sides))
    name = " against ".join(names[:3])
    return f"{name}: {' against '.join(modes)}" if len(modes) > 1 else name


def _shown(contrasts: Sequence[Contrast], asked: Sequence[str]) -> list[str]:
    """Metrics for the answer: significant differences, others, and metrics that the caller named."""
    certain = [row.metric for each in contrasts for row in each.certain]
    unknown = [row.metric for each in contrasts for row in each.open]
    return list(dict.fromkeys([*certain, *unknown, *asked]))[:MOST_METRICS]


def _line(metric: str, tables: Sequence[dict[str, Row]]) -> dict[str, Any]:
    rows = [table.get(metric) for table in tables]
    unit = unit_of(metric)
    some = next(row for row in rows if row is not None)
    others = [row.estimates[-1] if row else None for row in rows]
    estimates: list[Estimate | None] = [some.estimates[0], *others]
    return {
        "metric": metric,
        "cells": [estimate_text(each, unit) if each else "-" for each in estimates],
        "differences": [(difference_text(row) if row else "-", row.differs if row else None) for row in rows],
    }


def _partial(sides: Sequence[Side], compared: set[str]) -> list[tuple[str, str]]:
    """Metrics that are not numbers in all runs, and on which sides they are in how many."""
    names = dict.fromkeys(name for side in sides for run in side.runs for name in run.metrics)
    found: dict[str, str] = {}
    for name in names:
        if name in compared or name == "fidelity.verdict":
            continue
        counts = [(side, sum(run.metrics.get(name) is not None for run in side.runs)) for side in sides]
        having = [
            side.letter if count == len(side.runs) else f"{side.letter} ({count} of {len(side.runs)} runs)"
            for side, count in counts
            if count
        ]
        if having:
            found[name] = ", ".join(having)
    return list(found.items())


def cautions(sides: Sequence[Side]) -> list[str]:
    """What intervals do not say, for these runs."""
    found = []
    for side in sides:
        if side.copies:
            found.append(
                f"{side.letter} has {side.copies} simulation{'s' if side.copies > 1 else ''} that "
                f"{'are' if side.copies > 1 else 'is'} another one of it, made again with its seed: "
                "that is not a repetition, and is left out."
            )
        count = estimate([0.0] * len(side.runs), [run.digest for run in side.runs]).runs
        if count < len(side.runs):
            found.append(
                f"{len(side.runs)} runs of {side.letter} have {count} different "
                f"result{'s' if count > 1 else ''}: equal results of different seeds count as one run"
                f"{', which has no interval.' if count == 1 else '.'}"
            )
        seeds = [str(run.about.get("seed")) for run in side.runs]
        if len(set(seeds)) < len(seeds):
            found.append(
                f"Runs of {side.letter} have a seed in common, and with it their draws of loss and jitter: "
                "its intervals say little of other draws."
            )
    shared = [{run.about.get("seed") for run in side.runs} for side in sides if len(side.runs) > 1]
    if len(shared) > 1 and set.intersection(*shared):
        found.append(
            "Sides have seeds in common. Runs are not paired by them: intervals of differences are rather "
            "too wide than too narrow."
        )
    return found


def _unlike(side: Side) -> list[str]:
    """In what the runs of a side differ, though they count as repetitions."""
    found = unlike(run.facts for run in side.runs)
    modes = ["mode"] if len({run.mode for run in side.runs}) > 1 else []
    return modes + list(dict.fromkeys(f"{each.what} of {each.subject}" for each in found))[:6]


def _conditions(run: Run) -> dict[str, str]:
    host = run.about.get("host", {})
    fidelity = run.summary["fidelity"]
    late = fidelity["lateness"].get("p99_ns")
    return {
        "lateness": time_text(late) if late is not None else "-",
        "reasons": "; ".join(each["what"] for each in fidelity["reasons"]),
        "machine": ", ".join(
            (
                f"{host.get('cpu_model')}",
                f"{host.get('cpus')} processors",
                f"Linux {host.get('kernel')}",
                f"Longhaul {run.about.get('versions', {}).get('longhaul')}",
            )
        ),
        "seed": str(run.about.get("seed")),
        "digest": run.simulated[1] if run.simulated else "",
    }


def _texts(sides: Sequence[Side]) -> list[tuple[Side, str]]:
    """How the scenario file of each side differs from the first's, line by line."""
    first, *others = [side.runs[0].scenario.splitlines() for side in sides]
    found = [
        (side, "\n".join(unified_diff(first, lines, "A", side.letter, lineterm="", n=1)))
        for side, lines in zip(sides[1:], others, strict=True)
    ]
    return [(side, text) for side, text in found if text]
