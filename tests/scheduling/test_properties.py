"""What holds for every plan of every policy."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.transfers.plan import Plan, Point, Request, access_points, instance
from longhaul.transfers.plan.plans import loads
from longhaul.transfers.plan.policies import POLICIES, Settings, plan

from .cases import line

RATES = st.sampled_from([0.1e9, 0.25e9, 1 / 3 * 1e9, 1e9, 2e9])


@st.composite
def instances(draw):
    """A few requests on a line of links, or on access points."""
    on_line = draw(st.booleans())
    capacities = draw(st.lists(RATES, min_size=3, max_size=3))
    if on_line:
        network = line(capacities)
        pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
        ends = st.sampled_from([(str(a), str(b)) for a, b in pairs])
    else:
        network = access_points(
            {name: Point(each, draw(RATES)) for name, each in zip("abc", capacities, strict=True)}
        )
        ends = st.sampled_from([(a, b) for a in "abc" for b in "abc" if a != b])
    requests = []
    for number in range(draw(st.integers(1, 6))):
        source, destination = draw(ends)
        release_s = draw(st.integers(0, 20)) / 4
        requests.append(
            Request(
                name=f"r{number}",
                source=source,
                destination=destination,
                volume_bytes=draw(st.integers(1, 400)) * 10**6,
                release_s=release_s,
                deadline_s=release_s + draw(st.integers(1, 40)) / 4,
                max_bits_per_s=draw(RATES),
            )
        )
    return instance(requests, network=network)


def check(made: Plan) -> None:
    """Capacity at every instant, releases, rates, and volumes in full."""
    for link, (_times, load) in zip(made.instance.links, loads(made), strict=True):
        assert load.max(initial=0) <= link.bits_per_s * (1 + 1e-6)
        assert load.min(initial=0) >= -1e-6 * link.bits_per_s
    for outcome, top in zip(made.outcomes, made.instance.tops_bits_per_s, strict=True):
        request = outcome.request
        assert bool(outcome.reason) != outcome.satisfied
        for piece in outcome.pieces:
            assert piece.start_s < piece.finish_s
            assert 0 < piece.bits_per_s <= top * (1 + 1e-6)
        for piece, after in pairwise(outcome.pieces):
            assert piece.finish_s <= after.start_s
        if outcome.pieces:
            assert outcome.start_s >= request.release_s
            moved = sum(piece.bits for piece in outcome.pieces)
            assert moved == pytest.approx(request.volume_bits, rel=1e-6)
        if outcome.satisfied:
            assert outcome.finish_s <= request.deadline_s * (1 + 1e-9)
        else:
            # Only shared flows run on past their deadline.
            assert not outcome.pieces or made.policy == "fair"


@pytest.mark.parametrize("policy", POLICIES)
@given(case=instances(), window_s=st.sampled_from([0.5, 1.0, 3.0]), f=st.sampled_from([0.1, 0.5, 1.0]))
@settings(max_examples=80, deadline=None)
def test_plans_keep_capacity_release_and_volume(policy, case, window_s, f):
    check(plan(case, policy=policy, settings=Settings(f=f, window_s=window_s)))
