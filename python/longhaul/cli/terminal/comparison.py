"""A comparison of groups of runs, in 80 columns."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from longhaul.analysis.comparison import Row
from longhaul.analysis.estimates import runs_text
from longhaul.analysis.stealing import Stolen
from longhaul.report.comparison import difference_text, estimate_text, letter_of, percent_text
from longhaul.report.console import Console
from longhaul.results.comparison import ComparedGroup
from longhaul.results.divergence import Divergence
from longhaul.scenario.model.metrics import unit_of
from longhaul.units.text import count_text, rate_text


def print_comparison(
    groups: Sequence[ComparedGroup],
    rows: Sequence[Row],
    stolen: Stolen | None = None,
    divergence: Divergence | None = None,
) -> None:
    """A line for each metric: every group, and how the last differs from the first."""
    console = Console()
    letters = [letter_of(number) for number in range(len(groups))]
    for letter, group in zip(letters, groups, strict=True):
        words = [letter, group.differs, f"{group.name} ({count_text(group.runs, 'run')})"]
        console.print("  ".join(filter(None, words)), highlight=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("metric", no_wrap=True)
    for letter in letters:
        table.add_column(letter, justify="right", no_wrap=True)
    table.add_column(f"{letters[-1]} - A", justify="right", no_wrap=True)
    for row in rows:
        unit = unit_of(row.metric)
        cells = [estimate_text(each, unit) if each else "-" for each in row.estimates]
        table.add_row(row.metric, *cells, _difference(row))
    console.print(table)
    if stolen:
        half = "" if stolen.half_width is None else f" \u00b1{percent_text(stolen.half_width)}"
        share = ("-" if stolen.share < 0 else "") + percent_text(abs(stolen.share))
        had, has = (rate_text(each.mean) for each in (stolen.base, stolen.variant))
        console.print(
            f"{stolen.flow} stole {share}{half} of the others' goodput: {had} in A, {has} in {letters[-1]}",
            highlight=False,
        )
    for place, letter in enumerate(letters):
        counts = {(each.runs, each.repeats) for row in rows if (each := row.estimates[place])}
        if any(runs < repeats for runs, repeats in counts):
            runs, repeats = max(counts)
            console.print(
                f"{letter}: {runs_text(runs, repeats)}: runs with equal results count as one", highlight=False
            )
    if divergence:
        console.print(str(divergence), highlight=False)
    if any(group.runs < 2 for group in groups):
        console.print("single runs have no interval: repeat them with other seeds (--seed)", highlight=False)


def _difference(row: Row) -> Text:
    text = difference_text(row)
    if row.difference is None or row.difference_half_width is None:
        return Text(text, style="dim" if row.difference == 0 else "")
    return Text(text, style="bold" if row.differs else "dim")
