"""Traces made of traces."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario.traces import Trace, Way
from longhaul.scenario.traces.reshaping import one_way, resampled, stitched, two_way
from longhaul.scenario.traces.statistics import pauses, summaries


def rtt(*values: float | None, step_s: float = 1.0) -> Trace:
    return Trace(tuple(number * step_s for number in range(len(values))), {"rtt_ms": values})


def time_weighted(trace: Trace) -> float:
    pairs = list(zip(trace.columns["rtt_ms"], trace.durations_s(), strict=True))
    known = [(value, seconds) for value, seconds in pairs if value is not None]
    return math.fsum(value * seconds for value, seconds in known) / math.fsum(s for _, s in known)


@given(
    st.lists(st.floats(0.1, 1e4), min_size=2, max_size=24),
    st.lists(st.integers(1, 5), min_size=24, max_size=24),
    st.integers(1, 12),
)
def test_resampling_keeps_the_mean_over_time(values: list[float], steps: list[int], parts: int) -> None:
    times = tuple(float(sum(steps[:place])) for place in range(len(values)))
    trace = Trace(times, {"rtt_ms": tuple(values)})
    again = resampled(trace, trace.span_s() / parts, "mean")
    assert len(again) == parts
    if parts > 1:
        assert again.span_s() == pytest.approx(trace.span_s(), rel=1e-9)
        assert time_weighted(again) == pytest.approx(time_weighted(trace), rel=1e-9)
    else:
        assert again.columns["rtt_ms"][0] == pytest.approx(time_weighted(trace), rel=1e-9)


def test_a_mean_weighs_with_time_and_a_median_too() -> None:
    # 1 s of 10, 3 s of 20, and the last row as long as the one before it: 3 s of 60.
    trace = Trace((0.0, 1.0, 4.0), {"rtt_ms": (10.0, 20.0, 60.0)})
    assert resampled(trace, 7.0, "mean").columns["rtt_ms"] == (pytest.approx((10 + 60 + 180) / 7),)
    assert resampled(trace, 7.0, "median").columns["rtt_ms"] == (20.0,)
    assert resampled(trace, 3.5, "hold").columns["rtt_ms"] == (10.0, 20.0)


def test_gaps_weigh_nothing_and_a_period_of_gaps_is_one() -> None:
    trace = rtt(10.0, None, None, None, 30.0, 50.0)
    assert resampled(trace, 2.0, "mean").columns["rtt_ms"] == (10.0, None, 40.0)
    assert resampled(trace, 2.0, "median").columns["rtt_ms"] == (10.0, None, 40.0)
    assert resampled(trace, 1.0, "hold").columns["rtt_ms"] == trace.columns["rtt_ms"]
    assert resampled(trace, 0.5, "mean").columns["rtt_ms"][:4] == (10.0, 10.0, None, None)


def test_equal_periods_change_nothing() -> None:
    # A tenth of a second is not a binary number.
    trace = rtt(*map(float, range(1, 1001)), step_s=0.1)
    again = resampled(trace, 0.1, "mean")
    assert again.columns["rtt_ms"] == pytest.approx(trace.columns["rtt_ms"], rel=1e-6)


def test_half_a_round_trip_is_one_way_and_gaps_stay() -> None:
    trace = rtt(30.0, None)
    assert one_way(trace).columns == {"delay_ms": (15.0, None)}
    assert two_way(one_way(trace)) == trace
    with pytest.raises(LonghaulError, match="the trace has no delay_ms"):
        two_way(trace)
    with pytest.raises(LonghaulError, match="the trace has delay_ms already"):
        one_way(Trace((0.0,), {"rtt_ms": (2.0,), "delay_ms": (1.0,)}))


def test_equal_links_are_joined_end_to_end_and_others_side_by_side() -> None:
    first = Trace((5.0, 6.0), {"rtt_ms": (1.0, 2.0)}, Way("a", "b", "ping", 1.0))
    second = Trace((0.0, 2.0), {"rtt_ms": (3.0, 4.0)}, Way("a", "b"))
    back = Trace((0.0,), {"rtt_ms": (9.0,)}, Way("b", "a"))
    # The first ends at 7 s; the second's rows are 2 s long.
    assert stitched([first, back, second]) == (
        Trace((5.0, 6.0, 7.0, 9.0), {"rtt_ms": (1.0, 2.0, 3.0, 4.0)}, first.way),
        back,
    )


def test_what_cannot_be_joined_is_said() -> None:
    named = Trace((0.0, 1.0), {"rtt_ms": (9.0, 9.0)}, Way("b", "a"))
    with pytest.raises(LonghaulError, match="some traces say their link and others do not"):
        stitched([rtt(1.0), named])
    with pytest.raises(LonghaulError, match="not all traces have rtt_ms, rate_mbit"):
        stitched([rtt(1.0, 2.0), Trace((0.0,), {"rate_mbit": (1.0,)})])
    with pytest.raises(LonghaulError, match="a trace of one row has no end"):
        stitched([rtt(1.0), rtt(2.0)])
    with pytest.raises(LonghaulError, match=r"makes \d+ rows; write 1000000 at most"):
        resampled(rtt(1.0, 2.0, step_s=1e5), 0.01, "mean")


def test_a_summary_counts_each_row_alike() -> None:
    trace = Trace((0.0, 1.0, 2.0, 3.0, 14.0), {"rtt_ms": (1.0, 2.0, None, 3.0, 4.0)})
    (found,) = summaries(trace)
    assert (found.count, found.gaps, found.least, found.most, found.mean) == (4, 1, 1.0, 4.0, 2.5)
    # The sample variance of 1, 2, 3, 4 is 5/3; the median lies between 2 and 3.
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    assert found.percentiles[1] == 2.5
    assert pauses(trace) == 1
