"""T6: the two transport services of eWAN (PFLDnet 2006, section V), by arithmetic."""

import pytest

from longhaul.transfers.plan.measures import measures
from longhaul.transfers.plan.policies import POLICIES, plan

from .cases import GB, MB, two_sources


def test_500_mb_take_8_s_and_8_s_when_shared():
    found = plan(two_sources(500 * MB), policy="fair").outcomes
    # 4 Gbit at half of 1 Gbit/s.
    assert [each.finish_s for each in found] == pytest.approx([8, 8], rel=1e-9)
    assert [each.bits_per_s for each in found] == pytest.approx([0.5e9, 0.5e9], rel=1e-9)
    assert all(each.satisfied for each in found)


@pytest.mark.parametrize("policy", ["serial-fcfs", "serial-sjf", "serial-edf"])
def test_500_mb_take_4_s_and_8_s_in_series(policy):
    found = plan(two_sources(500 * MB), policy=policy).outcomes
    assert [(each.start_s, each.finish_s) for each in found] == [(0, 4), (4, 8)]
    assert [each.bits_per_s for each in found] == [1e9, 1e9]
    assert all(each.satisfied for each in found)


def test_what_just_fits_ends_at_the_deadline():
    # 60 s at 1 Gbit/s are 7.5 GB, for both together.
    assert [each.finish_s for each in plan(two_sources(3750 * MB), policy="fair").outcomes] == [60, 60]
    found = plan(two_sources(3750 * MB), policy="serial-fcfs").outcomes
    assert [(each.start_s, each.finish_s) for each in found] == [(0, 30), (30, 60)]


@pytest.mark.parametrize("policy", POLICIES)
def test_500_gb_within_60_s_are_refused_with_the_figures(policy):
    made = plan(two_sources(500 * GB), policy=policy)
    for outcome in made.outcomes:
        assert not outcome.satisfied
        assert outcome.pieces == ()
        # 4000 Gbit / 60 s = 66.67 Gbit/s; 4000 Gbit at 1 Gbit/s take 4000 s.
        assert outcome.reason == (
            "500 GB from 0 s to 60 s need 66.67 Gbit/s, but lan in carries 1 Gbit/s, which takes 4000 s"
        )
    assert measures(made).accept_rate == 0


def test_500_gb_without_deadline_take_8000_s():
    case = two_sources(500 * GB, deadline_s=float("inf"))
    assert [each.finish_s for each in plan(case, policy="fair").outcomes] == pytest.approx([8000, 8000])
    assert [each.finish_s for each in plan(case, policy="serial-fcfs").outcomes] == [4000, 8000]


def test_f1_prefers_series_and_f2_as_printed_counts_them_twice():
    shared = measures(plan(two_sources(500 * MB), policy="fair"))
    serial = measures(plan(two_sources(500 * MB), policy="serial-fcfs"))
    assert (shared.f1_s, serial.f1_s) == pytest.approx((8, 4))
    # 0.5 + 0.5 at once; 1 + 1 one after the other.
    assert (shared.f2_as_printed, serial.f2_as_printed) == pytest.approx((1, 2))
    # 8 Gbit within 8 s of 1 Gbit/s.
    assert (shared.f2_over_time, serial.f2_over_time) == pytest.approx((1, 1))
    assert (shared.bottleneck, serial.bottleneck) == ("lan in", "lan in")
    assert serial.flow_time_mean_s == pytest.approx(6)
    assert serial.jain == pytest.approx(1)


def test_the_least_congestion_of_500_mb_is_eight_sixtieths():
    made = plan(two_sources(500 * MB), policy="linear")
    assert made.congestion == pytest.approx(8 / 60, rel=1e-6)
    assert all(each.satisfied for each in made.outcomes)
