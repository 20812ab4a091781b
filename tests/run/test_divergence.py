"""The first difference of two runs' packets, from the digests that they recorded."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.results.divergence import Divergence, first_difference

MILLISECOND = 1_000_000


def recorded(place: Path, interval_ns: int, digests: Sequence[int], hosts: Mapping[str, str]) -> Path:
    (place / "raw").mkdir(parents=True)
    content = {"interval_ns": interval_ns, "intervals": [f"{each:016x}" for each in digests], "hosts": hosts}
    (place / "raw/digests.json").write_text(json.dumps(content))
    return place


def test_the_first_interval_that_differs_and_all_hosts_that_do(tmp_path: Path) -> None:
    hosts = {"a": "1", "b": "2", "c": "3"}
    one = recorded(tmp_path / "one", MILLISECOND, [5, 0, 7, 8], hosts)
    other = recorded(tmp_path / "other", MILLISECOND, [5, 0, 6, 9], {**hosts, "a": "4", "c": "5"})

    assert first_difference(one, other) == Divergence(2 * MILLISECOND, 3 * MILLISECOND, ("a", "c"))
    assert first_difference(one, one) is None


def test_a_run_that_ended_sooner_differs_where_it_ended(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", MILLISECOND, [5, 6], {"a": "1"})
    other = recorded(tmp_path / "other", MILLISECOND, [5, 6, 0, 7], {"a": "2"})

    assert first_difference(one, other) == Divergence(3 * MILLISECOND, 4 * MILLISECOND, ("a",))


def test_longer_intervals_are_sums_of_shorter_ones(tmp_path: Path) -> None:
    last = 2**64 - 1
    one = recorded(tmp_path / "one", MILLISECOND, [last, 3, 4, 5, 6], {"a": "1"})
    other = recorded(tmp_path / "other", 2 * MILLISECOND, [2, 9, 7, 1], {"a": "2"})

    assert first_difference(one, other) == Divergence(4 * MILLISECOND, 6 * MILLISECOND, ("a",))


def test_a_run_on_another_clock_has_none(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", MILLISECOND, [5], {"a": "1"})
    (tmp_path / "live").mkdir()

    assert first_difference(one, tmp_path / "live") is None


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    one = recorded(tmp_path / "one", MILLISECOND, [5], {"a": "1"})
    (one / "raw/digests.json").write_text("{")

    with pytest.raises(LonghaulError, match=r"digests\.json"):
        first_difference(one, one)
