"""Simulations in shards: the same results, and divisions that METIS and arithmetic agree on."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.run import shards, sim
from longhaul.run.shards import Load, best, contracted, evaluated, preview, thresholds
from longhaul.scenario import load_scenario, parse_scenario, resolve

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def simulated(text: str, runs: Path, count: int) -> dict[str, Any]:
    """Every file of a simulation in ``count`` shards, but for times of the wall clock."""
    resolved = resolve(parse_scenario(text.encode(), name="sites"))
    done = sim.run(resolved, runs=runs / str(count), argv=[], progress=lambda *_: None, shards=count)
    raw = done.directory / "raw"
    engine = json.loads((raw / "engine.json").read_text())
    assert engine.pop("shards") == count
    del engine["wall_s"], engine["cpu_s"]
    files = {path.name: path.read_bytes() for path in raw.iterdir() if path.suffix in {".csv", ".jsonl"}}
    return {"engine": engine, **files}


TRIANGLE = """
version: 1
name: triangle
duration: 3s
profiles: {lan: {delay: 15us, rate: 1Gbit}}
nodes:
  a: {kind: router}
  b: {kind: router}
  c: {kind: router}
  a1..2: {kind: host, attach: a, profile: lan}
  b1..2: {kind: host, attach: b, profile: lan}
  c1..2: {kind: host, attach: c, profile: lan}
links:
  a-b: {endpoints: [a, b], delay: 5ms, rate: 200Mbit, loss: 0.01%}
  b-c: {endpoints: [b, c], delay: 8ms, rate: 200Mbit}
  c-a: {endpoints: [c, a], delay: 12ms, rate: 200Mbit}
traffic:
  there: {kind: tcp, from: a1, to: c1}
  back: {kind: tcp, from: c2, to: b2, cc: reno}
  near: {kind: udp, from: b1, to: a1, rate: 20Mbit}
  probe: {kind: ping, from: a1, to: [b2, c2], every: 20ms}
"""


def test_every_record_is_the_same_however_many_shards_there_are(tmp_path: Path) -> None:
    whole = simulated(TRIANGLE, tmp_path, 1)
    assert int(whole["engine"]["packets"]["delivered"]) > 10_000
    assert whole["samples.csv"].count(b"\n") > 10
    for count in (2, 3):
        assert simulated(TRIANGLE, tmp_path, count) == whole


def test_more_shards_than_parts_are_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as raised:
        simulated(TRIANGLE, tmp_path, 500)
    assert "cannot be divided into 500 shards" in str(raised.value)
    assert "--shards auto" in str(raised.value.diagnostics[0].remedy)
    assert not list(tmp_path.rglob("run.json")), "no run directory is left"


def test_the_preview_names_what_is_cut() -> None:
    plan, _ = sim.simulated_plan(resolve(load_scenario(SCENARIOS / "two-clusters.yaml")))
    told = preview(plan, 2)
    (cut,) = told["cut"]
    assert (cut["link"], cut["lookahead_ns"]) == ("ocean", told["lookahead_ns"])
    assert cut["packets_per_s"] == told["crossing_packets_per_s"] > 0
    assert {node for part in told["parts"] for node in part["nodes"]} >= {"east", "west"}
    assert sum(part["share"] for part in told["parts"]) == pytest.approx(1)
    assert told["lookahead_ns"] > 25e6


def star(leaves: int, lookahead_ns: float) -> Load:
    """A hub with leaves that work equally; the hub works nothing."""
    links = [(0, leaf, 1000.0, lookahead_ns) for leaf in range(1, leaves + 1)]
    return Load(obstacle=None, nodes=[0.0, *[1e6] * leaves], links=links, interfaces=[])


def test_equal_leaves_are_divided_equally_and_the_speedup_is_arithmetic() -> None:
    division = best(star(8, 1e7), [4])
    counts = sorted(division.partition.count(shard) for shard in range(4))
    assert counts == [2, 2, 2, 3]
    crossing = [sum(division.partition[0] != place for place in division.partition) * 1000.0]
    assert division.crossing_per_s == crossing[0]
    # 200 windows a second: two of them and a message follow each other, which takes longer than two alone.
    slowest = max(division.work) + 200 * shards.WINDOW_NS
    assert slowest < 200 * shards.MESSAGE_NS
    assert division.speedup == pytest.approx(8e6 / ((slowest + 200 * shards.MESSAGE_NS) / 2))


def test_what_cannot_be_cut_stays_together() -> None:
    load = Load(
        obstacle=None,
        nodes=[1e6] * 4,
        links=[(0, 1, 10.0, 0.0), (1, 2, 1e6, 1e6), (2, 3, 10.0, 0.0)],
        interfaces=[],
    )
    division = best(load, [2])
    assert division.partition == [0, 0, 1, 1]
    assert best(load, [3]).reason is not None
    tied = Load(obstacle=None, nodes=load.nodes, links=load.links, interfaces=[(1, 2)])
    assert best(tied, [2]).reason is not None


def test_a_cut_with_more_lookahead_is_preferred_where_windows_are_what_costs() -> None:
    # A chain of four: the middle link is short, the outer ones are long.
    links = [(0, 1, 1000.0, 5e6), (1, 2, 10.0, 1e3), (2, 3, 1000.0, 5e6)]
    load = Load(obstacle=None, nodes=[1e6, 1e6, 1e6, 1e6], links=links, interfaces=[])
    assert best(load, [2]).lookahead_ns == 5e6


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(0, 1e9), min_size=4, max_size=12),
    st.lists(st.tuples(st.floats(0, 1e6), st.sampled_from([0.0, 1e3, 1e6, 1e7])), min_size=11, max_size=11),
    st.integers(2, 4),
)
def test_a_division_never_cuts_what_cannot_be_cut(
    nodes: list[float], links: list[tuple[float, float]], count: int
) -> None:
    chain = [(node, node + 1, *links[node]) for node in range(len(nodes) - 1)]
    load = Load(obstacle=None, nodes=nodes, links=chain, interfaces=[])
    division = best(load, [count])
    if division.reason:
        assert max(contracted(load, 1.0)) + 1 < count or division.shards == 1
        return
    assert set(division.partition) == set(range(count))
    assert all(chain[link][3] > 0 for link in division.cut)
    assert division == evaluated(load, division.partition, count)


def test_few_thresholds_are_tried() -> None:
    assert thresholds([3.0, 1.0, 3.0]) == [3.0, 1.0]
    many = thresholds([float(number) for number in range(1000)])
    assert len(many) == shards.THRESHOLDS
    assert (many[0], many[-1]) == (999.0, 0.0)
