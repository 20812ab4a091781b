"""Checks before a live run: the machine, and the demands of the scenario."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from longhaul.calibrate.host import Finding, examine
from longhaul.results.certificate import load_certificate
from longhaul.scenario import Resolved, load_scenario, resolve
from longhaul.scenario.lower.demands import concerns


def preflight(
    scenario: Path | None, *, settings: Mapping[str, str], self_test: bool = True
) -> Iterator[Finding]:
    """Everything about this machine, and about ``scenario`` on it.

    Raises :class:`ScenarioError`, before anything is looked at, for a scenario that cannot be run.
    """
    resolved = resolve(load_scenario(scenario, settings=settings)) if scenario else None
    yield from findings(resolved, self_test=self_test)


def findings(resolved: Resolved | None, *, self_test: bool = True) -> Iterator[Finding]:
    """The same of a scenario that is resolved already, if there is one."""
    yield from examine(self_test=self_test)
    if resolved is None:
        return
    name = resolved.plan["name"]
    certificate = load_certificate()
    found = concerns(resolved, certificate)
    if certificate is None:
        yield Finding(
            name,
            "poor",
            "its requirements cannot be compared: the machine is not calibrated",
            "longhaul calibrate",
        )
    elif not found:
        yield Finding(name, "good", "within this machine's measured capacity")
    for concern in found:
        yield Finding(name, "poor", replace(concern, remedy=None).text, concern.remedy or "")
