"""Delay and reordering models of the plan."""

from collections.abc import Sequence
from typing import assert_never

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import series
from longhaul.scenario.lower.link_models.distribution import needed_mean, plan_distribution
from longhaul.scenario.model import Delay, DelayTrace
from longhaul.scenario.model.delay import (
    BlockReordering,
    EarlyReordering,
    InOrder,
    Jitter,
    NormalJitter,
    Reordering,
    ShareReordering,
    UniformJitter,
)
from longhaul.scenario.syntax.csv_file import TIME
from longhaul.scenario.syntax.value_errors import ScenarioValueError, within
from longhaul.units.quantities import Span


def plan_mean_ns(delay: planned.DelayModel) -> int:
    """The mean one-way delay of a model of the plan, which routes and BDPs are computed from."""
    match delay["model"]:
        case "constant" | "ticks":
            return delay["delay_ns"]
        case "uniform" | "normal" | "random" | "series":
            return delay["mean_ns"]
        case _:
            assert_never(delay)


def plan_delay(delay: Delay | DelayTrace | None, inputs: Inputs) -> planned.DelayModel:
    """A delay model of the plan; raises :class:`ScenarioValueError` and :class:`FileError`."""
    if delay is None:
        return {"model": "constant", "delay_ns": 0}
    if isinstance(delay, DelayTrace):
        return _traced(delay, inputs)
    base, jitter = delay.base.ns, delay.jitter
    correlation = float(delay.correlation) if delay.correlation is not None else 0.0
    if delay.ticks is not None:
        ticks = delay.ticks
        return {"model": "ticks", "delay_ns": base, "hz": ticks.hz, "rounding": ticks.rounding}
    if jitter is None or _width(jitter) == 0:
        return {"model": "constant", "delay_ns": base}
    if isinstance(jitter, UniformJitter):
        width = jitter.half_width.ns
        if not correlation:
            return {"model": "uniform", "mean_ns": base, "half_width_ns": width}
        model: planned.Distribution = {"dist": "uniform", "low": -float(width), "high": float(width)}
    elif isinstance(jitter, NormalJitter):
        if not correlation:
            return {"model": "normal", "mean_ns": base, "sd_ns": jitter.sd.ns}
        model = {"dist": "normal", "mean": 0.0, "sd": float(jitter.sd.ns)}
    else:
        with within("jitter"):
            model = plan_distribution(jitter, inputs, TIME)
    with within("jitter"):
        # What cutting the sum at zero adds is left out: routes want the mean that was written.
        mean = max(0, round(base + needed_mean(model)))
    return {"model": "random", "mean_ns": mean, "base_ns": base, "jitter": model, "correlation": correlation}


def plan_reordering(model: Reordering | None, mean_ns: int) -> planned.ReorderModel | None:
    """The reordering model of a link with this mean delay."""
    match model:
        case None | InOrder():
            return None
        case EarlyReordering():
            return {"model": "early", "gap": model.gap, "probability": float(model.early)}
        case BlockReordering():
            return {"model": "block", "block": model.every, "delay_ns": _later_ns(model.delay, mean_ns)}
        case ShareReordering():
            delay_ns = _later_ns(model.delay, mean_ns)
            return {"model": "share", "probability": float(model.share), "delay_ns": delay_ns}
        case _:
            assert_never(model)


def _later_ns(delay: Span, mean_ns: int) -> int:
    """The delay of reordered packets, which arrive later than the others."""
    if delay.ns <= mean_ns:
        what = f"{delay} is not later than the link's delay of {Span(mean_ns)}"
        raise ScenarioValueError(Code.DELAY_IMPOSSIBLE, (), what, "write a longer delay: nothing comes early")
    return delay.ns


def mean_of(delays: Sequence[planned.DelayModel]) -> int:
    """The mean of the means of several delays."""
    return round(sum(plan_mean_ns(delay) for delay in delays) / len(delays))


def _width(jitter: Jitter) -> int | None:
    if isinstance(jitter, UniformJitter):
        return jitter.half_width.ns
    return jitter.sd.ns if isinstance(jitter, NormalJitter) else None


def _traced(delay: DelayTrace, inputs: Inputs) -> planned.DelayModel:
    linear = delay.interpolate == "linear"
    read = series.read_points(delay, inputs, units=TIME, most=Span.limit)
    points = read.points
    if read.is_round_trip:
        inputs.round_trips.append((delay, read.column))
    if delay.at_end == "end":
        inputs.ends_ns.append(series.length_ns(points, linear=linear))
    return {
        "model": "series",
        "mean_ns": series.mean(points, linear=linear),
        "points": points,
        "linear": linear,
        "repeat_ns": series.repeat_ns(points) if delay.at_end == "loop" else None,
    }
