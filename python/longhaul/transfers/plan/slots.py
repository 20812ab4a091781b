"""Off-line heuristics with fixed rates, slot by slot.

Time is cut at all releases and deadlines. In each slot its requests are taken by their cost while there is
room; one that finds none is refused for good, also where an earlier slot had taken it. After RR-5523 (2005),
of which only the abstract was at hand: the costs are a reconstruction.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from longhaul.transfers.plan.greedy import cost
from longhaul.transfers.plan.instances import SLACK, Instance
from longhaul.transfers.plan.plans import Plan, at_rate, finished, infeasible, need_deadlines, refused
from longhaul.units.configured import rate

Cost = Callable[[Instance, int, float], float]
"""Of a request, by index, in the slot that ends at a time (s)."""


def slots_cumulated(instance: Instance) -> Plan:
    """Cost: the share of the narrowest link, divided by the part of the window that will be over."""
    return _slots(instance, "slots-cumulated", cumulated)


def slots_minbw(instance: Instance) -> Plan:
    """Cost: the rate."""
    return _slots(instance, "slots-minbw", lambda instance, index, _end: window_rate(instance, index))


def slots_minvol(instance: Instance) -> Plan:
    """Cost: the volume."""
    return _slots(
        instance, "slots-minvol", lambda instance, index, _end: instance.requests[index].volume_bits
    )


def cumulated(instance: Instance, index: int, slot_end_s: float) -> float:
    """What is nearly moved is dear to lose: its cost falls as its window passes."""
    request = instance.requests[index]
    over = (slot_end_s - request.release_s) / (request.deadline_s - request.release_s)
    return cost(instance, index, window_rate(instance, index)) / over


def window_rate(instance: Instance, index: int) -> float:
    """The rate (bit/s) that fills the window."""
    request = instance.requests[index]
    return min(request.least_bits_per_s(request.release_s), instance.tops_bits_per_s[index])


def _slots(instance: Instance, policy: str, cost_of: Cost) -> Plan:
    need_deadlines(instance, policy)
    outcomes = infeasible(instance)
    requests = instance.requests
    kept = [each for each in range(len(requests)) if each not in outcomes]
    starting = sorted(kept, key=lambda each: requests[each].release_s, reverse=True)
    times = sorted({requests[each].release_s for each in kept} | {requests[each].deadline_s for each in kept})
    ending = sorted(kept, key=lambda each: requests[each].deadline_s, reverse=True)
    active = Active(instance)
    for begin_s, end_s in pairwise(times):
        while ending and requests[ending[-1]].deadline_s <= begin_s:
            active.remove(ending.pop())
        started = []
        while starting and requests[starting[-1]].release_s <= begin_s:
            started.append(starting.pop())
            active.add(started[-1])
        for index, link in active.losers(started, partial(_in_slot, instance, cost_of, end_s)):
            active.remove(index)
            needs = rate(round(window_rate(instance, index)))
            reason = f"{needs} do not fit from {begin_s:.10g} s to {end_s:.10g} s on {link}"
            outcomes[index] = refused(requests[index], reason)
    for index in kept:
        if index not in outcomes:
            request = requests[index]
            outcomes[index] = at_rate(
                instance, index, start_s=request.release_s, bits_per_s=window_rate(instance, index)
            )
    return finished(policy, instance, outcomes.items())


def _in_slot(instance: Instance, cost_of: Cost, end_s: float, index: int) -> float:
    return cost_of(instance, index, end_s)


class Active:
    """The requests of a slot that are not refused yet, by link."""

    def __init__(self, instance: Instance) -> None:
        """None at first."""
        self._instance = instance
        self._limits = [link.bits_per_s * (1 + SLACK) for link in instance.links]
        self._on: list[dict[int, float]] = [{} for _ in instance.links]
        """Of each link its requests and their rates."""

    def add(self, index: int) -> None:
        """A request that begins."""
        for link in self._instance.paths[index]:
            self._on[link][index] = window_rate(self._instance, index)

    def remove(self, index: int) -> None:
        """A request that ends, or is refused; once more does nothing."""
        for link in self._instance.paths[index]:
            self._on[link].pop(index, None)

    def losers(self, started: Sequence[int], cost_of: Callable[[int], float]) -> list[tuple[int, str]]:
        """Those that find no room, each with its link. Only links matter that new requests overfill."""
        paths, links = self._instance.paths, self._instance.links
        touched = sorted({link for index in started for link in paths[index]})
        full = {link: 0.0 for link in touched if sum(self._on[link].values()) > self._limits[link]}
        rivals = {index for link in full for index in self._on[link]}
        lost = []
        for index in sorted(rivals, key=lambda each: (cost_of(each), each)):
            own = window_rate(self._instance, index)
            narrow = [link for link in paths[index] if link in full]
            without = [link for link in narrow if full[link] + own > self._limits[link]]
            if without:
                lost.append((index, links[without[0]].name))
                continue
            for link in narrow:
                full[link] += own
        return lost
