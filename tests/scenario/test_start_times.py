"""Random starts of traffic and programs: equal for equal seeds, and drawn as the distribution says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longhaul
from longhaul import _longhaul
from longhaul.run import live, sim
from longhaul.run.random_starts import start_ns, with_starts
from longhaul.scenario import ScenarioError, parse_scenario, resolve
from longhaul.scenario.lower.randomness import is_random

TEXT = """
version: 1
name: starts
duration: 3s
params: {cc: reno}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 5ms, rate: 10Mbit, queue: 1bdp}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: $cc, start: {dist: uniform, low: 200ms, high: 1s}}
  other: {kind: tcp, from: a, to: b, cc: $cc, start: 100ms, stop: 2s}
sweep: {axes: {cc: [reno, cubic]}, repeat: 5}
"""
UNIFORM = {"dist": "uniform", "low": 2e8, "high": 1e9}


def resolved(text: str = TEXT, *, seed: int = 1) -> Any:
    return resolve(parse_scenario(text.encode(), name="starts.yaml"), seed=seed)


def starts(found: Any) -> dict[str, int]:
    return {item["name"]: item["start_ns"] for item in found.traffic}


def test_the_start_is_the_first_draw_of_a_stream_with_its_name() -> None:
    # A uniform draw is low + u (high - low), u being the open uniform of docs/models/random-streams.md.
    (bits,) = (round(u * 2**53) for u in _longhaul.uniforms(7, "bulk/start", 1))
    u = ((bits >> 1) + 0.5) / 2**52
    assert start_ns(7, "bulk", UNIFORM) == pytest.approx(2e8 + u * 8e8, abs=1)
    assert starts(with_starts(resolved(seed=7)))["bulk"] == start_ns(7, "bulk", UNIFORM)


def test_starts_are_spread_as_the_distribution_says() -> None:
    drawn = np.array([start_ns(seed, "bulk", UNIFORM) for seed in range(4_000)])
    assert drawn.min() >= 2e8
    assert drawn.max() <= 1e9
    # Mean 0.6 s, sd 0.8 / sqrt(12) = 0.231 s: four standard errors of 4,000 draws are 14.6 ms.
    assert drawn.mean() == pytest.approx(6e8, abs=14.6e6)
    quarters = np.histogram(drawn, bins=4, range=(2e8, 1e9))[0]
    assert all(abs(count - 1_000) < 4 * np.sqrt(4_000 * 0.25 * 0.75) for count in quarters)


def test_a_start_that_is_drawn_before_the_run_is_the_start_of_the_run() -> None:
    # Half of the draws of a normal distribution around 0 are negative.
    drawn = [start_ns(seed, "bulk", {"dist": "normal", "mean": 0.0, "sd": 1e9}) for seed in range(40)]
    assert min(drawn) == 0
    assert 10 <= sum(each > 0 for each in drawn) <= 30
    text = TEXT.replace("{dist: uniform, low: 200ms, high: 1s}", "{dist: normal, mean: 0s, sd: 1s}")
    plans = [sim.simulated_plan(resolved(text, seed=seed))[0] for seed in range(8)]
    assert min(each["start_ns"] for plan in plans for each in plan["flows"]) == 0


def test_another_name_moves_no_start_and_a_constant_start_stays() -> None:
    more = TEXT.replace(
        "  other:", "  aaa: {kind: ping, from: a, to: b, start: {dist: exponential, mean: 1s}}\n  other:"
    )
    for seed in range(5):
        before, after = (starts(with_starts(resolved(text, seed=seed))) for text in (TEXT, more))
        assert before["bulk"] == after["bulk"]
        assert before["other"] == after["other"] == 100_000_000


def test_a_live_run_and_a_simulation_of_a_seed_start_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longhaul.run.traffic.require", lambda _commands: None)
    found = resolved(seed=3)
    plan, _rows = sim.simulated_plan(found)
    prepared = live.prepare(found, runs=tmp_path, argv=[])
    programs = {each["name"]: each for each in json.loads(prepared.plan.read_text())["programs"]}
    (bulk,) = [each for each in plan["flows"] if each["name"] == "bulk"]
    assert programs["bulk"]["start_ns"] == bulk["start_ns"] == start_ns(3, "bulk", UNIFORM)


def test_programs_and_jobs_start_at_random_too() -> None:
    more = """programs:
  sum: {simulate: {kind: allreduce, bytes: 1kB}, hosts: [a, b], start: {dist: uniform, low: 1s, high: 2s}}
  talk: {run: "true", each: [a, b], start: {dist: uniform, low: 1s, high: 2s}}
