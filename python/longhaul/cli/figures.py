"""The charts of a run or a sweep as files."""

from collections.abc import Sequence
from pathlib import Path

from longhaul.report.files import write_charts


def write_figures(directory: Path, formats: Sequence[str]) -> list[Path]:
    """Write the charts of the run or sweep in ``directory`` into ``figures/`` there; returns their paths.

    As :func:`write_charts` does. Raises LonghaulError.
    """
    if (directory / "sweep.json").is_file():
        from longhaul.sweeps.page import charts
    else:
        from longhaul.report.html import charts
    return write_charts(charts(directory), directory / "figures", formats)
