"""The scenario language: load, check, and resolve to a plan. Pure but for reading the file handed in."""

from longhaul.scenario.changes import resolve_changes, resolve_pacing
from longhaul.scenario.load import Scenario, load_scenario, parse_scenario
from longhaul.scenario.problems import Problem, ScenarioError
from longhaul.scenario.resolve import Resolved, resolve
from longhaul.scenario.schema import json_schema

__all__ = [
    "Problem",
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