"""
    found = with_starts(resolved(TEXT + more, seed=2))
    distribution = {"dist": "uniform", "low": 1e9, "high": 2e9}
    assert found.jobs[0]["start_ns"] == start_ns(2, "sum", distribution)
    own = {each["name"]: each["start_ns"] for each in found.plan["programs"]}
    assert own == {f"talk.{host}": start_ns(2, f"talk.{host}", distribution) for host in "ab"}
    assert len(set(own.values())) == 2


def test_repetitions_of_a_sweep_differ_by_their_starts(tmp_path: Path) -> None:
    path = tmp_path / "starts.yaml"
    path.write_text(TEXT)
    swept = longhaul.sweep(path, runs=tmp_path, metrics=["flows.bulk.goodput"], report=False)
    table = swept.table()
    assert table["runs"] == table["repeats"] == [5, 5]
    assert all(half > 0 for half in table["half_width"])
    parts = swept.table("parts")
    digests = dict(zip(zip(parts["axis_cc"], parts["seed"], strict=True), parts["digest"], strict=True))
    alone = longhaul.run_sim(path, seed=4, params={"cc": "cubic"}, runs=tmp_path, report=False)
    assert digests["cubic", 4] == alone.summary["simulation"]["digest"]


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ("{dist: uniform, low: 1s, high: 3s}, stop: 2s", "traffic.bulk.start: may start after it stops"),
        ("{dist: exponential, mean: 1s}, stop: 2s", "its start has no bound; write for example start: {dist"),
        ("{dist: uniform, low: 2s, high: 3s}, stop: 1s", "stops before it starts"),
        ("{dist: unifrom, low: 2s, high: 3s}", 'did you mean "uniform"'),
        ("{dist: uniform, low: 2, high: 3s}", "has no unit"),
        ("{dist: uniform, low: 30s}", 'has no "high"; add for example high: 60s'),
        ("{dist: uniform, low: 0s}", 'has no "high"; add for example high: 1s'),
        ("{dist: uniform, high: 5ms}", 'has no "low"; add for example low: 2.5ms'),
        ("{dist: uniform, high: 5ns}", 'has no "low"; add for example low: 2ns'),
    ],
)
def test_a_start_that_cannot_be_is_refused_with_its_place(start: str, words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        resolved(TEXT.replace("start: {dist: uniform, low: 200ms, high: 1s}", f"start: {start}"))
    assert words in str(caught.value)


CALM = TEXT.replace("start: {dist: uniform, low: 200ms, high: 1s}", "start: 200ms")
TICKS = "delay: {base: 5ms, ticks: {hz: 1000, rounding: nearest}}"
IN_ORDER = "events: [{at: 1s, link: wire, set: {reordering: none}}]\n"


@pytest.mark.parametrize(
    "text", [CALM.replace("delay: 5ms", TICKS), CALM + IN_ORDER], ids=["ticks", "in order"]
)
def test_ticks_and_the_end_of_reordering_draw_nothing(text: str) -> None:
    found = resolved(text)
    assert not is_random(sim.simulated_plan(found)[0], starts=found.starts)


JITTER = "delay: {base: 5ms, jitter: {dist: uniform, half_width: 1ms}}"
RANDOM: list[tuple[str, Callable[[str], str]]] = [
    ("a start", lambda _calm: TEXT),
    ("loss", lambda calm: calm.replace("queue: 1bdp", "queue: 1bdp, loss: 1%")),
    ("jitter", lambda calm: calm.replace("delay: 5ms", JITTER)),
    ("red", lambda calm: calm.replace("queue: 1bdp", "queue: {kind: red, limit: 100p, min: 30p, max: 90p}")),
    ("damage", lambda calm: calm.replace("queue: 1bdp", "queue: 1bdp, corrupt: 0.1%")),
    ("an algorithm that draws", lambda calm: calm.replace("cc: $cc, start: 100ms", "cc: bbr, start: 100ms")),
    ("arrivals", lambda calm: calm.replace("{kind: tcp, from: a, to: b, cc: $cc, start: 100ms, stop: 2s}",
        "{kind: udp, from: a, to: b, rate: 1Mbit, arrivals: poisson}")),
    ("reordering", lambda calm: calm.replace(
        "queue: 1bdp", "queue: 1bdp, reordering: {share: 1%, delay: 9ms}")),
    ("an event", lambda calm: calm + "events: [{at: 1s, link: wire, set: {loss: 1%}}]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change"), RANDOM, ids=[name for name, _ in RANDOM])
def test_what_is_random_is_known_and_what_is_not_is_said_before_a_sweep_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, change: Callable[[str], str]
) -> None:
    for text, random in ((CALM, False), (change(CALM), True)):
        found = resolved(text)
        assert is_random(sim.simulated_plan(found)[0], starts=found.starts) is random, name
    path = tmp_path / "calm.yaml"
    path.write_text(CALM)
    longhaul.sweep(path, runs=tmp_path, report=False)
    assert "repetitions cannot differ: nothing in the scenario is random" in caplog.text
