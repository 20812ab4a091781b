"""Longhaul: a laboratory for wide-area networks between clusters.

>>> import longhaul
>>> result = longhaul.run_live("scenarios/two-clusters.yaml")      # doctest: +SKIP
>>> result.verdict                                                # doctest: +SKIP
'faithful'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longhaul import relay, topologies
    from longhaul.notebook_objects import (
        Comparison,
        Described,
        Fitted,
        Planned,
        compare,
        describe,
        fit,
        plan_transfers,
    )
    from longhaul.run.api import Network, Result, run_live, run_sim, up
    from longhaul.sweeps.api import resume, sweep

_NOTEBOOK_OBJECTS = (
    "Comparison",
    "Described",
    "Fitted",
    "Planned",
    "compare",
    "describe",
    "fit",
    "plan_transfers",
)

__all__ = [
    "Comparison",
    "Described",
    "Fitted",
    "Network",
    "Planned",
    "Result",
    "compare",
    "describe",
    "fit",
    "plan_transfers",
    "relay",
    "resume",
    "run_live",
    "run_sim",
    "sweep",
    "topologies",
    "up",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line starts quickly."""
    if name in ("resume", "sweep"):
        from longhaul.sweeps import api as sweeps

        return getattr(sweeps, name)
    if name in _NOTEBOOK_OBJECTS:
        return getattr(import_module("longhaul.notebook_objects"), name)
    if name in ("relay", "topologies"):
        return import_module(f"longhaul.{name}")
    if name in __all__:
        from longhaul.run import api

        return getattr(api, name)
    raise AttributeError(f"module 'longhaul' has no attribute {name!r}")
