"""Bins of monitored links, filled up so that time has no gaps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def series(table: Mapping[str, Array], *, link: str, way: str, every_ns: int) -> dict[str, Array]:
    """What one direction did in every bin up to its last, zero where the table has no row.

    Columns: ``start_ns``, and the table's counters and queues.
    """
    mask = (table["link"] == link) & (table["way"] == way)
    places = table["start_ns"][mask].astype(np.int64) // every_ns
    count = int(places[-1]) + 1 if len(places) else 0
    dense: dict[str, Array] = {"start_ns": np.arange(count, dtype=np.int64) * every_ns}
    for name, column in table.items():
        if name not in ("link", "way", "start_ns"):
            dense[name] = np.zeros(count, dtype=np.int64)
            dense[name][places] = column[mask]
    return dense


def envelope(values: Array, *, columns: int) -> tuple[Array, Array, Array]:
    """Least, mean and most of as many equal stretches; the last, if shorter, is left out."""
    stretch = max(len(values) // columns, 1)
    whole = values[: len(values) // stretch * stretch].reshape(-1, stretch)
    return whole.min(axis=1), whole.mean(axis=1), whole.max(axis=1)


def fullest(values: Array, *, width: int) -> slice:
    """The ``width`` neighbours with the greatest sum."""
    if len(values) <= width:
        return slice(0, len(values))
    sums = np.cumsum(np.concatenate([[0], values]))
    start = int(np.argmax(sums[width:] - sums[:-width]))
    return slice(start, start + width)
