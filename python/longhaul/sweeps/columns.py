"""The columns of a sweep's parts: a row for every flow, ping, program and link of a run; units in names."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from longhaul.scenario.model.metrics import LINK_COUNTERS, SWEPT, SWEPT_LIVE, Unit

_ENDINGS: Mapping[Unit, str] = {"ns": "_ns", "bit/s": "_bits_per_s", "bytes": "_bytes", "share": "_share"}
_NAMES: Mapping[str, str] = {
    "wall_time": "wall_ns",
    "jain": "jain",
    "retransmission_rate": "retransmission_rate",
    "utilisation": "utilisation",
    **{counter: f"{counter}_packets" for counter in LINK_COUNTERS},
}
"""Of measures that are not named after their unit."""


def _column(measure: str, unit: Unit) -> tuple[str, str]:
    name = _NAMES.get(measure) or measure.replace(".", "_") + _ENDINGS.get(unit, "")
    is_whole = unit == "count" or (unit == "ns" and not measure.endswith("mean") and measure != "delay")
    return name, "int64" if is_whole else "double"


SIMULATED: Mapping[str, tuple[str, str]] = {name: _column(name, unit) for name, unit in SWEPT.items()}
"""The column, and its type, of each measure by the name that ends a metric's: those of a simulation."""
MEASURES: Mapping[str, tuple[str, str]] = {
    **SIMULATED,
    **{name: _column(name, unit) for name, unit in SWEPT_LIVE.items()},
}
"""The same with those that only live runs have."""

HEAD: Mapping[str, str] = {"variant": "int64", "repeat": "int64", "seed": "uint64"}
ITEM: Mapping[str, str] = {
    "item": "string",
    "kind": "string",
    "from": "string",
    "to": "string",
    "cc": "string",
}
RUN: Mapping[str, str] = {"duration_ns": "int64", "hops": "int64", "digest": "string", "error": "string"}
PRINTED = "value"
"""The column of a metric that a program prints; its row has the whole name of the metric."""
LIVE: Mapping[str, str] = {PRINTED: "double", "verdict": "string", "kernel": "string", "machine": "string"}
"""Of live runs, beside those of all runs."""
BESIDE: Mapping[str, str] = {"bytes": "int64", "timeouts": "int64", "streams": "int64"}
"""What is kept of flows beside metrics."""
_TYPES: Mapping[str, pa.DataType] = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "string": pa.string(),
}


def schema(axes: Sequence[tuple[str, str]], *, live: bool = False) -> pa.Schema:
    """The columns of every part of a sweep with these columns for its ``axes``.

    ``live``: its trials are live runs, and not simulations.
    """
    measures = dict((MEASURES if live else SIMULATED).values())
    named = {**HEAD, **dict(axes), **ITEM, **measures, **BESIDE, **RUN, **(LIVE if live else {})}
    return pa.schema([(name, _TYPES[kind]) for name, kind in named.items()])
