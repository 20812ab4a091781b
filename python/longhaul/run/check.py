"""``longhaul check``: the diagnostics of one or more files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Diagnostic
from longhaul.errors import LonghaulError
from longhaul.run import congestion_control, host_settings, memory, socket_buffers
from longhaul.run.virtual_clock import Clock, clock_of, ignored_keys
from longhaul.scenario.check.load import load_scenario
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.demands import concerns
from longhaul.scenario.lower.preview import Preview, preview
from longhaul.scenario.lower.resolve import Resolved, resolve
from longhaul.scenario.syntax.problems import ScenarioError


@dataclass(frozen=True)
class Examined:
    """A scenario that can be run."""

    resolved: Resolved
    warnings: tuple[Diagnostic, ...]
    expected: Preview


def examine(
    scenario: Scenario,
    *,
    certificate: Mapping[str, Any] | None = None,
    clock: Clock = "real",
    kernel: str | None = None,
) -> Examined:
    """What is planned, and warnings. Raises ScenarioError for what is wrong wherever it is run.

    For the ``virtual`` clock also raises LonghaulError for what that lacks, such as the version ``kernel`` of
    Linux, or that which the scenario names.
    """
    resolved = resolve(scenario)
    virtual = clock_of(clock, scenario, kernel)
    if virtual is not None:
        resolved = virtual.accepted(resolved)
    if problems := [*congestion_control.strangers(resolved), *host_settings.unknown_users(resolved)]:
        raise ScenarioError(problems)
    expected = preview(resolved)
    warnings = (
        *resolved.warnings,
        *(ignored_keys(scenario) if virtual is None else ()),
        *expected.warnings,
        *concerns(resolved, certificate),
        *memory.concerns(resolved),
        *socket_buffers.concerns([program["argv"] for program in resolved.plan["programs"]], resolved.plan),
    )
    return Examined(resolved, warnings, expected)


def report(
    paths: Iterable[Path],
    *,
    settings: Mapping[str, str],
    as_json: bool,
    certificate: Mapping[str, Any] | None = None,
    clock: Clock = "real",
    kernel: str | None = None,
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
        round_trips: list[dict[str, str | int]] = []
        try:
            scenario = load_scenario(path, settings=settings)
            found = examine(scenario, certificate=certificate, clock=clock, kernel=kernel)
            plan, warnings = found.resolved.plan, found.warnings
            round_trips = [each.as_json() for each in found.expected.round_trips]
            lines += [f"warning: {warning.headline}" for warning in warnings]
            hosts = sum(node["kind"] == "host" for node in plan["nodes"])
            lines.append(f"{path}: good (hosts: {hosts}, links: {len(plan['links'])})")
            lines += [f"  expected {found.expected.line}"] if found.expected.line else []
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
                "round_trips": round_trips,
            }
        )
    return (json.dumps(told, indent=1) if as_json else "\n".join(lines)), 0 if good else 2
