"""MG: Poisson's equation by V-cycles on a periodic cube (NAS-91-002, 3.2). Messages large and tiny."""

import math
from itertools import pairwise

import numpy as np

from longhaul._longhaul import add_stencil, interpolate, restrict
from longhaul.workloads.grids import Level, Reals, cube_of_ranks, place_in_cube
from longhaul.workloads.job import Job, Outcome, power_of_two
from longhaul.workloads.problems import MG, SEED, Cube
from longhaul.workloads.uniform import jump, powers, uniforms

Weights = tuple[float, float, float, float]

NEGATIVE_LAPLACIAN: Weights = (8 / 3, 0.0, -1 / 6, -1 / 12)
"""-A, by centre, faces, edges, corners."""

TRILINEAR: Weights = (1.0, 1 / 2, 1 / 4, 1 / 8)

CHARGES = 10
TOLERANCE = 1e-8


def totals(name: str) -> dict[str, float]:
    """Units of computing in the timed part, of one rank alone."""
    problem = MG[name]
    finest = 8.0**problem.levels
    # Points of the levels 1 to the last but one, and of those from 2 on.
    below = sum(8.0**level for level in range(1, problem.levels))
    between = below - 8.0
    cycle = {
        "stencil": 3 * finest + below + between,
        "restrict": below,
        "interpolate": between + finest,
    }
    each = {phase: problem.cycles * units for phase, units in cycle.items()}
    return {**each, "stencil": each["stencil"] + finest, "norm": finest}


def run(job: Job, name: str) -> Outcome:
    """An untimed cycle, then those of the class from the start again."""
    exponent = power_of_two(job, "MG", most=MG[name].points_for_ranks)
    solver = _Solver(job, MG[name], exponent)
    solver.begin()
    solver.cycle()
    with job.timed():
        solver.begin()
        for _ in job.iterations(solver.problem.cycles):
            solver.cycle()
            solver.residual()
        norm = solver.norm()
    if job.is_skeleton:
        return Outcome(verified=None, figures={})
    right = math.isclose(norm, solver.problem.norm, rel_tol=TOLERANCE)
    return Outcome(verified=right, figures={"norm": norm})


