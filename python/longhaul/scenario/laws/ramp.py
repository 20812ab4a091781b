"""Laws on the way from one to another: numbers move, words do not."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from longhaul.scenario.inputs import LawError
from longhaul.scenario.laws.delay import plan_mean_ns
from longhaul.scenario.laws.distribution import Plain

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
"""What is zero where such a law loses nothing."""
_WIDTH = {"uniform": "half_width_ns", "normal": "sd_ns"}
_RATES = {"constant": (), "paced": ("line_bits_per_s",), "token-bucket": ("burst_bytes", "peak_bits_per_s")}


def part_way(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    """The change towards ``target`` of what is as in ``before``, when ``done`` of it is done.

    Queues and words change with the first step, which the caller sees to; raises :class:`LawError`.
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
    if before["law"] == "unlimited":
        message = "a rate cannot come gradually from unlimited"
        raise LawError(("rate",), message, "give the link a rate, or drop over")
    law = target["law"]
    if law not in _RATES:
        raise LawError(("rate",), "a list of times has no number to change gradually", "drop over")
    if before["law"] != law or any(before[key] != target[key] for key in _RATES[law]):
        message = "only the rate itself changes gradually, and not its law"
        raise LawError(("rate",), message, "write the law that it has, or drop over")
    return {**target, "bits_per_s": _whole(before["bits_per_s"], target["bits_per_s"], done)}


def _loss(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    laws = {law["law"] for law in (before, target)} - {"none"}
    if not laws:
        return {"law": "none"}
    law = laws.pop()
    if laws:
        message = "cannot go gradually from one law of loss to another"
        raise LawError(("loss",), message, "write the law that it has, or drop over")
    if law not in _SHARES:
        message = "this law of loss has no share to change gradually"
        raise LawError(("loss",), message, "write a law with a mean, or drop over")
    ends = [before, target]
    if law in _FROM_NOTHING:
        full = next(each for each in ends if each["law"] == law)
        ends = [each if each["law"] == law else {**full, _FROM_NOTHING[law]: 0.0} for each in ends]
    elif any(each["law"] == "none" for each in ends):
        message = "this law of loss cannot come gradually from nothing"
        raise LawError(("loss",), message, "write a law with a mean, or drop over")
    part = {"law": law, **{key: _share(ends[0][key], ends[1][key], done) for key in _SHARES[law]}}
    nothing = law in _FROM_NOTHING and not part[_FROM_NOTHING[law]]
    return {"law": "none"} if nothing else part


def _delay(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction) -> Plain:
    mean = _whole(plan_mean_ns(before), plan_mean_ns(target), done)
    laws = {law["law"] for law in (before, target)}
    if "series" in laws:
        raise LawError(("delay",), "a trace has no number to change gradually", "drop over")
    if len(laws) == 1 and laws <= {"random", "ticks"}:
        moving = {"random": ("mean_ns", "base_ns"), "ticks": ("delay_ns",)}[next(iter(laws))]
        if any(before[key] != target[key] for key in target if key not in moving):
            message = "only the base changes gradually here"
            raise LawError(("delay",), message, "write the jitter that it has, or drop over")
        return {**target, **{key: _whole(before[key], target[key], done) for key in moving}}
    laws -= {"constant"}
    if len(laws) == 2 or laws & {"random", "ticks"}:
        raise LawError(("delay",), "cannot go gradually from one distribution to another", "drop over")
    if not laws:
        return {"law": "constant", "delay_ns": mean}
    law = laws.pop()
    key = _WIDTH[law]
    width = _whole(before.get(key, 0), target.get(key, 0), done)
    if law == "uniform":
        width = min(width, mean)
    return {"law": law, "mean_ns": mean, key: width} if width else {"law": "constant", "delay_ns": mean}
