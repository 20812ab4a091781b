"""Metrics in words, for axes of figures: ``median RTT of flow bulk`` for ``flows.bulk.rtt.p50``."""

from longhaul.scenario.model.metrics import measure_of

_QUANTILES = {"p50": "median", "mean": "mean", "min": "minimum", "max": "maximum"}
_WORDS = {
    "rtt": "RTT",
    "took": "completion time",
    "retransmits": "retransmitted segments",
    "lost": "lost packets",
    "overflowed": "overflow drops",
    "dropped": "packets dropped by the queue discipline",
    "offered": "offered packets",
    "delivered": "delivered packets",
    "marked": "marked packets",
    "corrupted": "corrupted packets",
    "down": "packets lost to a link that was down",
    "too_big": "packets larger than the MTU",
    "reordered": "reordered packets",
    "done": "completed transfers",
    "exit": "exit code",
    "iteration": "iteration time",
}
_WHOLE = {
    "fairness.jain": "Jain's fairness index",
    "total.goodput": "total goodput",
    "transfers.f1": "time until all transfers are complete",
    "transfers.f2": "share of the best possible",
}


def metric_text(metric: str) -> str:
    """The metric in words; one that is unknown by its name."""
    if metric in _WHOLE:
        return _WHOLE[metric]
    kind, _, rest = metric.partition(".")
    measure = measure_of(metric)
    if measure is None and kind == "programs" and "." in rest:
        item, _, measure = rest.rpartition(".")
    if measure is None:
        return metric
    item = rest.removesuffix(measure).rstrip(".")
    words = _measure_text(measure)
    match kind:
        case "flows":
            return f"{words} of flow {item}"
        case "programs":
            return f"{words} of program {item}"
        case "probes":
            name, _, to = item.rpartition(".")
            return f"{words} of pings {name} to {to}"
        case "links":
            name, _, way = item.rpartition(".")
            return f"{words} of link {name}, {way}"
    return words


def _measure_text(measure: str) -> str:
    base, _, quantile = measure.partition(".")
    words = _WORDS.get(base, base.replace("_", " "))
    return f"{_QUANTILES.get(quantile, quantile)} {words}" if quantile else words
