"""Fits of gaps between losses, in 80 columns."""

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from longhaul.analysis.fitting import Fits
from longhaul.analysis.fitting.loss import LossBlock
from longhaul.analysis.gaps import Gaps
from longhaul.report.console import Console
from longhaul.report.fitting import (
    explanation,
    no_block_text,
    number_text,
    p_text,
    parameters_text,
    summary_text,
    verdict_text,
)


def print_fits(gaps: Gaps, fits: Fits, blocks: Sequence[LossBlock], report: Path | None) -> None:
    """The order, the parameters, what to know about them, and the loss in a scenario's words."""
    console = Console()

    def say(line: str | Text = "", *, style: str = "") -> None:
        console.print(line, style=style, highlight=False, soft_wrap=True)

    say(Text(summary_text(gaps, fits), style="bold"))
    for note in gaps.notes:
        say(f"note: {note}", style="yellow")
    console.print(_ranking(fits))
    say()
    console.print(_parameters(gaps, fits))
    say()
    for line in explanation(fits):
        console.print(line, style="dim", highlight=False)
    if not blocks:
        say()
        say(no_block_text())
    for block in blocks:
        say()
        for remark in block.remarks:
            say(f"# {remark}")
        say(block.text.rstrip())
    if report is not None:
        say()
        say(f"report: {report}")


def _ranking(fits: Fits) -> Table:
    table = _table("#", "family", ">A2", ">p", ">\u00b1", ">KS", ">chi2", "EasyFit")
    for rank, fit in enumerate(fits.fits, 1):
        error = fit.a2.p_error
        table.add_row(
            str(rank),
            fit.family,
            number_text(fit.a2.value),
            p_text(fit.a2),
            "-" if error is None else f"{error:.3f}",
            f"{fit.ks.value:.3f}",
            number_text(fit.chi2.value),
            verdict_text(fit),
            style="dim" if fit.contradicted else "",
        )
    return table


def _parameters(gaps: Gaps, fits: Fits) -> Table:
    table = _table("family", f"parameters, gaps in {gaps.unit} (\u00b1 standard error)")
    for fit in fits.fits:
        text = parameters_text(fit)
        for remark in fit.remarks:
            text += f"\n{remark}"
        table.add_row(fit.family, Text(text), style="dim" if fit.contradicted else "")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=right)
    return table
