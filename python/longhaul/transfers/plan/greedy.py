"""Greedy admission: each request starts at its release, or is refused.

After L. Marchal, P. Vicat-Blanc Primet, Y. Robert, J. Zeng, "Optimal bandwidth sharing in grid environments"
and RR-5523 (2005); only their abstracts were at hand, so the rules here are ours and bear our names.
"""

import math
from collections.abc import Callable
from heapq import heappop, heappush

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import SLACK, Instance
from longhaul.transfers.plan.plans import (
    Outcome,
    Plan,
    at_rate,
    finished,
    impossible,
    infeasible,
    need_deadlines,
    refused,
)
from longhaul.units.configured import rate


class Admission:
    """Loads (bit/s) at an instant."""

    def __init__(self, instance: Instance) -> None:
        """At first nothing runs."""
        self.instance = instance
        self._capacities = [link.bits_per_s for link in instance.links]
        self._loads = [0.0] * len(self._capacities)
        self._running = [0] * len(self._capacities)
        self._ends: list[tuple[float, int, float]] = []

    def advance(self, now_s: float) -> None:
        """Move on to ``now_s``, which is not before the last instant."""
        while self._ends and self._ends[0][0] <= now_s:
            _end, index, rate = heappop(self._ends)
            for link in self.instance.paths[index]:
                self._running[link] -= 1
                # An idle link has no load at all: sums of differences would leave a trace.
                self._loads[link] = self._loads[link] - rate if self._running[link] else 0.0

    def room(self, index: int) -> float:
        """The most (bit/s) that a request could have now on its links."""
        path = self.instance.paths[index]
        return min((self._capacities[link] - self._loads[link] for link in path), default=math.inf)

    def fits(self, index: int, bits_per_s: float) -> bool:
        """Whether a request could start now at this rate."""
        for link in self.instance.paths[index]:
            if self._loads[link] + bits_per_s > self._capacities[link] * (1 + SLACK):
                return False
        return True

    def narrow(self, index: int) -> str:
        """The name of the link with the least room on a request's way."""
        path = self.instance.paths[index]
        link = min(path, key=lambda each: self._capacities[each] - self._loads[each])
        return self.instance.links[link].name

    def admit(self, index: int, outcome: Outcome) -> None:
        """Count a request that starts now, in one piece."""
        rate = outcome.pieces[0].bits_per_s
        for link in self.instance.paths[index]:
            self._loads[link] += rate
            self._running[link] += 1
        heappush(self._ends, (outcome.finish_s, index, rate))


Wanted = Callable[[int, float], float]
"""The rate (bit/s) for a request, by index, that starts at a time (s)."""


def fcfs_rigid(instance: Instance) -> Plan:
    """Each at its greatest rate from its release on, if that fits."""
    return _on_arrival(instance, "fcfs-rigid", lambda index, _now: instance.tops_bits_per_s[index])


def greedy_min(instance: Instance) -> Plan:
    """Each at the rate that just meets its deadline, if that fits."""
    need_deadlines(instance, "greedy-min")
    return _on_arrival(instance, "greedy-min", least(instance))


def greedy_max(instance: Instance) -> Plan:
    """Each as fast as there is room for, if that meets its deadline."""
    return _on_arrival(
        instance, "greedy-max", lambda index, _now: instance.tops_bits_per_s[index], lower=True
    )


def greedy_f(instance: Instance, *, f: float) -> Plan:
    """Each at the share ``f`` of its greatest rate, or at what its deadline needs if that is more."""
    return _on_arrival(instance, "greedy-f", at_share(instance, f=f))


def window(instance: Instance, *, window_s: float, f: float | None = None) -> Plan:
    """Requests of each ``window_s`` are judged together at its end, those that take least of a link first.

    At what their deadlines need from then on; with ``f`` at that share of their greatest rate, or more.
    """
    if not window_s > 0:
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            "a window has to last",
            remedy="give it more than zero seconds",
            exit_code=2,
        )
    need_deadlines(instance, "window")
    wanted = least(instance) if f is None else at_share(instance, f=f)
    outcomes = infeasible(instance)
    groups: dict[int, list[int]] = {}
    state = Admission(instance)
    for index, request in enumerate(instance.requests):
        if index in instance.held_bits_per_s and index not in outcomes:
            outcomes[index] = moving(instance, state, index)
        elif index not in outcomes:
            groups.setdefault(int(request.release_s // window_s), []).append(index)
    for number, group in sorted(groups.items()):
        now = (number + 1) * window_s
        state.advance(now)
        for index in sorted(group, key=lambda each: (cost(instance, each, wanted(each, now)), each)):
            outcomes[index] = _judged(instance, state, index, now, wanted(index, now))
    return finished("window-min" if f is None else "window-f", instance, outcomes.items())


def least(instance: Instance) -> Wanted:
    """What the deadline needs."""
    return lambda index, now: instance.requests[index].least_bits_per_s(now)


def at_share(instance: Instance, *, f: float) -> Wanted:
    """The share ``f`` of the greatest rate, or what the deadline needs if that is more."""
    if not 0 < f <= 1:
        raise LonghaulError(
            Code.ARGUMENT_INVALID, f"f is {f:g}", remedy="write a number above 0 and up to 1", exit_code=2
        )
    tops, requests = instance.tops_bits_per_s, instance.requests
    return lambda index, now: max(f * tops[index], requests[index].least_bits_per_s(now))


def cost(instance: Instance, index: int, bits_per_s: float) -> float:
    """The share of its narrowest link that a request takes."""
    return bits_per_s / min((instance.links[each].bits_per_s for each in instance.paths[index]), default=1.0)


def _on_arrival(instance: Instance, policy: str, wanted: Wanted, *, lower: bool = False) -> Plan:
    outcomes = infeasible(instance)
    state = Admission(instance)
    requests = instance.requests
    held = instance.held_bits_per_s
    for index in sorted(range(len(requests)), key=lambda each: (requests[each].release_s, each not in held)):
        if index in outcomes:
            continue
        now = requests[index].release_s
        state.advance(now)
        if index in held:
            outcomes[index] = moving(instance, state, index)
            continue
        rate_now = wanted(index, now)
        if lower:
            # Rates just above zero would hold links for ages.
            needed = max(requests[index].least_bits_per_s(now), 1.0)
            rate_now = max(min(rate_now, state.room(index)), min(needed, rate_now))
        outcomes[index] = _judged(instance, state, index, now, rate_now)
    return finished(policy, instance, outcomes.items())


def moving(instance: Instance, state: Admission, index: int) -> Outcome:
    """A request that moves already keeps its rate."""
    release_s, rate_now = instance.requests[index].release_s, instance.held_bits_per_s[index]
    made = at_rate(instance, index, start_s=release_s, bits_per_s=rate_now)
    state.admit(index, made)
    return made


def _judged(instance: Instance, state: Admission, index: int, now: float, bits_per_s: float) -> Outcome:
    request = instance.requests[index]
    late = impossible(instance, index, start_s=now)
    if late:
        return refused(request, f"was evaluated too late: {late}")
    bits_per_s = min(bits_per_s, instance.tops_bits_per_s[index])
    if not state.fits(index, bits_per_s):
        room = rate(max(0, round(state.room(index))))
        reason = (
            f"{rate(round(bits_per_s))} do not fit at {now:.10g} s: {state.narrow(index)} has {room} left"
        )
        return refused(request, reason)
    made = at_rate(instance, index, start_s=now, bits_per_s=bits_per_s)
    state.admit(index, made)
    return made
