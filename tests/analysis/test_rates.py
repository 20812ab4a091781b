"""How much of a rate was used."""

import math

import numpy as np
import pytest

from longhaul.analysis.rates import capacity_bits, queueing_delay_ns, rate_at, steps, utilisation


def plan(*events: dict, **direction: object) -> dict:
    models = {"rate": constant(100), "bundle": None, **direction}
    return {"links": [{"forward": models, "reverse": models}], "events": list(events)}


def constant(megabits: int) -> dict:
    return {"model": "constant", "bits_per_s": megabits * 10**6}


def event(at_s: float, rate: dict | None, *, way: str | None = None, route: int | None = None) -> dict:
    change = {"rate": rate, "delay": None}
    return {"at_ns": round(at_s * 1e9), "link": 0, "direction": way, "route": route, "change": change}


def seconds(*values: float) -> np.ndarray:
    return np.array([round(value * 1e9) for value in values])


def test_a_rate_that_changes_counts_for_as_long_as_it_held() -> None:
    rates = steps(plan(event(1, constant(50)), event(3, constant(200))), 0, "forward")
    # 1 s of 100, 2 s of 50, 1 s of 200 Mbit/s.
    bits = capacity_bits(rates, seconds(0, 0.5, 2, 3.5), seconds(4, 1.5, 2.5, 4))
    assert bits == pytest.approx([400e6, 75e6, 25e6, 100e6])


def test_a_queue_waits_for_the_rate_of_its_time() -> None:
    rates = steps(plan(event(1, constant(50)), event(3, None), rate=constant(100)), 0, "forward")
    rates = [*rates, (4 * 10**9, None)]
    found = rate_at(rates, seconds(0, 0.999, 1, 3, 5))
    assert found[:4].tolist() == [100e6, 100e6, 50e6, 50e6]
    assert math.isnan(found[4])
    # 12,500 bytes are 100,000 bits: 1 ms at 100 Mbit/s, 2 ms at 50.
    waits = queueing_delay_ns(np.full(5, 12_500), found)
    assert waits[[0, 2]].tolist() == [1e6, 2e6]
    assert math.isnan(waits[4])


def test_what_is_used_is_bytes_over_what_fits() -> None:
    rates = steps(plan(), 0, "reverse")
    used = utilisation(rates, np.array([12_500_000, 0]), seconds(0, 2), seconds(2, 3))
    assert used == pytest.approx([0.5, 0.0])


def test_without_a_rate_nothing_is_a_share_of_it() -> None:
    rates = steps(plan(event(1, {"model": "unlimited"})), 0, "forward")
    used = utilisation(rates, np.array([6_250_000] * 2), seconds(0, 0.5), seconds(1, 1.5))
    assert used[0] == pytest.approx(0.5)
    assert math.isnan(used[1])


def test_events_of_the_other_way_and_of_other_things_change_nothing() -> None:
    events = (event(1, constant(1), way="reverse"), event(2, None))
    assert steps(plan(*events), 0, "forward") == [(0, 100_000_000)]


def test_parallel_routes_count_together_and_change_one_by_one() -> None:
    bundle = {"routes": [{"rate": constant(10)}, {"rate": constant(30)}]}
    events = (event(1, constant(20), route=0), event(2, constant(5)))
    rates = steps(plan(*events, bundle=bundle), 0, "forward")
    assert rates == [(0, 40_000_000), (10**9, 50_000_000), (2 * 10**9, 10_000_000)]


def test_a_trace_counts_with_its_mean() -> None:
    trace = {"model": "opportunities", "times_ns": [10**6, 5 * 10**6], "repeat_ns": 10**7, "bytes": 1500}
    # Two times 12,000 bits in 10 ms.
    assert steps(plan(rate=trace), 0, "forward") == [(0, 2_400_000)]
