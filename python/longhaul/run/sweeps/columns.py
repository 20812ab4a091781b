"""What a part of a sweep holds: a row for every flow, ping, program and link of a run; units in names."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

MEASURES: Mapping[str, tuple[str, str]] = {
    "goodput": ("goodput_bits_per_s", "double"),
    "retransmits": ("retransmits", "int64"),
    "loss": ("loss_share", "double"),
    "done": ("done", "int64"),
    "took.p50": ("took_p50_ns", "int64"),
    "took.p99": ("took_p99_ns", "int64"),
    "took.max": ("took_max_ns", "int64"),
    "rtt.min": ("rtt_min_ns", "int64"),
    "rtt.p50": ("rtt_p50_ns", "int64"),
    "rtt.p99": ("rtt_p99_ns", "int64"),
    "rtt.max": ("rtt_max_ns", "int64"),
    "wall_time": ("wall_ns", "int64"),
    "jain": ("jain", "double"),
    "delay": ("delay_ns", "double"),
    "rate": ("rate_bits_per_s", "double"),
    **{
        counter: (f"{counter}_packets", "int64")
        for counter in (
            "offered",
            "delivered",
            "lost",
            "overflowed",
            "dropped",
            "down",
            "too_big",
            "marked",
            "corrupted",
        )
    },
}
"""The column, and its type, of each measure by the name that ends a metric's."""

HEAD: Mapping[str, str] = {"variant": "int64", "repeat": "int64", "seed": "uint64"}
ITEM: Mapping[str, str] = {
    "item": "string",
    "kind": "string",
    "from": "string",
    "to": "string",
    "cc": "string",
}
RUN: Mapping[str, str] = {"duration_ns": "int64", "hops": "int64", "digest": "string", "error": "string"}
BESIDE: Mapping[str, str] = {
    "bytes": "int64",
    "timeouts": "int64",
    "rtt_mean_ns": "double",
    "streams": "int64",
}
"""What is kept of flows beside metrics."""
_TYPES: Mapping[str, pa.DataType] = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "string": pa.string(),
}


def schema(axes: Sequence[tuple[str, str]]) -> pa.Schema:
    """The columns of every part of a sweep with these columns for its ``axes``."""
    measures = dict(MEASURES.values())
    named = {**HEAD, **dict(axes), **ITEM, **measures, **BESIDE, **RUN}
    return pa.schema([(name, _TYPES[kind]) for name, kind in named.items()])
