"""Segments of one TCP flow, as in a time/sequence graph."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

KINDS = ("new", "retransmitted", "late", "ack", "sack")


def flows(table: Mapping[str, Array]) -> dict[tuple[str, str, str], dict[str, Array]]:
    """By link, way and flow, the rows of each kind: an array with columns of time (s), first and last byte.

    The end of a window that nobody knows is NaN.
    """
    if not len(table.get("kind", ())):
        return {}
    keys = list(zip(table["link"], table["way"], table["flow"], strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    which = np.array([numbers[key] for key in keys])
    columns = [table["t_ns"] / 1e9, table["from_bytes"].astype(float), table["to_bytes"].astype(float)]
    rows = np.column_stack(columns)
    return {
        key: {kind: rows[(which == number) & (table["kind"] == kind)] for kind in KINDS}
        for key, number in numbers.items()
    }


def busiest_span(at_s: Array, *, span_s: float) -> tuple[float, float]:
    """The stretch of ``span_s`` with most of the instants, in order, in its middle; the first such one."""
    until = np.searchsorted(at_s, at_s + span_s, side="right")
    begin = int(np.argmax(until - np.arange(len(at_s))))
    last = at_s[until[begin] - 1]
    middle = (at_s[begin] + last) / 2
    return float(middle - span_s / 2), float(middle + span_s / 2)
