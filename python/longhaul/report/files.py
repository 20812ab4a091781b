"""The figures of a report as files of their own, for papers and slides, with their data."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from longhaul.report.mpl import Axes, Figure, PathCollection, settings
from longhaul.report.plotting import keeping, told_points

FORMATS = ("svg", "pdf", "png", "csv")
_DOTS_PER_INCH = 200


def write_figures(directory: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figures of the run or sweep in ``directory`` into ``figures/`` there; returns their paths.

    As :func:`write_drawn` does. Raises LonghaulError.
    """
    from longhaul.report import html, sweep_page

    is_sweep = (directory / "sweep.json").is_file()
    draw: Callable[[Path], object] = sweep_page.draw if is_sweep else html.draw
    return write_drawn(lambda: draw(directory), directory / "figures", formats)


def write_drawn(draw: Callable[[], object], place: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figures that ``draw`` draws into ``place``; returns their paths.

    ``formats`` are some of :data:`FORMATS`. Colours are those of the report by day; text stays text. A CSV
    has a row for each point drawn: panel, series, x and y in the units of the axes.
    """
    made: list[Path] = []

    def keep(name: str, title: str, figure: Figure) -> None:
        place.mkdir(parents=True, exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
        for kind in formats:
            path = place / f"{plain}.{kind}"
            if kind == "csv":
                _write_points(path, figure)
            else:
                _save(figure, path, title)
            made.append(path)

    with keeping(keep):
        draw()
    return made


def _save(figure: Figure, path: Path, title: str) -> None:
    metadata = {"svg": {"Title": title, "Date": None}, "pdf": {"Title": title, "CreationDate": None}}
    with settings({"pdf.fonttype": 42, "svg.hashsalt": path.stem}):
        figure.savefig(path, dpi=_DOTS_PER_INCH, metadata=metadata.get(path.suffix[1:]))


def _write_points(path: Path, figure: Figure) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["panel", "series", "x", "x_is", "y", "y_is"])
        x_is = [figure.get_supxlabel(), *(axes.get_xlabel() for axes in figure.axes)]
        y_is = [figure.get_supylabel(), *(axes.get_ylabel() for axes in figure.axes)]
        for number, axes in enumerate(figure.axes, start=1):
            panel = axes.get_title("left") or axes.get_title() or str(number)
            # Panels that share an axis have its label once.
            labels = [
                axes.get_xlabel() or next(filter(None, x_is), ""),
                axes.get_ylabel() or next(filter(None, y_is), ""),
            ]
            for point in told_points(axes):
                writer.writerow([panel, point.series, point.x, labels[0], point.y, point.y_is])
            for series, x, y in _points(axes):
                writer.writerow([panel, series, x, labels[0], y, labels[1]])


def _points(axes: Axes) -> Iterator[tuple[str, float, float]]:
    """What lines, clouds of points and bars show; a bar at its middle, with its end."""
    for number, line in enumerate(axes.get_lines(), start=1):
        # Lines over the whole panel mark a value; they are no data.
        if line.get_transform() == axes.transData:
            for x, y in np.asarray(line.get_xydata(), dtype=float).tolist():
                yield _label(line.get_label(), number), x, y
    for number, cloud in enumerate(axes.collections, start=1):
        if isinstance(cloud, PathCollection):
            for x, y in np.asarray(cloud.get_offsets(), dtype=float).tolist():
                yield _label(cloud.get_label(), number), x, y
    for container in axes.containers:
        lies = getattr(container, "orientation", None) == "horizontal"
        for bar in getattr(container, "patches", ()):
            across, along = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height()
            if lies:
                across, along = bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height() / 2
            yield _label(container.get_label(), 0), across, along


def _label(label: object, number: int) -> str:
    """What the legend says; matplotlib's own names begin with an underscore."""
    text = str(label)
    return f"series {number}" if text.startswith("_") else text
