"""A program's counts against the network's: what differs beyond the tolerance is said."""

from typing import Any

import pytest

from longhaul.analysis.contradictions import BYTES, PACKETS, checked, contradictions


def found(unit: str, reported: int | None, counted: int | None) -> list[Any]:
    each = checked("received", unit, reported=reported, counted=counted)
    return list(contradictions([{"flow": "bulk", "checked": [each]}, {"flow": "old"}], []))


@pytest.mark.parametrize(
    ("unit", "reported", "counted"),
    [
        ("bytes", 100_000_000, 105_000_000),
        ("bytes", 0, BYTES),
        ("packets", 1000, 1010 + PACKETS),
        ("bytes", None, 10**9),
        ("packets", 5, None),
    ],
)
def test_what_is_within_the_tolerance_or_unknown_is_no_contradiction(
    unit: str, reported: int | None, counted: int | None
) -> None:
    assert found(unit, reported, counted) == []


@pytest.mark.parametrize(
    ("unit", "reported", "counted"),
    [("bytes", 100_000_000, 106_000_000), ("bytes", 0, BYTES + 1_000_000), ("packets", 500, 520)],
)
def test_what_differs_by_more_is_a_warning_with_both_counts(unit: str, reported: int, counted: int) -> None:
    (warning,) = found(unit, reported, counted)
    assert (warning["kind"], warning["name"]) == ("contradiction", "flow bulk")
    assert "the network counted" in warning["text"]
    assert "tolerance" in warning["text"]


def test_pings_and_transfers_are_compared_too() -> None:
    ping = {"name": "probe", "to": "b", "checked": [checked("answered", "packets", reported=2, counted=20)]}
    moved = {
        "name": "transfers from a to b",
        "checked": [checked("moved", "bytes", reported=9_000_000, counted=1_000)],
    }
    texts = [each["text"] for each in contradictions([moved], [ping])]
    assert texts[0].startswith(
        "transfers from a to b: the program reports 9 MB moved, the network counted 1 kB"
    )
    assert texts[1].startswith("ping probe to b: the program reports 2 packets answered")
