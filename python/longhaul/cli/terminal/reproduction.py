"""What a repetition came to, in 80 columns."""

from rich.table import Table
from rich.text import Text

from longhaul.artifacts.reproduction import Times
from longhaul.artifacts.run_artifacts.reproduction import Reproduction
from longhaul.artifacts.study_artifacts.reproduction import Comparison, StudyReproduction
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
    _print_versions(console, *made.longhaul)
    outcome = "reproduced" if made.is_reproduced else "not reproduced"
    console.print(f"{_lasting(made.times)}: {outcome}")


_STYLES: dict[Comparison, str] = {
    "identical": "bold green",
    "same verdict": "bold green",
    "different": "bold red",
    "not measured": "bold red",
}


def print_study_reproduction(made: StudyReproduction) -> None:
    """Each claim with both verdicts; what was found, where that is not identical."""
    console = Console(highlight=False)
    for row in made.rows:
        claim = row.published.claim
        word = row.comparison, _STYLES[row.comparison]
        console.print(Text.assemble(f"{claim.id} ({claim.part}): ", word, f"; {claim.text}"), soft_wrap=True)
        if row.comparison == "identical":
            continue
        for name, each in (("published", row.published), ("here", row.repeated)):
            found = each.found()
            console.print(f"  {name}: {each.verdict}{f' ({found})' if found else ''}", soft_wrap=True)
    _print_versions(console, *made.longhaul)
    console.print(f"{_lasting(made.times)}: {made.outcome()}", soft_wrap=True)


def _print_versions(console: Console, before: str | None, here: str) -> None:
    if before != here:
        console.print(f"made by Longhaul {before or 'of several versions'}, repeated by {here}")


def _lasting(times: Times) -> str:
    return f"execution {duration_text(times.execution)}, analysis {duration_text(times.analysis)}"
