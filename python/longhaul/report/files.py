"""The charts of a report as separate files, for papers and slides, with their data."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from longhaul.report.chart import Chart
from longhaul.report.points import HEADER, rows_of


def write_charts(charts: Iterable[Chart], place: Path, formats: Sequence[str]) -> list[Path]:
    """Write ``charts`` into ``place``; returns their paths.

    ``formats`` are some of :data:`longhaul.report.formats.FORMATS`. Colours are those of the light theme;
    text stays text. A CSV has a row for each point: panel, series, x and y with their names and units, and
    the ends of its interval (:mod:`longhaul.report.points`).
    """
    made: list[Path] = []
    for chart in charts:
        place.mkdir(parents=True, exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", chart.name).strip("-")
        for kind in formats:
            path = place / f"{plain}.{kind}"
            write_chart(chart, path)
            made.append(path)
    return made


def write_chart(chart: Chart, path: Path) -> None:
    """Write a chart in the format in which the name of ``path`` ends."""
    if path.suffix == ".csv":
        _write_points(path, chart)
    else:
        from longhaul.report.chart_drawing import save

        save(chart, path)


def _write_points(path: Path, chart: Chart) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(row.cells() for row in rows_of(chart))
