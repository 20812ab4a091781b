"""The charts of fits: survival, P-P and Q-Q, of the gaps and of the first families."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from longhaul.analysis.fitting import Fit, Fits, FloatArray, quantiles, survival
from longhaul.report.chart import Axis, Chart, Kind, Panel, Series
from longhaul.report.colours import INK, MUTED, SERIES
from longhaul.report.scales import is_wide

MOST_FAMILIES = 4
_MOST_POINTS = 400
_STEPS = 300
"""Points of a curve of survival."""


def drawings(fits: Fits, unit: str) -> Mapping[str, Callable[[], Chart]]:
    """How to make each chart of fits of gaps in ``unit``, by name."""
    return {
        "survival": lambda: survival_chart(fits, unit),
        "probabilities": lambda: probability_chart(fits),
        "quantiles": lambda: quantile_chart(fits, unit),
    }


def charts(fits: Fits, unit: str) -> list[Chart]:
    """All charts of fits of gaps in ``unit``."""
    return [make() for make in drawings(fits, unit).values()]


def shown(fits: Fits) -> tuple[Fit, ...]:
    """The families that charts show: the first ones that can produce all gaps."""
    return tuple(fit for fit in fits.fits if np.isfinite(fit.a2.value))[:MOST_FAMILIES]


def survival_chart(fits: Fits, unit: str) -> Chart:
    """Share of gaps longer than a gap, on a logarithmic axis: the tail is where families differ."""
    gaps, chances = _points(fits)
    spaced = np.geomspace if _is_wide(gaps) else np.linspace
    every = spaced(gaps[0], gaps[-1], _STEPS)
    series = [Series(f"{len(fits.gaps):,} gaps", INK, gaps, 1 - chances, kind="dots", size=3.5)]
    for fit, colour in _coloured(fits):
        series.append(Series(fit.family, colour, every, survival(fit, every)))
    y = Axis("share of longer gaps", is_logarithmic=True, low=0.4 / len(fits.gaps), high=1.3)
    panel = Panel("", Axis(f"gap [{unit}]", is_logarithmic=_is_wide(gaps)), y, series)
    title = "share of longer gaps, measured and fitted"
    return Chart("survival", title, [(panel,)], height_in=3.6, legend="inside")


def probability_chart(fits: Fits) -> Chart:
    """P-P: the share of gaps up to each one, as fitted and as measured."""
    gaps, chances = _points(fits)
    pairs = [(1 - survival(fit, gaps), chances) for fit, _colour in _coloured(fits)]
    x, y = (Axis(label, low=0.0, high=1.0) for label in ("share up to a gap, fitted", "share, measured"))
    title = "shares of gaps as fitted against as measured"
    return _chart("probabilities", title, Panel("", x, y, _pairs(fits, pairs, x, "curve")))


def quantile_chart(fits: Fits, unit: str) -> Chart:
    """Q-Q: the gap of each rank, as fitted and as measured."""
    gaps, chances = _points(fits)
    pairs = [(quantiles(fit, chances), gaps) for fit, _colour in _coloured(fits)]
    logarithmic = _is_wide(gaps)
    margin = 0.04 * (gaps[-1] - gaps[0])
    low, high = (gaps[0] / 1.3, gaps[-1] * 1.3) if logarithmic else (gaps[0] - margin, gaps[-1] + margin)
    labels = (f"gap of a rank, fitted [{unit}]", f"measured [{unit}]")
    ends = (float(low), float(high))
    x, y = (Axis(label, is_logarithmic=logarithmic, low=ends[0], high=ends[1]) for label in labels)
    title = "quantiles of gaps as fitted against as measured"
    return _chart("quantiles", title, Panel("", x, y, _pairs(fits, pairs, x, "dots")))


def _pairs(fits: Fits, pairs: Sequence[tuple[FloatArray, FloatArray]], x: Axis, kind: Kind) -> list[Series]:
    """Measured over fitted, and the line on which they are equal."""
    ends = np.array([x.low, x.high], dtype=float)
    size = 3.5 if kind == "dots" else 1.4
    equal = Series("equal", MUTED, ends, ends, size=0.8, listed=False)
    return [
        equal,
        *(
            Series(fit.family, colour, fitted, measured, kind=kind, size=size)
            for (fit, colour), (fitted, measured) in zip(_coloured(fits), pairs, strict=True)
        ),
    ]


def _chart(name: str, title: str, panel: Panel) -> Chart:
    """A chart that is as high as it is wide."""
    return Chart(name, title, [(panel,)], height_in=3.9, width_in=4.2, legend="inside")


def _coloured(fits: Fits) -> list[tuple[Fit, str]]:
    """The families and their colours, the best last: it is drawn above the others."""
    return list(zip(shown(fits), SERIES, strict=False))[::-1]


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
