"""The slow start that a scenario asks for is the one that its simulated TCP has."""

from itertools import pairwise
from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError

SCENARIO = """
version: 1
name: slow-start
duration: 1s
measure: {every: 100ms}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 50ms, rate: 10Gbit}}
tcp: {recovery: sack, buffers: 64MiB}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: CC}
"""


def scenario(folder: Path, cc: str) -> Path:
    path = folder / "slow-start.yaml"
    path.write_text(SCENARIO.replace("CC", cc), encoding="utf-8")
    return path


def windows(folder: Path, cc: str) -> list[float]:
    """The window in segments once in every round trip of 100 ms."""
    result = longhaul.run_sim(scenario(folder, cc), runs=folder / "runs", report=False)
    return [window for window in result.table("flows")["window_segments"] if window]


@pytest.mark.parametrize(("limit", "growth"), [(1, 1.5), (2, 2)])
def test_with_l_segments_per_acknowledgement_of_two_a_window_grows_by_l_halves(
    tmp_path: Path, limit: int, growth: float
) -> None:
    found = windows(tmp_path, f"{{algorithm: reno, slow_start: {{kind: standard, limit: {limit}}}}}")
    # The receiver acknowledges every segment at first.
    assert found[-1] / found[-2] == pytest.approx(growth, rel=0.02)


def test_limited_slow_start_adds_at_most_half_of_its_threshold_per_round_trip(tmp_path: Path) -> None:
    found = windows(tmp_path, "{algorithm: reno, slow_start: {kind: limited, max_threshold: 100}}")
    late = [after - before for before, after in pairwise(found) if before > 100]
    assert len(late) > 1
    assert max(late) <= 51


def test_a_kind_of_slow_start_may_be_a_word(tmp_path: Path) -> None:
    assert windows(tmp_path, "{algorithm: reno, slow_start: limited}") == windows(
        tmp_path, "{algorithm: reno, slow_start: {kind: limited}}"
    )


def test_a_loaded_algorithm_has_no_limit_per_acknowledgement(tmp_path: Path) -> None:
    cc = "{algorithm: scalable, slow_start: {kind: standard, limit: 1}}"
    with pytest.raises(LonghaulError, match=r"slow_start\.limit"):
        longhaul.run_live(scenario(tmp_path, cc), runs=tmp_path / "runs")
