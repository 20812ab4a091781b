"""Longhaul's results beside those of Linux, on the terminal."""

from rich.table import Table
from rich.text import Text

from longhaul.oracle.comparison import Comparison, Row
from longhaul.report.console import Console
from longhaul.units.text import rate_text, share_text, time_text

_VERDICTS = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("-", "dim")}


def print_oracle(comparison: Comparison) -> None:
    """A line for each quantity, and why those that differ were not expected to."""
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for header in ("Longhaul", "Linux", "difference", "expected"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("within", no_wrap=True)
    before = None
    idle = comparison.idle_links()
    for row in comparison.rows:
        if row.kind == "link" and row.name in idle:
            continue
        if (row.kind, row.name) != before:
            table.add_row(Text(f"{row.kind} {row.name}", style="bold"))
        before = (row.kind, row.name)
        word, style = _VERDICTS[row.is_within]
        expected = "-" if row.tolerance is None else f"±{_text(row, row.tolerance)}"
        values = [_text(row, row.longhaul), _text(row, row.oracle), _signed(row), expected]
        table.add_row(f"  {row.quantity}", *values, Text(word, style=style))
    console.print(table)
    for row in comparison.rows:
        if row.is_within is False:
            console.print(f"{row.name}, {row.quantity}: expected by {row.reason}", highlight=False)
    evaluated = [row for row in comparison.rows if row.is_within is not None]
    within = sum(row.is_within is True for row in evaluated)
    console.print(f"{within} of {len(evaluated)} evaluated differences are to be expected", highlight=False)


def _signed(row: Row) -> str:
    if row.difference is None:
        return "-"
    sign = "-" if row.difference < 0 else "+" if row.difference > 0 else ""
    return sign + _text(row, abs(row.difference))


def _text(row: Row, value: float | None) -> str:
    if value is None:
        return "-"
    match row.unit:
        case "share":
            return share_text(value)
        case "ns":
            return time_text(value, digits=6)
        case "bit/s":
            return rate_text(value, digits=4)
        case _:
            return f"{value:.0f}"
