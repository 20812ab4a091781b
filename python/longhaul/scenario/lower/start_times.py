"""Start times of traffic and programs: fixed or random."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from longhaul.diagnostics import Diagnostic
from longhaul.plan import Distribution
from longhaul.scenario.check.names import program_copies
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import plan_distribution
from longhaul.scenario.model.distribution import AnyTimes, Constant
from longhaul.scenario.model.start import After
from longhaul.scenario.syntax.csv_file import TIME
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import Path

if TYPE_CHECKING:
    from longhaul.scenario.check.scenario import Scenario
    from longhaul.scenario.model import Document, Program


def starts_after(document: "Document", program: "Program") -> list[str]:
    """The names, in a plan, of the programs that a program waits for: all copies of one with ``each``."""
    if not isinstance(program.start, After):
        return []
    name = program.start.program
    return program_copies(name, document.programs[name])


def plan_starts(scenario: "Scenario", inputs: Inputs) -> tuple[dict[str, Distribution], list[Diagnostic]]:
    """The distribution of each random start, by the name of traffic or program; and what is wrong.

    Of a program that runs on each of several hosts, every copy (``NAME.HOST``) has a start of its own.
    """
    found: dict[str, Distribution] = {}
    problems = []
    for path, names, distribution in _random_starts(scenario):
        try:
            planned = plan_distribution(distribution, inputs, TIME)
        except ScenarioValueError as error:
            problems.append(scenario.problem(error.code, (*path, *error.at), error.message, error.remedy))
        except FileError as error:
            problems.append(error.problem)
        else:
            found |= dict.fromkeys(names, planned)
    return found, problems


def _random_starts(scenario: "Scenario") -> Iterator[tuple[Path, list[str], AnyTimes]]:
    for name, flow in scenario.document.traffic.items():
        if not isinstance(flow.start, Constant):
            yield ("traffic", name, "start"), [name], flow.start
    for name, program in scenario.document.programs.items():
        if not isinstance(program.start, (After, Constant)):
            yield ("programs", name, "start"), program_copies(name, program), program.start
