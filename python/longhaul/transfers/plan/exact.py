"""The largest number of requests that can be served, by exhaustive search."""

from collections.abc import Sequence
from itertools import combinations, pairwise

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.transfers.plan.instances import SLACK, Instance
from longhaul.transfers.plan.linear_program import TOLERANCE, least_congestion
from longhaul.transfers.plan.plans import Outcome, Plan, finished, infeasible, need_deadlines, refused

MOST_REQUESTS = 12


def exact(instance: Instance) -> Plan:
    """The first of the largest choices that can be served, in the order of the requests; at most 12 requests.

    MAX-REQUESTS is NP-complete (RR-5523, abstract), so that there is no quick way to be sure.
    """
    need_deadlines(instance, "exact")
    outcomes = infeasible(instance)
    possible = [each for each in range(len(instance.requests)) if each not in outcomes]
    if len(possible) > MOST_REQUESTS:
        message = f"exact tries all choices of at most {MOST_REQUESTS} requests, not of {len(possible)}"
        raise LonghaulError(Code.POLICY_UNSUITABLE, message, remedy="use milp", exit_code=2)
    served = _largest(instance, possible)
    _congestion, profiles = least_congestion(instance, served)
    for index in possible:
        request = instance.requests[index]
        if index in profiles:
            outcomes[index] = Outcome(request, True, profiles[index])
        else:
            outcomes[index] = refused(request, f"no more than {len(served)} can be served")
    return finished("exact", instance, outcomes.items())


def servable(instance: Instance, chosen: Sequence[int]) -> bool:
    """Whether the requests ``chosen``, each feasible alone, can all be served."""
    if all(_is_rigid(instance, each) for each in chosen):
        return _rigid_fit(instance, chosen)
    return least_congestion(instance, chosen)[0] <= 1 + TOLERANCE


def _largest(instance: Instance, possible: Sequence[int]) -> tuple[int, ...]:
    for count in range(len(possible), 0, -1):
        for chosen in combinations(possible, count):
            if servable(instance, chosen):
                return chosen
    return ()


def _is_rigid(instance: Instance, index: int) -> bool:
    """Whether only the greatest rate fills the window."""
    request = instance.requests[index]
    return request.least_bits_per_s(request.release_s) >= instance.tops_bits_per_s[index] * (1 - SLACK)


def _rigid_fit(instance: Instance, chosen: Sequence[int]) -> bool:
    """Whether requests without freedom fit: sums of rates, interval by interval."""
    requests = instance.requests
    times = sorted({at for each in chosen for at in (requests[each].release_s, requests[each].deadline_s)})
    for begin, _end in pairwise(times):
        loads: dict[int, float] = {}
        for each in chosen:
            if requests[each].release_s <= begin < requests[each].deadline_s:
                for link in instance.paths[each]:
                    loads[link] = loads.get(link, 0.0) + instance.tops_bits_per_s[each]
        if any(load > instance.links[link].bits_per_s * (1 + SLACK) for link, load in loads.items()):
            return False
    return True
