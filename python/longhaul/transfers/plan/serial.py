"""Serialisation (TS_2 of eWAN): one transfer at a time on each bottleneck, at full rate.

A transfer's bottleneck are its narrowest links. There it is alone among those that have theirs there; on its
other links it takes part of the capacity. Whatever can start does: none waits for one that cannot.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from longhaul.transfers.plan.greedy import Admission, moving
from longhaul.transfers.plan.instances import SLACK, Instance, Request
from longhaul.transfers.plan.plans import Outcome, Plan, at_rate, finished, impossible, infeasible, refused

Key = Callable[[Request], float]


def serial_fcfs(instance: Instance) -> Plan:
    """First come, first served."""
    return _serial(instance, "serial-fcfs", lambda request: request.release_s)


def serial_sjf(instance: Instance) -> Plan:
    """Shortest job first: of those released, the smallest volume."""
    return _serial(instance, "serial-sjf", lambda request: request.volume_bits)


def serial_edf(instance: Instance) -> Plan:
    """Earliest deadline first, of those released."""
    return _serial(instance, "serial-edf", lambda request: request.deadline_s)


def _serial(instance: Instance, policy: str, key: Key) -> Plan:
    outcomes: dict[int, Outcome] = infeasible(instance)
    requests, held = instance.requests, instance.held_bits_per_s
    ranks = [(key(request), request.release_s, index) for index, request in enumerate(requests)]
    events = [(request.release_s, index) for index, request in enumerate(requests) if index not in outcomes]
    events.sort(reverse=True)
    state = Admission(instance)
    taken: set[int] = set()
    """Bottlenecks on which a transfer is alone."""
    ends: list[tuple[float, int]] = []
    waiting: list[set[int]] = [set() for _ in instance.links]
    while events or ends:
        now = min(([events[-1][0]] if events else []) + ([ends[0][0]] if ends else []))
        candidates: set[int] = set()
        while ends and ends[0][0] <= now:
            index = heappop(ends)[1]
            taken.difference_update(bottleneck(instance, index))
            for link in instance.paths[index]:
                candidates |= waiting[link]
        while events and events[-1][0] <= now:
            candidates.add(events.pop()[1])
        state.advance(now)
        for index in sorted(candidates, key=lambda each: (each not in held, ranks[each])):
            alone = bottleneck(instance, index)
            if index in held:
                outcomes[index] = moving(instance, state, index)
                taken.update(alone)
                heappush(ends, (outcomes[index].finish_s, index))
                continue
            late = impossible(instance, index, start_s=now)
            if late:
                outcomes[index] = refused(requests[index], f"its turn comes too late: {late}")
            elif taken.isdisjoint(alone) and state.fits(index, instance.tops_bits_per_s[index]):
                made = at_rate(instance, index, start_s=now, bits_per_s=instance.tops_bits_per_s[index])
                outcomes[index] = made
                state.admit(index, made)
                taken.update(alone)
                heappush(ends, (made.finish_s, index))
            for link in instance.paths[index]:
                waiting[link].discard(index) if index in outcomes else waiting[link].add(index)
    return finished(policy, instance, outcomes.items())


def bottleneck(instance: Instance, index: int) -> frozenset[int]:
    """The narrowest links of a request."""
    path = instance.paths[index]
    least = min((instance.links[each].bits_per_s for each in path), default=0.0)
    return frozenset(each for each in path if instance.links[each].bits_per_s <= least * (1 + SLACK))
