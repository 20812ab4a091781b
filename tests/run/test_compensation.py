"""Compensation takes the base latency off each way once."""

from longhaul.calibrate import plans
from longhaul.scenario.lower.compensation import compensate


def delays(plan: plans.Plan) -> list[list[int]]:
    return [[link[way]["delay"]["delay_ns"] for way in ("forward", "reverse")] for link in plan["links"]]


def test_only_the_direction_into_a_host_is_shortened() -> None:
    plan, warnings = compensate(plans.chain(1, delay_ns=10_000), 4_000)
    # near-r1, r1-far: reverse ends at near, forward ends at far.
    assert delays(plan) == [[10_000, 6_000], [6_000, 10_000]]
    assert warnings == []


def test_each_way_of_a_pair_is_shortened_once() -> None:
    plan, _ = compensate(plans.pair(delay_ns=250_000), 4_000)
    assert delays(plan) == [[246_000, 246_000]]


def test_a_delay_shorter_than_the_base_becomes_zero_and_says_so() -> None:
    plan, warnings = compensate(plans.pair(delay_ns=1_000), 4_000)
    assert delays(plan) == [[0, 0]]
    assert len(warnings) == 2
    assert "3 µs shorter than" in warnings[0].headline


def test_the_plan_that_was_given_is_left_as_it_was() -> None:
    before = plans.pair(delay_ns=250_000)
    compensate(before, 4_000)
    assert delays(before) == [[250_000, 250_000]]
