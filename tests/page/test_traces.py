"""Traces on the page: list, draw, edit, and save as a new file through the checks of the command line."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul.scenario.traces.files import read_traces

from .served import Served, serving, until

COMMAND = str(Path(sys.executable).parent / "longhaul")
WAN = "t_s,rtt_ms,rate_mbit\n0,20,50\n1,22,48\n2,,47\n3,30,40\n4,25,45\n"
SEVERAL = "t_s,src,dst,rtt_ms\n0,par,nyc,70\n1,par,nyc,72\n0,nyc,par,71\n1,nyc,par,73\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("traces")
    (folder / "wan.csv").write_text(WAN)
    (folder / "several.csv").write_text(SEVERAL)
    (folder / "broken.csv").write_text(WAN.replace("3,30", "1,30"))
    (folder / "requests.csv").write_text("name,from,to,volume\nraw,a,b,1GB\n")
    with serving(folder) as served:
        yield served


def look(server: Served, *edits: Any, name: str = "wan.csv", **more: Any) -> tuple[int, Any]:
    return server.ask("/api/traces", {"name": name, "edits": edits, **more})


def test_files_are_listed_with_their_links_and_what_is_wrong_and_tables_of_others_are_not(
    server: Served,
) -> None:
    told = server.ask("/api/traces")[1]
    files = {each["name"]: each for each in told["files"]}
    assert "requests.csv" not in files
    assert files["wan.csv"]["links"] == [
        {"from": None, "to": None, "rows": 5, "span_s": 5.0, "columns": ["rtt_ms", "rate_mbit"]}
    ]
    assert [(each["from"], each["to"]) for each in files["several.csv"]["links"]] == [
        ("par", "nyc"), ("nyc", "par"),
    ]  # fmt: skip
    assert files["broken.csv"]["problem"].startswith("line 5: ")
    assert "longcut:eventspace" in told["built_in"]


def test_edits_are_arithmetic_and_gaps_stay(server: Served) -> None:
    cut = {"op": "cut", "from_s": 1, "to_s": 4}
    scale = {"op": "scale", "column": "rtt_ms", "value": 1.1}
    shift = {"op": "shift", "column": "rate_mbit", "value": -7}
    put = {"op": "set", "column": "rtt_ms", "from_s": 2.5, "value": 99}
    status, told = look(server, cut, scale, shift, put)
    assert status == 200, told
    assert told["times_s"] == [0, 1, 2]
    assert told["columns"] == {"rtt_ms": [24.2, None, 99], "rate_mbit": [41, 40, 33]}
    (rtt, _rate) = told["statistics"]
    assert (rtt["count"], rtt["gaps"], rtt["most"]) == (2, 1, 99)
    assert look(server)[1]["columns"]["rtt_ms"] == [20, 22, None, 30, 25]
    gap = {"op": "set", "column": "rtt_ms", "from_s": 0, "value": None}
    assert look(server, gap)[1]["columns"]["rtt_ms"][0] is None
    told = look(server, name="several.csv", link=["nyc", "par"])[1]
    assert (told["from"], told["columns"]["rtt_ms"]) == ("nyc", [71, 73])
    assert [each["to"] for each in told["links"]] == ["nyc", "par"]
    status, refused = look(server, name="several.csv", link=["nyc", "ams"])
    assert (status, refused["error"]["message"]) == (400, "there is no link nyc > ams")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"op": "cut", "from_s": 9}, "no row is from 9 s to the end"),
        ({"op": "scale", "column": "rtt_ms", "value": 0}, "a round trip of 0"),
        ({"op": "shift", "column": "rate_mbit", "value": -41}, '"-1" is negative'),
        ({"op": "scale", "column": "delay_ms", "value": 2}, 'the trace has no column "delay_ms"'),
        ({"op": "scale", "column": "rtt_ms"}, "scale has no value"),
        ({"op": "set", "column": "rtt_ms", "from_s": -1, "value": 5}, "no row holds at -1 s"),
        ({"op": "set", "column": "rtt_ms", "value": 5}, "a value is set at no time"),
        ({"op": "turn"}, '"edits.0.op"'),
    ],
)
def test_what_no_trace_may_have_is_refused_and_nothing_is_written(
    server: Served, edit: Any, said: str
) -> None:
    status, refused = look(server, edit)
    assert status == 400
    assert said in refused["error"]["message"]
    status, _ = server.ask("/api/traces/bad.csv", {"name": "wan.csv", "edits": [edit]}, method="PUT")
    assert status == 400
    assert not (server.directory / "bad.csv").exists()


def test_a_saved_trace_is_one_that_the_command_line_accepts_and_replaces_none(server: Served) -> None:
    wish = {"name": "wan.csv", "edits": [{"op": "scale", "column": "rtt_ms", "value": 2}]}
    status, told = server.ask("/api/traces/slow.csv", wish, method="PUT")
    assert (status, told) == (200, {"name": "slow.csv", "rows": 5})
    argv = [COMMAND, "trace", "validate", "slow.csv"]
    done = subprocess.run(argv, cwd=server.directory, capture_output=True, text=True, check=True)
    assert "slow.csv: good (5 rows)" in done.stdout
    (saved,) = read_traces(str(server.directory / "slow.csv")).traces
    assert saved.columns["rtt_ms"] == (40, 44, None, 60, 50)
    status, refused = server.ask("/api/traces/slow.csv", wish, method="PUT")
    assert (status, refused["error"]["message"]) == (409, "slow.csv already exists")
    for name in ("../out.csv", "slow.yaml", "slow"):
        path = f"/api/traces/{name.replace('/', '%2F')}"
        assert server.ask(path, wish, method="PUT")[0] in (400, 404), name
    assert look(server, name="../wan.csv")[0] == 404
    assert (server.directory / "wan.csv").read_text() == WAN


def test_a_long_trace_is_thinned_out_but_keeps_its_extremes(server: Served) -> None:
    rows = [f"{at},{900 if at == 12_345 else 20 + at % 7}" for at in range(20_000)]
    (server.directory / "long.csv").write_text("\n".join(["t_s,rtt_ms", *rows, ""]))
    told = look(server, name="long.csv")[1]
    assert (told["rows"], len(told["times_s"]) <= 3_000) == (20_000, True)
    assert told["times_s"][told["columns"]["rtt_ms"].index(900)] == 12_345
    assert set(told["columns"]["rtt_ms"]) >= {20, 26}


def test_a_trace_is_collected_by_a_job(server: Served) -> None:
    with subprocess.Popen(
        [COMMAND, "trace", "collect", "--serve", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as serving_probes:
        assert serving_probes.stdout
        address = serving_probes.stdout.readline().split()[-1]
        wish = {"to": address, "name": "way.csv", "style": "ping", "duration": "2s", "period": "200ms"}
        status, job = server.ask("/api/traces/collect", wish)
        assert status == 200, job
        assert f"longhaul trace collect --to={address} --style=ping" in job["command"]
        until(lambda: server.ask(f"/api/jobs/{job['id']}")[1]["job"]["state"] == "done")
        serving_probes.terminate()
    (link,) = next(each for each in server.ask("/api/traces")[1]["files"] if each["name"] == "way.csv")[
        "links"
    ]
    assert link["rows"] == 10
    assert link["columns"] == ["rtt_ms"]
    assert server.ask("/api/traces/collect", wish)[0] == 409, "it is there already"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"name": "way.txt"}, 400),
        ({"name": "../way.csv"}, 400),
        ({"to": "--serve=x"}, 400),
        ({"to": "a b"}, 400),
    ],
)
def test_what_cannot_be_collected_is_refused(server: Served, wrong: dict[str, str], status: int) -> None:
    wish = {"to": "127.0.0.1:1", "name": "other.csv", "style": "ping", "duration": "1s", **wrong}
    answer = server.ask("/api/traces/collect", wish)
    assert answer[0] == status, answer
    assert not list(Path(server.directory).parent.glob("way.csv"))
