"""The messages of a molecular-dynamics program whose atoms are dealt to the ranks, in a ring.

A stand-in for Gromacs 3 with d.villin: positions go half-way round a ring, forces are computed and go back,
energies are added up. The number of messages that wait for one another grows with the ranks.
"""

from dataclasses import dataclass

import numpy as np

from longhaul.workloads.job import Job, Outcome

PER_ATOM = 12
"""Bytes of a position or a force: three numbers of single precision."""

ENERGIES = 8

SECONDS_PER_DAY = 86_400

DEFAULT_STEP_S = 4e-3
"""Of computing, on one rank."""


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How much there is to compute and to send."""

    atoms: int
    steps: int
    step_s: float
    """What one rank alone would compute in a step."""


def run(job: Job, simulation: Simulation) -> Outcome:
    """Take all steps; how many such simulations a day would hold is the figure that the papers have."""
    most = -(-simulation.atoms // job.ranks)
    outgoing, incoming = (np.zeros(most * PER_ATOM, np.uint8) for _ in range(2))
    energies = np.zeros(ENERGIES)
    right, left = (job.rank + 1) % job.ranks, (job.rank - 1) % job.ranks
    pulses = job.ranks // 2
    share_ns = simulation.step_s * 1e9 / job.ranks
    with job.timed():
        for _ in job.iterations(simulation.steps):
            for _ in range(pulses):
                job.exchange(outgoing, to=right, incoming=incoming, source=left)
            job.compute("forces", share_ns, _nothing)
            for _ in range(pulses):
                job.exchange(outgoing, to=left, incoming=incoming, source=right)
            job.reduce_all(energies)
    slowest = job.spread(job.wall_s)[2]
    return Outcome(
        verified=None,
        figures={
            "steps": simulation.steps,
            "step_us": 1e6 * slowest / simulation.steps,
            "simulations_per_day": SECONDS_PER_DAY / slowest,
        },
    )


def _nothing() -> None:
    """What a skeleton never calls."""
