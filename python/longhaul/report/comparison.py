"""A comparison of groups of runs as plain data and as text."""

from collections.abc import Sequence
from dataclasses import asdict
from string import ascii_uppercase
from typing import Any

from longhaul.analysis.comparison import Row
from longhaul.analysis.estimates import Estimate, runs_text
from longhaul.analysis.stealing import Stolen
from longhaul.results.comparison import ComparedGroup
from longhaul.scenario.model.metrics import unit_of
from longhaul.units.text import quantity_text


def as_plain(
    groups: Sequence[ComparedGroup], rows: Sequence[Row], stolen: Stolen | None = None
) -> dict[str, Any]:
    """For JSON; units are those of metrics: ns, bit/s, bytes, shares from 0 to 1, counts."""
    return {
        "groups": [asdict(each) for each in groups],
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


def letter_of(number: int) -> str:
    """A to Z, A1 to Z1, A2 ..."""
    return ascii_uppercase[number % 26] + (str(number // 26) if number > 25 else "")


def estimate_text(estimate: Estimate, unit: str) -> str:
    """``94.1 Mbit/s ±0.3%``; no interval for a single run."""
    text = quantity_text(float(f"{estimate.mean:.4g}"), unit)
    if not estimate.half_width or estimate.mean == 0:
        return text
    return f"{text} \u00b1{percent_text(estimate.half_width / abs(estimate.mean))}"


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
    share = sign + percent_text(abs(row.difference / first.mean))
    if row.difference_half_width is None:
        return share
    return f"{share} ±{percent_text(row.difference_half_width / abs(first.mean))}"


def percent_text(share: float) -> str:
    """A share in per cent, as differences have it."""
    percent = share * 100
    if percent >= 1000:
        return f"{share:.0f}x"
    if percent >= 10:
        return f"{percent:.0f}%"
    if percent >= 0.1 or percent == 0:
        return f"{percent:.1f}%"
    return f"{percent:.1g}%" if percent >= 0.001 else "<0.001%"
