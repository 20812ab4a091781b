"""Least used first: of all known requests, the one that leaves its links emptiest is next."""

from bisect import bisect_left, bisect_right
from heapq import heapify, heappop, heappushpop

from longhaul.transfers.plan.instances import SLACK, Instance
from longhaul.transfers.plan.plans import Plan, at_rate, finished, infeasible, need_deadlines, refused
from longhaul.transfers.plan.slots import window_rate
from longhaul.units.configured import share


def minused(instance: Instance) -> Plan:
    """Admit next the request whose busiest link is least used after it; each has the rate of its window.

    Use only grows, so a request judged earlier can only have become dearer: the heap is lazy.
    """
    need_deadlines(instance, "minused")
    outcomes = infeasible(instance)
    used = [Steps() for _ in instance.links]
    heap = [
        (_after(instance, used, index)[0], index)
        for index in range(len(instance.requests))
        if index not in outcomes
    ]
    heapify(heap)
    while heap:
        known, index = heappop(heap)
        after, link = _after(instance, used, index)
        while heap and after > known and (after, index) > heap[0]:
            known, index = heappushpop(heap, (after, index))
            after, link = _after(instance, used, index)
        request, rate = instance.requests[index], window_rate(instance, index)
        if after > 1 + SLACK:
            reason = f"{instance.links[link].name} would be used to {share(after)}"
            outcomes[index] = refused(request, reason)
            continue
        outcomes[index] = at_rate(instance, index, start_s=request.release_s, bits_per_s=rate)
        for each in instance.paths[index]:
            used[each].add(request.release_s, request.deadline_s, rate)
    return finished("minused", instance, outcomes.items())


class Steps:
    """A load that changes in steps."""

    def __init__(self) -> None:
        """Zero at all times."""
        self._times = [0.0]
        self._loads = [0.0]

    def peak(self, start_s: float, finish_s: float) -> float:
        """The greatest load from ``start_s`` until just before ``finish_s``."""
        begin = bisect_right(self._times, start_s) - 1
        return max(self._loads[begin : bisect_left(self._times, finish_s)])

    def add(self, start_s: float, finish_s: float, more: float) -> None:
        """Add ``more`` from ``start_s`` to ``finish_s``."""
        begin, end = self._cut(start_s), self._cut(finish_s)
        self._loads[begin:end] = [each + more for each in self._loads[begin:end]]

    def _cut(self, at_s: float) -> int:
        """The step that begins at ``at_s``."""
        index = bisect_left(self._times, at_s)
        if index == len(self._times) or self._times[index] != at_s:
            self._times.insert(index, at_s)
            self._loads.insert(index, self._loads[index - 1])
        return index


def _after(instance: Instance, used: list[Steps], index: int) -> tuple[float, int]:
    """The greatest use (share) of a request's links if it is admitted, and that link."""
    request, rate = instance.requests[index], window_rate(instance, index)
    found = (0.0, -1)
    for link in instance.paths[index]:
        peak = used[link].peak(request.release_s, request.deadline_s) + rate
        found = max(found, (peak / instance.links[link].bits_per_s, link))
    return found
