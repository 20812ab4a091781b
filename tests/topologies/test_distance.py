"""Delays by distance, names and speeds, against arithmetic."""

from math import cos, pi, radians

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.scenario.expand.topologies.distance import Fibre, great_circle_km, middle
from longhaul.scenario.expand.topologies.graphml import speed
from longhaul.scenario.expand.topologies.naming import node_name, unique

CIRCUMFERENCE_KM = 2 * pi * 6371.0088
LIGHT_KM_PER_S = 299_792.458

PLACES = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((0, 0), (0, 90), 1 / 4),
        ((0, 179), (0, -179), 2 / 360),
        ((90, 0), (-90, 77), 1 / 2),
        ((30, 20), (31, 20), 1 / 360),
        ((0, 0), (0, 180), 1 / 2),
        ((48.85, 2.35), (48.85, 2.35), 0),
    ],
)
def test_a_great_circle_is_its_share_of_the_circumference(
    one: tuple[float, float], other: tuple[float, float], share: float
) -> None:
    assert great_circle_km(one, other) == pytest.approx(share * CIRCUMFERENCE_KM, rel=1e-12, abs=1e-9)


def test_short_ways_are_those_of_a_plane() -> None:
    # A hundredth of a degree east at latitude 60 is shorter by its cosine; curvature is of second order.
    plane = CIRCUMFERENCE_KM / 36_000 * cos(radians(60))
    assert great_circle_km((60, 5), (60, 5.01)) == pytest.approx(plane, rel=1e-6)


@given(PLACES, PLACES, PLACES)
def test_distance_is_a_metric(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> None:
    assert great_circle_km(a, b) == pytest.approx(great_circle_km(b, a), abs=1e-9)
    assert great_circle_km(a, c) <= great_circle_km(a, b) + great_circle_km(b, c) + 1e-3


@pytest.mark.parametrize(
    ("straight", "fibre"),
    [(0, 0), (400, 600), (999, 1498.5), (1000, 1500), (1199, 1500), (1200, 1500), (4000, 5000)],
)
def test_fibre_is_as_long_as_the_rule_says(straight: float, fibre: float) -> None:
    assert Fibre().length_km(straight) == pytest.approx(fibre)


def test_a_delay_is_length_times_index_over_the_speed_of_light() -> None:
    exact_us = 5000 * 1.468 / LIGHT_KM_PER_S * 1e6
    assert Fibre().delay_ns(4000) == pytest.approx(exact_us * 1000, abs=500)
    assert Fibre().delay_ns(4000) % 1000 == 0
    assert Fibre(index=1.0, route_factor=1.0).delay_ns(LIGHT_KM_PER_S) == 10**9


def test_the_middle_of_places_on_one_circle_lies_on_it() -> None:
    assert middle([(0, 10), (0, 30)]) == (0, 20)
    assert middle([(0, 170), (0, -170)]) == (0, 180)
    assert middle([(10, 5), (50, 5)]) == (30, 5)


@pytest.mark.parametrize(
    ("label", "bits_per_s"),
    [
        ("OC-192c", 192 * 51_840_000),
        ("OC3", 3 * 51_840_000),
        ("STM-16", 16 * 155_520_000),
        ("10 Gbps", 10**10),
        ("< 2.5 Gbit/s", 2_500_000_000),
        ("2,5 Gb/s", 2_500_000_000),
        ("155Mbps", 155_000_000),
        ("10GE", 10**10),
        ("100 GigE", 10**11),
        ("GigE", 10**9),
        ("10 Gigabit Ethernet", 10**10),
        ("2 x STM-4", 8 * 155_520_000),
        ("4x10G", 4 * 10**10),
        ("T3", 44_736_000),
        ("E1", 2_048_000),
        ("512 kbps", 512_000),
    ],
)
def test_labels_of_links_are_rates(label: str, bits_per_s: int) -> None:
    assert speed(label) == bits_per_s


@pytest.mark.parametrize(
    "label", ["", "dark fibre", "10", "2.5-10 Gbps", "OC-0", "x", "Gbps", "0 Gbps", "2x"]
)
def test_what_says_no_rate_is_no_rate(label: str) -> None:
    assert speed(label) is None


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("New York", "new-york"),
        ("S\u00e3o Paulo", "sao-paulo"),
        ("\u0141\u00f3d\u017a", "lodz"),
        ("\u6771\u4eac", "n7"),
        ("  --  ", "n7"),
        ("localhost", "localhost-site"),
        ("x-h1", "x-h1-site"),
        ("10.1.255.254", "10-1-255-254"),
        ("Frankfurt (Main), Germany, Europe", "frankfurt-main-germany-e"),
    ],
)
def test_labels_become_names(label: str, name: str) -> None:
    assert node_name(label, otherwise="n7") == name


@given(st.lists(st.sampled_from(["a", "a-2", "a-3", "b"]), max_size=9))
def test_names_are_unique_and_the_first_keeps_its_own(wanted: list[str]) -> None:
    found = unique(wanted, taken=["b"])
    assert len(set(found)) == len(wanted)
    assert "b" not in found
    for name in set(wanted) - {"b"}:
        assert found[wanted.index(name)] == name
