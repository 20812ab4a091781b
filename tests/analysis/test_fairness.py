"""Jain's index against its definition's corners."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.fairness import fairness, jain


@given(st.integers(1, 50), st.floats(1e-3, 1e9))
def test_equal_shares_give_one_and_a_single_winner_one_nth(count: int, rate: float) -> None:
    assert jain([rate] * count) == pytest.approx(1)
    assert jain([rate] + [0.0] * (count - 1)) == pytest.approx(1 / count)


def test_k_of_n_equal_winners_give_k_over_n() -> None:
    assert jain([5.0, 5.0, 5.0, 0.0]) == pytest.approx(0.75)
    assert jain([0.0, 0.0]) is None


def test_streams_of_all_tcp_flows_count() -> None:
    flows = [
        {"kind": "tcp", "stream_rates": [1.0, 1.0]},
        {"kind": "udp", "stream_rates": [9.0]},
        {"kind": "tcp", "stream_rates": [2.0]},
    ]
    assert fairness(flows) == {"jain": pytest.approx(16 / 18), "streams": 3}
    assert fairness(flows[:1] and [{"kind": "tcp", "stream_rates": [1.0]}]) is None
    assert fairness([{"kind": "tcp", "stream_rates": [0.0, 0.0]}]) is None
