"""T16: no heuristic beats the exact search, which agrees with the mixed-integer programme."""

from longhaul.transfers.plan.linear_program import TOLERANCE
from longhaul.transfers.plan.plans import infeasible
from longhaul.transfers.plan.policies import POLICIES, Settings, plan

from .cases import some

INSTANCES = 1000
ORACLES = ("exact", "milp")


def satisfied(made):
    return sum(each.satisfied for each in made.outcomes)


def test_no_policy_serves_more_than_the_exact_search():
    beaten = dict.fromkeys(POLICIES, 0)
    for seed in range(INSTANCES):
        case = some(seed, requests=2 + seed % 4, rigid=seed % 2 == 1)
        best = satisfied(plan(case, policy="exact"))
        assert satisfied(plan(case, policy="milp")) == best, seed
        linear = plan(case, policy="linear")
        # Each of these is feasible alone; together they are if, and only if, all can be served.
        assert not infeasible(case)
        assert (linear.congestion <= 1 + TOLERANCE) == (best == len(case.requests)), seed
        for policy in POLICIES.keys() - set(ORACLES):
            served = satisfied(plan(case, policy=policy, settings=Settings(window_s=1.0)))
            assert served <= best, (seed, policy)
            beaten[policy] += served < best
    # The instances are hard enough to tell: every heuristic loses some, and none loses all.
    assert all(0 < beaten[policy] < INSTANCES for policy in POLICIES.keys() - set(ORACLES))
    assert not any(beaten[oracle] for oracle in ORACLES)
