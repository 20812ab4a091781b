"""Laws of delay, and of leaving the order, in the plan's words."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.scenario.inputs import TIME, Inputs, LawError, within
from longhaul.scenario.laws import series
from longhaul.scenario.laws.distribution import Plain, needed_mean, plan_distribution
from longhaul.scenario.model import Delay, DelayTrace
from longhaul.scenario.model.delay import (
    BlockReordering,
    InOrder,
    NormalJitter,
    ShareReordering,
    UniformJitter,
)
from longhaul.scenario.units import Span


def plan_mean_ns(delay: Mapping[str, Any]) -> int:
    """The mean one-way delay of a law of the plan, which routes and BDPs are computed from."""
    return int(delay["delay_ns"] if delay["law"] in ("constant", "ticks") else delay["mean_ns"])


def plan_delay(delay: Delay | DelayTrace | None, inputs: Inputs) -> Plain:
    """A delay law of the plan; raises :class:`LawError` and :class:`FileError`."""
    if delay is None:
        return {"law": "constant", "delay_ns": 0}
    if isinstance(delay, DelayTrace):
        return _traced(delay, inputs)
    base, jitter = delay.base.ns, delay.jitter
    correlation = float(delay.correlation) if delay.correlation is not None else 0.0
    if delay.ticks is not None:
        ticks = delay.ticks
        return {"law": "ticks", "delay_ns": base, "hz": ticks.hz, "rounding": ticks.rounding}
    if jitter is None or _width(jitter) == 0:
        return {"law": "constant", "delay_ns": base}
    if isinstance(jitter, UniformJitter):
        width = jitter.half_width.ns
        if not correlation:
            return {"law": "uniform", "mean_ns": base, "half_width_ns": width}
        law: Plain = {"dist": "uniform", "low": -float(width), "high": float(width)}
    elif isinstance(jitter, NormalJitter):
        if not correlation:
            return {"law": "normal", "mean_ns": base, "sd_ns": jitter.sd.ns}
        law = {"dist": "normal", "mean": 0.0, "sd": float(jitter.sd.ns)}
    else:
        with within("jitter"):
            law = plan_distribution(jitter, inputs, TIME)
    with within("jitter"):
        # What cutting the sum at zero adds is left out: routes want the mean that was written.
        mean = max(0, round(base + needed_mean(law)))
    return {"law": "random", "mean_ns": mean, "base_ns": base, "jitter": law, "correlation": correlation}


def plan_reordering(law: Any, mean_ns: int) -> Plain | None:
    """The reordering model of a link with this mean delay."""
    if law is None or isinstance(law, InOrder):
        return None
    if not isinstance(law, BlockReordering | ShareReordering):
        return {"law": "early", "gap": law.gap, "probability": float(law.early)}
    if law.delay.ns <= mean_ns:
        what = f"{law.delay} is not later than the link's delay of {Span(mean_ns)}"
        raise LawError((), what, "write a longer delay: nothing comes early")
    if isinstance(law, BlockReordering):
        return {"law": "block", "block": law.every, "delay_ns": law.delay.ns}
    return {"law": "share", "probability": float(law.share), "delay_ns": law.delay.ns}


def mean_of(delays: Sequence[Plain]) -> int:
    """The mean of the means of several delays."""
    return round(sum(plan_mean_ns(delay) for delay in delays) / len(delays))


def _width(jitter: Any) -> int | None:
    if isinstance(jitter, UniformJitter):
        return jitter.half_width.ns
    return jitter.sd.ns if isinstance(jitter, NormalJitter) else None


def _traced(delay: DelayTrace, inputs: Inputs) -> Plain:
    linear = delay.interpolate == "linear"
    read = series.read_points(delay, inputs, units=TIME, most=Span.limit)
    points = read.points
    if read.is_round_trip:
        inputs.round_trips.append((delay, read.column))
    if delay.at_end == "end":
        inputs.ends_ns.append(series.length_ns(points, linear=linear))
    return {
        "law": "series",
        "mean_ns": series.mean(points, linear=linear),
        "points": points,
        "linear": linear,
        "repeat_ns": series.repeat_ns(points) if delay.at_end == "loop" else None,
    }
