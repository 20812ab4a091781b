"""What a live figure is an average over: the latest second of a run's clock."""

from collections import deque
from typing import Protocol, TypeVar

AVERAGED_NS = 10**9
"""Live figures are averages over the sampling intervals that come nearest to this."""


class Timed(Protocol):
    """What was counted up to an instant."""

    @property
    def t_ns(self) -> int:
        """The instant, on the run's clock."""


T = TypeVar("T", bound=Timed)


class Recent(deque[T]):
    """The latest counts of a run, as many as averages need; the newest is the last."""

    def add(self, counted: T) -> None:
        """Add the newest. One of the same instant, as at the end of a run, takes the place of the last."""
        if self and counted.t_ns <= self[-1].t_ns:
            self.pop()
        self.append(counted)
        while len(self) > 2 and self[1].t_ns < counted.t_ns - 2 * AVERAGED_NS:
            self.popleft()

    @property
    def latest(self) -> T | None:
        """The newest; ``None`` before the first."""
        return self[-1] if self else None

    @property
    def averaged_from(self) -> T | None:
        """Where the average up to the newest begins; ``None`` where there are not two."""
        if len(self) < 2:
            return None
        wanted_ns = self[-1].t_ns - AVERAGED_NS
        return min(list(self)[:-1], key=lambda each: abs(each.t_ns - wanted_ns))
