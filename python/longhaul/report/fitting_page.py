"""The report of fits: one self-contained HTML file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.fitting import Fit, Fits
from longhaul.analysis.fitting.loss import LossBlock
from longhaul.analysis.gaps import Gaps
from longhaul.report import fitting, fitting_charts
from longhaul.report.chart_json import embedded
from longhaul.report.page import page
from longhaul.storage import writing


def write_fitting(path: Path, gaps: Gaps, fits: Fits, blocks: Sequence[LossBlock]) -> None:
    """Write the report of ``fits`` to ``path``."""
    filters: dict[str, Callable[..., Any]] = {
        "number": fitting.number_text,
        "p": fitting.p_text,
        "parameters": _parameters,
        "easyfit": fitting.verdict_text,
    }
    context = {
        "gaps": gaps,
        "fits": fits,
        "blocks": blocks,
        "others": [fit.family for fit in fits.fits[1:] if fit.contradicted is False],
        "shown": [fit.family for fit in fitting_charts.shown(fits)],
        "explanation": fitting.explanation(fits),
        "no_block": fitting.no_block_text(),
        "charts": {name: embedded(make()) for name, make in fitting_charts.drawings(fits, gaps.unit).items()},
    }
    with writing(path):
        path.write_text(page("fit.html.j2", context=context, filters=filters), encoding="utf-8")


def _parameters(fit: Fit) -> str:
    """Parameters that no line breaks in two."""
    return fitting.parameters_text(fit).replace(" ", "\u00a0").replace(",\u00a0", ", ")
