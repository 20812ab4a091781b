"""Link models of the plan in the syntax of the scenario language."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from longhaul.scenario.lower.link_models.rate import framing_name
from longhaul.units.quantities import Rate, Size, Span

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


def written_pacing_model(model: Plain) -> Any:
    """The pacing model of a class of a host."""
    match model["kind"]:
        case "paced":
            return str(Rate(model["bits_per_s"]))
        case "token-bucket":
            return _bucket(model)
    return "unpaced"


_NO_SYNTAX = object()


def _delay(change: Plain) -> Any:
    model = change.get("delay")
    if model is None:
        return None
    match model["model"]:
        case "constant":
            found: Written = {"base": str(Span(model["delay_ns"]))}
        case "uniform":
            jitter = {"dist": "uniform", "half_width": str(Span(model["half_width_ns"]))}
            found = {"base": str(Span(model["mean_ns"])), "jitter": jitter}
        case "normal":
            jitter = {"dist": "normal", "sd": str(Span(model["sd_ns"]))}
            found = {"base": str(Span(model["mean_ns"])), "jitter": jitter}
        case "ticks":
            ticks = {"hz": model["hz"], "rounding": model["rounding"]}
            found = {"base": str(Span(model["delay_ns"])), "ticks": ticks}
        case _:
            return _NO_SYNTAX
    if change.get("reorder") is not None:
        return {**found, "reorder": change["reorder"]}
    return found if len(found) > 1 else found["base"]


def _rate(model: Plain | None) -> Any:
    if model is None:
        return None
    match model["model"]:
        case "constant":
            return str(Rate(model["bits_per_s"]))
        case "paced":
            return {"paced": str(Rate(model["bits_per_s"])), "line_rate": str(Rate(model["line_bits_per_s"]))}
        case "token-bucket":
            return _bucket(model)
    return _NO_SYNTAX


def _bucket(model: Plain) -> Written:
    peak = model.get("peak_bits_per_s")
    found = {"bucket": str(Rate(model["bits_per_s"])), "burst": str(Size(model["burst_bytes"]))}
    return {**found, "peak": str(Rate(peak))} if peak else found


def _loss(change: Plain) -> Any:
    model = change.get("loss")
    if model is None:
        return None
    position = change.get("loss_position")
    found = _loss_model(model)
    if found is _NO_SYNTAX:
        return found
    if position is not None:
        return {**found, "position": position}
    return found["mean"] if model["model"] == "independent" else found


def _loss_model(model: Plain) -> Any:
    name = model["model"]
    match name:
        case "none":
            return {"model": "none"}
        case "independent":
            return {"model": name, "mean": _share(model["probability"])}
        case "one-per-block":
            return {"model": "block", "packets": model["block"]}
        case "periodic":
            return {"model": name, "every": model["every"]}
        case "gilbert-elliott":
            return {"model": name, "mean": _share(model["mean"]), "burst": model["burst"]}
        case "correlated":
            return {"model": name, "mean": _share(model["mean"]), "correlation": _share(model["correlation"])}
        case "markov" | "four-state":
            return {"model": name, **{key: _share(each) for key, each in model.items() if key != "model"}}
    return _NO_SYNTAX


def _queue(queue: Plain | None) -> Any:
    if queue is None:
        return None
    discipline = queue["discipline"]
    packets, size = queue["limit_packets"], queue["limit_bytes"]
    kind = discipline["kind"]
    if kind == "priority" or (packets is None and size is None):
        return _NO_SYNTAX
    limit = f"{packets}p" if packets is not None else str(Size(size))
    found: Written = {"kind": kind, "limit": limit}
    for key, value in discipline.items():
        if key in ("kind", "packet_bytes"):
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


def _reordering(model: Plain | None) -> Any:
    if model is None:
        return None
    match model["model"]:
        case "none":
            return "none"
        case "block":
            return {"every": model["block"], "delay": str(Span(model["delay_ns"]))}
        case "share":
            return {"share": _share(model["probability"]), "delay": str(Span(model["delay_ns"]))}
    return {"gap": model["gap"], "early": _share(model["probability"])}


def _framing(framing: Plain | None) -> Any:
    return None if framing is None else framing_name(framing) or _NO_SYNTAX


def _optional_share(value: float | None) -> Any:
    return None if value is None else _share(value)


def _share(value: float) -> str:
    """In per cent, exactly as far as the language has digits."""
    percent = (Decimal(repr(value)) * 100).normalize()
    text = f"{round(percent, _DIGITS):f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"
