"""The results of a run, a relay, a sweep or a benchmark as files for papers: charts, and Markdown."""

from collections.abc import Sequence
from pathlib import Path

from longhaul.report.files import write_charts
from longhaul.results import run_record


def write_figures(directory: Path, formats: Sequence[str]) -> list[Path]:
    """Write the charts of what is in ``directory`` into ``figures/`` there; returns their paths.

    As :func:`write_charts` does. Raises LonghaulError.
    """
    path = run_record.path_of(directory)
    if path is not None and path.name == "sweep.json":
        from longhaul.sweeps.page import charts
    elif path is not None and path.name == "benchmark.json":
        from longhaul.benchmark.page import charts_of as charts
    elif path is not None and run_record.read(path).get("mode") == "relay":
        from longhaul.relay.report import charts
    else:
        from longhaul.report.html import charts
    return write_charts(charts(directory), directory / "figures", formats)


def write_markdown(directory: Path) -> Path:
    """Write ``report.md`` of what is in ``directory``, which has results; returns its path."""
    path = run_record.path_of(directory)
    if path is not None and path.name == "sweep.json":
        from longhaul.sweeps.markdown import write_sweep as write
    elif path is not None and path.name == "benchmark.json":
        from longhaul.benchmark.markdown import write_benchmark as write
    elif path is not None and run_record.read(path).get("mode") == "relay":
        from longhaul.relay.markdown import write_relay as write
    else:
        from longhaul.report.markdown import write_run as write
    return write(directory)
