"""The figures of fits: survival, P-P and Q-Q, of the gaps and of the first families."""

from collections.abc import Sequence

import numpy as np

from longhaul.analysis.fitting import Fit, Fits, FloatArray, quantiles, survival
from longhaul.report.colours import INK, MUTED, SERIES
from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, plain, style, svg
from longhaul.report.points import unlisted
from longhaul.report.scales import is_wide

MOST_FAMILIES = 4
_MOST_POINTS = 400


def shown(fits: Fits) -> tuple[Fit, ...]:
    """The families that figures show: the first ones that can produce all gaps."""
    return tuple(fit for fit in fits.fits if np.isfinite(fit.a2.value))[:MOST_FAMILIES]


def survival_figure(fits: Fits, unit: str) -> str:
    """Share of gaps longer than a gap, on a logarithmic axis: the tail is where families differ."""
    gaps, chances = _points(fits)
    every = np.linspace(gaps[0], gaps[-1], 300)
    if _is_wide(gaps):
        every = np.geomspace(gaps[0], gaps[-1], 300)
    with style():
        made = figure(3.6)
        axes = made.subplots()
        plain(axes)
        axes.plot(
            gaps, 1 - chances, ".", color=INK, markersize=3.5, label=f"{len(fits.gaps):,} gaps", zorder=1
        )
        for number, (fit, colour) in enumerate(zip(shown(fits), SERIES, strict=False)):
            axes.plot(every, survival(fit, every), color=colour, label=fit.family, zorder=4 - number)
        axes.set(yscale="log", ylim=(0.4 / len(fits.gaps), 1.3))
        axes.set(xlabel=f"gap [{unit}]", ylabel="share of longer gaps")
        if _is_wide(gaps):
            axes.set_xscale("log")
        axes.legend(loc="lower left")
        return svg(made, "survival", "share of longer gaps, measured and fitted")


def probability_figure(fits: Fits) -> str:
    """P-P: the share of gaps up to each one, as fitted and as measured."""
    gaps, chances = _points(fits)
    pairs = [(1 - survival(fit, gaps), chances) for fit in shown(fits)]
    with style():
        made = figure(3.4, width_in=4.2)
        axes = made.subplots()
        _draw(axes, fits, pairs, (0.0, 1.0), "-")
        axes.set(xlabel="share up to a gap, fitted", ylabel="share, measured")
        return svg(made, "probabilities", "shares of gaps as fitted against as measured")


def quantile_figure(fits: Fits, unit: str) -> str:
    """Q-Q: the gap of each rank, as fitted and as measured."""
    gaps, chances = _points(fits)
    pairs = [(quantiles(fit, chances), gaps) for fit in shown(fits)]
    with style():
        made = figure(3.4, width_in=4.2)
        axes = made.subplots()
        margin = 0.04 * (gaps[-1] - gaps[0])
        bounds = (gaps[0] - margin, gaps[-1] + margin)
        if _is_wide(gaps):
            axes.set(xscale="log", yscale="log")
            bounds = (gaps[0] / 1.3, gaps[-1] * 1.3)
        _draw(axes, fits, pairs, bounds, ".")
        axes.set(xlabel=f"gap of a rank, fitted [{unit}]", ylabel=f"measured [{unit}]")
        return svg(made, "quantiles", "quantiles of gaps as fitted against as measured")


def _draw(
    axes: Axes,
    fits: Fits,
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    bounds: tuple[float, float],
    mark: str,
) -> None:
    plain(axes)
    axes.plot(bounds, bounds, color=MUTED, linewidth=0.8, label=unlisted("equal"))
    for number, (fit, pair, colour) in enumerate(zip(shown(fits), pairs, SERIES, strict=False)):
        axes.plot(*pair, mark, color=colour, markersize=3, label=fit.family, zorder=5 - number)
    axes.set(xlim=bounds, ylim=bounds)
    axes.legend(loc="upper left", markerscale=2)


def _points(fits: Fits) -> tuple[FloatArray, FloatArray]:
    """Gaps and their chances (i - 1/2)/n; of very many only some, with all of both tails."""
    count = len(fits.gaps)
    rank = np.arange(count)
    if count > _MOST_POINTS:
        tail = np.arange(_MOST_POINTS // 8)
        even = np.linspace(0, count - 1, _MOST_POINTS * 3 // 4).astype(np.intp)
        rank = np.unique(np.concatenate((tail, even, count - 1 - tail)))
    return fits.gaps[rank], (rank + 0.5) / count


def _is_wide(gaps: FloatArray) -> bool:
    return is_wide(float(np.median(gaps)), float(gaps[-1]))
