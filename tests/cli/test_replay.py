"""A live run and the model that it ran are the same, to the picosecond."""

import json
import re
from pathlib import Path

from .conftest import ROOT, Command

PAIR = """
version: 1
name: pair
seed: 3
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wire: {endpoints: [a, b], loss: 20%, delay: {base: 2ms, jitter: {dist: uniform, half_width: 1ms}}}
traffic: {probe: {kind: ping, from: a, to: b, every: 5ms}}
"""


def live(longhaul: Command, work: Path, *options: str) -> Path:
    (work / "pair.yaml").write_text(PAIR)
    longhaul("run", "pair.yaml", "--no-report", *options)
    return work / "runs/pair/latest"


def test_every_model_live_is_every_model_of_the_model(longhaul: Command, work: Path) -> None:
    run = longhaul("run", str(ROOT / "scenarios/every-model.yaml"), "--journal", "--no-report", timeout=120)
    assert run.returncode in (0, 4), run.stderr
    directory = work / "runs/every-model/latest"
    packets = json.loads((directory / "summary.json").read_text())["packets"]
    answer = longhaul("compare", "--replay", str(directory))
    assert answer.returncode == 0, answer.stdout
    injected, departures = (
        int(re.findall(pattern, answer.stdout)[0])
        for pattern in (r"replayed (\d+) packets", r"all (\d+) departures")
    )
    assert injected == packets["injected"] > 100_000
    assert departures == injected + packets["copied"] + packets["replies"] - packets["held"]


def test_another_plan_is_found_out(longhaul: Command, work: Path) -> None:
    directory = live(longhaul, work, "--journal")
    assert longhaul("compare", "--replay", str(directory)).returncode == 0
    plan = directory / "plan.json"
    plan.write_text(plan.read_text().replace('"seed": 3', '"seed": 4'))
    answer = longhaul("compare", "--replay", str(directory))
    assert answer.returncode == 1
    assert "recorded  packet" in answer.stdout


def test_a_broken_journal_is_one_clear_error(longhaul: Command, work: Path) -> None:
    directory = live(longhaul, work, "--journal")
    journal = directory / "raw/journal.bin"
    content = journal.read_bytes()
    for broken, what in (
        (content[:-3], "the journal ends early"),
        (b"", "the journal ends early"),
        (b"something else", "another kind or version"),
    ):
        journal.write_bytes(broken)
        answer = longhaul("compare", "--replay", str(directory))
        assert answer.returncode == 2
        assert what in answer.stderr
        assert answer.stderr.count("\n") == 1


def test_a_run_without_a_journal_says_how_to_get_one(longhaul: Command, work: Path) -> None:
    answer = longhaul("compare", "--replay", str(live(longhaul, work)))
    assert answer.returncode == 2
    assert "--journal" in answer.stderr
