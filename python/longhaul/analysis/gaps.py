"""Gaps between losses, from the times or numbers of lost packets; distributions are fitted to them.

The gaps of ``fidelity.json`` are others: scheduling stalls of the engine (:mod:`longhaul.analysis.fidelity`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""What each unit of time is in seconds."""
UNITS = (*SECONDS, "packets")
"""What gaps may be counted in."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """What lies between one loss and the next."""

    values: FloatArray
    """As they followed one another; above zero."""
    unit: str
    """One of :data:`UNITS`."""
    name: str
    """Where they come from, for people."""
    notes: tuple[str, ...] = ()
    """What may be wrong with them."""


def merged(losses: FloatArray, span: float) -> FloatArray:
    """Where events begin: a loss within ``span`` of the beginning of an event belongs to it.

    As in RFC 5348, section 5.2, with ``span`` an RTT; both in one unit, and the losses ascend.
    """
    events = []
    index = 0
    while index < len(losses):
        events.append(losses[index])
        index = max(index + 1, int(np.searchsorted(losses, losses[index] + span, side="right")))
    return np.array(events)


def step_note(values: FloatArray) -> tuple[str, ...]:
    """What to say of gaps so coarse that their steps alone contradict distributions without steps.

    Steps of h move F by about h/sd, and A2 adds up the squares of that over n gaps.
    """
    distinct = np.unique(values)
    if len(distinct) < 2 or len(distinct) == len(values):
        return ()
    step = float(np.diff(distinct).min())
    if len(values) * (step / values.std()) ** 2 < 1:
        return ()
    return (
        f"the gaps go in steps of {step:g}, so coarse that any distribution without steps is contradicted",
    )
