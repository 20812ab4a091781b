"""One direction of a link alone: packets in, and the fate of each.

>>> from longhaul.run.trial import trial
>>> models = {"rate": {"model": "constant", "bits_per_s": 1_000_000_000}}
>>> out = trial(models, at_ns=[0, 0, 0], size=1500)
>>> [int(due) for due in out.due_ns]
[12000, 24000, 36000]
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longhaul import _longhaul

LinkModel = Mapping[str, Any]

NOTHING: LinkModel = {
    "up": True,
    "loss": {"model": "none"},
    "queue": {"limit_packets": None, "limit_bytes": None},
    "rate": {"model": "unlimited"},
    "delay": {"model": "constant", "delay_ns": 0},
    "reorder": False,
    "reordering": None,
    "duplicate": 0.0,
}
"""A direction that does nothing to packets, in the plan's words."""


@dataclass(frozen=True)
class Passages:
    """What became of packets and copies, in the order of coming out; those that never entered last."""

    packet: NDArray[np.int64]
    """Position among the offers."""
    fate: NDArray[np.str_]
    """``delivered``, ``lost``, ``overflowed``, ``dropped`` or ``down``."""
    due_ns: NDArray[np.float64]
    """When it came out, to the picosecond; NaN if it did not."""
    marked: NDArray[np.bool_]
    corrupted: NDArray[np.bool_]

    def ended(self, fate: str) -> list[int]:
        """The packets with this fate, in ascending order."""
        return sorted(int(packet) for packet in self.packet[self.fate == fate])


def trial(
    models: LinkModel,
    *,
    at_ns: Sequence[float] | NDArray[Any],
    size: int | Sequence[int] = 1500,
    flow: Sequence[int] | None = None,
    traffic_class: Sequence[int] | None = None,
    seed: int = 1,
    name: str = "trial",
) -> Passages:
    """Offer packets of ``size`` IP bytes at ``at_ns`` to one direction that follows ``models``.

    ``models`` has the fields of a direction in ``plan.json``; what it leaves out does nothing. ``flow``
    tells flows apart, ``traffic_class`` is the byte with DSCP and ECN. Chances come from the streams of
    ``name``, as those of a link direction with that name would.

    Raises ValueError for models that cannot be, with the field.
    """
    count = len(at_ns)
    sizes = [size] * count if isinstance(size, int) else list(size)
    packet, fate, due_ps, marked, corrupted = _longhaul.trial(
        json.dumps({**NOTHING, **models}),
        seed=seed,
        name=name,
        at_ps=[round(at * 1000) for at in at_ns],
        sizes=sizes,
        flow=list(flow) if flow is not None else [0] * count,
        class_=list(traffic_class) if traffic_class is not None else [0] * count,
    )
    fates = np.array(fate, dtype=np.str_)
    due = np.where(fates == "delivered", np.array(due_ps, dtype=np.float64) / 1000, np.nan)
    return Passages(np.array(packet, dtype=np.int64), fates, due, np.array(marked), np.array(corrupted))
