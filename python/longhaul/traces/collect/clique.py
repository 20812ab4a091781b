"""A clique: members whose probes never collide, because only the holder of a token measures.

After the Network Weather Service: the token goes round; a member that misses it for too long looks for a
leader, and the lowest member alive makes a new one. Here are the rules; sockets are elsewhere. All times are
instants in ns of one monotonic clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

_FIRST_PERIODS = 2.5
"""The time-out, in periods, before a cycle was seen; later in smoothed cycles."""
_GAIN = 0.15
_MOST_DEFERRALS = 2
"""A lower member that is alive but makes no token in so many time-outs is not waited for any longer."""


@dataclass(frozen=True, order=True)
class Token:
    """Of two tokens the smaller one is old. A generation begins with each new token."""

    generation: int
    rank: int
    """0 for the highest member, so that of two leaders of one generation the lower wins."""
    hops: int = 0


@dataclass
class Clique:
    """What one member knows. Members are in order; each is called by its place in it."""

    me: int
    members: int
    period_ns: int
    now_ns: int
    newest: Token = Token(0, 0)
    """Of all that were seen."""
    held: Token | None = None
    cycle_ns: float | None = None
    """Smoothed time from holding the token to holding it again."""
    deferrals: int = 0
    _heard_ns: int = field(init=False)
    _held_ns: int | None = None
    _measured_ns: int | None = None

    def __post_init__(self) -> None:
        """Nothing was heard before now."""
        self._heard_ns = self.now_ns

    @property
    def timeout_ns(self) -> int:
        """How long a member waits for the token."""
        cycle_ns = self.period_ns if self.cycle_ns is None else max(self.cycle_ns, self.period_ns)
        return round(_FIRST_PERIODS * cycle_ns)

    def offer(self, token: Token, now_ns: int) -> bool:
        """Whether a token that another member passes on is taken; an old one is not."""
        if token <= self.newest:
            return False
        self._hold(token, now_ns)
        return True

    def due_ns(self) -> int:
        """When the holder measures: a period after it began to do so last."""
        begun_ns = self._measured_ns
        return self._heard_ns if begun_ns is None else max(self._heard_ns, begun_ns + self.period_ns)

    def may_begin(self, now_ns: int) -> bool:
        """Whether the holder may begin to measure now."""
        if not self.may_go_on(now_ns):
            return False
        self._measured_ns = now_ns
        return True

    def may_go_on(self, now_ns: int) -> bool:
        """Whether the token is still good; a holder that slept or measured too long has lost it."""
        if self.held is not None and now_ns - self._heard_ns > self.timeout_ns:
            self.held = None
        return self.held is not None

    def next_token(self) -> Token | None:
        """What the holder passes on; ``None`` if it holds nothing, or has heard of a newer one."""
        if self.held is None or self.held < self.newest:
            self.held = None
            return None
        return Token(self.held.generation, self.held.rank, self.held.hops + 1)

    def successors(self) -> Sequence[int]:
        """To whom, in this order until one takes it."""
        return [(self.me + step) % self.members for step in range(1, self.members)]

    def passed(self, token: Token, now_ns: int) -> None:
        """Another member has taken it."""
        self.newest = max(self.newest, token)
        self.held = None
        self._heard_ns = now_ns

    def kept(self, now_ns: int) -> None:
        """Nobody is there to take it: this member goes on alone."""
        self._heard_ns = now_ns

    def heard_of(self, generation: int) -> None:
        """Another member knows of this generation: what is older is no longer good."""
        if generation > self.newest.generation:
            self.newest = Token(generation, 0)
            self.held = None

    def expired(self, now_ns: int) -> bool:
        """Whether the token is missed."""
        return self.held is None and now_ns - self._heard_ns > self.timeout_ns

    def expires_ns(self) -> int:
        """When it will be."""
        return self._heard_ns + self.timeout_ns

    def lower(self) -> Sequence[int]:
        """Who would lead rather than this member, if alive."""
        return () if self.deferrals >= _MOST_DEFERRALS else range(self.me)

    def defer(self, now_ns: int) -> None:
        """One of them is alive: wait for its token."""
        self.deferrals += 1
        self._heard_ns = now_ns

    def lead(self, now_ns: int) -> None:
        """Make a new token."""
        self._hold(Token(self.newest.generation + 1, self.members - 1 - self.me), now_ns)

    def _hold(self, token: Token, now_ns: int) -> None:
        if self._held_ns is not None and token.generation == self.newest.generation:
            cycle_ns = now_ns - self._held_ns
            before = self.cycle_ns
            self.cycle_ns = cycle_ns if before is None else before + _GAIN * (cycle_ns - before)
        self.newest = self.held = token
        self._held_ns = self._heard_ns = now_ns
        self.deferrals = 0
