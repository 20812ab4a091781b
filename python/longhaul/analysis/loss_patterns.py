"""Patterns of packet loss at a queue: bursts of losses, and flows that lose at the same time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def mean_burst(lost: Sequence[bool] | Array) -> float | None:
    """Mean number of packets that are lost one after another; ``None`` without losses.

    ``lost`` says for each packet, in order of arrival, whether it was lost.
    """
    flags = np.asarray(lost, dtype=bool)
    losses = int(flags.sum())
    if not losses:
        return None
    starts = int(flags[0]) + int(np.sum(flags[1:] & ~flags[:-1]))
    return losses / starts


def loss_events(times_s: Sequence[float] | Array, window_s: float) -> Array:
    """The loss event to which each loss belongs, from 0; ``times_s`` are in order.

    An event begins with the first loss that does not belong to the event before, and contains all losses of
    the following ``window_s``, which is a round-trip time: what TCP answers once (RFC 5348, section 5.2).
    """
    events = np.zeros(len(times_s), dtype=int)
    number, began = -1, -np.inf
    for place, time in enumerate(times_s):
        if time - began >= window_s:
            number, began = number + 1, time
        events[place] = number
    return events


def synchronisation(
    times_s: Sequence[float] | Array, flows: Sequence[Any] | Array, *, of: int, window_s: float
) -> float | None:
    """The global synchronisation ratio: the mean share of ``of`` flows that lose in a loss event.

    1 if all flows lose in every event, 1/n if one of n does; ``None`` without losses or with fewer than two
    flows. RFC 7928, section 2.4.
    """
    if of < 2 or not len(times_s):
        return None
    events = loss_events(times_s, window_s)
    pairs = set(zip(events.tolist(), list(flows), strict=True))
    return len(pairs) / (int(events[-1]) + 1) / of


def contour(points: Sequence[tuple[float, float]] | Array) -> tuple[float, float, float] | None:
    """Half axes and angle (degrees) of the 1-sigma ellipse of the normal distribution that fits best.

    The maximum-likelihood covariance divides by the number of points. ``None`` for fewer than three points,
    or if they do not vary. RFC 7928, section 2.7, after Winstein 2014.
    """
    values = np.asarray(points, dtype=float)
    if len(values) < 3:
        return None
    squares, axes = np.linalg.eigh(np.cov(values.T, bias=True))
    if squares[-1] <= 0:
        return None
    minor, major = np.sqrt(np.clip(squares, 0, None))
    return float(major), float(minor), float(np.degrees(np.arctan2(axes[1, -1], axes[0, -1])))
