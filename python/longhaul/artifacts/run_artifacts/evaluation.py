"""Repetitions compared with what was published: metric by metric, within a tolerance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from longhaul.analysis.comparison import compare, digest
from longhaul.analysis.estimates import Estimate, difference_half_width, estimate
from longhaul.analysis.metrics import metrics
from longhaul.artifacts.description import Group
from longhaul.results.divergence import Divergence, first_difference
from longhaul.results.run_files import kept_json
from longhaul.scenario.model.metrics import matching_metrics, unit_of

Json = Mapping[str, Any]
Verdict = Literal["identical", "within the tolerance", "different"]


@dataclass(frozen=True)
class Row:
    """One metric, published and repeated."""

    metric: str
    unit: str
    published: Estimate
    repeated: Estimate | None
    """``None`` if the repetition did not measure it."""
    tolerance: float
    """As a share of the published mean."""

    @property
    def difference(self) -> float | None:
        """Repeated mean minus published mean."""
        return None if self.repeated is None else self.repeated.mean - self.published.mean

    @property
    def is_within(self) -> bool:
        """Within the tolerance, or within the 95 % confidence interval of the difference (Welch)."""
        if self.repeated is None or self.difference is None:
            return False
        half = difference_half_width(self.published, self.repeated) or 0.0
        limit = max(self.tolerance * abs(self.published.mean), half)
        # Sums may differ in their last digits.
        return abs(self.difference) <= limit + 1e-12 * abs(self.published.mean)


@dataclass(frozen=True)
class Evaluation:
    """One group of runs, published and repeated."""

    group: Group
    identical: bool
    """Every repetition has the results of the published run with its seed, bit by bit."""
    rows: tuple[Row, ...]
    outcomes: tuple[tuple[str, str], ...]
    """Published and repeated, of each run that ended otherwise or whose network was less faithful."""
    took_s: float
    divergence: Divergence | None = None
    """Where packets differ first, of the first run on the virtual clock whose packets do."""

    @property
    def verdict(self) -> Verdict:
        """Of all its metrics together."""
        if self.identical:
            return "identical"
        within = not self.outcomes and bool(self.rows) and all(row.is_within for row in self.rows)
        return "within the tolerance" if within else "different"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.group.name,
            "mode": self.group.mode,
            "verdict": self.verdict,
            "took_s": {"published": self.group.took_s, "repeated": self.took_s},
            "outcomes": [{"published": one, "repeated": other} for one, other in self.outcomes],
            "first_difference": self.divergence.as_json() if self.divergence else None,
            "metrics": [
                {
                    "metric": row.metric,
                    "unit": row.unit,
                    "published": vars(row.published),
                    "repeated": None if row.repeated is None else vars(row.repeated),
                    "tolerance": row.tolerance,
                    "within": row.is_within,
                }
                for row in self.rows
            ],
        }


def evaluate(
    group: Group, published: Sequence[Path], repeated: Sequence[Path], *, took_s: float
) -> Evaluation:
    """Compare runs with their repetitions, in the same order. Raises LonghaulError without results."""
    pairs = [(_summary(one), _summary(other)) for one, other in zip(published, repeated, strict=True)]
    digests = [(digest(one), digest(other)) for one, other in pairs]
    return Evaluation(
        group,
        all(one is not None and one == other for one, other in digests),
        tuple(_rows(group, [one for one, _ in pairs], [other for _, other in pairs])),
        tuple((_outcome(one), _outcome(other)) for one, other in pairs if _is_worse(one, other)),
        took_s,
        next(filter(None, map(first_difference, published, repeated)), None),
    )


def compared(group: Group, published: Sequence[Path]) -> list[tuple[str, str, Estimate, float]]:
    """What a repetition will be compared with: metric, unit, published estimate, tolerance."""
    rows = _rows(group, [_summary(each) for each in published], None)
    return [(row.metric, row.unit, row.published, row.tolerance) for row in rows]


def _rows(group: Group, published: Sequence[Json], repeated: Sequence[Json] | None) -> list[Row]:
    values = [metrics(each) for each in published]
    wanted = compare([values], group.metrics, digests=[[digest(each) for each in published]])
    again = [metrics(each) for each in repeated or ()]
    return [
        Row(
            row.metric,
            unit_of(row.metric),
            row.estimates[0],
            _estimate(row.metric, again, repeated or ()),
            group.tolerance(row.metric),
        )
        for row in wanted
        if row.estimates[0] is not None
    ]


def _estimate(metric: str, runs: Sequence[Json], summaries: Sequence[Json]) -> Estimate | None:
    values = [run.get(metric) for run in runs]
    numbers = [float(each) for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    if not numbers or len(numbers) != len(values):
        return None
    return estimate(numbers, [digest(each) for each in summaries])


def measured(patterns: Sequence[str], run: Path) -> list[str]:
    """The metrics of a run that patterns name."""
    names = metrics(_summary(run))
    return [name for pattern in patterns for name in matching_metrics(pattern, names)]


def _summary(run: Path) -> Json:
    summary: Json = kept_json(run, "summary.json")
    return summary


def _is_worse(published: Json, repeated: Json) -> bool:
    """Whether a run ended otherwise, or had a less faithful network."""
    faithful = ("faithful", "degraded", "invalid")
    before, now = (faithful.index(each["fidelity"]["verdict"]) for each in (published, repeated))
    return published["outcome"]["state"] != repeated["outcome"]["state"] or now > before


def _outcome(summary: Json) -> str:
    """Passed or failed, and how faithful the network was if it was not."""
    verdict = summary["fidelity"]["verdict"]
    return f"{summary['outcome']['state']}{'' if verdict == 'faithful' else f', {verdict}'}"
