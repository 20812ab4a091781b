"""The results of a sweep as Markdown, for the appendix of a paper."""

from collections.abc import Iterator
from pathlib import Path

from longhaul.report.markdown import conditions, escaped, facts_table, markdown, write_parts
from longhaul.report.tables import Column, Row, Table
from longhaul.sweeps.page import read_estimates, tables


def write_sweep(directory: Path) -> Path:
    """Write ``report.md`` of the sweep in ``directory``, which has results; returns its path."""
    return write_parts(directory, _parts(directory))


def _parts(directory: Path) -> Iterator[str]:
    found = tables(directory, read_estimates(directory))
    summary, sweep = found["summary"], found["sweep"]
    yield f"# {escaped(summary['name'])}"
    failed = f", {summary['failed']} failed" if summary["failed"] else ""
    yield facts_table(
        {
            "sweep": f"{summary['variants']} variants, {summary['points']} runs{failed}",
            "axes": "; ".join(
                f"{axis['name']}: {', '.join(map(str, axis['values']))}" for axis in sweep["axes"]
            ),
            **conditions(sweep),
        }
    )
    columns = [Column(name, is_number=False) for name in found["names"]]
    columns += [Column(metric, is_number=True) for metric in found["metrics"]] + [
        Column("runs", is_number=False)
    ]
    rows = [
        Row([*values, *(cells.get(metric, "-") for metric in found["metrics"]), runs])
        for values, cells, runs in found["rows"]
    ]
    if rows:
        yield "## Means with 95 % confidence intervals"
        yield markdown(Table(columns, rows))
    if found["left_out"]:
        yield f"{found['left_out']} more variants are in summary.parquet."
