"""CG: the smallest eigenvalue of a sparse random matrix (NAS-91-002, 3.3; NAS-95-020 for the messages).

Ranks form a grid of R rows and C columns, C = R or 2 R; rank = row C + column. Each has a block of the matrix
and the block of the vectors that belongs to its column. A product sums over the row of the grid, by exchanges
with log2 C partners, and one exchange across brings each rank the part for its column.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longhaul._longhaul import multiply_sparse
from longhaul.workloads.job import Job, Outcome, power_of_two
from longhaul.workloads.problems import CG, SEED, Matrix
from longhaul.workloads.uniform import Reals, fill

STEPS = 25
CONDITION = 0.1
TOLERANCE = 1e-10
MOST_RANKS = 64

Integers = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Sparse:
    """Entries of a block by rows."""

    starts: Integers
    columns: Integers
    values: Reals


def totals(name: str) -> dict[str, float]:
    """Units of computing in the timed part, of one rank alone."""
    problem = CG[name]
    products = problem.iterations * (STEPS + 1)
    vectors = float(problem.iterations * (5 * STEPS + 4) * problem.order)
    return {"multiply": products * _entries(problem), "vectors": vectors}


def _entries(problem: Matrix) -> float:
    """Entries before equal places are added up, which takes some seven in a hundred of them."""
    return float(problem.order * (problem.entries + 1) ** 2)


def run(job: Job, name: str) -> Outcome:
    """One untimed iteration of the inverse power method, and those of the class."""
    power_of_two(job, "CG", most=MOST_RANKS)
    problem = CG[name]
    solver = _Solver(job, problem)
    solver.iterate()
    solver.x[:] = 1.0
    zeta = 0.0
    with job.timed():
        for _ in job.iterations(problem.iterations):
            zeta = solver.iterate()
    if job.is_skeleton:
        return Outcome(verified=None, figures={})
    right = math.isclose(zeta, problem.zeta, rel_tol=TOLERANCE)
    return Outcome(verified=right, figures={"zeta": zeta})


class _Solver:
    """A rank's place in the grid, its block, and the vectors of its column."""

    def __init__(self, job: Job, problem: Matrix) -> None:
        exponent = job.ranks.bit_length() - 1
        columns, rows = 1 << (exponent + 1) // 2, 1 << exponent // 2
        row, column = divmod(job.rank, columns)
        self.job, self.problem = job, problem
        self.wide = problem.order // columns
        self.high = problem.order // rows
        self.square = rows == columns
        self.across = (
            column * columns + row if self.square else (column // 2) * columns + 2 * row + column % 2
        )
        self.partners = [
            row * columns + (column ^ 1 << bit) for bit in reversed(range(exponent - exponent // 2))
        ]
        # In an oblong grid, a rank has in the end only this half of its row's sums.
        self.half = 0 if self.square or column % 2 == 0 else self.wide
        self.x, self.z, self.r, self.p, self.q = (np.ones(self.wide) for _ in range(5))
        self.scalars = np.ones(2)
        self.sums = np.zeros(self.high)
        self.incoming = np.zeros(self.high)
        self.part = _entries(problem) / job.ranks
        if not job.is_skeleton:
            self.block = block_of(
                problem,
                rows=(row * self.high, (row + 1) * self.high),
                columns=(column * self.wide, (column + 1) * self.wide),
            )

    def product(self, vector: Reals, out: Reals) -> None:
        """``out = A vector``, both of this rank's column."""
        job = self.job
        job.compute("multiply", self.part, self._multiply, vector)
        if job.ranks == 1:
            out[:] = self.sums
            return
        own = self.sums[self.half : self.half + self.wide] if not self.square else self.sums
        incoming = self.incoming[: len(own)]
        if self.square:
            for partner in self.partners:
                job.exchange(own, to=partner, incoming=incoming, source=partner)
                own += incoming
        else:
            # The neighbour takes the other half; those of equal parity keep theirs among themselves.
            other = self.wide - self.half
            job.exchange(
                self.sums[other : other + self.wide],
                to=self.partners[-1],
                incoming=incoming,
                source=self.partners[-1],
            )
            own += incoming
            for partner in self.partners[:-1]:
                job.exchange(own, to=partner, incoming=incoming, source=partner)
                own += incoming
        if self.across == job.rank:
            out[:] = own
        else:
            job.exchange(own, to=self.across, incoming=out, source=self.across)

    def _multiply(self, vector: Reals) -> None:
        block = self.block
        multiply_sparse(block.starts, block.columns, block.values, vector, self.sums)

    def total(self, count: int = 1) -> list[float]:
        """Sums of scalars over the row of the grid, which has each part of the vectors once."""
        values = self.scalars[:count].copy()
        incoming = np.empty_like(values)
        for partner in self.partners:
            self.job.exchange(values, to=partner, incoming=incoming, source=partner)
            values += incoming
        total: list[float] = values.tolist()
        return total

    def iterate(self) -> float:
        """Take 25 steps towards A z = x; then zeta, and x = z, normalised."""
        job, wide = self.job, self.wide
        job.compute("vectors", wide, self._begin)
        (rho,) = self.total()
        for _ in range(STEPS):
            self.product(self.p, self.q)
            job.compute("vectors", wide, self._curvature)
            (curvature,) = self.total()
            job.compute("vectors", 3 * wide, self._advance, rho / curvature)
            before, (rho,) = rho, self.total()
            job.compute("vectors", wide, self._turn, rho / before)
        self.product(self.z, self.r)
        job.compute("vectors", wide, self._residual)
        self.total()
        job.compute("vectors", wide, self._products)
        products, squares = self.total(2)
        job.compute("vectors", wide, self._normalise, squares)
        return self.problem.shift + 1.0 / products

    def _begin(self) -> None:
        self.z[:] = 0.0
        self.r[:] = self.x
        self.p[:] = self.x
        self.scalars[0] = self.r @ self.r

    def _curvature(self) -> None:
        self.scalars[0] = self.p @ self.q

    def _advance(self, alpha: float) -> None:
        self.z += alpha * self.p
        self.r -= alpha * self.q
        self.scalars[0] = self.r @ self.r

    def _turn(self, beta: float) -> None:
        self.p *= beta
        self.p += self.r

    def _residual(self) -> None:
        """Its norm is part of the benchmark, and of no use here."""
        self.r -= self.x
        self.scalars[0] = self.r @ self.r

    def _products(self) -> None:
        self.scalars[:] = self.x @ self.z, self.z @ self.z

    def _normalise(self, squares: float) -> None:
        np.multiply(self.z, 1.0 / math.sqrt(squares), out=self.x)


def block_of(problem: Matrix, *, rows: tuple[int, int], columns: tuple[int, int]) -> Sparse:
    """The block of the matrix between these rows and columns.

    The matrix is the sum of outer products of random vectors with themselves, the i-th times
    CONDITION^(i / order), and CONDITION - shift on the diagonal.
    """
    places, values = _vectors(problem)
    order, count = places.shape
    sizes = CONDITION ** (np.arange(order) / order)
    scaled = values * sizes[:, None]
    wide = columns[1] - columns[0]
    down = _inside(places, rows)
    over = _inside(places, columns)
    keys, entries = [], []
    for one in range(count):
        for other in range(count):
            used = np.flatnonzero(down[:, one] & over[:, other])
            row, column = places[used, one] - rows[0], places[used, other] - columns[0]
            keys.append(row * wide + column)
            entries.append(scaled[used, one] * values[used, other])
    diagonal = np.arange(max(rows[0], columns[0]), min(rows[1], columns[1]))
    keys.append((diagonal - rows[0]) * wide + diagonal - columns[0])
    entries.append(np.full(len(diagonal), CONDITION - problem.shift))
    return _gathered(np.concatenate(keys), np.concatenate(entries), rows=rows[1] - rows[0], columns=wide)


def _gathered(keys: NDArray[np.int64], entries: Reals, *, rows: int, columns: int) -> Sparse:
    """Entries at equal places added up, by rows."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate((np.ones(min(len(keys), 1), bool), keys[1:] != keys[:-1])))
    values = np.add.reduceat(entries[order], first) if len(first) else np.zeros(0)
    row, column = np.divmod(keys[first], columns)
    starts = np.searchsorted(row, np.arange(rows + 1))
    return Sparse(starts=starts.astype(np.int32), columns=column.astype(np.int32), values=values)


def _inside(places: NDArray[np.int64], ends: tuple[int, int]) -> NDArray[np.bool_]:
    return (places >= ends[0]) & (places < ends[1])


def _vectors(problem: Matrix) -> tuple[NDArray[np.int64], Reals]:
    """Places, from 0, and values of each random vector, a row each.

    A vector's places are drawn until they are different and within the order. Then entry i of vector i
    becomes 0.5: as its last entry, which is a zero where i is among the places already.
    """
    order, count = problem.order, problem.entries
    range_ = 1 << (order - 1).bit_length()
    drawn = np.empty(2 * (2 * count * order + 1_000))
    # The generator's first number is used up by the program's own test of it.
    fill(drawn, seed=SEED, skip=1)
    places = (range_ * drawn[1::2]).astype(np.int64)
    inside = places < order
    values, places = drawn[0::2][inside], places[inside]
    chosen = np.empty((order, count), np.int64)
    known = places.tolist()
    at = 0
    for i in range(order):
        picks = list(range(at, at + count))
        at += count
        if len(set(known[picks[0] : at])) < count:
            picks, at = _different(known, picks[0], count)
        chosen[i] = picks
    all_places = np.concatenate((places[chosen], np.arange(order)[:, None]), axis=1)
    all_values = np.concatenate((values[chosen], np.full((order, 1), 0.5)), axis=1)
    own = all_places[:, :-1] == np.arange(order)[:, None]
    all_values[:, :-1][own] = 0.5
    all_values[own.any(axis=1), -1] = 0.0
    return all_places, all_values


def _different(known: list[int], begin: int, count: int) -> tuple[list[int], int]:
    """The next picks with different places, and where they end."""
    picks: dict[int, int] = {}
    at = begin
    while len(picks) < count:
        picks.setdefault(known[at], at)
        at += 1
    return list(picks.values()), at
