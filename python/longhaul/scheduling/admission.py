"""The load of every link at one instant that only moves on, for policies that start requests at once.

As whatever runs has started, load only falls until the next start: what fits now fits on.
"""

import math
from heapq import heappop, heappush

from longhaul.scheduling.instances import SLACK, Instance
from longhaul.scheduling.plans import Outcome


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
