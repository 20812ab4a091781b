"""Bottlenecks, flows that ran together, and rates over other bins than those they were measured in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.sharing import bottleneck, carried_span, rates_over, together


def link(name: str, way: str, used: float | None) -> dict:
    return {"name": name, "way": way, "achieved": {"utilisation": used}}


LINKS = [
    link("lan", "forward", 0.2),
    link("lan", "reverse", 0.99),
    link("wan", "forward", 0.9),
    link("wan", "reverse", 0.1),
    link("free", "forward", None),
    link("free", "reverse", None),
]


def test_the_bottleneck_is_what_was_used_most_on_the_way() -> None:
    assert bottleneck([(0, "forward"), (1, "forward")], LINKS) == {"link": "wan", "way": "forward"}
    assert bottleneck([(1, "reverse"), (0, "reverse")], LINKS) == {"link": "lan", "way": "reverse"}


def test_a_way_without_rates_has_no_bottleneck() -> None:
    assert bottleneck([(2, "forward")], LINKS) is None
    assert bottleneck([], LINKS) is None


def test_flows_ran_together_if_they_overlap_by_half_of_the_shorter() -> None:
    assert together([(0, 10), (5, 10), (20, 30), (29, 40)]) == [[0, 1], [2], [3]]
    # The long one joins what it overlaps.
    assert together([(0, 4), (6, 10), (0, 10)]) == [[0, 1, 2]]
    assert together([(0, 1), (1, 2)]) == [[0], [1]]
    assert together([]) == []


def test_a_handshake_and_a_last_packet_do_not_prolong_a_flow() -> None:
    begin = np.array([0.0, 5.0, 6.0, 9.0])
    rates = np.array([1.0, 1000.0, 1000.0, 1.0])
    assert carried_span(begin, begin + 1, rates) == (5.0, 7.0)
    assert carried_span(begin, begin + 1, np.zeros(4)) is None
    assert carried_span(np.zeros(0), np.zeros(0), np.zeros(0)) is None


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 20)), max_size=12))
def test_every_flow_is_in_one_group(flows: list[tuple[float, float]]) -> None:
    groups = together([(begin, begin + length) for begin, length in flows])
    assert sorted(number for group in groups for number in group) == list(range(len(flows)))


@given(
    st.lists(st.tuples(st.floats(0.1, 2), st.floats(0, 1e9), st.floats(0, 1)), min_size=1, max_size=30),
    st.floats(0.05, 3),
)
def test_other_bins_carry_as_many_bits(pieces: list[tuple[float, float, float]], width_s: float) -> None:
    # Intervals one after the other, some with a pause before them.
    begin, end, at_s = [], [], 0.0
    for length, _, pause in pieces:
        begin.append(at_s + pause)
        end.append(at_s := at_s + pause + length)
    rates = np.array([rate for _, rate, _ in pieces])
    edges = np.arange(0, at_s + width_s, width_s)
    found = rates_over(edges, np.array(begin), np.array(end), rates)
    sent = float((rates * (np.array(end) - np.array(begin))).sum())
    assert float((found * np.diff(edges)).sum()) == pytest.approx(sent, rel=1e-6, abs=1e-3)
    assert (found >= -1e-3).all()


def test_a_pause_carries_nothing() -> None:
    found = rates_over(
        np.array([0.0, 1, 2, 3]), np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([8.0, 4.0])
    )
    assert found.tolist() == [8.0, 0.0, 4.0]
