"""Variable rates: the linear program of least congestion, and the most requests.

Time is cut at all releases and deadlines; within an interval nothing changes, so that a constant rate is as
good as any. Variables are these rates as shares of the request's top; they make up its volume, and on no link
do they pass its capacity, times the congestion. After B. Chen, P. Vicat-Blanc Primet, "Scheduling
deadline-constrained bulk data transfers to minimize network congestion", CCGrid 2007.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import optimize, sparse

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import Instance
from longhaul.transfers.plan.plans import (
    Floats,
    Outcome,
    Piece,
    Plan,
    finished,
    infeasible,
    need_deadlines,
    refused,
)

TOLERANCE = 1e-7
"""Congestion above one by so much is taken for an error of the solver."""
FULL = 1 + 1e-9
"""The greatest share: a request that fills its window exactly must not fail by rounding."""


@dataclass(frozen=True)
class Grid:
    """The variables: for each request and interval of its window a rate, as a share of its top."""

    requests: tuple[int, ...]
    owners: np.ndarray
    """Position in ``requests``, of each variable."""
    begins_s: Floats
    ends_s: Floats
    moves: Floats
    """Times the variables: the share of the request's volume that the interval moves."""
    volumes: sparse.csr_matrix
    """Times the variables: the share of each request's volume that is moved."""
    tops_bits_per_s: Floats
    usage: sparse.csr_matrix
    """Times the variables: the load of each link in each interval, as a share of its capacity."""


def linear(instance: Instance) -> Plan:
    """All requests at the least congestion; if that is above one, none, as they cannot all be served."""
    need_deadlines(instance, "linear")
    outcomes = infeasible(instance)
    chosen = [each for each in range(len(instance.requests)) if each not in outcomes]
    congestion, profiles = least_congestion(instance, chosen)
    requests = instance.requests
    if congestion > 1 + TOLERANCE:
        reason = f"all together need {congestion:.6g} times the capacity of some links"
        outcomes |= {index: refused(requests[index], reason) for index in chosen}
    else:
        outcomes |= {index: Outcome(requests[index], True, profiles[index]) for index in chosen}
    made = finished("linear", instance, outcomes.items())
    return Plan(made.policy, instance, made.outcomes, congestion)


def least_congestion(instance: Instance, chosen: Sequence[int]) -> tuple[float, dict[int, tuple[Piece, ...]]]:
    """The least share of every link's capacity that suffices for the requests ``chosen``, and their rates.

    Each of them must be feasible alone.
    """
    if not chosen:
        return 0.0, {}
    grid = _grid(instance, chosen)
    count = len(grid.owners)
    aim = np.zeros(count + 1)
    aim[-1] = 1.0
    rows = grid.usage.shape[0]
    found = optimize.linprog(
        aim,
        A_ub=sparse.hstack([grid.usage, -np.ones((rows, 1))], format="csr") if rows else None,
        b_ub=np.zeros(rows) if rows else None,
        A_eq=sparse.hstack([grid.volumes, sparse.csr_matrix((len(chosen), 1))], format="csr"),
        b_eq=np.ones(len(chosen)),
        bounds=np.column_stack([np.zeros(count + 1), [*np.full(count, FULL), np.inf]]),
        method="highs",
    )
    _solved(found)
    return float(found.x[-1]), _profiles(grid, found.x[:-1])


def milp(instance: Instance) -> Plan:
    """The most requests that can be served at all, by a mixed-integer programme (HiGHS)."""
    need_deadlines(instance, "milp")
    outcomes = infeasible(instance)
    chosen = [each for each in range(len(instance.requests)) if each not in outcomes]
    served = _most(instance, chosen)
    _congestion, profiles = least_congestion(instance, served)
    for index in chosen:
        request = instance.requests[index]
        if index in profiles:
            outcomes[index] = Outcome(request, True, profiles[index])
        else:
            outcomes[index] = refused(request, "left out, so that most others can be served")
    return finished("milp", instance, outcomes.items())


def _most(instance: Instance, chosen: Sequence[int]) -> list[int]:
    """A largest part of ``chosen`` that can be served together."""
    if not chosen:
        return []
    grid = _grid(instance, chosen)
    count, several = len(grid.owners), len(chosen)
    rows = grid.usage.shape[0]
    rules = [
        optimize.LinearConstraint(sparse.hstack([grid.volumes, -sparse.eye(several)], format="csr"), 0.0, 0.0)
    ]
    if rows:
        padded = sparse.hstack([grid.usage, sparse.csr_matrix((rows, several))], format="csr")
        rules.append(optimize.LinearConstraint(padded, -np.inf, 1.0))
    found = optimize.milp(
        np.concatenate([np.zeros(count), -np.ones(several)]),
        constraints=rules,
        integrality=np.concatenate([np.zeros(count), np.ones(several)]),
        bounds=optimize.Bounds(0.0, np.concatenate([np.full(count, FULL), np.ones(several)])),
    )
    _solved(found)
    return [each for each, yes in zip(chosen, found.x[count:], strict=True) if yes > 0.5]


def _grid(instance: Instance, chosen: Sequence[int]) -> Grid:
    requests = [instance.requests[each] for each in chosen]
    times = sorted({each.release_s for each in requests} | {each.deadline_s for each in requests})
    top = np.array([instance.tops_bits_per_s[each] for each in chosen])
    volume = np.array([each.volume_bits for each in requests])
    spans = list(pairwise(times))
    pairs = [
        (owner, interval)
        for owner, request in enumerate(requests)
        for interval, (begin, end) in enumerate(spans)
        if request.release_s <= begin and end <= request.deadline_s
    ]
    owners = np.array([owner for owner, _interval in pairs], dtype=int)
    begins = np.array([spans[interval][0] for _owner, interval in pairs])
    ends = np.array([spans[interval][1] for _owner, interval in pairs])
    cells: dict[tuple[int, int], int] = {}
    rows, columns, shares = [], [], []
    for column, (owner, interval) in enumerate(pairs):
        for link in instance.paths[chosen[owner]]:
            rows.append(cells.setdefault((link, interval), len(cells)))
            columns.append(column)
            shares.append(instance.tops_bits_per_s[chosen[owner]] / instance.links[link].bits_per_s)
    moves = (ends - begins) * (top / volume)[owners]
    return Grid(
        tuple(chosen),
        owners,
        begins,
        ends,
        moves,
        sparse.csr_matrix((moves, (owners, np.arange(len(pairs)))), shape=(len(chosen), len(pairs))),
        top[owners],
        sparse.csr_matrix((shares, (rows, columns)), shape=(len(cells), len(pairs))),
    )


def _profiles(grid: Grid, shares: Floats) -> dict[int, tuple[Piece, ...]]:
    """Rates as pieces; each request's are corrected by the solver's last digits to its exact volume."""
    moved = np.bincount(grid.owners, shares * grid.moves, len(grid.requests))
    rates = shares / moved[grid.owners] * grid.tops_bits_per_s
    pieces: dict[int, list[Piece]] = {each: [] for each in grid.requests}
    for owner, begin, end, rate, share in zip(
        grid.owners, grid.begins_s, grid.ends_s, rates, shares, strict=True
    ):
        if share > 1e-10:
            pieces[grid.requests[owner]].append(Piece(float(begin), float(end), float(rate)))
    return {index: tuple(each) for index, each in pieces.items()}


def _solved(found: optimize.OptimizeResult) -> None:
    if found.x is None:
        raise LonghaulError(
            Code.POLICY_UNSUITABLE,
            f"the solver found no plan: {found.message}",
            remedy="plan fewer requests at once",
        )
