"""The state of transfers while a plan is executed: decisions, orders and progress."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from longhaul.transfers.plan.instances import Instance, Request
from longhaul.transfers.plan.plans import Outcome, Piece, refused
from longhaul.transfers.plan.policies import Settings
from longhaul.units.configured import rate as rate_words
from longhaul.units.configured import size


@dataclass(frozen=True, kw_only=True)
class Care:
    """How a plan is carried out."""

    policy: str
    settings: Settings = field(default_factory=Settings)
    margin: float = 0.02
    """Plans end by so much of the window before the deadline, and a round trip earlier."""
    tolerance: float = 0.01
    """A transfer is late when it is behind its plan by more than this share of its duration, ..."""
    least_lag_s: float = 0.3
    """... this, and a round trip."""
    attempts: int = 3
    """How often a transfer is begun, at most."""


@dataclass(frozen=True)
class Decision:
    """What was decided, and why."""

    at_s: float
    why: str
    """``arrival``, ``lateness``, ``failure``, ``link`` or ``end``."""
    request: str
    what: str


@dataclass(frozen=True)
class Order:
    """What a transfer is to do from now on."""

    index: int
    bits_per_s: float
    """Of payload; 0: wait. The first order of a transfer that has not begun, or has failed, begins it."""


@dataclass
class Transfer:
    """What is known of a request."""

    request: Request
    state: str = "unknown"
    """``unknown`` before its release, ``waiting``, ``moving``, ``done``, ``refused``, ``failed``."""
    reason: str = ""
    accepted: bool = False
    """The plan that took it in meets its deadline."""
    future: tuple[Piece, ...] = ()
    planned: tuple[Piece, ...] = ()
    """As planned with what was known at the last arrival."""
    ordered_bits_per_s: float = 0.0
    received_bytes: int = 0
    begun_s: float | None = None
    done_s: float | None = None
    attempts: int = 0
    expected_bits: float = 0.0
    """What should have arrived by ``expected_at_s``."""
    expected_at_s: float = 0.0
    planned_at_s: float = -math.inf
    """When lateness last had it planned again."""
    hopeless: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in ("done", "refused", "failed")

    @property
    def left_bytes(self) -> int:
        """What has not arrived."""
        return max(self.request.volume_bytes - self.received_bytes, 1)

    def rate_at(self, now_s: float) -> float:
        """The rate (bit/s) that the plan has for it now."""
        here = (piece for piece in self.future if piece.start_s <= now_s < piece.finish_s)
        piece = next(here, None)
        if piece is not None:
            return piece.bits_per_s
        # What has not arrived when the plan says it has goes on.
        over = self.future and now_s >= self.future[-1].finish_s
        return self.future[-1].bits_per_s if over and self.state == "moving" else 0.0


def remaining_s(case: Instance, transfers: Sequence[Transfer], now_s: float) -> float:
    """Seconds from ``now_s`` until the last transfer ends, as far as that is planned.

    One without a plan begins at its release, or now, and has its greatest rate.
    """
    ends = [now_s]
    for transfer, top in zip(transfers, case.tops_bits_per_s, strict=True):
        if transfer.is_over:
            continue
        if transfer.future:
            ends.append(transfer.future[-1].finish_s)
        else:
            ends.append(max(transfer.request.release_s, now_s) + 8 * transfer.left_bytes / top)
    return max(ends) - now_s


def until(piece: Piece, now_s: float) -> Piece:
    """The part of a piece up to now."""
    return replace(piece, finish_s=min(piece.finish_s, now_s))


def differs(transfer: Transfer, pieces: Sequence[Piece], now_s: float) -> bool:
    """Whether rates or times are new, beyond what follows from data that are under way."""
    ahead = [piece for piece in transfer.future if piece.finish_s > now_s]
    if len(ahead) != len(pieces):
        return True
    return any(
        not math.isclose(a.bits_per_s, b.bits_per_s, rel_tol=1e-6)
        or max(a.start_s, now_s) != b.start_s
        or abs(a.finish_s - b.finish_s) > 0.02 * (b.finish_s - b.start_s) + 0.01
        for a, b in zip(ahead, pieces, strict=True)
    )


def pieces_text(pieces: Sequence[Piece]) -> str:
    """The first rate of a plan, and when its last piece ends."""
    first, last = pieces[0], pieces[-1]
    several = f" at first, {len(pieces)} rates" if len(pieces) > 1 else ""
    pace = f"{rate_words(round(first.bits_per_s))}{several}"
    return f"{pace} from {first.start_s:.6g} s, ends at {last.finish_s:.6g} s"


def achieved_outcome(transfer: Transfer) -> Outcome:
    """What has come of a transfer so far."""
    request = transfer.request
    if transfer.begun_s is None:
        return refused(request, transfer.reason or "never begun")
    if transfer.done_s is None:
        came = f"{size(transfer.received_bytes)} of {size(request.volume_bytes)} arrived"
        return refused(request, f"{transfer.reason}; {came}" if transfer.state == "failed" else came)
    bits_per_s = request.volume_bits / (transfer.done_s - transfer.begun_s)
    late_s = transfer.done_s - request.deadline_s
    reason = f"ended {late_s:.4g} s after its deadline" if late_s > 0 else ""
    return Outcome(request, late_s <= 0, (Piece(transfer.begun_s, transfer.done_s, bits_per_s),), reason)
