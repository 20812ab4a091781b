"""Quantities: what they read, what they write, what they refuse."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.scenario.syntax.yaml_tree import resolve_scalar
from longhaul.units.quantities import Rate, Share, Size, Span, UnitError


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("250us", 250_000),
        ("38ms", 38_000_000),
        ("1.5s", 1_500_000_000),
        ("2min", 120_000_000_000),
        ("7ns", 7),
        ("0s", 0),
    ],
)
def test_times_are_exact_nanoseconds(text: str, ns: int) -> None:
    assert Span.parse(text).ns == ns


@pytest.mark.parametrize(
    ("text", "bits_per_s"),
    [("10Gbit", 10**10), ("100Mbit", 10**8), ("10MB/s", 8 * 10**7), ("9.6kbit", 9600), ("1bit", 1)],
)
def test_rates_are_exact_bits_per_second(text: str, bits_per_s: int) -> None:
    assert Rate.parse(text).bits_per_s == bits_per_s


@pytest.mark.parametrize(
    ("text", "count"), [("64MiB", 2**26), ("1500B", 1500), ("10kB", 10_000), ("1GiB", 2**30)]
)
def test_sizes_tell_decimal_from_binary(text: str, count: int) -> None:
    assert Size.parse(text).bytes == count


@pytest.mark.parametrize(
    ("text", "share"),
    [("0.02%", Fraction(2, 10_000)), ("0.05", Fraction(1, 20)), ("100%", Fraction(1)), ("0%", Fraction(0))],
)
def test_shares_are_exact_fractions(text: str, share: Fraction) -> None:
    assert Share.parse(text).share == share


@pytest.mark.parametrize("text", ["0.0000001", "1e-7", "1E-7", "1.0e-7"])
def test_a_small_share_needs_no_per_cent(text: str) -> None:
    assert Share.parse(resolve_scalar(text)).share == Fraction(1, 10**7)


@pytest.mark.parametrize(
    ("kind", "text", "remedy"),
    [
        (Share, "1e-5%", "0.1%"),
        (Rate, "100Mbps", "100Mbit"),
        (Rate, "100", "100Mbit"),
        (Span, "5", "5ms"),
        (Share, "5", "5%"),
        (Size, "64", "64"),
    ],
)
def test_what_is_ambiguous_is_refused_with_the_right_spelling(kind: type, text: str, remedy: str) -> None:
    with pytest.raises(UnitError) as caught:
        kind.parse(text)
    assert remedy in caught.value.remedy


@given(st.integers(0, 10**16))
def test_a_time_survives_being_written_and_read(ns: int) -> None:
    assert Span.parse(str(Span(ns))).ns == ns


@given(st.integers(1, 10**14))
def test_a_rate_survives_being_written_and_read(bits_per_s: int) -> None:
    assert Rate.parse(str(Rate(bits_per_s))).bits_per_s == bits_per_s


@given(st.integers(0, 10**15))
def test_a_size_survives_being_written_and_read(count: int) -> None:
    assert Size.parse(str(Size(count))).bytes == count
