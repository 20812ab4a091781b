"""Models of the plan, written in the scenario language."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from longhaul.scenario.laws.rate import framing_name
from longhaul.scenario.units import Rate, Size, Span

Plain = Mapping[str, Any]
Written = dict[str, Any]
"""Keys of ``set`` with their values as data."""

_DIGITS = 18


def written_change(change: Plain) -> tuple[Written, tuple[str, ...]]:
    """The keys and values of ``set`` for a change of the plan, and the keys that the language cannot write.

    What was read from a file cannot be written: a trace, a list of losses or a distribution.
    """
    found: Written = {}
    without_syntax: list[str] = []
    for key, value in (
        ("delay", _delay(change)),
        ("rate", _rate(change.get("rate"))),
        ("loss", _loss(change)),
        ("queue", _queue(change.get("queue"))),
        ("reordering", _reordering(change.get("reordering"))),
        ("duplicate", _optional_share(change.get("duplicate"))),
        ("corrupt", _optional_share(change.get("corrupt"))),
        ("count", _framing(change.get("framing"))),
        ("coalesce", None if change.get("coalesce_ns") is None else str(Span(change["coalesce_ns"]))),
    ):
        if value is _NO_SYNTAX:
            without_syntax.append(key)
        elif value is not None:
            found[key] = value
    return found, tuple(without_syntax)


def written_pacing_model(law: Plain) -> Any:
    """The pacing model of a class of a host."""
    match law["law"]:
        case "paced":
            return str(Rate(law["bits_per_s"]))
        case "token-bucket":
            return _bucket(law)
    return "unpaced"


_NO_SYNTAX = object()


def _delay(change: Plain) -> Any:
    law = change.get("delay")
    if law is None:
        return None
    match law["law"]:
        case "constant":
            found: Written = {"base": str(Span(law["delay_ns"]))}
        case "uniform":
            jitter = {"dist": "uniform", "half_width": str(Span(law["half_width_ns"]))}
            found = {"base": str(Span(law["mean_ns"])), "jitter": jitter}
        case "normal":
            jitter = {"dist": "normal", "sd": str(Span(law["sd_ns"]))}
            found = {"base": str(Span(law["mean_ns"])), "jitter": jitter}
        case "ticks":
            ticks = {"hz": law["hz"], "rounding": law["rounding"]}
            found = {"base": str(Span(law["delay_ns"])), "ticks": ticks}
        case _:
            return _NO_SYNTAX
    if change.get("reorder") is not None:
        return {**found, "reorder": change["reorder"]}
    return found if len(found) > 1 else found["base"]


def _rate(law: Plain | None) -> Any:
    if law is None:
        return None
    match law["law"]:
        case "constant":
            return str(Rate(law["bits_per_s"]))
        case "paced":
            return {"paced": str(Rate(law["bits_per_s"])), "line_rate": str(Rate(law["line_bits_per_s"]))}
        case "token-bucket":
            return _bucket(law)
    return _NO_SYNTAX


def _bucket(law: Plain) -> Written:
    peak = law.get("peak_bits_per_s")
    found = {"bucket": str(Rate(law["bits_per_s"])), "burst": str(Size(law["burst_bytes"]))}
    return {**found, "peak": str(Rate(peak))} if peak else found


def _loss(change: Plain) -> Any:
    law = change.get("loss")
    if law is None:
        return None
    position = change.get("loss_position")
    found = _loss_model(law)
    if found is _NO_SYNTAX:
        return found
    if position is not None:
        return {**found, "position": position}
    return found["mean"] if law["law"] == "independent" else found


def _loss_model(law: Plain) -> Any:
    name = law["law"]
    match name:
        case "none":
            return {"model": "none"}
        case "independent":
            return {"model": name, "mean": _share(law["probability"])}
        case "one-per-block":
            return {"model": "block", "packets": law["block"]}
        case "periodic":
            return {"model": name, "every": law["every"]}
        case "gilbert-elliott":
            return {"model": name, "mean": _share(law["mean"]), "burst": law["burst"]}
        case "correlated":
            return {"model": name, "mean": _share(law["mean"]), "correlation": _share(law["correlation"])}
        case "markov" | "four-state":
            return {"model": name, **{key: _share(each) for key, each in law.items() if key != "law"}}
    return _NO_SYNTAX


def _queue(queue: Plain | None) -> Any:
    if queue is None:
        return None
    discipline = queue["discipline"]
    packets, size = queue["limit_packets"], queue["limit_bytes"]
    kind = discipline["law"]
    if kind == "priority" or (packets is None and size is None):
        return _NO_SYNTAX
    limit = f"{packets}p" if packets is not None else str(Size(size))
    found: Written = {"kind": kind, "limit": limit}
    for key, value in discipline.items():
        if key in ("law", "packet_bytes"):
            continue
        name = {"least_bytes": "min", "most_bytes": "max"}.get(key, key)
        if key.endswith("_ns"):
            found[name.removesuffix("_ns")] = str(Span(value))
        elif key.endswith("_bytes"):
            found[name.removesuffix("_bytes")] = str(Size(value))
        elif key in ("probability", "weight"):
            found[name] = _share(value)
        else:
            found[name] = value
    return limit if kind == "fifo" else found


def _reordering(law: Plain | None) -> Any:
    if law is None:
        return None
    match law["law"]:
        case "none":
            return "none"
        case "block":
            return {"every": law["block"], "delay": str(Span(law["delay_ns"]))}
        case "share":
            return {"share": _share(law["probability"]), "delay": str(Span(law["delay_ns"]))}
    return {"gap": law["gap"], "early": _share(law["probability"])}


def _framing(framing: Plain | None) -> Any:
    return None if framing is None else framing_name(framing) or _NO_SYNTAX


def _optional_share(value: float | None) -> Any:
    return None if value is None else _share(value)


def _share(value: float) -> str:
    """In per cent, exactly as far as the language has digits."""
    percent = (Decimal(repr(value)) * 100).normalize()
    text = f"{round(percent, _DIGITS):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
