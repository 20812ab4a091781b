"""Fits of gaps between losses, in 80 columns or as plain data."""

from collections.abc import Sequence
from dataclasses import asdict
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from longhaul.analysis.fitting import LEVEL, Estimate, Fit, Fits, Statistic
from longhaul.analysis.fitting.loss import LossBlock, loss_block
from longhaul.analysis.gaps import SECONDS, Gaps
from longhaul.report.console import Console


def loss_blocks(fits: Fits, unit: str, packets_per_s: float | None) -> tuple[LossBlock, ...]:
    """The best fit in a scenario's words, in its own unit, and in the other if the rate is known."""
    rate = packets_per_s or 0.0
    if unit in SECONDS:
        seconds, packets = SECONDS[unit], SECONDS[unit] * rate
    else:
        seconds, packets = 1 / rate if rate else 0.0, 1.0
    blocks = (
        loss_block(fits, unit="wall", factor=seconds) if seconds else None,
        loss_block(fits, unit="packets", factor=packets) if packets else None,
    )
    return tuple(block for block in blocks if block is not None)


def as_plain(gaps: Gaps, fits: Fits, blocks: Sequence[LossBlock]) -> dict[str, Any]:
    """For JSON; amounts are in ``unit``, and what is infinite is null."""
    values = fits.gaps
    return {
        "file": gaps.name,
        "unit": gaps.unit,
        "gaps": {
            "count": len(values),
            "mean": float(values.mean()),
            "sd": float(values.std()),
            "median": float(np.median(values)),
            "least": float(values[0]),
            "longest": float(values[-1]),
        },
        "notes": list(gaps.notes),
        "seed": fits.seed,
        "replicates": fits.replicates,
        "replicate_size": fits.replicate_size,
        "bins": fits.bins,
        "level": LEVEL,
        "fits": [{"rank": rank, **_plain(asdict(fit))} for rank, fit in enumerate(fits.fits, 1)],
        "loss": [asdict(block) for block in blocks],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


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


def summary_text(gaps: Gaps, fits: Fits) -> str:
    """The gaps in one line."""
    values = fits.gaps
    return (
        f"{gaps.name}: {len(values):,} gaps, mean {values.mean():.4g} {gaps.unit}, "
        f"median {np.median(values):.4g}, sd {values.std():.3g}"
    )


def explanation(fits: Fits) -> tuple[str, ...]:
    """What the columns mean."""
    lines = []
    if fits.replicates:
        lines.append(
            f"p: share of {fits.replicates} fits to {fits.replicate_size} gaps of the same family, seed "
            f"{fits.seed}, with an A2 as large; at most {LEVEL:g}: contradicted"
        )
        lines.append("order: not contradicted first, these by number of parameters, then by A2")
    else:
        lines.append("order: by A2 alone, for want of replicates")
    lines.append(
        "EasyFit: its rank (by A2 alone) and verdict (A2 below 2.50 for any family), which forgets that"
        " parameters were fitted"
    )
    return tuple(lines)


def no_block_text() -> str:
    """Why there is no loss block."""
    return "no scenario can say these: they have no mean, or amounts beyond what it takes; fit others too"


def estimate_text(estimate: Estimate) -> str:
    """``2.951 ± 0.064``: the error to two digits, the value to the same place."""
    error = estimate.standard_error
    if error is None or not isfinite(error) or error <= 0:
        return f"{estimate.value:.4g}"
    places = 1 - floor(log10(error))
    if not 0 <= places <= 5:
        ahead = floor(log10(abs(estimate.value))) if estimate.value else 0
        return f"{estimate.value:.{min(max(ahead + places + 1, 4), 9)}g} \u00b1 {error:.2g}"
    return f"{estimate.value:.{places}f} \u00b1 {error:.{places}f}"


def parameters_text(fit: Fit) -> str:
    """All parameters with their standard errors."""
    return ", ".join(f"{each.name} {estimate_text(each)}" for each in fit.parameters)


def number_text(value: float) -> str:
    """Three digits or so; infinity as a sign."""
    if not isfinite(value):
        return "\u221e"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def p_text(statistic: Statistic) -> str:
    """A p with as many places as its error allows."""
    return "-" if statistic.p is None else f"{statistic.p:.3f}"


def verdict_text(fit: Fit) -> str:
    """EasyFit's rank and verdict."""
    return f"{fit.easyfit_rank} {'accepts' if fit.easyfit_accepts else 'rejects'}"


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
