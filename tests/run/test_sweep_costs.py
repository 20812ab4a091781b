"""What a sweep is said to cost, against what it takes."""

import time
from itertools import pairwise
from pathlib import Path

import pytest

import longhaul
from longhaul.scenario.sweeps.design import spread
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps.pilot import estimate_cost
from longhaul.sweeps.preparation import prepare

UNEQUAL = """
version: 1
name: unequal
duration: 10s
params: {rate: 1Mbit, cc: reno}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 5ms, rate: $rate, queue: 1bdp}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}}
sweep: {axes: {rate: [1Mbit, 500Mbit, 1Gbit], cc: [reno, cubic]}, repeat: 2}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "unequal.yaml"
    path.write_text(UNEQUAL)
    return path


def test_the_estimate_counts_variants_that_take_longer_than_the_first(scenario: Path, tmp_path: Path) -> None:
    found = estimate_cost(prepare(scenario, settings={}, options=Options()), cores=1)
    assert (found["points"], found["tried"]) == (12, 6)
    # Some 80,000 packets a second against 80: the first variants say nothing of the others.
    assert found["point_most_s"] > 20 * found["point_least_s"]
    began = time.process_time()
    longhaul.sweep(scenario, runs=tmp_path, workers=1, report=False)
    took_s = time.process_time() - began
    assert 0.5 * found["core_low_s"] < took_s < 2 * found["core_high_s"] + 1
    assert found["core_s"] == pytest.approx(found["points"] * found["point_s"])
    assert found["core_low_s"] <= found["core_s"] <= found["core_high_s"]


def test_a_part_of_the_variants_gives_a_range(scenario: Path) -> None:
    axes = {"rate": "{from: 1Mbit, to: 20Mbit, steps: 30}"}
    found = estimate_cost(prepare(scenario, settings={}, options=Options(axes=axes)), cores=2)
    assert found["variants"] == 60 > found["tried"] == 24
    assert found["core_low_s"] < found["core_s"] < found["core_high_s"]
    assert found["core_s"] / 2 <= found["wall_s"] <= found["core_s"]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 64, 1000])
def test_those_that_are_tried_are_spread_over_all(count: int) -> None:
    order = list(spread(count))
    assert sorted(order) == list(range(count))
    assert order[0] == 0
    if count > 10:
        first = sorted(order[:9])
        assert max(b - a for a, b in pairwise(first)) <= -(-count // 4)
