"""Fair sharing (TS_1 of eWAN): transfers start at release and share max-min fairly, as a fluid.

Progressive filling: D. Bertsekas, R. Gallager, Data Networks, 2nd edition (1992), section 6.5.2.
"""

import math
from collections.abc import Sequence

import numpy as np

from longhaul.transfers.plan.instances import SLACK, Instance
from longhaul.transfers.plan.plans import Floats, Outcome, Piece, Plan, finished, infeasible


def fair(instance: Instance) -> Plan:
    """Shares change at each release and each end; what ends too late runs, but is not satisfied."""
    refusals = infeasible(instance)
    requests = instance.requests
    waiting = sorted(
        (each for each in range(len(requests)) if each not in refusals),
        key=lambda each: requests[each].release_s,
        reverse=True,
    )
    left = np.array([request.volume_bits for request in requests])
    pieces: dict[int, list[Piece]] = {each: [] for each in waiting}
    active: list[int] = []
    now = 0.0
    while waiting or active:
        if not active:
            now = requests[waiting[-1]].release_s
        while waiting and requests[waiting[-1]].release_s <= now:
            active.append(waiting.pop())
        rates = shares(instance, active)
        spans = left[active] / rates
        end = now + float(spans.min())
        ends = spans <= spans.min() * (1 + SLACK)
        release = requests[waiting[-1]].release_s if waiting else math.inf
        if release < end:
            end, ends = release, np.zeros(len(active), dtype=bool)
        left[active] -= rates * (end - now)
        for index, rate in zip(active, rates, strict=True):
            _extend(pieces[index], Piece(now, end, float(rate)))
        active = [index for index, over in zip(active, ends, strict=True) if not over]
        now = end
    outcomes = {index: _outcome(instance, index, parts) for index, parts in pieces.items()}
    return finished("fair", instance, (refusals | outcomes).items())


def shares(instance: Instance, active: Sequence[int]) -> Floats:
    """The max-min fair rates (bit/s) of the requests ``active``, none above its top."""
    tops = np.array([instance.tops_bits_per_s[each] for each in active])
    users = np.array([user for user, each in enumerate(active) for _ in instance.paths[each]], dtype=int)
    links = np.array([link for each in active for link in instance.paths[each]], dtype=int)
    room = np.array([link.bits_per_s for link in instance.links], dtype=float)
    rates = np.zeros(len(active))
    rising = np.ones(len(active), dtype=bool)
    while rising.any():
        count = np.bincount(links[rising[users]], minlength=len(room))
        level = np.divide(room, count, out=np.full(len(room), math.inf), where=count > 0)
        lowest = min(float(level.min(initial=math.inf)), float(tops[rising].min()))
        full = level <= lowest * (1 + SLACK)
        stops = tops <= lowest * (1 + SLACK)
        stops[users[full[links]]] = True
        stops &= rising
        rates[stops] = lowest
        rising &= ~stops
        room -= lowest * np.bincount(links[stops[users]], minlength=len(room))
    return rates


def _extend(pieces: list[Piece], piece: Piece) -> None:
    """Add ``piece``, as a longer last one if the rate has not changed."""
    if pieces and math.isclose(pieces[-1].bits_per_s, piece.bits_per_s, rel_tol=1e-12):
        piece = Piece(pieces.pop().start_s, piece.finish_s, piece.bits_per_s)
    if piece.finish_s > piece.start_s:
        pieces.append(piece)


def _outcome(instance: Instance, index: int, pieces: Sequence[Piece]) -> Outcome:
    request, finish_s = instance.requests[index], pieces[-1].finish_s
    late_s = finish_s - request.deadline_s
    if late_s <= SLACK * finish_s:
        return Outcome(request, True, tuple(pieces))
    reason = f"ends at {finish_s:.10g} s, {late_s:.6g} s after its deadline"
    return Outcome(request, False, tuple(pieces), reason)
