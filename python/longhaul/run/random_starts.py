"""Random start times, the same live and simulated for the same seed."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longhaul import _longhaul
from longhaul.units.quantities import Span

if TYPE_CHECKING:
    from longhaul.scenario import Resolved


def start_ns(seed: int, name: str, distribution: Mapping[str, Any]) -> int:
    """The start of traffic or a program: the first draw of the stream ``NAME/start``, in whole ns.

    A draw before the start of the run counts as its start.
    """
    drawn = _longhaul.draw(seed, f"{name}/start", json.dumps(dict(distribution)))
    return round(min(max(drawn, 0), Span.limit))


def with_starts(resolved: "Resolved") -> "Resolved":
    """The scenario with every random start drawn by the plan's seed; traffic keeps its distribution."""
    if not resolved.starts:
        return resolved
    seed = resolved.plan["seed"]
    drawn = {name: start_ns(seed, name, distribution) for name, distribution in resolved.starts.items()}

    def placed(item: Mapping[str, Any]) -> Any:
        return {**item, "start_ns": drawn.get(item["name"], item["start_ns"])}

    traffic = (placed(item) for item in resolved.traffic)
    return replace(
        resolved,
        plan={**resolved.plan, "programs": [placed(each) for each in resolved.plan["programs"]]},
        traffic=tuple({**item, "start": resolved.starts.get(item["name"])} for item in traffic),
        jobs=tuple(placed(job) for job in resolved.jobs),
    )