class _Solver:
    """The grids of one rank: the solution u, the charges v, and residuals and corrections on each level."""

    def __init__(self, job: Job, problem: Cube, exponent: int) -> None:
        self.job, self.problem = job, problem
        ranks = cube_of_ranks(exponent)
        place = place_in_cube(job.rank, ranks)
        self.levels = [Level(number=number, ranks=ranks, place=place) for number in range(problem.levels + 1)]
        self.finest = self.levels[-1]
        self.residuals = [np.zeros(level.shape) for level in self.levels]
        self.corrections = [np.zeros(level.shape) for level in self.levels[:-1]]
        self.solution: Reals = np.zeros(self.finest.shape)
        self.charges: Reals = np.zeros(self.finest.shape)
        if not job.is_skeleton:
            _charge(job, self.finest, self.charges)

    def begin(self) -> None:
        """U = 0; the residual is what is charged."""
        if not self.job.is_skeleton:
            self.solution[:] = 0.0
        self.residual()

    def residual(self) -> None:
        """R = v - A u on the finest level."""
        self._apply(self.finest, self.solution, NEGATIVE_LAPLACIAN, self.residuals[-1], start=self.charges)

    def _apply(
        self, level: Level, grid: Reals, weights: Weights, out: Reals, *, start: Reals | None = None
    ) -> None:
        """``out += stencil(grid)``, or ``out = start + stencil(grid)``; then the ghosts of ``out``."""

        def work() -> None:
            if start is not None:
                np.copyto(out, start)
            add_stencil(level.shape, grid, weights, out)

        self.job.compute("stencil", level.inner, work)
        level.fill_ghosts(self.job, out)

    def cycle(self) -> None:
        """Down to the grid of two points along each axis, and up again; the solution is corrected."""
        levels, residuals, corrections = self.levels, self.residuals, self.corrections
        smoother = self.problem.smoother
        for coarse, fine in zip(levels[-2:0:-1], levels[:1:-1], strict=True):
            if coarse.takes_part:
                self._restrict(fine, coarse)
        if levels[1].takes_part:
            self._clear(corrections[1])
            self._apply(levels[1], residuals[1], smoother, corrections[1])
        for below, level in pairwise(levels[1:-1]):
            if level.takes_part:
                correction, residual = corrections[level.number], residuals[level.number]
                self._clear(correction)
                self._interpolate(below, level, correction)
                self._apply(level, correction, NEGATIVE_LAPLACIAN, residual)
                self._apply(level, residual, smoother, correction)
        self._interpolate(levels[-2], levels[-1], self.solution)
        self.residual()
        self._apply(self.finest, residuals[-1], smoother, self.solution)

    def _clear(self, grid: Reals) -> None:
        if not self.job.is_skeleton:
            grid[:] = 0.0

    def _restrict(self, fine: Level, coarse: Level) -> None:
        from_, to = self.residuals[fine.number], self.residuals[coarse.number]
        z, y, x = (1 if points > 1 else 0 for points in fine.local)
        self.job.compute("restrict", coarse.inner, restrict, fine.shape, from_, coarse.shape, (z, y, x), to)
        coarse.fill_ghosts(self.job, to)

    def _interpolate(self, coarse: Level, fine: Level, out: Reals) -> None:
        """``out += interpolated``, whose ghosts follow from those of the coarse grid."""
        grid = self.corrections[coarse.number]
        if min(fine.local) > 1:
            self.job.compute("interpolate", fine.inner, interpolate, coarse.shape, grid, fine.shape, out)
            return
        # Fewer points than ranks: those that have coarse ones put them among zeros, and share them.
        wide = np.zeros(fine.shape)
        if coarse.takes_part:
            z, y, x = (slice(2, None, 2) if points > 1 else slice(1, 2) for points in fine.local)
            wide[z, y, x] = grid[1:-1, 1:-1, 1:-1]
        fine.fill_ghosts(self.job, wide)
        self.job.compute("interpolate", fine.inner, add_stencil, fine.shape, wide, TRILINEAR, out)
        fine.fill_ghosts(self.job, out)

    def norm(self) -> float:
        """The root of the mean square of the residual; the largest is found too, and not used."""
        inner = self.residuals[-1][1:-1, 1:-1, 1:-1]
        found = np.zeros(2)

        def work() -> None:
            for plane in inner:
                found[0] += np.square(plane).sum()
                found[1] = max(found[1], np.abs(plane).max())

        self.job.compute("norm", self.finest.inner, work)
        self.job.reduce_all(found[:1])
        self.job.reduce_all(found[1:], maximum=True)
        return math.sqrt(found[0] / 8.0**self.problem.levels)


def _charge(job: Job, level: Level, charges: Reals) -> None:
    """+1 where the ten largest of the random numbers are, -1 where the ten smallest are."""
    points = level.points
    first = [place * local for place, local in zip(level.place, level.local, strict=True)]
    planes, rows, columns = level.local
    table = powers(columns)
    values, places = [], []
    for plane in range(planes):
        number = [((first[0] + plane) * points + first[1] + row) * points + first[2] for row in range(rows)]
        states = np.array([jump(SEED, skip) for skip in number], np.uint64)
        drawn = uniforms(states[:, None] * table).reshape(-1)
        chosen = np.argsort(drawn)
        chosen = (
            np.concatenate((chosen[:CHARGES], chosen[-CHARGES:])) if len(chosen) > 2 * CHARGES else chosen
        )
        values.append(drawn[chosen])
        places.append(np.array(number)[chosen // columns] + chosen % columns)
    found = np.concatenate(values), np.concatenate(places)
    every = job.comm.allgather(found)
    value = np.concatenate([values for values, _ in every])
    place = np.concatenate([places for _, places in every])
    order = np.argsort(value)
    for charge, chosen in ((-1.0, place[order[:CHARGES]]), (1.0, place[order[-CHARGES:]])):
        for spot in chosen:
            z, rest = divmod(int(spot), points * points)
            here = [axis - begin for axis, begin in zip((z, *divmod(rest, points)), first, strict=True)]
            if all(0 <= axis < local for axis, local in zip(here, level.local, strict=True)):
                charges[here[0] + 1, here[1] + 1, here[2] + 1] = charge
    level.fill_ghosts(job, charges)
