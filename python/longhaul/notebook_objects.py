"""Scenarios, comparisons, fits and plans as Python objects with a representation for notebooks.

>>> import longhaul
>>> longhaul.describe("scenarios/two-clusters.yaml").network["nodes"][0]["name"]      # doctest: +SKIP
'west'
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.analysis.comparison import Row
from longhaul.analysis.fitting import FAMILIES, Fits, fit_gaps
from longhaul.analysis.gaps import UNITS, Gaps
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report import (
    comparison_charts,
    comparison_page,
    fitting_charts,
    notebook,
    pictures,
)
from longhaul.report.comparison_runs import Side, sides_of
from longhaul.report.fitting import loss_blocks
from longhaul.report.pictures import Drawn, Picture
from longhaul.results.comparison import Group, check_comparable, compare_groups, find, find_all
from longhaul.scenario import Resolved, load_scenario, resolve
from longhaul.scenario.model.metrics import DEFAULT_METRICS
from longhaul.scenario.show.describe import describe as described
from longhaul.transfers.plan import plans, policies, request_files
from longhaul.transfers.plan.networks import scenario_network
from longhaul.transfers.report import charts, plan_html

_MOST_PATHS = 20
_PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Described:
    """A scenario that can be run, in plain data."""

    resolved: Resolved = field(repr=False)

    @cached_property
    def network(self) -> Mapping[str, Any]:
        """Nodes, links and paths, as ``longhaul show --json`` has them."""
        return described(self.resolved, most_paths=_MOST_PATHS)

    def picture(self) -> Picture | None:
        """The network; ``None`` if it is too large to draw."""
        return pictures.network_picture(
            self.resolved.plan,
            positions=self.resolved.positions,
            functions=self.resolved.functions,
            spots=self.resolved.scenario.spots,
        )

    def _repr_html_(self) -> str:
        drawn = self.picture()
        return notebook.network_html(self.network) + (drawn.svg if drawn else "")


@dataclass(frozen=True)
class Comparison(Drawn):
    """Runs, or groups of runs, side by side."""

    groups: tuple[Group, ...]
    rows: tuple[Row, ...] = field(repr=False)
    """Metrics that all sides have, with means, intervals, and how the last differs from the first."""

    @cached_property
    def sides(self) -> Sequence[Side]:
        """What each side did."""
        return sides_of(self.groups)

    def report(self, path: _PathLike = "comparison.html") -> Path:
        """Write what ``longhaul report --compare`` does; returns where it is."""
        command = " ".join(("longhaul report --compare", *(group.name for group in self.groups)))
        return comparison_page.write_comparison(
            Path(path), self.sides, first=DEFAULT_METRICS, command=command
        )

    def _drawings(self) -> pictures.Drawings:
        metrics = [row.metric for row in self.rows][: comparison_page.MOST_METRICS]
        return comparison_charts.drawings(self.sides, metrics)

    def _repr_html_(self) -> str:
        bad = [
            f"{side.letter}: {run.directory.name} is {run.verdict}"
            for side in self.sides
            for run in side.runs
            if run.verdict != "faithful"
        ]
        names = [f"{side.differs} ({side.name})" if side.differs else side.name for side in self.sides]
        return notebook.comparison_html(names, self.rows, bad)


@dataclass(frozen=True, eq=False)
class Fitted(Drawn):
    """Distributions of gaps between losses, the best first."""

    gaps: Gaps = field(repr=False)
    fits: Fits = field(repr=False)

    @property
    def loss(self) -> str | None:
        """The best fit as the ``loss:`` of a link; ``None`` if the language has no such model."""
        found = loss_blocks(self.fits, self.gaps.unit, None)
        return found[0].text if found else None

    def __repr__(self) -> str:
        """The best family."""
        return f"Fitted({self.fits.best.family}, {len(self.fits.gaps)} gaps)"

    def _drawings(self) -> pictures.Drawings:
        return fitting_charts.drawings(self.fits, self.gaps.unit)

    def _repr_html_(self) -> str:
        return notebook.fit_html(self.gaps, self.fits, self.loss)


@dataclass(frozen=True)
class Planned(Drawn):
    """Bulk transfers: who moves when, and how fast."""

    plan: plans.Plan = field(repr=False)

    def __repr__(self) -> str:
        """The policy, and how many it satisfies."""
        good = sum(each.satisfied for each in self.plan.outcomes)
        return f"Planned({self.plan.policy}, {good} of {len(self.plan.outcomes)} requests satisfied)"

    def _drawings(self) -> pictures.Drawings:
        return charts(self.plan)

    def _repr_html_(self) -> str:
        return plan_html(self.plan) + (self.figure("gantt").svg if self.plan.outcomes else "")


def describe(scenario: _PathLike, *, params: Mapping[str, Any] | None = None) -> Described:
    """What the scenario in a file means: addresses, paths, RTT, bottlenecks. Raises ScenarioError."""
    settings = {name: str(value) for name, value in (params or {}).items()}
    return Described(resolve(load_scenario(Path(scenario), settings=settings)))


def compare(*runs: Any, metrics: Sequence[str] = ()) -> Comparison:
    """Runs side by side, as ``longhaul compare`` does.

    Each of ``runs`` is a result, a directory, or a list of results that are repetitions. ``metrics`` are
    patterns. Raises LonghaulError for what cannot be compared.
    """
    several = len(runs) > 1 or any(isinstance(each, list | tuple) for each in runs)
    groups = [_group(each) for each in runs] if several else find_all([_directory(each) for each in runs])
    if len(groups) < 2:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is nothing to compare with",
            remedy="give two results or more",
            exit_code=2,
        )
    check_comparable(groups)
    return Comparison(tuple(groups), tuple(compare_groups(groups, metrics)))


def _group(given: Any) -> Group:
    if isinstance(given, list | tuple):
        paths = tuple(run for each in given for run in find(_directory(each)).runs)
        if not paths:
            raise LonghaulError(
                Code.ARGUMENT_MISSING, "a list of runs is empty", remedy="give one run or more", exit_code=2
            )
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        return Group(f"{paths[0]}{more}", paths)
    return find(_directory(given))


def _directory(given: Any) -> Path:
    return Path(getattr(given, "directory", given))


def fit(
    gaps: Iterable[float] | _PathLike,
    *,
    unit: str = "s",
    families: Sequence[str] = tuple(FAMILIES),
    seed: int = 1,
    replicates: int = 999,
) -> Fitted:
    """Fit distributions to gaps between losses: numbers, or a file that ``longhaul fit`` reads.

    Raises LonghaulError for fewer than 20 gaps and for what is not a gap.
    """
    from longhaul.traces.gaps import read_gaps

    if unit not in UNITS:
        raise LonghaulError(
            Code.WORD_UNKNOWN, f'there is no unit "{unit}"', remedy=f"write one of {', '.join(UNITS)}"
        )
    if isinstance(gaps, str | os.PathLike):
        found = read_gaps(Path(gaps), unit=unit)
    else:
        found = Gaps(_numbers(gaps), unit, "gaps")
    return Fitted(found, fit_gaps(found.values, families=families, seed=seed, replicates=replicates))


def _numbers(gaps: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        return np.asarray(list(gaps), dtype=np.float64)
    except (TypeError, ValueError):
        raise LonghaulError(
            Code.SAMPLE_UNUSABLE,
            "gaps are numbers",
            remedy="give numbers above zero, or the name of a file",
            exit_code=2,
        ) from None


def plan_transfers(requests: _PathLike, *, scenario: _PathLike | None = None, policy: str) -> Planned:
    """Plan the transfers that a file asks for, over the network of ``scenario``. Raises LonghaulError."""
    network = scenario_network(describe(scenario).resolved.plan) if scenario is not None else None
    case = request_files.placed(
        request_files.read_requests(Path(requests)), network=network, capacity_bits_per_s=None
    )
    return Planned(policies.plan(case, policy=policy))
