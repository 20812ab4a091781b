"""A plan that is carried out: on a perfect network it is what it was, and trouble has it made again."""

import math

import pytest

from longhaul.transfers.plan import Instance, Point, Request, access_points, instance
from longhaul.transfers.plan.controller import Controller
from longhaul.transfers.plan.networks import payload_share
from longhaul.transfers.plan.policies import plan
from longhaul.transfers.plan.progress import Care
from longhaul.transfers.plan.random_requests import Workload, generate

from .cases import MB, two_sources

CAUSAL = ["fair", "serial-fcfs", "serial-sjf", "serial-edf", "fcfs-rigid", "greedy-min", "greedy-max"]
CAUSAL += ["greedy-f", "window-min", "window-f"]


def fluid(
    case: Instance,
    care: Care,
    *,
    changes: tuple[tuple[float, int, float], ...] = (),
    dies_at_s: float = math.inf,
    share: float = 1.0,
) -> Controller:
    """Rates are what was ordered, times ``share``; the first sender dies once; links change as told."""
    made = Controller(case, care, round_trips_s=[0.0] * len(case.requests))
    waiting, now = list(changes), 0.0
    moved, rates = [0.0] * len(case.requests), [0.0] * len(case.requests)
    while not made.is_over:
        while waiting and waiting[0][0] <= now:
            _at, link, bits_per_s = waiting.pop(0)
            made.tell_link(link, bits_per_s, now)
        if now >= dies_at_s:
            dies_at_s, rates[0] = math.inf, 0.0
            made.tell_failure(0, now, why="killed")
        for order in made.advance(now):
            rates[order.index] = order.bits_per_s * share
        if made.is_over:
            break
        ends = [
            now + (request.volume_bits - bits) / rate
            for request, bits, rate in zip(case.requests, moved, rates, strict=True)
            if rate
        ]
        times = [made.next_s(now), dies_at_s, *ends, *(each[0] for each in waiting[:1])]
        until = min(times + ([now + 0.5] if share < 1 else []))
        assert math.isfinite(until), "nothing will ever happen again"
        for index, request in enumerate(case.requests):
            moved[index] += rates[index] * (until - now)
            if rates[index] and moved[index] >= request.volume_bits * (1 - 1e-9):
                rates[index] = 0.0
                made.tell_done(index, until)
            elif rates[index]:
                made.tell_progress(index, int(moved[index] / 8), until)
        now = until
    return made


@pytest.mark.parametrize("policy", CAUSAL)
@pytest.mark.parametrize("seed", range(3))
def test_without_trouble_what_is_known_at_each_release_is_enough(policy: str, seed: int) -> None:
    workload = Workload(count=40, points=4, least_bits_per_s=80e6, most_bits_per_s=1e9)
    points, requests = generate(workload, seed=seed)
    case = instance(requests, network=access_points(points))
    at_once = plan(case, policy=policy)
    achieved = fluid(case, Care(policy=policy, margin=0.0)).achieved()
    assert [each.satisfied for each in achieved.outcomes] == [each.satisfied for each in at_once.outcomes]
    for here, there in zip(achieved.outcomes, at_once.outcomes, strict=True):
        assert bool(here.pieces) == bool(there.pieces)
        if here.pieces:
            assert (here.start_s, here.finish_s) == pytest.approx((there.start_s, there.finish_s), rel=1e-6)


@pytest.mark.parametrize(("policy", "times"), [("fair", [(0, 8), (0, 8)]), ("serial-fcfs", [(0, 4), (4, 8)])])
def test_the_two_transport_services_are_carried_out(policy: str, times: list[tuple[int, int]]) -> None:
    for found in (made := fluid(two_sources(500 * MB), Care(policy=policy))).planned(), made.achieved():
        assert [(each.start_s, each.finish_s) for each in found.outcomes] == pytest.approx(
            [pytest.approx(each) for each in times]
        )


def test_a_sender_that_dies_goes_on_where_it_ended_and_the_next_waits() -> None:
    made = fluid(two_sources(500 * MB), Care(policy="serial-fcfs"), dies_at_s=1.0)
    # Nothing is lost: 8 Gbit at 1 Gbit/s.
    assert made.transfers[0].attempts == 2
    assert max(each.finish_s for each in made.achieved().outcomes) == pytest.approx(8.0)
    assert ("failure", "killed; 375 MB are left") in [(each.why, each.what) for each in made.decisions]


def test_what_died_too_often_is_given_up() -> None:
    made = fluid(two_sources(500 * MB), Care(policy="serial-fcfs", attempts=1), dies_at_s=1.0)
    assert [each.state for each in made.transfers] == ["failed", "done"]


def test_a_link_that_is_down_stops_transfers_until_it_is_back() -> None:
    down = ((1.0, 0, 0.0), (3.0, 0, 1e9))
    made = fluid(two_sources(500 * MB), Care(policy="serial-fcfs"), changes=down)
    assert [each.finish_s for each in made.achieved().outcomes] == pytest.approx([6.0, 10.0])


def test_a_late_transfer_with_the_least_rate_gets_more_to_meet_its_deadline() -> None:
    # 500 MB within 40 s: 100 Mbit/s; at 80 % of what is ordered it would end at 50 s.
    points = {"a": Point(1e9, 1e9), "b": Point(1e9, 1e9)}
    request = Request(name="r", source="a", destination="b", volume_bytes=500 * MB, deadline_s=40.0)
    case = instance([request], network=access_points(points))
    made = fluid(case, Care(policy="greedy-min"), share=0.8)
    assert any(each.why == "lateness" for each in made.decisions)
    assert made.achieved().outcomes[0].satisfied


def test_a_newcomer_displaces_nothing_that_was_accepted() -> None:
    points = {"a": Point(1e9, 1e9), "b": Point(1e9, 1e9)}
    ends = {"source": "a", "destination": "b"}
    requests = [
        Request(name="long", volume_bytes=5000 * MB, deadline_s=45.0, **ends),
        *(
            Request(name=f"s{n}", volume_bytes=1000 * MB, release_s=1.0, deadline_s=10.0, **ends)
            for n in (1, 2)
        ),
    ]
    case = instance(requests, network=access_points(points))
    # 40 Gbit and 16 Gbit within 45 s: milp would drop the long one for the two short ones.
    made = fluid(case, Care(policy="milp", margin=0.0))
    assert made.transfers[0].state == "done"
    assert made.achieved().outcomes[0].satisfied
    assert made.transfers[1].reason == "would displace long"


def test_promises_that_cannot_be_kept_leave_nobody_waiting_for_good() -> None:
    slower = ((1.0, 0, 1e8),)
    made = fluid(two_sources(500 * MB), Care(policy="linear"), changes=slower)
    assert all(each.state == "done" for each in made.transfers)


@pytest.mark.parametrize(
    ("framing", "counted"),
    [
        ({"overhead_bytes": 0, "least_bytes": 0, "cells": None}, 1500),
        ({"overhead_bytes": 38, "least_bytes": 84, "cells": None}, 1538),
        # 1508 bytes with AAL5's trailer are 32 cells.
        ({"overhead_bytes": 8, "least_bytes": 0, "cells": {"payload_bytes": 48, "cell_bytes": 53}}, 32 * 53),
    ],
)
def test_payload_is_what_headers_and_framing_leave(framing: dict[str, object], counted: int) -> None:
    nodes = [{"kind": "host", "mtu": 1500, "ipv4": "10.0.0.1"}]
    whole = {"nodes": nodes, "links": [{"mtu": 1500}]}
    assert payload_share(whole, {"bundle": None, "framing": framing}) == 1448 / counted
