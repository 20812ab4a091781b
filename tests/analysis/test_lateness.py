"""Percentiles of lateness from classes."""

import numpy as np
import pytest

from longhaul.analysis.lateness import p99_ns, worst_p99

BOUNDS_NS = np.array([0.0, 500.0, 1000.0, 2000.0])


def test_a_percentile_is_interpolated_within_its_class() -> None:
    # 99 of 100 are the last in (500, 1000]; of the next row half of the last class is needed.
    up_to = np.array([[50, 99, 100], [0, 98, 100], [100, 100, 100]])
    assert p99_ns(np.array([100, 100, 100]), up_to, BOUNDS_NS) == pytest.approx([1000.0, 1500.0, 495.0])


def test_beyond_the_last_bound_it_is_that_bound_and_without_packets_unknown() -> None:
    found = p99_ns(np.array([100, 0]), np.array([[0, 0, 10], [0, 0, 0]]), BOUNDS_NS)
    assert found[0] == 2000.0
    assert np.isnan(found[1])


def test_the_worst_direction_counts_and_only_packets_since_the_time_before() -> None:
    recorded = {
        "t_ns": np.array([1, 1, 2, 2, 3, 3]),
        "link": np.array(["a", "b"] * 3),
        "way": np.array(["forward", "reverse"] * 3),
        "packets": np.array([100, 100, 200, 100, 200, 100]),
        "sum_ns": np.zeros(6),
        "le_500_ns": np.array([100, 1, 100, 1, 100, 1]),
        "le_1000_ns": np.array([100, 99, 100, 99, 100, 99]),
        "le_2000_ns": np.array([100, 100, 200, 100, 200, 100]),
    }
    instants, worst = worst_p99(recorded)
    assert instants.tolist() == [1, 2, 3]
    assert worst[:2] == pytest.approx([1000.0, 1990.0])
    assert np.isnan(worst[2]), "no packet came"
