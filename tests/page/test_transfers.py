"""Transfers on the page: request files, plans by policies with parameters, and runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .served import Served, serving, until

FOLDER = Path(__file__).parents[2] / "scenarios" / "transfers"
SCENARIO = (FOLDER / "two-sites.yaml").read_text(encoding="utf-8")
REQUESTS = """\
version: 1
requests:
  r1: {from: src1, to: sink1, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
  r2: {from: src2, to: sink2, volume: 10MB, deadline: 60s, max_rate: 20Mbit}
"""
POINTS = (
    "version: 1\npoints: {a: 1Gbit, b: 1Gbit}\nrequests: {r: {from: a, to: b, volume: 1GB, deadline: 1h}}\n"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("transfers")
    (folder / "wanted.yaml").write_text(REQUESTS)
    (folder / "wanted.csv").write_text("from,to,volume\na,b,1GB\n")
    (folder / "other.csv").write_text("x,y\n1,2\n")
    (folder / "wan.yaml").write_text(SCENARIO)
    with serving(folder) as served:
        yield served


def ask(server: Served, path: str, body: Any = None, *, status: int = 200) -> Any:
    got, told = server.ask(f"/api/transfers{path}", body)
    assert got == status, told
    return told


def test_files_of_requests_are_told_from_other_files(server: Served) -> None:
    found = ask(server, "/files")
    assert [each["name"] for each in found["files"]] == ["wanted.csv", "wanted.yaml"]
    (example,) = found["examples"]
    assert (example["name"], example["scenario"]) == ("two-sites-requests.yaml", SCENARIO)
    names = [each["name"] for each in server.ask("/api/state")[1]["files"]]
    assert names == ["wan.yaml", "wanted.yaml"]
    assert server.ask("/api/files/wanted.csv")[1]["text"].startswith("from,to")


def test_a_table_has_its_ends_and_the_problem_of_each_cell(server: Served) -> None:
    told = ask(server, "/requests", {"text": REQUESTS, "scenario": SCENARIO})
    assert told["ends"] == ["src1", "src2", "sink1", "sink2"]
    assert [each["name"] for each in told["rows"]] == ["r1", "r2"]
    edits = [{"op": "set", "request": "r1", "column": "volume", "text": "10"}]
    told = ask(server, "/requests", {"text": REQUESTS, "edits": edits})
    assert told["text"] == REQUESTS.replace("10MB", "10", 1)
    (problem,) = told["problems"]
    assert (problem["path"], problem["line"]) == ("requests.r1.volume", 3)
    wrong = [{"op": "set", "request": "r1", "column": "size", "text": "10"}]
    assert ask(server, "/requests", {"text": REQUESTS, "edits": wrong}, status=400)["error"]["remedy"]


def test_a_plan_takes_the_parameters_of_its_policy(server: Served) -> None:
    fast = ask(server, "/plan", {"text": POINTS, "policy": "greedy-f", "f": 1.0})["requests"][0]
    slow = ask(server, "/plan", {"text": POINTS, "policy": "greedy-f", "f": 0.25})["requests"][0]
    assert fast["bits_per_s"] == pytest.approx(4 * slow["bits_per_s"])
    late = ask(server, "/plan", {"text": POINTS, "policy": "window-min", "window": "90s"})["requests"][0]
    assert late["start_s"] == pytest.approx(90)
    for wrong in (
        {"policy": "fair", "f": 0.5},
        {"policy": "greedy-f", "f": 2},
        {"policy": "window-f", "window": "9"},
    ):
        assert ask(server, "/plan", {"text": POINTS, **wrong}, status=400)["error"]["remedy"]


def test_transfers_are_simulated_and_compared_with_their_plan(server: Served) -> None:
    body = {"text": REQUESTS, "scenario": SCENARIO, "policy": "serial-fcfs", "mode": "sim"}
    run = ask(server, "/runs", body)["id"]
    with server.listen(run) as events:
        end = dict(events)["end"]
    assert (end["reason"], end["exit_code"]) == ("flows", 0)
    told = server.ask(f"/api/runs/{run}")[1]
    assert told["transfers"]["policy"] == "serial-fcfs"
    assert all(each["met"] and each["planned"] and each["achieved"] for each in told["transfers"]["requests"])
    assert told["has_report"]
    assert ask(server, f"/runs/{run}")["progress"] is None


def test_transfers_say_how_far_they_are_and_are_stopped(server: Served) -> None:
    long = REQUESTS.replace("10MB", "50GB").replace("60s", "10h")
    run = ask(server, "/runs", {"text": long, "scenario": SCENARIO, "policy": "fair", "mode": "sim"})["id"]
    until(lambda: (ask(server, f"/runs/{run}")["progress"] or {}).get("moved_bytes"))
    progress = ask(server, f"/runs/{run}")["progress"]
    assert (progress["over"], progress["requests"], progress["volume_bytes"]) == (0, 2, 100_000_000_000)
    assert progress["left_text"].endswith("left")
    assert server.ask(f"/api/runs/{run}/stop", {})[0] == 200
    with server.listen(run) as events:
        assert dict(events)["end"]["reason"] == "interrupted"
    told = server.ask(f"/api/runs/{run}")[1]["transfers"]["requests"]
    assert not any(each["met"] for each in told)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scenario": None}, "none is given"),
        ({"text": REQUESTS.replace("src1", "lyon")}, "lyon is a router"),
        ({"text": REQUESTS.replace("src1", "src9")}, "src9"),
        ({"policy": "quick"}, 'no policy "quick"'),
        ({"policy": "fair", "window": "60s"}, "no use for window"),
        ({"mode": "live", "program": "scp"}, 'no transfer program "scp"'),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_remedy(server: Served, changes: Any, said: str) -> None:
    body = {"text": REQUESTS, "scenario": SCENARIO, "policy": "fair", "mode": "sim", **changes}
    error = ask(server, "/runs", body, status=400)["error"]
    assert said in error["message"]
    assert error["remedy"]
