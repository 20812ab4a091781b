"""The figures of a run or a sweep as files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from longhaul.report.files import write_drawn


def write_figures(directory: Path, formats: Sequence[str]) -> list[Path]:
    """Write the figures of the run or sweep in ``directory`` into ``figures/`` there; returns their paths.

    As :func:`write_drawn` does. Raises LonghaulError.
    """
    from longhaul.sweeps import page as sweep_page

    is_sweep = (directory / "sweep.json").is_file()
    draw: Callable[[Path], object] = sweep_page.draw if is_sweep else _draw_run
    return write_drawn(lambda: draw(directory), directory / "figures", formats)


def _draw_run(directory: Path) -> None:
    from longhaul.report.chart_drawing import draw_svg
    from longhaul.report.html import charts

    for chart in charts(directory).values():
        if chart is not None:
            draw_svg(chart)
