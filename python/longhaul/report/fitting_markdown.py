"""Fits as Markdown, for the appendix of a paper."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from longhaul.analysis.fitting import Fits
from longhaul.analysis.fitting.loss import LossBlock
from longhaul.analysis.gaps import Gaps
from longhaul.report import fitting
from longhaul.report.markdown import escaped, facts_table, fenced, markdown, write_text
from longhaul.report.tables import Row, Table, numbers, words


def write_fits(path: Path, gaps: Gaps, fits: Fits, blocks: Sequence[LossBlock]) -> None:
    """Write the families with their parameters and tests, and the blocks for a scenario, to ``path``."""
    write_text(path, _parts(gaps, fits, blocks))


def _parts(gaps: Gaps, fits: Fits, blocks: Sequence[LossBlock]) -> Iterator[str]:
    yield f"# {escaped(gaps.name)}"
    values = fits.gaps
    yield facts_table(
        {
            "gaps": f"{len(values):,}",
            "mean": f"{values.mean():.4g} {gaps.unit}",
            "shortest and longest": f"{values[0]:.3g} to {values[-1]:.3g} {gaps.unit}",
            "notes": "; ".join(gaps.notes),
        }
    )
    rows = [
        Row(
            [
                str(rank),
                fit.family,
                fitting.parameters_text(fit),
                *(
                    text
                    for test in (fit.a2, fit.ks, fit.chi2)
                    for text in (fitting.number_text(test.value), fitting.p_text(test))
                ),
                fitting.verdict_text(fit),
            ]
        )
        for rank, fit in enumerate(fits.fits, 1)
    ]
    columns = [
        *numbers("no."),
        *words("family", f"parameters, gaps in {gaps.unit}"),
        *numbers("A2", "p", "KS", "p", "chi2", "p"),
        *words("EasyFit"),
    ]
    yield "## Order"
    yield markdown(Table(columns, rows))
    yield from (f"{escaped(line)}." for line in fitting.explanation(fits))
    if blocks:
        yield "## In a scenario"
        yield from (fenced(block.text, "yaml") for block in blocks)
