"""The figures of a report as separate files, for papers and slides, with their data."""

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from longhaul.report.mpl import Figure, settings
from longhaul.report.plotting import keeping
from longhaul.report.points import HEADER, rows_of

FORMATS = ("svg", "pdf", "png", "csv")
_DOTS_PER_INCH = 200


def write_drawn(draw: Callable[[], object], place: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figures that ``draw`` draws into ``place``; returns their paths.

    ``formats`` are some of :data:`FORMATS`. Colours are those of the report by day; text stays text. A CSV
    has a row for each point drawn: panel, series, x and y with their names and units, and the ends of its
    interval (:mod:`longhaul.report.points`).
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
        writer.writerow(HEADER)
        writer.writerows(row.cells() for row in rows_of(figure))
