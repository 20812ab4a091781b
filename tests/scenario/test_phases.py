"""Simulated parallel programs: every message is waited for, and everybody hears of everybody."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import longhaul
from longhaul import _longhaul
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.phases import steps_of

ROOT = Path(__file__).parents[2]
ALGORITHMS = ("flat", "binomial", "recursive-doubling", "ring", "two-level")
KINDS = ("ping-pong", "alltoall", "halo", "broadcast")


def heard(steps: list[list[dict]]) -> list[set[int]] | None:
    """Whose data each rank has in the end if sends carry all that is known; None if it gets stuck."""
    ranks = len(steps)
    known = [{rank} for rank in range(ranks)]
    wires: dict[tuple[int, int], list[set[int]]] = {}
    at = [0] * ranks
    moved = True
    while moved:
        moved = False
        for rank in range(ranks):
            while at[rank] < len(steps[rank]):
                step = steps[rank][at[rank]]
                if step["do"] == "send":
                    wires.setdefault((rank, step["to"]), []).append(set(known[rank]))
                elif step["do"] == "receive":
                    queue = wires.get((step["from"], rank))
                    if not queue:
                        break
                    known[rank] |= queue.pop(0)
                at[rank] += 1
                moved = True
    return known if all(at[rank] == len(steps[rank]) for rank in range(ranks)) else None


@settings(max_examples=60)
@given(
    st.sampled_from(ALGORITHMS), st.lists(st.integers(0, 3), min_size=2, max_size=17), st.integers(1, 10**6)
)
def test_an_allreduce_tells_everybody_of_everybody(algorithm: str, sites: list[int], size: int) -> None:
    known = heard(steps_of("allreduce", algorithm=algorithm, sites=sites, size=size, compute_ns=0))
    assert known == [set(range(len(sites)))] * len(sites)


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.integers(2, 17), st.integers(0, 5))
def test_no_phase_gets_stuck(kind: str, ranks: int, compute_ns: int) -> None:
    known = heard(steps_of(kind, algorithm="", sites=[0] * ranks, size=100, compute_ns=compute_ns))
    assert known is not None
    if kind in ("alltoall",):
        assert known == [set(range(ranks))] * ranks
    if kind == "broadcast":
        assert all(0 in each for each in known)


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (4, 2), (8, 3), (16, 4)])
def test_recursive_doubling_takes_the_logarithm_of_rounds(ranks: int, rounds: int) -> None:
    steps = steps_of("allreduce", algorithm="recursive-doubling", sites=[0] * ranks, size=8, compute_ns=0)
    assert {len(each) for each in steps} == {2 * rounds}
    assert rounds == math.log2(ranks)


def test_a_ring_moves_twice_the_data_but_for_one_part() -> None:
    steps = steps_of("allreduce", algorithm="ring", sites=[0] * 8, size=8_000, compute_ns=0)
    for each in steps:
        assert sum(step["bytes"] for step in each if step["do"] == "send") == 2 * 7 * 1_000


HEAD = """version: 1
name: t
nodes:
  par: {kind: router}
  nyc: {kind: router}
  par1..4: {kind: host, attach: par, profile: lan}
  nyc1..4: {kind: host, attach: nyc, profile: lan}
profiles: {lan: {delay: 0us, rate: 100Gbit}}
links: {wan: {endpoints: [par, nyc], delay: 10ms, rate: 100Gbit}}
"""


@pytest.mark.parametrize(
    ("simulate", "one_way_trips"),
    [
        ("kind: ping-pong, bytes: 8B", 2),
        ("kind: allreduce, bytes: 8B, algorithm: flat", 2),
        ("kind: allreduce, bytes: 8B, algorithm: two-level", 1),
        ("kind: allreduce, bytes: 8B", 1),
        ("kind: halo, bytes: 8B, compute: 30ms", 4),
        ("kind: alltoall, bytes: 8B", 1),
        ("kind: broadcast, bytes: 8B, slots: 2", 0),
    ],
)
def test_iterations_take_as_many_trips_as_the_algorithm_needs(simulate: str, one_way_trips: int) -> None:
    program = f"programs: {{job: {{simulate: {{{simulate}, repeat: 21}}, hosts: [par1..4, nyc1..4]}}}}\n"
    resolved = resolve(parse_scenario((HEAD + program).encode(), name="t.yaml"))
    job = {**resolved.jobs[0], "cc": {"algorithm": "reno"}}
    run = _longhaul.Simulation(json.dumps({**resolved.plan, "jobs": [job]}), directory=None)
    while not run.advance(100_000):
        pass
    (found,) = json.loads(run.finish())["jobs"]
    assert found["iterations"] == 21
    # The first iteration waits for the handshakes; the others take what the delay says.
    assert found["iteration"]["p50_ns"] == pytest.approx(one_way_trips * 10e6, rel=0.02, abs=60_000)


@pytest.mark.parametrize("sites", [2, 3, 4, 5, 7])
def test_two_levels_cross_the_wide_area_once_however_many_sites_there_are(sites: int) -> None:
    # A star of sites, each 5 ms from its centre: 10 ms from site to site.
    names = [f"s{number}" for number in range(sites)]
    lines = [
        "version: 1\nname: t\nprofiles: {lan: {delay: 0us, rate: 100Gbit}}\nnodes:\n  hub: {kind: router}",
        *(f"  {name}: {{kind: router}}" for name in names),
        *(f"  {name}h1..2: {{kind: host, attach: {name}, profile: lan}}" for name in names),
        "links:",
        *(f"  {name}-hub: {{endpoints: [{name}, hub], delay: 5ms, rate: 100Gbit}}" for name in names),
    ]
    hosts = ", ".join(f"{name}h1..2" for name in names)
    job = f"{{simulate: {{kind: allreduce, algorithm: two-level, bytes: 8B, repeat: 21}}, hosts: [{hosts}]}}"
    text = "\n".join([*lines, f"programs: {{job: {job}}}", ""])
    resolved = resolve(parse_scenario(text.encode(), name="t.yaml"))
    planned = {**resolved.jobs[0], "cc": {"algorithm": "reno"}}
    run = _longhaul.Simulation(json.dumps({**resolved.plan, "jobs": [planned]}), directory=None)
    while not run.advance(100_000):
        pass
    (found,) = json.loads(run.finish())["jobs"]
    assert found["iteration"]["p50_ns"] == pytest.approx(10e6, rel=0.02)


def test_the_arithmetic_of_the_collectives_scenario_holds(tmp_path: Path) -> None:
    swept = longhaul.sweep(ROOT / "scenarios/collectives.yaml", runs=tmp_path, report=False)
    table = swept.table()
    took_s = {name: mean / 1e9 for name, mean in zip(table["axis_algorithm"], table["mean"], strict=True)}
    sites, ranks, delay_s, sums = 2, 16, 0.010, 101
    ways = {
        "flat": 2,
        "binomial": 2,
        "recursive-doubling": 1,
        "two-level": 1,
        "ring": 2 * (ranks - 1) * sites / ranks,
    }
    assert took_s.keys() == ways.keys()
    for name, crossings in ways.items():
        expected_s = sums * crossings * delay_s + 0.030
        assert expected_s <= took_s[name] <= 1.05 * expected_s, name
