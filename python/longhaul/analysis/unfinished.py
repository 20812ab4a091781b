"""Results of a live run that was killed, from its last samples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from longhaul.analysis.distributions import distribution
from longhaul.plan import WAYS, Plan
from longhaul.scenario.model.metrics import FINAL_LINK_COUNTERS, SAMPLED_LINK_COUNTERS

Array = np.ndarray[Any, Any]

_OF_SAMPLES = (*SAMPLED_LINK_COUNTERS, "copied", "waiting", "flying")


def engine_of_samples(plan: Plan, samples: Mapping[str, Array], *, t0_unix_ns: int) -> dict[str, Any] | None:
    """What ``raw/engine.json`` would say, as far as samples tell; ``None`` if there are none.

    Times that packets waited, and what happened outside of links, are unknown.
    """
    if not {"t_ns", "link", "way"} <= samples.keys() or not len(samples["t_ns"]):
        return None
    return {
        "unfinished": True,
        "t0_unix_ns": t0_unix_ns,
        "duration_ns": int(samples["t_ns"].max()),
        "error": None,
        "links": [
            {
                "name": link["name"],
                **{way: _last(samples, link["name"], way) for way in WAYS},
            }
            for link in plan["links"]
        ],
        "packets": {},
        "flow_names": [],
    }


def _last(samples: Mapping[str, Array], link: str, way: str) -> dict[str, Any]:
    """The counters of a direction in its last sample; zero if it has none."""
    rows = np.flatnonzero((samples["link"] == link) & (samples["way"] == way))

    def value(name: str) -> int:
        return int(samples[name][rows[-1]]) if len(rows) and name in samples else 0

    return {
        **{f"{name}_packets": value(f"{name}_packets") for name in _OF_SAMPLES},
        **{f"{name}_bytes": value(f"{name}_bytes") for name in ("offered", "delivered", "wire", "waiting")},
        **{f"{name}_packets": None for name in FINAL_LINK_COUNTERS},
        "wire_delay_mean_ns": None,
        "waits": distribution({}),
    }
