"""Quantities as text: one formatter for every surface."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.units import configured
from longhaul.units.quantities import Rate, Share, Size, Span
from longhaul.units.text import bytes_text, rate_text, share_text, time_text

PACKAGE = Path(__file__).parents[2] / "python/longhaul"
BY_HAND = re.compile(r"/ ?(1e[369]|10 ?\*\* ?[369]|1000):?[^}]*\} ?([mµ]s|[kMG]bit)\b")
ELSEWHERE = {
    "export/ewan.py",  # the syntax of another tool
    "scenario/expand/topologies/layout.py",  # the unit of the file that is read
}


def test_times_are_in_the_unit_that_keeps_three_digits() -> None:
    assert [time_text(ns) for ns in (None, 0, 7, 1500, 14_227_000, 2_500_000_000)] == [
        "-",
        "0",
        "7 ns",
        "1.5 µs",
        "14.2 ms",
        "2.5 s",
    ]
    assert time_text(999_700) == "1 ms", "rounding reaches the next unit"


def test_configured_values_keep_four_digits() -> None:
    assert configured.span(42_250_000) == "42.25 ms"
    assert configured.rate(1_234_000_000) == "1.234 Gbit/s"
    assert configured.rate(None) == "unlimited"
    assert configured.size(1_048_576) == "1.049 MB"
    assert configured.share(0.0002) == "0.02 %"


@given(st.integers(1, 999), st.sampled_from([10**power for power in range(9)]))
def test_three_digits_look_the_same_configured_and_measured(digits: int, scale: int) -> None:
    value = digits * scale
    assert configured.span(value) == time_text(value)
    assert configured.rate(value) == rate_text(value)
    assert configured.size(value) == bytes_text(value)
    assert configured.share(digits / 1000) == share_text(digits / 1000)


@given(st.integers(1, 9999), st.sampled_from([10**power for power in range(8)]))
def test_the_language_reads_what_people_read(digits: int, scale: int) -> None:
    value = digits * scale

    def written(text: str) -> str:
        return text.replace(" ", "").replace("µs", "us").removesuffix("/s")

    assert Span.parse(written(configured.span(value))).ns == value
    assert Rate.parse(written(configured.rate(value))).bits_per_s == value
    assert Size.parse(written(configured.size(value))).bytes == value
    assert float(Share.parse(written(configured.share(digits / 10_000)))) == digits / 10_000


@pytest.mark.parametrize("folder", sorted(each.name for each in PACKAGE.iterdir() if each.is_dir()))
def test_no_surface_scales_quantities_by_hand(folder: str) -> None:
    for path in (PACKAGE / folder).rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if folder not in ("units", "workloads") and name not in ELSEWHERE:
            assert not BY_HAND.search(path.read_text(encoding="utf-8")), name
