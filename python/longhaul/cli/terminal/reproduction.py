"""What a repetition came to, in 80 columns."""

from rich.table import Table
from rich.text import Text

from longhaul.artifacts.reproduction import Reproduction
from longhaul.report.comparison import estimate_text
from longhaul.report.console import Console
from longhaul.units.text import duration_text, share_text


def print_reproduction(made: Reproduction) -> None:
    """Each configuration with its verdict, and the metrics of those that are not identical."""
    console = Console(highlight=False)
    for each in made.evaluations:
        style = "bold red" if each.verdict == "different" else "bold green"
        console.print(Text.assemble(f"{each.group.name} ({each.group.mode}): ", (each.verdict, style)))
        for one, other in each.outcomes:
            console.print(f"  outcome: {one} before, {other} now")
        if each.identical:
            continue
        if each.divergence:
            console.print(f"  {each.divergence}")
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("metric", no_wrap=True)
        for name in ("published", "repeated", "tolerance", ""):
            table.add_column(name, justify="right", no_wrap=True)
        for row in each.rows:
            again = "-" if row.repeated is None else estimate_text(row.repeated, row.unit)
            word = Text("within") if row.is_within else Text("beyond", style="bold red")
            published = estimate_text(row.published, row.unit)
            table.add_row(row.metric, published, again, share_text(row.tolerance), word)
        console.print(table)
    before, here = made.longhaul
    if before != here:
        console.print(f"made by Longhaul {before or 'of several versions'}, repeated by {here}")
    console.print(
        f"execution {duration_text(made.execution_s)}, analysis {duration_text(made.analysis_s)}: "
        f"{'reproduced' if made.is_reproduced else 'not reproduced'}"
    )
