"""The scenario language: load, check, and resolve to a plan. Pure, except for reading files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.scenario.check.load import load_scenario, parse_scenario
    from longhaul.scenario.check.scenario import Scenario
    from longhaul.scenario.lower.changes import resolve_changes, resolve_pacing
    from longhaul.scenario.lower.resolve import Resolved, resolve
    from longhaul.scenario.model.schema import json_schema
    from longhaul.scenario.syntax.problems import ScenarioError

_MODULES = {
    "Diagnostic": "longhaul.diagnostics",
    "load_scenario": "longhaul.scenario.check.load",
    "parse_scenario": "longhaul.scenario.check.load",
    "Scenario": "longhaul.scenario.check.scenario",
    "resolve_changes": "longhaul.scenario.lower.changes",
    "resolve_pacing": "longhaul.scenario.lower.changes",
    "Resolved": "longhaul.scenario.lower.resolve",
    "resolve": "longhaul.scenario.lower.resolve",
    "json_schema": "longhaul.scenario.model.schema",
    "ScenarioError": "longhaul.scenario.syntax.problems",
}

__all__ = [
    "Diagnostic",
    "Resolved",
    "Scenario",
    "ScenarioError",
    "json_schema",
    "load_scenario",
    "parse_scenario",
    "resolve",
    "resolve_changes",
    "resolve_pacing",
]


def __getattr__(name: str) -> Any:
    """Import on first use: a command that needs the name of a metric should not build all models."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
