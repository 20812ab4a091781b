"""Fits of gaps between losses as plain data and as text."""

from collections.abc import Sequence
from dataclasses import asdict
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from longhaul.analysis.fitting import LEVEL, Estimate, Fit, Fits, Statistic
from longhaul.analysis.fitting.loss import LossBlock, loss_block
from longhaul.analysis.gaps import SECONDS, Gaps


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
