"""Runs from the page on the virtual clock and in shards: what is missing, started and divided."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from installed_kernels import installed

from longhaul.kernels.commands import PACKAGES
from longhaul.subprocesses import find_program

from .served import Served, serving, until

COMMAND = str(Path(sys.executable).parent / "longhaul")
TEXT = """\
version: 1
name: chain
duration: 1s
params: {far: 20ms}
nodes:
  r1..4: {kind: router}
  a1..2: {kind: host, attach: r1}
  d1..2: {kind: host, attach: r4}
links:
  one: {endpoints: [r1, r2], rate: 50Mbit, delay: 10ms}
  two: {endpoints: [r2, r3], rate: 50Mbit, delay: $far}
  three: {endpoints: [r3, r4], delay: 5ms}
traffic:
  far: {kind: ping, from: a1, to: d1, every: 20ms}
  load: {kind: udp, from: d2, to: a2, rate: 2Mbit}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Of a user without guest kernels."""
    place = tmp_path_factory.mktemp("clocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        (place / "page").mkdir()
        with serving(place / "page") as served:
            yield served


def runs(server: Served) -> list[str]:
    return [each["id"] for each in server.ask("/api/runs")[1]["runs"]]


def virtual(server: Served, **more: Any) -> tuple[int, Any]:
    return server.ask("/api/runs", {"text": TEXT, "mode": "live", "clock": "virtual", **more})


def test_without_a_kernel_the_page_says_what_is_missing_and_starts_nothing(server: Served) -> None:
    told = server.ask("/api/kernels")[1]
    assert told["kernels"] == []
    assert told["missing"] == {
        "message": "this user has no guest kernel", "remedy": "build one with: longhaul kernel build",
    }  # fmt: skip
    assert "16 min of CPU time" in told["takes"]
    before = runs(server)
    status, refused = virtual(server)
    assert (status, refused["error"]["code"], refused["error"]["remedy"]) == (
        409, "E2701", "build one with: longhaul kernel build",
    )  # fmt: skip
    assert runs(server) == before
    warned = server.ask("/api/preflight", {"text": TEXT, "clock": "virtual"})[1]["warnings"]
    assert "this user has no guest kernel" in [each["message"] for each in warned]
    # Of the real clock only.
    assert not any(each["code"] == "E1101" for each in warned)


def test_a_build_without_its_programs_is_refused_and_names_their_packages(server: Served) -> None:
    missing = [name for name in PACKAGES if find_program(name) is None]
    lacks = server.ask("/api/kernels")[1]["build_lacks"]
    if not missing:
        assert lacks is None
        pytest.skip("all programs are installed, and a build takes 16 minutes")
    assert all(name in lacks["message"] for name in missing)
    status, refused = server.ask("/api/kernels", {})
    assert (status, refused["error"]["message"]) == (409, lacks["message"])
    assert all(PACKAGES[name] in refused["error"]["remedy"] for name in missing)
    assert server.ask("/api/jobs")[1]["jobs"] == []


def test_with_a_kernel_the_run_is_that_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    installed(tmp_path / "cache/longhaul/kernels", "6.12.117")
    (tmp_path / "page").mkdir()
    with serving(tmp_path / "page") as server:
        told = server.ask("/api/kernels")[1]
        assert (told["missing"], [each["name"] for each in told["kernels"]]) == (None, ["6.12.117"])
        status, begun = virtual(server, kernel="6.12", settings={"far": "30ms"})
        assert status == 200, begun
        with server.listen(begun["id"]) as events:
            heard = list(events)
        run = server.ask(f"/api/runs/{begun['id']}")[1]
    assert (run["mode"], run["run"]["guest_kernel"]["name"]) == ("virtual", "6.12.117")
    assert run["argv"] == [
        "longhaul", "run", "scenario.yaml", "--set", "far=30ms", "--clock", "virtual",
        "--kernel", "6.12",
    ]  # fmt: skip
    # The test's kernel is a file that does not boot, and the run says so.
    assert heard[-1][0] == "end"
    assert run["outcome"]["state"] in ("failed", "crashed")
    problems = [data["message"] for name, data in heard if name == "problem"]
    assert len(problems) == 1, heard


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"mode": "sim", "clock": "virtual"}, "a simulation has its own clock, not the virtual one"),
        ({"kernel": "6.12"}, '"kernel" is that of hosts on the virtual clock'),
        ({"clock": "virtual", "shards": 2}, "shards do not support the virtual clock yet"),
        ({"shards": 0}, '"shards'),
        ({"shards": "many"}, '"shards'),
        ({"shards": 99}, "the network cannot be divided into 99 shards"),
    ],
)
def test_what_does_not_belong_together_is_refused(server: Served, more: Any, said: str) -> None:
    before = runs(server)
    status, refused = server.ask("/api/runs", {"text": TEXT, **more})
    assert status == 400
    assert said in refused["error"]["message"]
    assert runs(server) == before


@pytest.mark.parametrize("shards", [2, 3, "auto"])
def test_shards_are_those_of_the_command_line(server: Served, shards: int | str) -> None:
    (server.directory / "chain.yaml").write_text(TEXT)
    argv = [COMMAND, "show", "chain.yaml", "--shards", str(shards), "--json"]
    printed = subprocess.run(argv, cwd=server.directory, capture_output=True, text=True, check=True).stdout
    status, told = server.ask("/api/shards", {"text": TEXT, "shards": shards})
    assert status == 200, told
    assert told == json.loads(printed)
    assert len(told["parts"]) == told["shards"] > 1
    assert told["lookahead_ns"] == min(each["lookahead_ns"] for each in told["cut"])
    assert sum(len(part["nodes"]) for part in told["parts"]) == 8
    assert told["speedup"] > 0


def test_engine_threads_of_a_live_run_are_previewed_without_a_speed_up(server: Served) -> None:
    told = server.ask("/api/shards", {"text": TEXT, "mode": "live", "shards": 2})[1]
    assert [each["link"] for each in told["cut"]] == ["two"]
    assert (told["lookahead_ns"], told["speedup"]) == (20e6, None)
    status, refused = server.ask("/api/shards", {"text": TEXT, "mode": "live", "shards": 9})
    assert (status, refused["error"]["remedy"]) == (400, "use fewer shards, or --shards auto")


def ended(server: Served, mode: str, shards: int) -> Any:
    status, begun = server.ask("/api/runs", {"text": TEXT, "mode": mode, "shards": shards})
    assert status == 200, begun
    with server.listen(begun["id"]) as events:
        for _ in events:
            pass
    until(lambda: server.ask(f"/api/runs/{begun['id']}")[1]["has_report"])
    return server.ask(f"/api/runs/{begun['id']}")[1]


def test_a_simulation_in_two_shards_says_which_nodes_each_had(server: Served) -> None:
    run, whole = ended(server, "sim", 2), ended(server, "sim", 1)
    divided = run["divided"]
    assert (divided["kind"], whole["divided"]) == ("shards", None)
    preview = server.ask("/api/shards", {"text": TEXT, "shards": 2})[1]
    assert [part["nodes"] for part in divided["parts"]] == [part["nodes"] for part in preview["parts"]]
    assert [cut["link"] for cut in divided["cuts"]] == [cut["link"] for cut in preview["cut"]]
    assert "in 2 shards" in run["clock"]
    # Results do not depend on it.
    assert run["clock"].rpartition("digest ")[2] == whole["clock"].rpartition("digest ")[2]
    assert run["argv"][-2:] == ["--shards", "2"]


def test_a_live_run_of_two_threads_has_the_fidelity_of_each_and_of_the_cut(server: Served) -> None:
    if not server.ask("/api/state")[1]["can"]["live"]:
        pytest.skip("live runs do not work here")
    divided = ended(server, "live", 2)["divided"]
    assert divided["kind"] == "threads"
    assert [each["name"] for each in divided["parts"]] == ["shard-0", "shard-1"]
    assert divided["cuts"] == [{"link": "two", "delay_ns": 20_000_000, "parts": ["shard-0", "shard-1"]}]
    assert sorted(name for each in divided["parts"] for name in each["nodes"]) == [
        "a1", "a2", "d1", "d2", "r1", "r2", "r3", "r4",
    ]  # fmt: skip
    assert all(each["lateness_p99_ns"] > 0 for each in divided["parts"])
    # 50 requests and their replies cross (fewer under load), and more than 100 datagrams of the load.
    packets = {(each["from"], each["to"]): each["packets"] for each in divided["crossings"]}
    assert packets["shard-0", "shard-1"] > 25
    assert packets["shard-1", "shard-0"] > 125
