"""Groups of runs side by side, in 80 columns or as plain data."""

from collections.abc import Sequence
from dataclasses import asdict
from string import ascii_uppercase
from typing import Any

from rich.table import Table
from rich.text import Text

from longhaul.analysis.comparing import Row
from longhaul.analysis.estimates import Estimate, runs_text
from longhaul.analysis.stealing import Stolen
from longhaul.analysis.text import quantity_text, rate_text
from longhaul.report.console import Console
from longhaul.scenario.metrics import unit_of


def as_plain(
    groups: Sequence[tuple[str, int]], rows: Sequence[Row], stolen: Stolen | None = None
) -> dict[str, Any]:
    """For JSON; units are those of metrics: ns, bit/s, bytes, shares from 0 to 1, counts."""
    return {
        "groups": [{"name": name, "runs": runs} for name, runs in groups],
        "metrics": [
            {
                **asdict(row),
                "estimates": [_as_plain(each) if each else None for each in row.estimates],
                "unit": unit_of(row.metric),
                "differs": row.differs,
            }
            for row in rows
        ],
        "stolen": {**asdict(stolen), **{key: _as_plain(getattr(stolen, key)) for key in ("base", "variant")}}
        if stolen
        else None,
    }


def _as_plain(estimate: Estimate) -> dict[str, Any]:
    fields = {key: getattr(estimate, key) for key in ("mean", "half_width", "runs", "repeats")}
    return {**fields, "n": runs_text(estimate.runs, estimate.repeats)}


def print_comparison(
    groups: Sequence[tuple[str, int]], rows: Sequence[Row], stolen: Stolen | None = None
) -> None:
    """A line for each metric: every group, and how the last differs from the first."""
    console = Console()
    letters = [_letter(number) for number in range(len(groups))]
    for letter, (name, runs) in zip(letters, groups, strict=True):
        console.print(
            f"{letter}  {name} ({runs} run{'s' if runs > 1 else ''})", highlight=False, soft_wrap=True
        )
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("metric", no_wrap=True)
    for letter in letters:
        table.add_column(letter, justify="right", no_wrap=True)
    table.add_column(f"{letters[-1]} - A", justify="right", no_wrap=True)
    for row in rows:
        unit = unit_of(row.metric)
        cells = [estimate_text(each, unit) if each else "-" for each in row.estimates]
        table.add_row(row.metric, *cells, _difference(row))
    console.print(table)
    if stolen:
        half = "" if stolen.half_width is None else f" \u00b1{_percent(stolen.half_width)}"
        share = ("-" if stolen.share < 0 else "") + _percent(abs(stolen.share))
        had, has = (rate_text(each.mean) for each in (stolen.base, stolen.variant))
        console.print(
            f"{stolen.flow} stole {share}{half} of the others' goodput: {had} in A, {has} in {letters[-1]}",
            highlight=False,
        )
    for place, letter in enumerate(letters):
        counts = {(each.runs, each.repeats) for row in rows if (each := row.estimates[place])}
        if any(runs < repeats for runs, repeats in counts):
            runs, repeats = max(counts)
            console.print(
                f"{letter}: {runs_text(runs, repeats)}: runs with equal results count as one", highlight=False
            )
    if any(runs < 2 for _, runs in groups):
        console.print("single runs have no interval: repeat them with other seeds (--seed)", highlight=False)


def _letter(number: int) -> str:
    """A to Z, A1 to Z1, A2 ..."""
    return ascii_uppercase[number % 26] + (str(number // 26) if number > 25 else "")


def estimate_text(estimate: Estimate, unit: str) -> str:
    """``94.1 Mbit/s ±0.3%``; no interval for a single run."""
    text = quantity_text(float(f"{estimate.mean:.4g}"), unit)
    if not estimate.half_width or estimate.mean == 0:
        return text
    return f"{text} \u00b1{_percent(estimate.half_width / abs(estimate.mean))}"


def _difference(row: Row) -> Text:
    text = difference_text(row)
    if row.difference is None or row.difference_half_width is None:
        return Text(text, style="dim" if row.difference == 0 else "")
    return Text(text, style="bold" if row.differs else "dim")


def difference_text(row: Row) -> str:
    """``-22% ±12%`` of the first group's mean; the difference itself where that is 0; a dash for none."""
    first = row.estimates[0]
    if row.difference is None or first is None:
        return "-"
    if row.difference == 0:
        return "0"
    sign = "+" if row.difference > 0 else "-"
    if first.mean == 0:
        return sign + quantity_text(float(f"{abs(row.difference):.3g}"), unit_of(row.metric))
    share = sign + _percent(abs(row.difference / first.mean))
    if row.difference_half_width is None:
        return share
    return f"{share} ±{_percent(row.difference_half_width / abs(first.mean))}"


def _percent(share: float) -> str:
    percent = share * 100
    if percent >= 1000:
        return f"{share:.0f}x"
    if percent >= 10:
        return f"{percent:.0f}%"
    if percent >= 0.1 or percent == 0:
        return f"{percent:.1f}%"
    return f"{percent:.1g}%" if percent >= 0.001 else "<0.001%"
