"""Transfer plans: start and rate of each request, or the reason of its refusal."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import SLACK, Instance, Request
from longhaul.units.configured import rate, size

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Piece:
    """A constant rate for a while."""

    start_s: float
    finish_s: float
    bits_per_s: float

    @property
    def bits(self) -> float:
        """What it moves."""
        return (self.finish_s - self.start_s) * self.bits_per_s


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a request."""

    request: Request
    satisfied: bool
    """It is moved in full, within its window."""
    pieces: tuple[Piece, ...] = ()
    """In the order of time; none if it is refused."""
    reason: str = ""
    """Why it is not satisfied."""

    @property
    def start_s(self) -> float:
        """When it begins to move; not a number if it is refused."""
        return self.pieces[0].start_s if self.pieces else math.nan

    @property
    def finish_s(self) -> float:
        """When all is moved; not a number if it is refused."""
        return self.pieces[-1].finish_s if self.pieces else math.nan

    @property
    def bits_per_s(self) -> float:
        """The mean rate from start to finish: eWAN's scheduled-rate."""
        return self.request.volume_bits / (self.finish_s - self.start_s)


@dataclass(frozen=True)
class Plan:
    """Outcomes in the order of the requests."""

    policy: str
    instance: Instance
    outcomes: tuple[Outcome, ...]
    congestion: float | None = None
    """Of the linear programme: the least share of every link's capacity that suffices for all."""

    @property
    def running(self) -> tuple[Outcome, ...]:
        """Those that move, also such as come too late."""
        return tuple(each for each in self.outcomes if each.pieces)


def at_rate(instance: Instance, index: int, *, start_s: float, bits_per_s: float) -> Outcome:
    """A request at a constant rate from ``start_s`` on, which must not be past its deadline by that."""
    request = instance.requests[index]
    finish_s = start_s + request.volume_bits / bits_per_s
    if abs(finish_s - request.deadline_s) <= SLACK * max(1.0, finish_s):
        finish_s = request.deadline_s
    return Outcome(request, True, (Piece(start_s, finish_s, bits_per_s),))


def refused(request: Request, reason: str) -> Outcome:
    """A request that does not move."""
    return Outcome(request, False, (), reason)


def impossible(instance: Instance, index: int, *, start_s: float | None = None) -> str | None:
    """Why a request alone on the network would miss its deadline, with figures; ``None`` if it would not."""
    request, top = instance.requests[index], instance.tops_bits_per_s[index]
    begin_s = request.release_s if start_s is None else start_s
    least = request.least_bits_per_s(begin_s)
    if least <= top * (1 + SLACK):
        return None
    if least == math.inf:
        return f"its deadline at {request.deadline_s:.10g} s has passed at {begin_s:.10g} s"
    link = instance.narrowest(index)
    limit = f"{link.name} carries" if link else "its ends support"
    return (
        f"{size(request.volume_bytes)} from {begin_s:.10g} s to {request.deadline_s:.10g} s need "
        f"{rate(round(least))}, but {limit} {rate(round(top))}, which takes "
        f"{request.volume_bits / top:.10g} s"
    )


def infeasible(instance: Instance) -> dict[int, Outcome]:
    """The requests whose deadlines no plan can meet, by index: every policy refuses them."""
    found = {}
    for index, request in enumerate(instance.requests):
        reason = impossible(instance, index)
        if reason:
            found[index] = refused(request, reason)
    return found


def need_deadlines(instance: Instance, policy: str) -> None:
    """Raise :class:`LonghaulError` if a request has none: ``policy`` takes its rates from them."""
    for request in instance.requests:
        if request.deadline_s == math.inf:
            message = f"{policy} needs deadlines, and request {request.name} has none"
            remedy = "give it one, or use fair, a serial policy or greedy-max"
            raise LonghaulError(Code.POLICY_UNSUITABLE, message, remedy=remedy, exit_code=2)


def finished(policy: str, instance: Instance, outcomes: Iterable[tuple[int, Outcome]]) -> Plan:
    """The plan whose outcomes are given by index, in any order."""
    known = dict(outcomes)
    return Plan(policy, instance, tuple(known[index] for index in range(len(instance.requests))))


def load(plan: Plan, link: int) -> tuple[Floats, Floats]:
    """The load of a link as steps: from each time (s) on the rate (bit/s), up to the next; last, zero."""
    using = (
        outcome.pieces
        for outcome, path in zip(plan.outcomes, plan.instance.paths, strict=True)
        if link in path
    )
    return steps([piece for pieces in using for piece in pieces])


def loads(plan: Plan) -> list[tuple[Floats, Floats]]:
    """The same of every link."""
    pieces: list[list[Piece]] = [[] for _ in plan.instance.links]
    for outcome, path in zip(plan.outcomes, plan.instance.paths, strict=True):
        for link in path:
            pieces[link].extend(outcome.pieces)
    return [steps(each) for each in pieces]


def steps(pieces: Sequence[Piece]) -> tuple[Floats, Floats]:
    """The sum of ``pieces`` as steps."""
    at = np.array([each.start_s for each in pieces] + [each.finish_s for each in pieces])
    change = np.array([each.bits_per_s for each in pieces] + [-each.bits_per_s for each in pieces])
    times, which = np.unique(at, return_inverse=True)
    return times, np.cumsum(np.bincount(which, change, len(times)))
