"""Intermediate models of a ramp: numbers change gradually, models do not."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from longhaul.diagnostics import Code
from longhaul.scenario.lower.link_models.delay import plan_mean_ns
from longhaul.scenario.lower.link_models.distribution import Plain
from longhaul.scenario.syntax.value_errors import ScenarioValueError

if TYPE_CHECKING:
    from longhaul.plan import DelayModel

_SHARES: Mapping[str, tuple[str, ...]] = {
    "independent": ("probability",),
    "gilbert-elliott": ("mean", "burst"),
    "correlated": ("mean", "correlation"),
    "markov": ("good_to_bad", "bad_to_good", "loss_good", "loss_bad"),
    "four-state": ("p13", "p31", "p32", "p23", "p14"),
}
_FROM_NOTHING: Mapping[str, str] = {
    "independent": "probability",
    "gilbert-elliott": "mean",
    "correlated": "mean",
}
"""The parameter that is zero where such a model drops nothing."""
_WIDTH = {"uniform": "half_width_ns", "normal": "sd_ns"}
_RATES = {"constant": (), "paced": ("line_bits_per_s",), "token-bucket": ("burst_bytes", "peak_bits_per_s")}


def part_way(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    """The change towards ``target`` of what is as in ``before``, when ``done`` of it is done.

    Queues and words change with the first step, which the caller sees to; raises :class:`ScenarioValueError`.
    """
    part: Plain = {}
    for share in ("duplicate", "corrupt"):
        if target[share] is not None:
            part[share] = _share(before[share], target[share], done)
    if target["rate"] is not None:
        part["rate"] = _rate(before["rate"], target["rate"], done)
    if target["loss"] is not None:
        part["loss"] = _loss(before["loss"], target["loss"], done)
    if target["delay"] is not None:
        part["delay"] = _delay(before["delay"], target["delay"], done)
    return part


def _whole(a: int, b: int, done: Fraction) -> int:
    return a + (b - a) * done.numerator // done.denominator


def _share(a: float, b: float, done: Fraction) -> float:
    return a + (b - a) * float(done) if done < 1 else b


def _rate(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    if before["model"] == "unlimited":
        message = "a rate cannot change gradually from unlimited"
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("rate",), message, "give the link a rate, or drop over"
        )
    model = target["model"]
    if model not in _RATES:
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("rate",), "a list of times has no number to change gradually", "drop over"
        )
    if before["model"] != model or any(before[key] != target[key] for key in _RATES[model]):
        message = "only the rate itself changes gradually, and not its model"
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("rate",), message, "write the model that it has, or drop over"
        )
    return {**target, "bits_per_s": _whole(before["bits_per_s"], target["bits_per_s"], done)}


def _loss(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    models = {model["model"] for model in (before, target)} - {"none"}
    if not models:
        return {"model": "none"}
    model = models.pop()
    if models:
        message = "cannot go gradually from one loss model to another"
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("loss",), message, "write the model that it has, or drop over"
        )
    if model not in _SHARES:
        message = "this loss model has no share to change gradually"
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("loss",), message, "write a model with a mean, or drop over"
        )
    ends = [before, target]
    if model in _FROM_NOTHING:
        full = next(each for each in ends if each["model"] == model)
        ends = [each if each["model"] == model else {**full, _FROM_NOTHING[model]: 0.0} for each in ends]
    elif any(each["model"] == "none" for each in ends):
        message = "this loss model cannot change gradually from no loss"
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("loss",), message, "write a model with a mean, or drop over"
        )
    part = {"model": model, **{key: _share(ends[0][key], ends[1][key], done) for key in _SHARES[model]}}
    nothing = model in _FROM_NOTHING and not part[_FROM_NOTHING[model]]
    return {"model": "none"} if nothing else part


def _delay(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    first, last = (plan_mean_ns(cast("DelayModel", each)) for each in (before, target))
    mean = _whole(first, last, done)
    models = {model["model"] for model in (before, target)}
    if "series" in models:
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE, ("delay",), "a trace has no number to change gradually", "drop over"
        )
    if len(models) == 1 and models <= {"random", "ticks"}:
        moving = {"random": ("mean_ns", "base_ns"), "ticks": ("delay_ns",)}[next(iter(models))]
        if any(before[key] != target[key] for key in target if key not in moving):
            message = "only the base changes gradually here"
            raise ScenarioValueError(
                Code.RAMP_IMPOSSIBLE, ("delay",), message, "write the jitter that it has, or drop over"
            )
        return {**target, **{key: _whole(before[key], target[key], done) for key in moving}}
    models -= {"constant"}
    if len(models) == 2 or models & {"random", "ticks"}:
        raise ScenarioValueError(
            Code.RAMP_IMPOSSIBLE,
            ("delay",),
            "cannot go gradually from one distribution to another",
            "drop over",
        )
    if not models:
        return {"model": "constant", "delay_ns": mean}
    model = models.pop()
    key = _WIDTH[model]
    width = _whole(before.get(key, 0), target.get(key, 0), done)
    if model == "uniform":
        width = min(width, mean)
    return {"model": model, "mean_ns": mean, key: width} if width else {"model": "constant", "delay_ns": mean}
