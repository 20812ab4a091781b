"""What a workload's ranks do, noted instead of done: a program of the same messages, for simulations."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longhaul import storage
from longhaul.workloads.job import Array, Job

LEAST_NS = 1_000
"""Shorter computing is put together until it is as long."""

HEADER = "rank,do,with,amount"


class Step(NamedTuple):
    """``compute`` for so many ns, or ``send`` to or ``receive`` from another rank so many bytes."""

    do: str
    partner: int | None
    amount: int


class Recorder(Job):
    """One rank of a skeleton that nobody answers.

    Sums over all ranks go by recursive doubling, parts of an alltoall by sends to all and then receives.
    """

    def __init__(self, rank: int, ranks: int, *, costs_ns: Mapping[str, float]) -> None:
        """``costs_ns`` are those of a skeleton."""
        super().__init__(_Alone(rank, ranks), costs_ns=costs_ns)
        self.steps: list[Step] = []
        self._owed_ns = 0.0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What comes outside of this is not noted."""
        self._counts = True
        yield
        self._compute(least_ns=1)
        self._counts = False
        self.wall_s = float("nan")

    def compute(self, phase: str, units: float, function: Callable[..., object], *arguments: object) -> None:
        """So many units of work take so long."""
        if self._counts and self._costs_ns is not None:
            self._owed_ns += units * self._costs_ns[phase]
            self._compute(least_ns=LEAST_NS)

    def _compute(self, *, least_ns: int) -> None:
        whole_ns = round(self._owed_ns)
        if whole_ns < least_ns:
            return
        self._owed_ns -= whole_ns
        if self.steps and self.steps[-1].do == "compute":
            whole_ns += self.steps.pop().amount
        self.steps.append(Step("compute", None, whole_ns))

    def _note(self, *steps: Step) -> None:
        if self._counts:
            self.steps += steps

    def exchange(
        self, outgoing: Array, *, to: int | None, incoming: Array, source: int | None, tag: int = 0
    ) -> None:
        """Send to one rank and receive from another; ``None``: to, or from, nobody."""
        if to is not None:
            self._count("exchange", to, outgoing.nbytes)
            self._note(Step("send", to, outgoing.nbytes))
        if source is not None:
            self._note(Step("receive", source, incoming.nbytes))

    def exchange_all(self, outgoing: Array, incoming: Mapping[int, Array]) -> None:
        """Sends to all, then waits for all."""
        for rank in incoming:
            self._count("exchange", rank, outgoing.nbytes)
        self._note(
            *(Step("send", rank, outgoing.nbytes) for rank in incoming),
            *(Step("receive", rank, array.nbytes) for rank, array in incoming.items()),
        )

    def send(self, outgoing: Array, to: int) -> None:
        """Send."""
        self._count("send", to, outgoing.nbytes)
        self._note(Step("send", to, outgoing.nbytes))

    def receive(self, incoming: Array, source: int) -> None:
        """Receive."""
        self._note(Step("receive", source, incoming.nbytes))

    def reduce_all(self, values: Array, *, maximum: bool = False) -> None:
        """A power of two of ranks, each with those that differ in one bit."""
        self._count("reduce", -1, values.nbytes if self.ranks > 1 else 0)
        distance = 1
        while distance < self.ranks:
            other = self.rank ^ distance
            self._note(Step("send", other, values.nbytes), Step("receive", other, values.nbytes))
            distance *= 2

    def all_to_all(self, outgoing: Array, incoming: Array) -> None:
        """Equal parts. Counts that come are those that this rank would send itself: all ranks are alike."""
        if outgoing.dtype.kind == "i":
            incoming.reshape(self.ranks, -1)[:] = outgoing.reshape(self.ranks, -1)[self.rank]
        part = outgoing.nbytes // self.ranks
        self._count("alltoall", -1, part * (self.ranks - 1))
        self._to_all([part] * self.ranks, [part] * self.ranks)

    def all_to_all_uneven(
        self, outgoing: Array, counts: Sequence[int], incoming: Array, incoming_counts: Sequence[int]
    ) -> None:
        """Parts of different lengths."""
        size = outgoing.itemsize
        self._count("alltoallv", -1, (sum(counts) - counts[self.rank]) * size)
        self._to_all([size * count for count in counts], [size * count for count in incoming_counts])

    def _to_all(self, sent: Sequence[int], received: Sequence[int]) -> None:
        others = [(self.rank + shift) % self.ranks for shift in range(1, self.ranks)]
        self._note(*(Step("send", other, sent[other]) for other in others))
        self._note(*(Step("receive", other, received[other]) for other in reversed(others)))

    def barrier(self) -> None:
        """Nothing: outside of the timed part."""

    def spread(self, value: float) -> tuple[float, float, float]:
        """Its own value: there is nobody else."""
        return value, value, value


class _Alone:
    """What is asked of a communicator before any message."""

    def __init__(self, rank: int, ranks: int) -> None:
        self._rank, self._ranks = rank, ranks

    def Get_rank(self) -> int:  # noqa: N802 (MPI's name)
        return self._rank

    def Get_size(self) -> int:  # noqa: N802 (MPI's name)
        return self._ranks


def record(run: Callable[[Job], Any], *, ranks: int, costs_ns: Mapping[str, float]) -> list[list[Step]]:
    """The steps of every rank in the timed part of ``run``; ``costs_ns`` are those of a skeleton."""
    steps = []
    with np.errstate(all="ignore"):  # arrays of a skeleton hold anything
        for rank in range(ranks):
            recorder = Recorder(rank, ranks, costs_ns=costs_ns)
            run(recorder)
            steps.append(recorder.steps)
    return steps


def write(steps: Iterable[Sequence[Step]], path: Path, *, title: str) -> None:
    """As ``simulate: {kind: recorded}`` reads it, amounts in ns and bytes; the file is whole or not there."""
    with storage.replacing(path) as file:
        out = io.TextIOWrapper(file, encoding="ascii", write_through=True)
        out.write(f"# {title}\n{HEADER}\n")
        for rank, each in enumerate(steps):
            for do, partner, amount in each:
                out.write(f"{rank},{do},{'' if partner is None else partner},{amount}\n")
        out.detach()
