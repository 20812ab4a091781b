"""The scenario language: load, check, and resolve to a plan. Pure but for reading the file handed in."""

from longhaul.scenario.load import Scenario, load_scenario, parse_scenario
from longhaul.scenario.problems import Problem, ScenarioError

__all__ = ["Problem", "Scenario", "ScenarioError", "load_scenario", "parse_scenario"]
