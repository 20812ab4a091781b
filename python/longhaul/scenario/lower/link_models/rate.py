"""Rate models of the plan, and the framing of packets."""

from collections.abc import Mapping
from typing import Any, assert_never

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import series
from longhaul.scenario.model.rate import (
    ConstantRate,
    Opportunities,
    PacedRate,
    RateModel,
    RateTrace,
    TokenBucket,
)
from longhaul.scenario.syntax.csv_file import RATE, ascending
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.units.quantities import Rate, Span

_MS = 10**6

FRAMING: Mapping[str, planned.Framing] = {
    "ip": {"overhead_bytes": 0, "least_bytes": 0, "cells": None},
    # Preamble 8, header 14, FCS 4, gap 12; 46 bytes of payload at least (IEEE 802.3, clauses 3 and 4).
    "ethernet": {"overhead_bytes": 38, "least_bytes": 84, "cells": None},
    "vlan": {"overhead_bytes": 42, "least_bytes": 88, "cells": None},
    # The trailer of AAL5 is 8 bytes (ITU-T I.363.5); cells carry 48 bytes in 53 (I.361).
    "atm": {"overhead_bytes": 8, "least_bytes": 0, "cells": {"payload_bytes": 48, "cell_bytes": 53}},
}


def framing_name(framing: Mapping[str, Any]) -> str | None:
    """The name of a known framing; ``None`` for another one."""
    return next((name for name, each in FRAMING.items() if each == framing), None)


def plan_rate(rate: RateModel | None, inputs: Inputs) -> planned.RateModel:
    """A rate model of the plan; raises :class:`ScenarioValueError` and :class:`FileError`."""
    match rate:
        case None:
            return {"model": "unlimited"}
        case ConstantRate():
            return {"model": "constant", "bits_per_s": rate.rate.bits_per_s}
        case PacedRate():
            return {
                "model": "paced",
                "bits_per_s": rate.paced.bits_per_s,
                "line_bits_per_s": rate.line_rate.bits_per_s,
            }
        case TokenBucket():
            return {
                "model": "token-bucket",
                "bits_per_s": rate.bucket.bits_per_s,
                "burst_bytes": rate.burst.bytes,
                "peak_bits_per_s": rate.peak.bits_per_s if rate.peak else None,
            }
        case RateTrace():
            return _traced(rate, inputs)
        case Opportunities():
            return _opportunities(rate, inputs)
        case _:
            assert_never(rate)


def rate_of_model(rate: planned.RateModel) -> int | None:
    """Bit/s of a rate model of the plan, over a long time; ``None``: unlimited."""
    match rate["model"]:
        case "unlimited":
            return None
        case "series":
            return max(1, series.mean(rate["points"]))
        case "opportunities":
            bits = len(rate["times_ns"]) * int(rate["bytes"]) * 8
            return max(1, bits * 10**9 // int(rate["repeat_ns"]))
        case "constant" | "paced" | "token-bucket":
            return int(rate["bits_per_s"])
        case _:
            assert_never(rate)


def plan_bits_per_s(direction: Mapping[str, Any]) -> int | None:
    """Bit/s of a direction of the plan, those of its routes together; ``None``: unlimited."""
    bundle = direction.get("bundle")
    if not bundle:
        return rate_of_model(direction["rate"])
    rates = [rate_of_model(route["rate"]) for route in bundle["routes"]]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def bdp_bytes(bits_per_s: int, round_trip_ns: int) -> int:
    """The bandwidth-delay product, rounded up."""
    return -(-bits_per_s * round_trip_ns // (8 * 10**9))


def _traced(rate: RateTrace, inputs: Inputs) -> planned.RateModel:
    points = series.read_points(rate, inputs, units=RATE, most=Rate.limit).points
    if not any(value for _at, value in points):
        raise ScenarioValueError(
            Code.TRACE_UNUSABLE,
            ("trace",),
            "has no rate above 0",
            "a link that carries nothing is down: up: false",
        )
    if rate.at_end == "end":
        inputs.ends_ns.append(series.length_ns(points))
    return {
        "model": "series",
        "points": points,
        "repeat_ns": series.repeat_ns(points) if rate.at_end == "loop" else None,
    }


def _opportunities(rate: Opportunities, inputs: Inputs) -> planned.RateModel:
    """The format of mahimahi: a time in ms a line; the last one is the period."""
    file = inputs.file(rate.opportunities, at="opportunities")
    rows = [
        (line, round(file.number(line, text, most=Span.limit // _MS) * _MS)) for line, text in file.rows()
    ]
    ascending(file, rows, what="time", strictly=False)
    if rows[-1][1] == 0:
        raise file.wrong(
            Code.TRACE_UNUSABLE,
            rows[-1][0],
            "no time is after 0",
            "the last time is the period: write a later one",
        )
    times = [at for _line, at in rows]
    return {"model": "opportunities", "times_ns": times, "repeat_ns": times[-1], "bytes": rate.bytes.bytes}
