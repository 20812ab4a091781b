"""The estimated cost of a sweep, from a pilot of some of its runs."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from longhaul import _longhaul
from longhaul.analysis.estimates import estimate
from longhaul.analysis.outcome import EARLY
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.sweeps.design import spread
from longhaul.sweeps.job import Piece, Shard, point_plan, run_shard, with_seed
from longhaul.sweeps.preparation import Prepared
from longhaul.sweeps.trials import LiveTrials, plan_trial, run_trial

Json = dict[str, Any]

QUICK_S = 1.0
"""How long the run is watched whose speed decides how large shards are."""
PILOT_S = 4.0
"""CPU time that an estimate may take; it is more if the first variants take longer."""
LEAST, MOST = 3, 24
"""Variants that an estimate tries at least, if there are so many, and at most."""
_LONGEST_S = 1.0
"""Of one run of an estimate: beyond, the rest is extrapolated by simulated time."""
_LONGEST_LIVE_S = 5.0
"""The same of a live run, which starts hosts first: real time."""
_SHORT_S = 0.05
"""Of a run: then what a shard takes beside its runs matters."""
_MORE = 4
_EVENTS_AT_ONCE = 200_000


@dataclass(frozen=True)
class Cost:
    """CPU time of the runs of one variant; of live runs, real time."""

    run_s: float
    """Of each run: simulated, and made rows of."""
    plan_s: float
    """Of making the plan, once for all of them that are in one shard."""
    whole: bool = True
    """Whether the run was watched to its end; otherwise the rest is extrapolated by simulated time."""

    def point_s(self, repeats: int) -> float:
        """Of a run, with its share of the plan."""
        return self.run_s + self.plan_s / repeats


def try_one(prepared: Prepared) -> Cost:
    """Time the first run that can be, for a second at most. What it comes to is thrown away."""
    cost = None
    for variant in range(min(prepared.design.variants, MOST)):
        began = time.thread_time()
        try:
            return time_variant(prepared, prepared.design.values(variant), longest_s=QUICK_S)
        except (LonghaulError, ValueError):
            cost = cost or Cost(0.0, time.thread_time() - began)
    assert cost is not None
    return cost


def time_variant(prepared: Prepared, values: Sequence[str], *, longest_s: float) -> Cost:
    """Time one run of the variant with these values. Raises LonghaulError or ValueError if it cannot be."""
    if prepared.job.trials is not None:
        return _time_trial(prepared, prepared.job.trials, values)
    prepared.job.base.resolve(values)
    began = time.thread_time()
    plan, _traffic, rest, _ = point_plan(prepared.job.base, values)
    plan_s = time.thread_time() - began
    began = time.thread_time()
    simulation = _longhaul.Simulation(with_seed(rest, plan["seed"]), directory=None)
    while not simulation.advance(_EVENTS_AT_ONCE):
        spent_s = time.thread_time() - began
        if spent_s > longest_s:
            share = simulation.now_ns() / (plan["duration_ns"] or 2 * max(simulation.now_ns(), 1))
            return Cost(spent_s / max(share, 1e-9), plan_s, whole=False)
    # Short enough to be done again as a shard does it: with its rows, which may cost more than the run.
    spent_s = time.thread_time() - began
    single_s = _time_shard(prepared, values, repeats=1)
    if spent_s > _SHORT_S:
        return Cost(max(single_s - plan_s, spent_s), plan_s)
    # What a shard costs beside its runs is shared by many of them.
    more_s = _time_shard(prepared, values, repeats=1 + _MORE) - single_s
    return Cost(max(more_s / _MORE, spent_s), plan_s)


def _time_trial(prepared: Prepared, trials: LiveTrials, values: Sequence[str]) -> Cost:
    resolved = prepared.job.base.resolve(values)
    planned = plan_trial(resolved, trials.clock_of(resolved.scenario))
    began = time.monotonic()
    trial = run_trial(planned, trials.directory, longest_s=_LONGEST_LIVE_S)
    spent_s = time.monotonic() - began
    if trial is None or trial.summary is None:
        raise LonghaulError(Code.RUN_FAILED, (trial and trial.error) or "the run left no results")
    if trial.summary["ended"] not in EARLY:
        return Cost(spent_s, 0.0)
    reached_ns = max(trial.summary["duration_ns"], 1)
    return Cost(
        spent_s * max((planned.plan["duration_ns"] or 2 * reached_ns) / reached_ns, 1), 0.0, whole=False
    )


def _time_shard(prepared: Prepared, values: Sequence[str], *, repeats: int) -> float:
    shard = Shard(0, 0, (Piece(0, tuple(values), 0, repeats),))
    began = time.thread_time()
    run_shard(prepared.job, shard)
    return time.thread_time() - began


def estimate_cost(prepared: Prepared, *, cores: int) -> Json:
    """What a sweep would cost, with a 95 % interval from the variants that were tried; all in CPU time.

    ``start_s`` is what this process has taken so far: the sweep takes it, too, beside its runs.
    """
    costs: list[Cost] = []
    start_s = time.process_time()
    now = time.thread_time if prepared.job.trials is None else time.monotonic
    began = now()
    for variant in spread(prepared.design.variants):
        if len(costs) >= MOST or (len(costs) >= LEAST and now() - began > PILOT_S):
            break
        try:
            costs.append(time_variant(prepared, prepared.design.values(variant), longest_s=_LONGEST_S))
        except (LonghaulError, ValueError):
            continue
    if not costs and prepared.job.trials is not None:
        # Nothing to extrapolate from: the first error says why.
        costs = [time_variant(prepared, prepared.design.values(0), longest_s=_LONGEST_S)]
    costs = costs or [try_one(prepared)]
    repeats, points, variants = prepared.sweep.repeats, prepared.points, prepared.design.variants
    each_s = [cost.point_s(repeats) for cost in costs]
    mean = estimate(each_s)
    # Of all variants, those that were tried are known.
    half_s = (mean.half_width or 0.0) * sqrt(max(1 - len(costs) / variants, 0.0))
    low_s, high_s = max(mean.mean - half_s, min(each_s) * len(costs) / variants), mean.mean + half_s
    plan_share = sum(cost.plan_s for cost in costs) / repeats / sum(each_s)
    size = prepared.shard_size(mean.mean)
    # Plans are made under the interpreter's lock, one after another.
    spread_over = max(1 / cores, plan_share)
    return {
        "name": prepared.name,
        "variants": variants,
        "repeats": repeats,
        "points": points,
        "more_until": prepared.sweep.until is not None,
        "shards": -(-points // size),
        "shard_points": size,
        "start_s": start_s,
        "tried": len(costs),
        "extrapolated": not all(cost.whole for cost in costs),
        "point_s": mean.mean,
        "point_least_s": min(each_s),
        "point_most_s": max(each_s),
        "core_s": mean.mean * points,
        "core_low_s": low_s * points,
        "core_high_s": high_s * points,
        "cores": cores,
        "live": prepared.job.trials is not None,
        "wall_s": mean.mean * points * spread_over,
        "wall_low_s": low_s * points * spread_over,
        "wall_high_s": high_s * points * spread_over,
    }
