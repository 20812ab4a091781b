"""All suites of the benchmark, by name."""

from longhaul.benchmark.aqm.suite import AQM
from longhaul.benchmark.cc.suite import CC
from longhaul.benchmark.suite import Suite

SUITES = {each.name: each for each in (CC, AQM)}


def suite_named(name: str | None) -> Suite:
    """The suite that a results file names; files without a name are of the first suite."""
    return SUITES[name or CC.name]
