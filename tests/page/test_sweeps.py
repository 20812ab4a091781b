"""Sweeps that the page starts: their progress, results as they come, and their end."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .served import Served, children, is_alive, serving, until

SWEEP = """\
version: 1
name: varied
duration: 2s
params: {cc: reno, far: 10ms}
nodes: {near: {kind: host}, away: {kind: host}}
links: {wan: {endpoints: [near, away], delay: $far, rate: 20Mbit}}
traffic: {bulk: {kind: tcp, from: near, to: away, cc: $cc}}
sweep: {axes: {cc: [reno, cubic], far: [5ms, 10ms, 20ms]}, repeat: 2}
"""
LONG = SWEEP.replace("20Mbit", "1Gbit").replace("repeat: 2", "repeat: 1000").replace("varied", "long")
ENDLESS = LONG.replace("2s", "1h")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("swept")) as served:
        yield served


def start(server: Served, text: str, **more: Any) -> str:
    status, told = server.ask("/api/sweeps", {"text": text, **more})
    assert status == 200, told
    return str(told["id"])


def look(server: Served, run: str) -> Any:
    return server.ask(f"/api/sweeps/{run}")[1]


def test_a_sweep_runs_to_its_end_with_an_estimate_for_each_variant(server: Served) -> None:
    run = start(server, SWEEP)
    until(lambda: not look(server, run)["row"]["can_stop"])
    found = look(server, run)
    assert (found["row"]["status"], found["progress"], found["summary"]["points"]) == ("done", None, 12)
    goodput = [each for each in found["rows"] if each["metric"] == "flows.bulk.goodput"]
    column = found["row"]["axes"][0]["column"]
    counted = [(each[column], each["repeats"], each["n"]) for each in goodput]
    assert counted == [(cc, 2, "deterministic, n = 1") for cc in ("reno", "cubic") for _ in range(3)]
    # 20 Mbit/s of frames carry less, and something.
    assert all(0 < each["mean"] < 20e6 for each in goodput)
    assert (server.directory / "runs" / run.replace("~", "/") / "report.html").is_file()
    assert server.ask(f"/api/sweeps/{run}/stop", {})[0] == 409


def cells(charts: list[Any]) -> list[str]:
    """The texts of the map among charts."""
    (map_,) = [each for each in charts if each["name"].endswith("map")]
    return [words for (panel,) in map_["rows"] for each in panel["series"] for words in each["words"]]


def test_the_map_of_a_running_sweep_has_all_cells(server: Served) -> None:
    run = start(server, ENDLESS)
    until(lambda: look(server, run)["charts"])
    assert cells(look(server, run)["charts"]) == ["not run yet"] * 6
    server.ask(f"/api/sweeps/{run}/stop", {})
    until(lambda: not look(server, run)["row"]["can_stop"])
    assert cells(look(server, run)["charts"]) == ["not run"] * 6


def test_a_sweep_is_stopped_and_keeps_what_it_has_done(server: Served) -> None:
    run = start(server, LONG)
    assert server.ask("/api/sweeps", {"text": SWEEP})[1]["error"]["message"] == "a sweep is under way"
    until(lambda: (look(server, run)["progress"] or {}).get("done", 0) > 0 and look(server, run)["rows"])
    before = look(server, run)
    assert before["progress"]["points"] == 6000
    assert re.fullmatch(r"\d.* left", before["progress"]["left_text"])
    assert server.ask(f"/api/sweeps/{run}/stop", {})[0] == 200
    until(lambda: not look(server, run)["row"]["can_stop"])
    after = look(server, run)
    assert after["row"]["status"] == "interrupted"
    assert before["summary"]["points"] <= after["summary"]["points"] < 6000


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (SWEEP[: SWEEP.index("sweep:")], "scenario.yaml has no sweep", None),
        (SWEEP.replace("far: [5ms,", "near: [5ms,"), "is neither parameter nor key", 8),
        (SWEEP.replace("[5ms,", "[5,"), "has no unit", 6),
    ],
)
def test_what_is_no_sweep_is_refused_with_its_place(
    server: Served, text: str, said: str, line: int | None
) -> None:
    status, told = server.ask("/api/sweeps", {"text": text})
    assert status == 400
    problems = told["error"].get("problems") or [told["error"]]
    assert said in problems[0]["message"]
    assert problems[0].get("line") == line
    assert told["error"]["remedy"] or problems[0]["remedy"]


def test_a_server_that_is_killed_leaves_no_sweep_behind(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        run = start(server, ENDLESS)
        (process,) = children(server.process.pid)
        server.process.send_signal(signal.SIGKILL)
        until(lambda: not is_alive(process))
        told = json.loads((tmp_path / "runs" / run.replace("~", "/") / "sweep.json").read_text())
        assert told["status"] == "interrupted"


def test_a_sweep_that_is_killed_says_so(server: Served) -> None:
    run = start(server, ENDLESS)
    until(lambda: look(server, run)["messages"])
    for process in children(server.process.pid):
        os.kill(process, signal.SIGKILL)
    until(lambda: not look(server, run)["row"]["can_stop"])
    found = look(server, run)
    assert found["row"]["status"] == "crashed"
    warning, ending = found["messages"]
    assert warning["message"] == (
        "repetitions cannot differ: nothing in the scenario is random, so all seeds of a variant give one "
        "result without an interval; start traffic at random, "
        "for example start: {dist: uniform, low: 0s, high: 1s}, or leave out repeat [W0203]"
    )
    assert ending["message"] == "the run was killed (signal 9)"
