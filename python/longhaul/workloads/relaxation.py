"""Red-black successive over-relaxation: Laplace's equation on a grid that is cut into blocks of rows.

Red points, whose row and column add up to an even number, are updated from black ones, then black from red.
After each colour, the points of that colour in the border rows go to the neighbours; at the end of an
iteration the largest change is found over all ranks.
"""

import math
from dataclasses import dataclass

import numpy as np

from longhaul._longhaul import relax
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.workloads.job import Array, Job, Outcome
from longhaul.workloads.uniform import Reals

COLOURS = (0, 1)
"""Red and black: what row and column add up to, modulo 2."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A grid with its edges, which stay as they are, and when to stop."""

    rows: int
    columns: int
    iterations: int
    tolerance: float = 0.0
    """Stop when no point changes by more."""
    omega: float | None = None
    message_bytes: int | None = None
    """Skeleton: size of the messages between neighbours, instead of one colour of a row."""


def factor(task: Task) -> float:
    """Omega as given, or 2 / (1 + sin(pi / n)) of the longer side."""
    if task.omega is not None:
        return task.omega
    return 2.0 / (1.0 + math.sin(math.pi / max(task.rows, task.columns)))


def totals(task: Task) -> dict[str, float]:
    """Units of computing, of one rank alone."""
    return {"relax": float((task.rows - 2) * (task.columns - 2)) * task.iterations}


def run(job: Job, task: Task, *, verify: bool) -> Outcome:
    """Iterate; with ``verify``, hold the grid against one that rank 0 computes alone, bit for bit."""
    if task.rows - 2 < job.ranks:
        raise LonghaulError(
            Code.RANKS_UNSUITABLE,
            f"{task.rows} rows are too few for {job.ranks} ranks",
            remedy=f"take {job.ranks + 2} rows or more",
            exit_code=2,
        )
    block = _Block(job, task)
    done = 0
    with job.timed():
        for number in job.iterations(task.iterations):
            change = block.iterate()
            done = number + 1
            if change <= task.tolerance and not job.is_skeleton:
                break
    figures = {"iterations": done, "omega": factor(task)}
    if job.is_skeleton:
        return Outcome(verified=None, figures=figures)
    figures["largest_change"] = change
    return Outcome(verified=block.is_sequential(done) if verify else None, figures=figures)


def initial(task: Task, first: int, last: int) -> Reals:
    """Rows of the grid from ``first`` up to ``last``: 1 at the top, falling down the left, 0 elsewhere."""
    grid = np.zeros((last - first, task.columns))
    grid[:, 0] = 1.0 - np.arange(first, last) / (task.rows - 1)
    if first == 0:
        grid[0] = 1.0
    return grid


class _Block:
    """This rank's rows, and a border row above and below."""

    def __init__(self, job: Job, task: Task) -> None:
        self.job, self.task = job, task
        ends = [(task.rows - 2) * rank // job.ranks for rank in range(job.ranks + 1)]
        self.first, last = ends[job.rank], ends[job.rank + 1] + 2
        self.high = last - self.first
        self.inner = float((self.high - 2) * (task.columns - 2))
        self.omega = factor(task)
        self.change = np.zeros(1)
        self.grid: Reals = np.zeros((0, 0))
        if not job.is_skeleton:
            self.grid = initial(task, self.first, last)
        wide = task.columns - task.columns // 2
        count = -(-task.message_bytes // 8) if task.message_bytes and job.is_skeleton else wide
        self.incoming, self.outgoing = np.zeros(count), np.zeros(count)
        self.size = task.message_bytes if job.is_skeleton else None

    def iterate(self) -> float:
        """Both colours, and the largest change anywhere."""
        self.change[0] = 0.0
        for colour in COLOURS:
            self.job.compute("relax", self.inner / 2, self._relax, colour)
            self._swap(colour)
        self.job.reduce_all(self.change, maximum=True)
        return float(self.change[0])

    def _relax(self, colour: int) -> None:
        change = relax(self.grid, self.task.columns, (self.first + colour) % 2, self.omega)
        self.change[0] = max(self.change[0], change)

    def _swap(self, colour: int) -> None:
        """One colour of the border rows: down to the next rank, then up to the one before."""
        above = self.job.rank - 1 if self.job.rank > 0 else None
        below = self.job.rank + 1 if self.job.rank + 1 < self.job.ranks else None
        self._shift(colour, own=self.high - 2, to=below, other=0, source=above)
        self._shift(colour, own=1, to=above, other=self.high - 1, source=below)

    def _shift(self, colour: int, *, own: int, to: int | None, other: int, source: int | None) -> None:
        """Send one row's points of a colour, and receive another's."""
        outgoing, incoming = self._room(self.outgoing, own, colour), self._room(self.incoming, other, colour)
        if not self.job.is_skeleton and to is not None:
            outgoing[:] = self.grid[own, self._points(own, colour)]
        self.job.exchange(outgoing, to=to, incoming=incoming, source=source)
        if not self.job.is_skeleton and source is not None:
            self.grid[other, self._points(other, colour)] = incoming

    def _points(self, row: int, colour: int) -> slice:
        """The columns of this colour in a row of the block."""
        return slice((self.first + row + colour) % 2, None, 2)

    def _room(self, buffer: Reals, row: int, colour: int) -> Array:
        """As much of a buffer as the row's points take, or as was asked for."""
        if self.size is not None:
            return buffer.view(np.uint8)[: self.size]
        points = self._points(row, colour)
        return buffer[: len(range(*points.indices(self.task.columns)))]

    def is_sequential(self, iterations: int) -> bool:
        """Whether the ranks' rows are those of the same iterations on one rank, to the last bit."""
        rows = self.job.comm.gather(self.grid[1:-1])
        if self.job.rank > 0:
            return True
        alone = initial(self.task, 0, self.task.rows)
        for _ in range(iterations):
            for colour in COLOURS:
                relax(alone, self.task.columns, colour, self.omega)
        return np.concatenate(rows).tobytes() == alone[1:-1].tobytes()
