"""Parallel programs as studies have them: so much computing, and the messages of a workload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from longhaul.workloads import costs, recording
from longhaul.workloads.commands.kernels import MODULES
from longhaul.workloads.job import Job
from longhaul.workloads.molecules import Simulation
from longhaul.workloads.molecules import run as run_molecules

ATOMS, STEPS = 10_000, 500
"""Of the molecules."""


@dataclass(frozen=True)
class Program:
    """A program and its size."""

    name: str
    problem: str
    """The class; empty for the molecules."""
    compute_s: float
    """Of one rank alone."""

    @property
    def argv(self) -> list[str]:
        """How it runs as a skeleton."""
        if self.name == "molecules":
            step_us = self.compute_s / STEPS * 1e6
            sizes = ["--atoms", str(ATOMS), "--steps", str(STEPS), "--step-time", f"{step_us:.0f}us"]
            return ["longhaul-workload", "molecules", *sizes, "--json"]
        size = ["--class", self.problem, "--mode", "skeleton", "--compute", f"{self.compute_s:.6f}s"]
        return ["longhaul-workload", self.name, *size, "--json"]

    def record(self, ranks: int, path: Path) -> None:
        """Write its messages."""
        if self.name == "molecules":
            simulation = Simulation(atoms=ATOMS, steps=STEPS, step_s=self.compute_s / STEPS)
            run: Callable[[Job], Any] = lambda job: run_molecules(job, simulation)  # noqa: E731
            costs_ns: Mapping[str, float] = {"forces": 1.0}
        else:
            kernel = import_module(f"longhaul.workloads.{MODULES[self.name]}")
            run = lambda job: kernel.run(job, self.problem)  # noqa: E731
            costs_ns = costs.scaled(costs.shipped(self.name), kernel.totals(self.problem), self.compute_s)
        steps = recording.record(run, ranks=ranks, costs_ns=costs_ns)
        recording.write(steps, path, title=f"{self.name} {self.problem}, {ranks} ranks")


def one_rank_s(name: str, problem: str) -> float:
    """What a kernel computes on one rank of the machine that the shipped costs come from."""
    totals = import_module(f"longhaul.workloads.{MODULES[name]}").totals(problem)
    table = costs.shipped(name)
    return float(sum(units * table[phase] for phase, units in totals.items()) * 1e-9)
