"""The results of a relay, in 80 columns."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from longhaul.cli.terminal.run import interventions_table, print_expectation, print_outcome, print_verdict
from longhaul.report.console import Console
from longhaul.units.text import time_text

Json = Mapping[str, Any]


def print_relay(summary: Json, console: Console) -> None:
    """Links, connections, delay, expectations, and the verdict last."""
    links = [each for each in summary["links"] if each.get("offered_bytes")]
    if links:
        console.print(_links(links))
    connections = ", ".join(
        f"{count} {what.replace('_', ' ')}" for what, count in summary["connections"].items()
    )
    console.print(
        f"connections: {connections or 'none'}; {summary['bytes'] or 0} bytes",
        highlight=False,
        soft_wrap=True,
    )
    fidelity = summary["fidelity"]
    spans = [
        f"{time_text(fidelity['lateness'][f'{quantile}_ns'])} ({quantile})"
        for quantile in ("p50", "p99", "max")
        if fidelity["lateness"].get(f"{quantile}_ns") is not None
    ]
    if spans and summary.get("pieces"):
        console.print(f"{summary['pieces']} pieces, lateness {', '.join(spans)}", highlight=False)
    for each in summary["expectations"]:
        print_expectation(each, console)
    if any(each["kind"] == "intervention" for each in summary["changes"]):
        console.print(interventions_table(summary["changes"]))
    print_verdict({"fidelity": {**fidelity, "lateness": {}}, "changes": summary["changes"]}, console)
    print_outcome(summary["outcome"], console)


def _links(links: list[Json]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("link", "way"):
        table.add_column(heading, no_wrap=True)
    for heading in ("offered", "delivered", "lost pieces"):
        table.add_column(heading, justify="right")
    for each in links:
        table.add_row(
            str(each["name"]),
            str(each["way"]),
            *(str(each.get(key, "-")) for key in ("offered_bytes", "delivered_bytes", "lost_pieces")),
        )
    return table
