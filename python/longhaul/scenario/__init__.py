"""The scenario language: load, check, and resolve to a plan. Pure, except for reading files."""

from longhaul.diagnostics import Diagnostic
from longhaul.scenario.check.load import load_scenario, parse_scenario
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.changes import resolve_changes, resolve_pacing
from longhaul.scenario.lower.resolve import Resolved, resolve
from longhaul.scenario.model.schema import json_schema
from longhaul.scenario.syntax.problems import ScenarioError

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
