"""The charts of a report as separate files, for papers and slides, with their data."""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
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
        for kind in formats:
            path = place / f"{file_name(chart.name)}.{kind}"
            write_chart(chart, path)
            made.append(path)
    return made


def chosen(charts: Sequence[Chart], names: Sequence[str]) -> list[Chart]:
    """The charts of these names, in this order, or all of them without names.

    Names of figures in Python, such as ``round_trips``, are understood, too. Raises LonghaulError with the
    names that there are.
    """
    by_name = {file_name(chart.name): chart for chart in charts}
    for name in names:
        if file_name(name) not in by_name:
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'there is no figure "{name}" here',
                remedy=f"there are: {', '.join(by_name)}" if by_name else "there is nothing to draw",
                exit_code=2,
            )
    return [by_name[file_name(name)] for name in names] if names else list(charts)


def file_name(chart: str) -> str:
    """The name of a chart as that of a file, without its ending."""
    return re.sub(r"[^A-Za-z0-9]+", "-", chart).strip("-")


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
