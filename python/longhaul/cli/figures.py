"""The figures of a run or a sweep as files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from longhaul.report.files import write_drawn


def write_figures(directory: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figures of the run or sweep in ``directory`` into ``figures/`` there; returns their paths.

    As :func:`write_drawn` does. Raises LonghaulError.
    """
    from longhaul.report import html
    from longhaul.sweeps import page as sweep_page

    is_sweep = (directory / "sweep.json").is_file()
    draw: Callable[[Path], object] = sweep_page.draw if is_sweep else html.draw
    return write_drawn(lambda: draw(directory), directory / "figures", formats)
