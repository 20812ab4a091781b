"""Distributions fitted to gaps between losses, ranked by Anderson-Darling."""

from longhaul.analysis.fitting.family import FloatArray
from longhaul.analysis.fitting.ranking import (
    FAMILIES,
    FEWEST_REPLICATES,
    LEVEL,
    Estimate,
    Fit,
    Fits,
    Statistic,
    fit_gaps,
    quantiles,
    survival,
)

__all__ = [
    "FAMILIES",
    "FEWEST_REPLICATES",
    "LEVEL",
    "Estimate",
    "Fit",
    "Fits",
    "FloatArray",
    "Statistic",
    "fit_gaps",
    "quantiles",
    "survival",
]
