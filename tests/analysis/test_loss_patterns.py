"""Patterns of loss on constructed series."""

import numpy as np
import pytest

from longhaul.analysis.loss_patterns import contour, loss_events, mean_burst, synchronisation


@pytest.mark.parametrize(
    ("lost", "burst"),
    [("....", None), ("x...", 1.0), ("x.x.x", 1.0), (".xxx.x", 2.0), ("xxxx", 4.0), ("xx..xxxx", 3.0)],
)
def test_the_mean_burst_is_losses_over_runs_of_losses(lost, burst):
    assert mean_burst([each == "x" for each in lost]) == burst


def test_a_loss_event_lasts_one_window_from_its_first_loss():
    # A chain of losses with gaps below the window is not one event for ever.
    assert loss_events([0.0, 0.06, 0.1, 0.15, 0.9], 0.1).tolist() == [0, 0, 1, 1, 2]
    assert loss_events([], 0.1).tolist() == []


def test_flows_that_always_lose_together_have_a_ratio_of_1():
    times = [second + 0.01 * flow for second in range(5) for flow in range(4)]
    assert synchronisation(times, [0, 1, 2, 3] * 5, of=4, window_s=0.1) == 1


def test_flows_that_lose_in_turn_have_a_ratio_of_1_over_n():
    assert synchronisation([0, 1, 2, 3], ["a", "b", "c", "d"], of=4, window_s=0.1) == pytest.approx(1 / 4)


def test_several_losses_of_one_flow_in_an_event_count_once():
    # The first event has two of four flows, the second one: (2/4 + 1/4) / 2.
    found = synchronisation([0, 0.01, 0.02, 5, 5.01], ["a", "a", "b", "c", "c"], of=4, window_s=0.1)
    assert found == pytest.approx(3 / 8)


@pytest.mark.parametrize(("times", "of"), [([], 4), ([1.0], 1)])
def test_without_losses_or_with_one_flow_there_is_no_synchronisation(times, of):
    assert synchronisation(times, ["a"] * len(times), of=of, window_s=0.1) is None


def test_random_losses_of_n_flows_meet_as_often_as_chance_has_it():
    """In an event of k losses, a flow of n is in with probability 1 - (1 - 1/n)^k."""
    random = np.random.default_rng(1)
    events, losses, count = 4000, 3, 10
    times = np.repeat(np.arange(events), losses) + np.tile([0, 0.01, 0.02], events)
    flows = random.integers(count, size=events * losses)
    expected = 1 - (1 - 1 / count) ** losses
    found = synchronisation(times, flows, of=count, window_s=0.1)
    # Its standard deviation in one event is below 0.05.
    assert found == pytest.approx(expected, abs=4.5 * 0.05 / np.sqrt(events))


def test_the_contour_has_the_axes_of_the_covariance():
    # Points at +-2 along the diagonal and +-1 across it: variances of 4/2 and 1/2 over four points.
    root = np.sqrt(0.5)
    points = [(2 * root, 2 * root), (-2 * root, -2 * root), (root, -root), (-root, root)]
    major, minor, angle = contour(points)
    assert (major, minor, angle % 180) == pytest.approx((np.sqrt(2), np.sqrt(0.5), 45))
    assert contour(points[:2]) is None
    assert contour([(1, 1)] * 5) is None
