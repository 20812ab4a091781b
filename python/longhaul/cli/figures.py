"""The results of a run, a relay, a sweep or a benchmark as files for papers: charts, and Markdown."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from longhaul.report.files import chosen, file_name, write_charts
from longhaul.report.formats import MARKDOWN
from longhaul.results import run_record

if TYPE_CHECKING:
    from longhaul.report.chart import Chart


def write_files(directory: Path, formats: Sequence[str], figures: Sequence[str] = ()) -> list[Path]:
    """Write what is in ``directory``, which has results, in these formats; returns the paths.

    Markdown is ``report.md`` there; charts are in ``figures/``, as :func:`write_charts` writes them: those of
    the names ``figures``, or all. Raises LonghaulError.
    """
    charts, write_markdown = _writers(run_record.kind(directory))
    made = [write_markdown(directory)] if MARKDOWN in formats else []
    drawn = [each for each in formats if each != MARKDOWN]
    if not drawn:
        return made
    return [*made, *write_charts(chosen(charts(directory), figures), directory / "figures", drawn)]


def titles(directory: Path) -> dict[str, str]:
    """The figures of what is in ``directory``: what each shows, by name."""
    charts, _ = _writers(run_record.kind(directory))
    return {file_name(chart.name): chart.title for chart in charts(directory)}


def _writers(
    kind: run_record.Kind,
) -> "tuple[Callable[[Path], Sequence[Chart]], Callable[[Path], Path]]":
    """What draws the charts of a directory, and what writes its Markdown."""
    match kind:
        case "sweep":
            from longhaul.sweeps import markdown as sweep_markdown
            from longhaul.sweeps import page as sweep_page

            return sweep_page.charts, sweep_markdown.write_sweep
        case "benchmark":
            from longhaul.benchmark import markdown as benchmark_markdown
            from longhaul.benchmark import page as benchmark_page

            return benchmark_page.charts_of, benchmark_markdown.write_benchmark
        case "relay":
            from longhaul.relay import markdown as relay_markdown
            from longhaul.relay import report as relay_report

            return relay_report.charts, relay_markdown.write_relay
        case "run":
            from longhaul.report import html
            from longhaul.report import markdown as run_markdown

            return html.charts, run_markdown.write_run
