"""The results of a transfer plan on a terminal."""

from collections.abc import Sequence

from rich.table import Table

from longhaul.report.console import Console
from longhaul.report.transfer_results import MOST_ROWS, Json, measured, rows

MOST_DECISIONS = 12


def print_carried(found: Json, console: Console) -> None:
    """A row for each request that moved, planned and achieved; what was refused; the measures of both."""
    moved = [each for each in found["requests"] if each["planned"]]
    if moved:
        console.print(_table(moved[:MOST_ROWS]))
    if len(moved) > MOST_ROWS:
        _line(console, f"... and {len(moved) - MOST_ROWS} more (transfers.json has all)")
    for each in [each for each in found["requests"] if each["reason"]][:MOST_ROWS]:
        _line(
            console, f"{'not satisfied' if not each['met'] else 'note'}: {each['request']}: {each['reason']}"
        )
    for name, measures in measured(found):
        _line(console, f"{found['policy']}, {name}: {measures}")
    changes = [each for each in found["decisions"] if each["why"] != "arrival"]
    for each in changes[:MOST_DECISIONS]:
        _line(console, f"  {each['at_s']:.3f} s, {each['why']}: {each['request']} {each['what']}")
    if len(changes) > MOST_DECISIONS:
        _line(console, f"  ... and {len(changes) - MOST_DECISIONS} decisions more (decisions.csv)")


def _table(moved: Sequence[Json]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("request")
    for name in ("volume", "start", "finish", "achieved", "off", "rate", "achieved"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in rows({"requests": moved}):
        table.add_row(
            each["name"],
            each["volume"],
            each["planned_start_s"],
            each["planned_finish_s"],
            each["achieved_finish_s"],
            each["off"],
            each["planned_bits_per_s"],
            each["achieved_bits_per_s"],
        )
    return table


def _line(console: Console, text: str) -> None:
    console.print(text, highlight=False, soft_wrap=True)
