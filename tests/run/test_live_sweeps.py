"""Sweeps of live runs on the real clock: what is part of the means, and what a machine cannot do."""

import platform
from pathlib import Path

import pytest

from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps.columns import schema
from longhaul.sweeps.job import Piece, Shard, as_parquet, run_shard
from longhaul.sweeps.preparation import prepare
from longhaul.sweeps.summary import count_verdicts, summarise
from longhaul.sweeps.trials import UnableMachineError, trials_of
from longhaul.sweeps.wording import verdicts_text

SCENARIO = """\
version: 1
name: pair
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {a-b: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic: {echo: {kind: ping, from: a, to: b}}
"""


def part(place: Path, *rows: tuple[int, str, float]) -> Path:
    """A part with the repetition, the verdict and the goodput of each of some runs."""
    columns = schema([("axis_cc", "string")], live=True)
    found = [
        {
            "variant": 0,
            "repeat": repeat,
            "axis_cc": "reno",
            "item": "flows.bulk",
            "goodput_bits_per_s": goodput,
            "verdict": verdict,
        }
        for repeat, verdict, goodput in rows
    ]
    place.write_bytes(as_parquet(found, columns, shard="00-000000"))
    return place


def test_invalid_runs_are_counted_and_not_part_of_the_means(tmp_path: Path) -> None:
    parts = [
        part(tmp_path / "0.parquet", (0, "faithful", 10e6), (1, "invalid", 90e6)),
        part(tmp_path / "1.parquet", (2, "degraded", 20e6)),
    ]
    (row,) = summarise(parts, ["flows.*.goodput"]).to_pylist()
    assert (row["mean"], row["most"], row["repeats"]) == (15e6, 20e6, 2)
    verdicts = count_verdicts(parts)
    assert list(verdicts.items()) == [("faithful", 1), ("degraded", 1), ("invalid", 1)]
    assert verdicts_text(verdicts) == "1 run faithful, 1 degraded, 1 invalid (not part of the means)"


def test_a_machine_without_a_program_says_which_it_is_and_leaves_the_run_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO)
    options = Options(axes={"links.a-b.delay": "5ms"})
    job = prepare(path, settings={}, options=options, trials=trials_of("real")).job
    monkeypatch.setattr("longhaul.run.traffic.find_program", lambda _command: None)
    with pytest.raises(UnableMachineError, match=f"^{platform.node()}: traffic needs ping"):
        run_shard(job, Shard(0, 0, (Piece(0, ("5ms",), 0, 1),)))
