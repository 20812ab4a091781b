"""A benchmark on the terminal: the scorecard, and differences between live and simulated."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from longhaul.benchmark.rows import Line, disagreements, scorecard
from longhaul.benchmark.suite import Suite
from longhaul.report.console import Console

Json = Mapping[str, Any]

AT_ONCE = 3
"""Subjects beside each other in 80 columns."""
MOST_SHOWN = 12
"""Disagreements that are listed; the report has all."""


def print_benchmark(suite: Suite, plain: Json) -> None:
    """Print it on standard output."""
    console = Console(highlight=False)
    lines = scorecard(suite.scorecard, plain)
    both = len(plain["modes"]) > 1
    names = plain["subjects"]
    for first in range(0, len(names), AT_ONCE):
        subjects = names[first : first + AT_ONCE]
        _print_scorecard(console, lines, subjects, both=both)
    found = disagreements(plain)
    if plain["compared"]:
        certain = sum(each["mark"] == "certain" for each in found)
        console.print(
            f"live and simulated: {len(plain['compared'])} measures compared, {len(found)} differ "
            f"by more than 15 %, {certain} of them with statistical significance (marked !)",
            soft_wrap=True,
            style="yellow" if found else "green",
        )
    for each in found[:MOST_SHOWN]:
        place = f"{each['scenario']} {each['case']}".strip()
        console.print(
            f"  {'!' if each['mark'] == 'certain' else '?'} {place}, {each['subject']}, {each['title']}: "
            f"live {each['live_text']}, simulated {each['simulated_text']} ({each['difference_text']})",
            soft_wrap=True,
        )
    if len(found) > MOST_SHOWN:
        console.print(f"  {len(found) - MOST_SHOWN} more in the report")
    _print_conditions(console, suite, plain)


def _print_scorecard(console: Console, lines: Sequence[Line], subjects: Sequence[str], *, both: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("live / simulated" if both else "", no_wrap=True)
    for subject in subjects:
        table.add_column(subject, justify="right", no_wrap=True)
    for line in lines:
        cells = []
        for subject in subjects:
            shown = [line.cells[subject, mode] for mode in ("live", "sim") if (subject, mode) in line.cells]
            text = " / ".join(cell.text for cell in shown) or "-"
            if both and len(shown) == 1:
                text = f"- / {text}" if (subject, "sim") in line.cells else f"{text} / -"
            mark = next((cell.mark for cell in shown if cell.mark), "")
            sign = {"certain": " !", "unsure": " ?"}.get(mark, "")
            cells.append(Text(text + sign, style="bold yellow" if mark == "certain" else ""))
        table.add_row(line.title, *cells)
    console.print(table)


def _print_conditions(console: Console, suite: Suite, plain: Json) -> None:
    scaled = [
        f"{each['title'].lower()} 1/{1 / case['scale']:.0f}"
        for each in plain["scenarios"]
        for case in each["cases"][:1]
        if case["scale"] < 1
    ]
    if scaled:
        console.print(f"rates below {suite.words.specification}'s: {', '.join(scaled)}", soft_wrap=True)
    if plain["disturbed"]:
        console.print(
            f"{plain['disturbed']} of {sum(plain['verdicts'].values())} live runs were disturbed by what "
            f"else ran on this machine, also at the best of {plain['live_tries']} tries",
            soft_wrap=True,
            style="yellow",
        )
    for error in plain["errors"][:MOST_SHOWN]:
        console.print(error, style="red", soft_wrap=True)
