"""``longhaul check``: the diagnostics of one or more files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Diagnostic
from longhaul.errors import LonghaulError
from longhaul.run import congestion_control, memory
from longhaul.scenario.check.load import load_scenario
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.demands import concerns
from longhaul.scenario.lower.resolve import Resolved, resolve
from longhaul.scenario.syntax.problems import ScenarioError


def examine(
    scenario: Scenario, *, certificate: Mapping[str, Any] | None = None
) -> tuple[Resolved, tuple[Diagnostic, ...]]:
    """What is planned, and warnings. Raises ScenarioError for what is wrong wherever it is run."""
    resolved = resolve(scenario)
    if problems := congestion_control.strangers(resolved):
        raise ScenarioError(problems)
    return resolved, (*resolved.warnings, *concerns(resolved, certificate), *memory.concerns(resolved))


def report(
    paths: Iterable[Path],
    *,
    settings: Mapping[str, str],
    as_json: bool,
    certificate: Mapping[str, Any] | None = None,
) -> tuple[str, int]:
    """The text to print and the exit code: 0 if all of ``paths`` are right, 2 otherwise.

    With the ``certificate`` of this machine also warnings of what a scenario asks beyond it.
    """
    lines: list[str] = []
    told = []
    good = True
    for path in paths:
        problems: list[dict[str, str | int | None]] = []
        warnings: tuple[Diagnostic, ...] = ()
        try:
            resolved, warnings = examine(load_scenario(path, settings=settings), certificate=certificate)
            lines += [f"warning: {warning.headline}" for warning in warnings]
            hosts = sum(node["kind"] == "host" for node in resolved.plan["nodes"])
            links = len(resolved.plan["links"])
            lines.append(f"{path}: good (hosts: {hosts}, links: {links})")
        except ScenarioError as error:
            problems = [problem.as_json() for problem in error.diagnostics]
            plural = "s" if error.count > 1 else ""
            lines += [str(error), f"{path}: {error.count_text(error.count)} problem{plural}"]
        except LonghaulError as error:
            problems = [replace(each, file=str(path)).as_json() for each in error.diagnostics]
            lines.append(error.headline)
        good = good and not problems
        told.append(
            {
                "file": str(path),
                "good": not problems,
                "problems": problems,
                "warnings": [each.as_json() for each in warnings],
            }
        )
    return (json.dumps(told, indent=1) if as_json else "\n".join(lines)), 0 if good else 2
