"""Measurements of a direction of a link for each phase with one link model."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from longhaul.analysis.configuration import Configuration, Phase
from longhaul.plan import Way
from longhaul.units.text import rate_text, share_text, time_text

Json = Mapping[str, Any]

MOST_SHOWN = 3
"""Values of a series that are shown one by one."""

_COUNTERS = (
    "offered_packets",
    "entered_packets",
    "wire_bytes",
    "lost_packets",
    "overflowed_packets",
    "dropped_packets",
    "down_packets",
    "wire_delay_ns",
)


@dataclass(frozen=True)
class Series:
    """A quantity that changed: what was configured and what was measured, in words."""

    configured: str
    measured: str
    brief: str
    """What was configured, for a narrow column."""


def phase_rows(
    configuration: Configuration, link: int, way: Way, counters: Json, duration_ns: int
) -> list[dict[str, Any]]:
    """The phases of a direction, with ``configured`` and ``measured`` of each.

    ``counters`` are the direction's at the end. The steps of a gradual change are one phase, in which
    ``configured`` has means: of delay and loss over the packets, of the rate over time. ``measured`` is
    ``None`` where the run did not record what was counted when the phase began.
    """
    every = configuration.phases(link, way)
    phases = [every[0], *(each for each in every[1:] if each.from_ns < duration_ns)]
    if len(phases) == 1:
        # Most links of a large network never change.
        return [_row(phases[0], duration_ns, _at_end(counters))]
    ends = [*(each.from_ns for each in phases[1:]), duration_ns]
    counted = [dict.fromkeys(_COUNTERS, 0), *(each.before for each in phases[1:]), _at_end(counters)]
    rows = [
        _row(phase, end, _difference(counted[place], counted[place + 1]))
        for place, (phase, end) in enumerate(zip(phases, ends, strict=True))
    ]
    keyed = zip(phases, rows, strict=True)
    parts = groupby(enumerate(keyed), lambda item: _part(item[0], item[1][0]))
    return [_merged([row for _place, (_phase, row) in part]) for _key, part in parts]


def whole_run(phases: Sequence[Json]) -> dict[str, Any]:
    """The means of what was configured: of delay and loss over the packets, of the rate over time."""
    means = _merged(phases)["configured"]
    return {
        "delay_mean_ns": means["delay_ns"],
        "rate_mean_bits_per_s": means["rate_bits_per_s"],
        "loss_mean": means["loss"],
    }


def series(
    phases: Sequence[Json], key: str, text: Callable[[float | None], str], *, measured: float | None
) -> Series:
    """How a table shows a quantity (``delay_ns``, ``loss`` ...), of which ``measured`` is that of the run.

    A few values stand one by one, ``35 -> 80 ms``, each with what was measured meanwhile; of many there are
    least, most and mean.
    """
    steady = [phase for phase in phases if not phase["gradual"]]
    runs = [list(run) for _value, run in groupby(steady, lambda phase: phase["configured"][key])]
    values = [run[0]["configured"][key] for run in runs]
    if len(runs) <= 1 and len(steady) == len(phases):
        only = text(values[0] if values else None)
        return Series(only, text(measured), only)
    if len(runs) <= MOST_SHOWN and all(phase["measured"] is not None for phase in steady):
        met = [_merged(run)["measured"][key] for run in runs]
        wanted = arrows([text(value) for value in values])
        return Series(wanted, arrows([text(value) for value in met]), wanted)
    known = [value for phase in phases if (value := phase["configured"][key]) is not None]
    if not known:
        return Series(text(None), text(measured), text(None))
    mean = _merged(phases)["configured"][key]
    brief = _joined([text(min(known)), text(max(known))], "-" if None not in values else " to ")
    return Series(f"{brief}, mean {text(mean)}" if mean is not None else brief, text(measured), brief)


def series_of(link: Json, key: str) -> Series:
    """The same for a direction of a summary: ``delay_ns``, ``rate_bits_per_s`` or ``loss``."""
    return series(link["phases"], key, _TEXTS[key], measured=link["achieved"][key])


def phase_at(phases: Sequence[Json], at_ns: int) -> Json:
    """The phase of a direction at an instant."""
    return next((each for each in reversed(phases) if each["from_ns"] <= at_ns), phases[0])


def path_rtt_text(probe: Json) -> str:
    """The configured round trip of a ping's path; if it changed, also that of the median ping with an answer.

    The median is what the measured one is to be compared with.
    """
    values = [value for _at_ns, value in probe["path_rtt_steps"]]
    if len(values) <= 1:
        return time_text(probe["path_rtt_ns"])
    if len(values) <= MOST_SHOWN:
        told = arrows([time_text(value) for value in values])
    else:
        told = _joined([time_text(min(values)), time_text(max(values))], "-")
    median = probe["path_rtt_p50_ns"]
    return f"{told}, p50 {time_text(median)}" if median is not None else told


_QUANTITY = re.compile(r"(?P<number>[^\s()]+) (?P<unit>[^\s()]+)")


def arrows(texts: Sequence[str]) -> str:
    """``35 → 80 ms`` of ``35 ms`` and ``80 ms``."""
    return _joined(texts, " → ")


def _joined(texts: Sequence[str], between: str) -> str:
    """Quantities with their unit once, if all have the same."""
    found = [_QUANTITY.fullmatch(each) for each in texts]
    if all(found) and len({each["unit"] for each in found if each}) == 1:
        texts = [*(each["number"] for each in found[:-1] if each), texts[-1]]
    elif between == "-":
        between = " to "
    return between.join(texts)


def _rate_text(bits_per_s: float | None) -> str:
    return "unlimited" if bits_per_s is None else rate_text(bits_per_s)


_TEXTS: Mapping[str, Callable[[float | None], str]] = {
    "delay_ns": time_text,
    "rate_bits_per_s": _rate_text,
    "loss": share_text,
}


def _is_gradual(phase: Phase) -> bool:
    """Whether a gradual change goes on: its last step begins a steady phase."""
    cause = phase.cause or {}
    over_ns = cause.get("over_ns", 0)
    return bool(over_ns) and phase.from_ns < cause["begins_ns"] + over_ns


def _part(place: int, phase: Phase) -> tuple[int, int]:
    """Equal for the steps of one gradual change."""
    return (-1, (phase.cause or {})["position"]) if _is_gradual(phase) else (place, 0)


def _row(phase: Phase, to_ns: int, counted: Json | None) -> dict[str, Any]:
    numbers = phase.configured
    return {
        "from_ns": phase.from_ns,
        "to_ns": to_ns,
        "gradual": _is_gradual(phase),
        "configured": {
            "delay_ns": numbers.delay_ns,
            "rate_bits_per_s": numbers.bits_per_s,
            "loss": numbers.loss,
            "queue_bytes": numbers.queue_bytes,
            "queue_packets": numbers.queue_packets,
            "up": numbers.up,
        },
        "measured": None if counted is None else _measured(counted, to_ns - phase.from_ns),
    }


def _measured(counted: Json, span_ns: int) -> dict[str, Any]:
    entered, arrived = counted["entered_packets"], counted["offered_packets"] - counted["down_packets"]
    return {
        "delay_ns": counted["wire_delay_ns"] / entered if entered else None,
        "rate_bits_per_s": counted["wire_bytes"] * 8e9 / span_ns if span_ns else 0.0,
        "loss": counted["lost_packets"] / arrived if arrived else None,
        **{key: counted[key] for key in _COUNTERS if key.endswith("_packets")},
    }


def _merged(rows: Sequence[Json]) -> dict[str, Any]:
    """Several phases, one after the other, as one."""
    if len(rows) == 1:
        return dict(rows[0])
    spans = [row["to_ns"] - row["from_ns"] for row in rows]
    met = [row["measured"] for row in rows]
    entered = [each["entered_packets"] if each else 0 for each in met]
    arrived = [each["offered_packets"] - each["down_packets"] if each else 0 for each in met]
    wanted = [row["configured"] for row in rows]
    measured = None
    if all(each is not None for each in met):
        sums = {key: sum(each[key] for each in met) for key in _COUNTERS if key.endswith("_packets")}
        measured = {
            "delay_ns": _mean([each["delay_ns"] for each in met], entered),
            "rate_bits_per_s": _mean([each["rate_bits_per_s"] for each in met], spans),
            "loss": _mean([each["loss"] for each in met], arrived),
            **sums,
        }
    delays, losses = [each["delay_ns"] for each in wanted], [each["loss"] for each in wanted]
    return {
        "from_ns": rows[0]["from_ns"],
        "to_ns": rows[-1]["to_ns"],
        "gradual": all(row["gradual"] for row in rows),
        "configured": {
            **wanted[-1],
            "delay_ns": _mean(delays, entered if sum(entered) else spans),
            "rate_bits_per_s": _mean([each["rate_bits_per_s"] for each in wanted], spans),
            "loss": _mean(losses, arrived if sum(arrived) else spans),
        },
        "measured": measured,
    }


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """The weighted mean of what counts; ``None`` if something that counts is not known, or nothing counts."""
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
    total = sum(weight for _value, weight in pairs)
    known = [(value, weight) for value, weight in pairs if value is not None]
    if not total or len(known) < len(pairs):
        return None
    return sum(value * weight for value, weight in known) / total


def _at_end(counters: Json) -> dict[str, Any] | None:
    """The counters of a direction as records of changes have them; ``None`` if some are unknown."""
    if counters["wire_delay_mean_ns"] is None:
        return None
    entered = counters["delivered_packets"] + counters["flying_packets"]
    found = {key: counters.get(key, 0) for key in _COUNTERS}
    wire_delay_ns = counters["wire_delay_mean_ns"] * entered
    return {**found, "entered_packets": entered, "wire_delay_ns": wire_delay_ns}


def _difference(before: Json | None, after: Json | None) -> dict[str, Any] | None:
    if not before or not after:
        return None
    return {key: after[key] - before[key] for key in _COUNTERS}
