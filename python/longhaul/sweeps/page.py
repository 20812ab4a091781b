"""The report of a sweep: one self-contained HTML file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from longhaul.report.chart import Chart
from longhaul.report.chart_json import Embedded, embedded
from longhaul.report.page import page, write_page
from longhaul.report.pictures import Drawings
from longhaul.results.run_files import read_json
from longhaul.sweeps.heat_maps import heat_map
from longhaul.sweeps.line_charts import has_lines, line_chart
from longhaul.sweeps.summary import MOST_DRAWN
from longhaul.sweeps.wording import axis_text, estimate_text, runs_of

Row = Mapping[str, Any]

MOST_FIGURES = 8
MOST_ROWS = 400
"""Variants in the table; the file has all."""


@dataclass(frozen=True)
class Estimates:
    """The rows of the summary that are drawn or shown, and how many variants it has."""

    summary: Mapping[str, Any]
    rows: Sequence[Row]
    variants: int
    is_whole: bool

    @property
    def metrics(self) -> list[str]:
        """Those that were measured."""
        return list(dict.fromkeys(row["metric"] for row in self.rows))

    @property
    def columns(self) -> list[str]:
        """Those of the axes."""
        return [axis["column"] for axis in self.summary["axes"]]

    @property
    def names(self) -> list[str]:
        """Those of the axes."""
        return [axis["name"] for axis in self.summary["axes"]]

    def lines(self, metric: str) -> Chart:
        """A metric over one axis."""
        return line_chart(self.drawn(metric), metric, self.columns, self.names)

    def heat_map(self, metric: str | None) -> Chart | None:
        """A metric over two axes, where that makes a map; without one, the cells alone."""
        return heat_map(self.drawn(metric), metric, self.columns, self.names)

    def charts(self, metric: str | None) -> list[Chart]:
        """Lines and map of a metric; a cloud of points is left to the map, if there is one."""
        drawn = self.heat_map(metric)
        if metric is None:
            return [drawn] if drawn else []
        if drawn is None:
            return [self.lines(metric)]
        return [self.lines(metric), drawn] if has_lines(self.drawn(metric), metric, self.columns) else [drawn]

    def drawn(self, metric: str | None) -> list[Row]:
        """The rows of a metric; of a grid also those of variants without a value, which say why."""
        mine = [row for row in self.rows if row["metric"] == metric]
        if not self._variants or len(self._variants) * max(len(self.metrics), 1) > MOST_DRAWN:
            return mine
        measured = {row["variant"]: row for row in mine}
        without = {"metric": metric, "unit": mine[0]["unit"] if mine else "", "mean": None}
        return [
            measured.get(variant, {"variant": variant, **values, **without, "why": self._why(variant)})
            for variant, values in enumerate(self._variants)
        ]

    @cached_property
    def _variants(self) -> list[Row]:
        """The values on the axes of each variant of a grid; the last axis moves fastest."""
        if self.summary.get("design") != "grid":
            return []
        values = product(*(axis["values"] for axis in self.summary["axes"]))
        return [dict(zip(self.columns, each, strict=True)) for each in values]

    def _why(self, variant: int) -> str:
        """Why a variant has no value."""
        if variant not in self._not_run:
            return "no value"
        return "not run yet" if self.summary["status"] == "running" else "not run"

    @cached_property
    def _not_run(self) -> frozenset[int]:
        return frozenset(self.summary["not_run"])


def read_estimates(directory: Path) -> Estimates:
    """Of the directory of a sweep; none before it has a summary."""
    summary = read_json(directory / "summary.json") or {"axes": []}
    file = directory / "summary.parquet"
    if not file.is_file():
        return Estimates(summary, [], 0, is_whole=True)
    table = pq.read_table(file)
    rows = table.slice(0, MOST_DRAWN).to_pylist()
    is_whole = len(table) == len(rows)
    if not is_whole:
        # The last of them may have rows that are not shown.
        rows = [row for row in rows if row["variant"] != rows[-1]["variant"]]
    return Estimates(summary, rows, len(table["variant"].unique()), is_whole)


def write_sweep_report(directory: Path) -> Path:
    """Write ``report.html`` into the directory of a sweep that has a summary; returns its path."""
    path = directory / "report.html"
    estimates = read_estimates(directory)
    figures = [
        (metric, [_embedded(chart) for chart in estimates.charts(metric)]) for metric in _drawn(estimates)
    ]
    write_page(path, page("sweep.html.j2", context={**tables(directory, estimates), "figures": figures}))
    return path


def charts(directory: Path) -> list[Chart]:
    """The charts of the report of a sweep."""
    estimates = read_estimates(directory)
    return [chart for metric in _drawn(estimates) for chart in estimates.charts(metric)]


def drawings(directory: Path) -> Drawings:
    """How to make the charts of a sweep: each metric as lines, and, after its name, ``map``."""
    estimates = read_estimates(directory)
    lines = {metric: partial(estimates.lines, metric) for metric in estimates.metrics}
    maps = {f"{metric} map": partial(estimates.heat_map, metric) for metric in estimates.metrics}
    return {**lines, **maps}


def tables(directory: Path, estimates: Estimates) -> dict[str, Any]:
    """What the report of a sweep shows beside its charts."""
    columns = estimates.columns
    by_variant: dict[int, list[Row]] = {}
    for row in estimates.rows:
        if len(by_variant) < MOST_ROWS or row["variant"] in by_variant:
            by_variant.setdefault(row["variant"], []).append(row)
    return {
        "summary": estimates.summary,
        "sweep": json.loads((directory / "sweep.json").read_text(encoding="utf-8")),
        "names": estimates.names,
        "metrics": estimates.metrics,
        "rows": [
            (
                [axis_text(column, rows[0][column]) for column in columns],
                {row["metric"]: estimate_text(row) for row in rows},
                runs_of(rows),
            )
            for rows in by_variant.values()
        ],
        "left_out": estimates.variants - len(by_variant),
    }


def _drawn(estimates: Estimates) -> list[str]:
    """The metrics that have charts: the first ones, of a sweep that is not too large."""
    return estimates.metrics[:MOST_FIGURES] if estimates.is_whole else []


def _embedded(chart: Chart) -> tuple[Embedded, bool]:
    """For the report, and whether it is a map."""
    return embedded(chart), any(panel.rows_of for panel in chart.panels)
