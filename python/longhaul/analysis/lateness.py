"""Lateness of packets over time, for charts and tables, from the histograms of the engine.

The verdict on the lateness of a run is in :mod:`longhaul.analysis.fidelity`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def p99_ns(packets: Array, up_to: Array, bounds_ns: Array) -> Array:
    """The 99th percentile of each row, as :func:`quantile_ns` has it."""
    return quantile_ns(0.99, packets, up_to, bounds_ns)


def quantile_ns(share: float, packets: Array, up_to: Array, bounds_ns: Array) -> Array:
    """The quantile ``share`` of each row, interpolated within its class; NaN without packets.

    ``up_to`` counts the packets up to each of ``bounds_ns`` but the first, which is 0. Beyond the last bound
    it is that bound: read it as "or more".
    """
    wanted = share * packets
    place = np.minimum((up_to < wanted[:, None]).sum(axis=1), len(bounds_ns) - 2)
    rows = np.arange(len(packets))
    upper, lower = up_to[rows, place], np.where(place > 0, up_to[rows, place - 1], 0)
    part = np.clip((wanted - lower) / np.maximum(upper - lower, 1), 0.0, 1.0)
    found: Array = bounds_ns[place] + (bounds_ns[place + 1] - bounds_ns[place]) * part
    return np.where(packets > 0, found, np.nan)


def worst_p99(recorded: Mapping[str, Array]) -> tuple[Array, Array]:
    """When lateness was recorded (ns), and the greatest 99th percentile of all directions.

    ``recorded`` has the columns of ``raw/lateness.csv``, whose counts only grow. NaN where nothing was
    written to a host.
    """
    classes = [name for name in recorded if name.startswith("le_")]
    bounds_ns = np.array([0, *(int(name.split("_")[1]) for name in classes)], dtype=float)
    instants, at = np.unique(recorded["t_ns"], return_inverse=True)
    worst = np.full(len(instants), np.nan)
    directions = np.char.add(np.char.add(recorded["link"].astype(str), "/"), recorded["way"].astype(str))
    counts = np.stack([recorded[name] for name in ("packets", *classes)], axis=1)
    for direction in np.unique(directions):
        mine = directions == direction
        more = np.diff(counts[mine], axis=0, prepend=0)
        found = p99_ns(more[:, 0], more[:, 1:], bounds_ns)
        worst[at[mine]] = np.fmax(worst[at[mine]], found)
    return instants, worst
