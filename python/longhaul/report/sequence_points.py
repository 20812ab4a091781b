"""Rows of time/sequence graphs: every retransmission, and a bounded number of other segments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from longhaul.report.colours import BAD, GOOD, INK, SERIES
from longhaul.units.text import time_text

Array = np.ndarray[Any, Any]
Flow = Mapping[str, Array]
"""Rows of each kind, as :func:`longhaul.analysis.segments.flows` has them."""

MOST_ROWS = 24_000
"""Of a figure; retransmissions, and segments that fill a hole, are never left out."""
_FINEST = 20
"""Halvings of the whole time down to the shortest stretch that is tried."""


@dataclass(frozen=True)
class Look:
    """How a kind of row is drawn."""

    name: str
    colour: str
    width: float


LOOKS = {
    "sack": Look("SACK", SERIES[3], 0.9),
    "new": Look("segment", SERIES[0], 1.1),
    "late": Look("fills a hole", SERIES[4], 1.6),
    "retransmitted": Look("retransmitted", BAD, 1.6),
    "ack": Look("acknowledged", GOOD, 1.0),
    "limit": Look("end of the window", INK, 0.8),
}
"""In the order in which they are drawn."""


@dataclass(frozen=True)
class Thinned:
    """A flow in fewer rows."""

    strokes: Mapping[str, Array]
    """Of all kinds but ``ack``: begin (s), first byte, end (s), one after the last byte."""
    acks: Array
    """As they were: time (s), what has arrived, where the window ends."""
    note: str
    """What was joined; empty if nothing was."""


def thinned(kinds: Flow, *, most: int) -> Thinned:
    """Everything if that is no more than ``most`` rows; otherwise everything near retransmissions.

    Away from it, segments that follow one another within a short time are one stroke from the first to the
    last, blocks that touch are one, and of acknowledgements the last of that time stays. No byte is left
    out, nor any retransmitted or late segment.
    """
    blocks = _first_said(kinds["sack"])
    events = np.sort(np.concatenate([kinds["retransmitted"][:, 0], kinds["late"][:, 0]]))
    parts = {"new": kinds["new"], "ack": kinds["ack"], "sack": blocks}
    instants = np.concatenate([rows[:, 0] for rows in (*parts.values(), events.reshape(-1, 1))])
    whole_s = max(float(np.ptp(instants)), 1e-6) if len(instants) else 1.0
    room = max(most - len(events), most // 4)
    if sum(map(len, parts.values())) <= room:
        near = {kind: np.ones(len(rows), dtype=bool) for kind, rows in parts.items()}
        return _thinned(kinds, parts, near, whole_s, "")
    radius_s, near = 0.0, {kind: np.zeros(len(rows), dtype=bool) for kind, rows in parts.items()}
    for halving in range(3, _FINEST):
        radius_s = whole_s / 2**halving
        near = {kind: _near(rows[:, 0], events, radius_s) for kind, rows in parts.items()}
        if sum(int(each.sum()) for each in near.values()) <= room // 2:
            break
    found = _thinned(kinds, parts, near, whole_s, "")
    for halving in range(_FINEST, 0, -1):
        width_s = whole_s / 2**halving
        said = f"Segments that follow one another within {time_text(round(width_s * 1e9))} are one stroke"
        if any(each.any() for each in near.values()):
            said += f", but for {time_text(round(radius_s * 1e9))} before and after retransmissions"
        found = _thinned(kinds, parts, near, width_s, f"{said}.")
        if len(found.strokes["new"]) + len(found.strokes["sack"]) + len(found.acks) <= room:
            break
    return found


def _thinned(kinds: Flow, parts: Flow, near: Mapping[str, Array], width_s: float, said: str) -> Thinned:
    strokes = {
        "sack": _merged(parts["sack"], width_s, near["sack"]),
        "new": _joined(parts["new"], width_s, near["new"]),
        "late": _alone(kinds["late"]),
        "retransmitted": _alone(kinds["retransmitted"]),
    }
    return Thinned(strokes, _last_of_each(parts["ack"], width_s, near["ack"]), said)


def _near(at_s: Array, events_s: Array, radius_s: float) -> Array:
    """Which instants are no farther from an event."""
    if not len(events_s):
        return np.zeros(len(at_s), dtype=bool)
    following = np.searchsorted(events_s, at_s - radius_s)
    found: Array = events_s[np.minimum(following, len(events_s) - 1)] <= at_s + radius_s
    return found & (following < len(events_s))


def _first_said(blocks: Array) -> Array:
    """Each block once: an acknowledgement repeats those of the ones before it (RFC 2018, section 4)."""
    found: Array = blocks[np.sort(np.unique(blocks[:, 1:], axis=0, return_index=True)[1])]
    return found


def _alone(rows: Array) -> Array:
    return np.column_stack([rows[:, 0], rows[:, 1], rows[:, 0], rows[:, 2]])


def _joined(rows: Array, width_s: float, single: Array) -> Array:
    """Strokes from the first to the last of what goes on without a hole within a stretch of time."""
    if not len(rows):
        return np.zeros((0, 4))
    stretch = np.floor(rows[:, 0] / width_s)
    begins = single.copy()
    begins[0] = True
    begins[1:] |= single[:-1] | (np.diff(stretch) != 0) | (rows[1:, 1] != rows[:-1, 2])
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(rows)) - 1
    return np.column_stack([rows[first, 0], rows[first, 1], rows[last, 0], rows[last, 2]])


def _last_of_each(rows: Array, width_s: float, single: Array) -> Array:
    """The last row of each stretch of time, and every single one."""
    if not len(rows):
        return rows
    stays = single.copy()
    stays[-1] = True
    stays[:-1] |= np.diff(np.floor(rows[:, 0] / width_s)) != 0
    found: Array = rows[stays]
    return found


def _merged(blocks: Array, width_s: float, single: Array) -> Array:
    """Blocks of a stretch of time that touch as one, when the first of them was said."""
    if not len(blocks):
        return np.zeros((0, 4))
    stretch = np.where(single, -1.0 - np.arange(len(blocks)), np.floor(blocks[:, 0] / width_s))
    order = np.lexsort((blocks[:, 1], stretch))
    _, stretch = np.unique(stretch[order], return_inverse=True)
    at_s, first, last = blocks[order].T
    # Stretches lie so far apart that no block reaches from one into the next.
    apart = stretch * (np.ptp(blocks[:, 1:]) + 1)
    reach = np.maximum.accumulate(last + apart)
    begins = np.append(True, (first + apart)[1:] > reach[:-1])
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(blocks)) - 1
    said_s = np.minimum.reduceat(at_s, starts)
    found = np.column_stack([said_s, first[starts], said_s, (reach - apart)[ends]])
    return found[np.argsort(said_s, kind="stable")]
