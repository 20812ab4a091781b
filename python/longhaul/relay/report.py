"""The report of a relay: one self-contained HTML file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.changes import verdict_text
from longhaul.analysis.outcome import Outcome
from longhaul.relay.series import ended_series
from longhaul.report import relay_figures, run_tables
from longhaul.report.chart import Chart
from longhaul.report.chart_json import embedded
from longhaul.report.page import page, write_page
from longhaul.report.tables import Folded, Row, Table, folded, numbers, words
from longhaul.results.directory import read_plan
from longhaul.results.run_files import kept_json, kept_table, kept_text, reading
from longhaul.units.text import bytes_text, rate_text, time_text

Json = Mapping[str, Any]


def cluster_names(directory: Path) -> list[str]:
    """The clusters of a relay, in the order of its plan."""
    plan: Json = read_plan(directory)
    return [each["name"] for each in plan["clusters"]]


def charts(directory: Path) -> list[Chart]:
    """The charts of a relay that has results."""
    return _charts(directory, kept_json(directory, "summary.json"))


def write_relay_report(directory: Path) -> Path:
    """Write ``report.html`` into the directory of a relay that has results; returns its path."""
    path = directory / "report.html"
    with reading(directory):
        summary: Json = kept_json(directory, "summary.json")
        context = {
            "summary": summary,
            "run": kept_json(directory, "run.json"),
            "directory": directory,
            "fidelity": summary["fidelity"],
            "verdict": verdict_text(summary),
            "outcome": Outcome.from_dict(summary["outcome"]),
            "most_changes": run_tables.MOST_CHANGES,
            "tables": tables(directory, summary),
            "chart": next((embedded(each) for each in _charts(directory, summary)), None),
            "scenario": kept_text(directory, "scenario.yaml"),
        }
        filters = {"time": time_text, "bytes": bytes_text}
        write_page(path, page("relay.html.j2", context=context, filters=filters))
    return path


def tables(directory: Path, summary: Json) -> dict[str, Table | Folded | None]:
    """The tables of the report, by name."""
    return {
        "expectations": run_tables.expectations(summary["expectations"]),
        "links": _links(summary["links"]),
        "connections": _connections(directory),
        "changes": run_tables.changes(summary["changes"]),
    }


def _charts(directory: Path, summary: Json) -> list[Chart]:
    names = cluster_names(directory)
    series = ended_series(directory, names, duration_ns=summary["duration_ns"] or 0)
    found = relay_figures.over_time(series, names, summary["changes"])
    return [found] if found else []


def _links(listed: Sequence[Json]) -> Table:
    """What each direction of each link passed on, and what it lost."""
    columns = [
        *words("link", "direction"),
        *numbers("offered", "delivered", "pieces offered", "delivered", "lost", "overflowed", "dropped"),
    ]
    pieces = ("offered_pieces", "delivered_pieces", "lost_pieces", "overflowed_pieces", "dropped_pieces")
    rows = [
        Row(
            [
                each["name"],
                each["way"],
                *(bytes_text(each[key]) for key in ("offered_bytes", "delivered_bytes")),
                *(f"{each[key]:,}" for key in pieces),
            ]
        )
        for each in listed
    ]
    return Table(columns, rows)


def _connections(directory: Path) -> Folded | None:
    """Connections that ended, those that carried most first."""
    table = kept_table(directory, "connections")
    if not table or not len(table["connection"]):
        return None
    listed = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    columns = [
        *numbers("no."),
        *words("from", "to", "client", "target"),
        *numbers("opened", "took", "to the target", "back", "mean rate"),
        *words("end"),
    ]
    return folded(
        Table(columns, []),
        listed,
        lambda each: [_connection(each)],
        key=lambda each: float(each["bytes_forward"] + each["bytes_back"]),
        names=("connections", "bytes"),
        file="connections.parquet",
    )


def _connection(each: Json) -> Row:
    took_s = (each["closed_ns"] - each["opened_ns"]) / 1e9
    carried = int(each["bytes_forward"] + each["bytes_back"])
    return Row(
        [
            str(each["connection"]),
            *(str(each[key] or "-") for key in ("from", "to", "client", "target")),
            f"{each['opened_ns'] / 1e9:.3f} s",
            time_text(int(each["closed_ns"] - each["opened_ns"])),
            *(bytes_text(int(each[key])) for key in ("bytes_forward", "bytes_back")),
            rate_text(carried * 8 / took_s) if took_s > 0 else "-",
            str(each["end"]),
        ]
    )
