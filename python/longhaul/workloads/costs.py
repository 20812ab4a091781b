"""What a unit of computing costs, for skeletons: shipped, or measured here and kept in the user's cache."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

Costs = Mapping[str, float]

SHIPPED = Path(__file__).parent / "costs.json"


def cache() -> Path:
    """Where ``--calibrate`` writes."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "longhaul" / "workloads.json"


def known(name: str) -> Costs:
    """Nanoseconds per unit of each phase: measured on this machine, else as shipped."""
    for path in (cache(), SHIPPED):
        table = _read(path)
        if name in table:
            return {phase: float(cost) for phase, cost in table[name]["ns_per_unit"].items()}
    raise LonghaulError(
        Code.NOT_CALIBRATED,
        f"no costs of {name} are known",
        remedy=f"measure them: {name} --calibrate",
        exit_code=2,
    )


def shipped(name: str) -> Costs:
    """The same without what was measured here: equal everywhere."""
    return {phase: float(cost) for phase, cost in _read(SHIPPED)[name]["ns_per_unit"].items()}


def keep(name: str, costs: Costs, *, measured_with: str) -> Path:
    """Write what was measured into the cache, beside what is there."""
    path = cache()
    table = {**_read(path), name: {"class": measured_with, "ns_per_unit": dict(costs)}}
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.replace_json(path, table)
    return path


def scaled(costs: Costs, totals: Mapping[str, float], compute_s: float) -> Costs:
    """Costs in the same proportions with which all ranks together compute so long."""
    whole = sum(units * costs[phase] for phase, units in totals.items()) * 1e-9
    return {phase: cost * compute_s / whole for phase, cost in costs.items()}


def _read(path: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise LonghaulError(
            Code.FILE_UNREADABLE, f"{path}: {error}", remedy="delete it and calibrate again", exit_code=2
        ) from error
    return table
