"""Every address answers, and every kind of event is told, as the schema says (see :mod:`page.answered`)."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from longhaul.diagnostics import Code

from . import answered
from .served import Served, serving, until

ROOT = Path(__file__).parents[2]
TEXT = """\
# A wire.
version: 1
name: all
duration: 1s
params: {far: 10ms}
profiles: {unused: {delay: 1ms}}
nodes: {near: {kind: host, at: [48.85, 2.35]}, away: {kind: host}}
links: {wan: {endpoints: [near, away], delay: $far, rate: 20Mbit, queue: {kind: codel}, forward: {loss: 1%}}}
traffic:
  probe: {kind: ping, from: near, to: away, every: 100ms}
  bulk: {kind: tcp, from: near, to: away, cc: reno, flows: 2}
  load: {kind: udp, from: near, to: away, rate: 1Mbit}
programs: {look: {run: ping -c 1 away, host: near}}
events: [{at: 500ms, link: wan, set: {delay: 20ms}}]
measure: {packets: {links: [wan]}}
expect: [{metric: flows.bulk.goodput, min: 1Mbit}]
sweep: {axes: {far: [5ms, 10ms]}, repeat: 2}
"""
LIVE_ALONE = {
    "POST /runs/{run}/set",
    "GET /runs/{run}/logs/{program}",
    "GET /runs/{run}/links/{link}",
    "GET /runs/{run}/hosts/{host}",
    "POST /runs/{run}/captures",
    "GET /runs/{run}/captures/{link}",
    "DELETE /runs/{run}/captures/{link}",
    "GET /runs/{run}/captures/{link}/packets/{number}",
    "POST /runs/{run}/captures/{link}/ticket",
    "POST /runs/{run}/impairments",
    "DELETE /runs/{run}/impairments/{impairment}",
    "POST /runs/{run}/terminals",
    "DELETE /runs/{run}/terminals/{terminal}",
}
"""Asked of live runs alone."""
OF_STUDIES = {
    "GET /studies/{study}",
    "GET /studies/{study}/figures/{figure}",
    "POST /studies/{study}/runs",
    "GET /jobs/{job}",
    "POST /jobs/{job}/stop",
    "POST /calibrate",
    "POST /kernels",
    "POST /traces/collect",
    "POST /relays",
    "GET /relays/{run}",
    "GET /relays/{run}/charts",
}
"""Asked in :mod:`page.test_studies`, of directories with studies, :mod:`page.test_machine`,
:mod:`page.test_traces` and :mod:`page.test_relays`.

A build of a kernel takes long.
"""
LIVE = (
    TEXT.replace("1s", "60s", 1)
    .replace("sweep", "# sweep")
    .replace("near: {kind: host", "r: {kind: router}, h1..100: {kind: host, attach: r}, near: {kind: host")
)
"""Large enough to say how far it is built."""
REQUESTS = """\
version: 1
points: {lyon: 1Gbit, orsay: {in: 1Gbit, out: 2Gbit}}
requests:
  raw: {from: lyon, to: orsay, volume: 500MB, deadline: 60s}
  late: {from: lyon, to: orsay, volume: 500GB, deadline: 60s}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("answers")) as served:
        yield served


def test_the_reference_has_every_address_and_every_event() -> None:
    text = (ROOT / "docs/reference/page-api.md").read_text(encoding="utf-8")
    words = {"NAME": "{name}", "ID": "{run}", "PROGRAM": "{program}", "TERMINAL": "{terminal}"}
    words |= {"STUDY": "{study}", "FIGURE": "{figure}", "JOB": "{job}"}
    words |= {"LINK": "{link}", "IMPAIRMENT": "{impairment}", "HOST": "{host}", "PACKET": "{number}"}
    named = set()
    for method, paths in re.findall(r"^\| ([A-Z]+) \| ([^|]+) \|", text, re.MULTILINE):
        for path in re.findall(r"`(/[\w/]+)", paths):
            named.add(f"{method} " + "/".join(words.get(part, part) for part in path.split("/")))
    assert named == answered.addresses() | {"GET /events"}
    events = text[text.index("\n## Events") : text.index("\n## A run from")]
    assert set(answered.kinds()) <= set(re.findall(r"`(\w+)`", events))


def follow(server: Served, run: str) -> dict[str, Any]:
    """The last event of each kind, until the run is over."""
    with server.listen(run) as events:
        return dict(events)


def test_what_nobody_named_is_found() -> None:
    """The tests of this folder hear what they ask for through these two."""
    answered.check_answer("POST", "/api/runs/a~b/stop", 200, {"ok": True})
    for wrong in ({"ok": True, "more": 1}, {}, {"ok": 1}):
        with pytest.raises(AssertionError, match="stop"):
            answered.check_answer("POST", "/api/runs/a~b/stop", 200, wrong)
    with pytest.raises(AssertionError, match="409"):
        answered.check_answer("POST", "/api/runs/a~b/stop", 409, {"message": "no"})
    answered.check_event("ending", {"reason": "duration"})
    with pytest.raises(AssertionError, match="ending"):
        answered.check_event("ending", {"why": "duration"})
    with pytest.raises(AssertionError, match="knows no event"):
        answered.check_event("directory", {"directory": "/"})
    with pytest.raises(AssertionError, match="NaN is not JSON"):
        answered.read('{"t_ns": NaN}')


def test_every_address_answers_as_the_schema_says(server: Served) -> None:
    def ask(path: str, body: Any = None, *, method: str | None = None) -> Any:
        status, told = server.ask(f"/api{path}", body, method=method)
        assert status == 200, told
        return told

    answered.heard.clear()
    ask("/state")
    ask("/schema")
    ask("/scenarios/three-clusters")
    ask("/templates/ring?name=round")
    ask("/files/all.yaml", {"text": TEXT, "etag": None}, method="PUT")
    ask("/files/all.yaml")
    for text in (TEXT, TEXT.replace("20Mbit", "20"), "a: [", ask("/templates/ring?name=round")["text"]):
        ask("/check", {"text": text})
    ask("/preflight", {"text": TEXT, "mode": "live"})
    ask("/kernels")
    ask("/shards", {"text": TEXT, "shards": 2})
    ask("/edit", {"text": TEXT, "edits": [{"op": "set", "path": ["links", "wan", "delay"], "value": "5ms"}]})
    for quantity in ("5ms", "5", "$far"):
        ask("/quantity", {"kind": "delay", "text": quantity})
    ask("/cities?name=paris")
    ask("/fibres", {"pairs": [{"one": [48.86, 2.35], "other": [40.71, -74.01]}]})
    ask("/certificate")
    wire = "version: 1\nname: w\nnodes: {a: {kind: host}, b: {kind: host}}\n" + (
        "links: {l: {endpoints: [a, b], delay: 1ms}}\n"
    )
    for path in ("/export", "/export/archive", "/export/machines"):
        ask(path, {"text": wire})
    assert ask("/doctor", {"text": TEXT, "self_test": False})["findings"]

    run = ask("/runs", {"file": "all.yaml", "mode": "sim"})["id"]
    follow(server, run)
    ask("/runs")
    ask(f"/runs/{run}")
    ask(f"/runs/{run}/ticket", {})
    ask(f"/runs/{run}/network")
    ask(f"/runs/{run}/terminals")
    for table in ("links", "lateness", "probes", "flows", "sockets", "connections"):
        ask(f"/runs/{run}/series?table={table}")
    assert ask(f"/runs/{run}/packets?link=wan&to_ns=1000000000")["packets"]
    ask("/compare", {"runs": [run, [run, run]]})
    ask("/compare/report", {"runs": [run, run]})
    etag = ask(f"/runs/{run}")["annotations"]["etag"]
    ask(f"/runs/{run}/annotations", {"title": "the first", "tags": ["one"], "etag": etag}, method="PUT")
    ask("/archive", {"runs": [run]})
    again = ask(f"/runs/{run}/reproduce", {})["id"]
    follow(server, again)
    ask(f"/runs/{again}", method="DELETE")
    ask(f"/runs/{again}/restore", {})

    sweep = ask("/sweeps", {"text": TEXT})["id"]
    ask(f"/sweeps/{sweep}")
    until(lambda: not ask(f"/sweeps/{sweep}")["row"]["can_stop"])
    assert ask(f"/sweeps/{sweep}")["rows"]
    endless = ask("/sweeps", {"text": TEXT.replace("1s", "100h", 1)})["id"]
    ask(f"/sweeps/{endless}/stop", {})
    endless = ask("/runs", {"text": TEXT.replace("1s", "100h", 1), "mode": "sim"})["id"]
    with server.listen(endless) as events:
        next(name for name, _data in events if name == "sample")
        ask(f"/runs/{endless}/stop", {})
        assert dict(events)["end"]["reason"] == "interrupted"
    assert len(ask("/runs")["sweeps"]) == 2

    for policy in ask("/transfers/policies")["policies"]:
        ask("/transfers/plan", {"text": REQUESTS, "policy": policy["name"]})
    ask("/transfers/files")
    ask("/transfers/requests", {"text": REQUESTS.replace("500MB", "500")})
    (example,) = ask("/transfers/files")["examples"]
    moved = {"text": example["text"].replace("500MB", "5MB"), "scenario": example["scenario"], "mode": "sim"}
    transfers = ask("/transfers/runs", {**moved, "policy": "fair"})["id"]
    ask(f"/transfers/runs/{transfers}")
    follow(server, transfers)
    ask("/traces")
    trace = {"name": "longcut:constant", "edits": [{"op": "scale", "column": "rtt_ms", "value": 2}]}
    ask("/traces", trace)
    ask("/traces/twice.csv", trace, method="PUT")
    ask("/relays")
    ask("/relays/check", {"scenario": "relay"})
    ask("/relays/paths", {"text": ask("/scenarios/relay")["text"]})
    ask("/studies")
    ask("/jobs")
    assert answered.addresses() - answered.heard == LIVE_ALONE | OF_STUDIES


def test_what_transfers_achieved_is_told(server: Served) -> None:
    folder = ROOT / "scenarios" / "transfers"
    asked = [str(folder / "two-sites-requests.yaml"), "--scenario", str(folder / "two-sites.yaml")]
    command = [sys.executable, "-m", "longhaul.cli.main", "transfer", "run", *asked]
    more = ["--policy", "fair", "--sim", "--no-report", "--name", "moved"]
    # Some requests are refused, which is not a success.
    subprocess.run([*command, *more], cwd=server.directory, check=False, capture_output=True, timeout=300)
    (run,) = [each["id"] for each in server.ask("/api/runs")[1]["runs"] if each["name"] == "moved"]
    told = server.ask(f"/api/runs/{run}")[1]["transfers"]
    assert {each["request"] for each in told["requests"] if each["achieved"]}
    assert follow(server, run)["end"]["exit_code"] is None, "it did not begin here"


def test_a_relay_has_a_summary_and_no_network(server: Served) -> None:
    command = [
        sys.executable,
        "-m",
        "longhaul.cli.main",
        "relay",
        "--delay",
        "1ms",
        "--forward",
        "0=127.0.0.1:9",
    ]
    with subprocess.Popen(command, cwd=server.directory, stderr=subprocess.PIPE, text=True) as relay:
        assert relay.stderr is not None
        assert any("relaying" in line for line in relay.stderr)
        relay.send_signal(signal.SIGINT)
        relay.communicate(timeout=60)
    (run,) = [each["id"] for each in server.ask("/api/runs")[1]["runs"] if each["mode"] == "relay"]
    status, told = server.ask(f"/api/runs/{run}")
    assert (status, told["links"], told["summary"]["bytes"]) == (200, [], 0)
    assert follow(server, run)["end"]["reason"] == "stopped"
    for table in ("links", "probes", "flows", "sockets", "connections"):
        assert server.ask(f"/api/runs/{run}/series?table={table}")[1]["series"] == []
    status, answer = server.ask("/api/compare", {"runs": [run, run]})
    assert (status, answer["error"]["code"]) == (400, Code.RUNS_NOT_COMPARABLE.value), answer


def capture_by_the_page(server: Served, run: str) -> None:
    status, told = server.ask(f"/api/runs/{run}/captures", {"link": "wan"})
    assert (status, told["nodes"]) == (200, ["near", "away"])
    place = f"/api/runs/{run}/captures/wan"
    until(lambda: server.ask(f"{place}?at=away")[1]["count"] > 0)
    listed = server.ask(f"{place}?at=away")[1]["packets"]
    assert {each["protocol"] for each in listed} <= {"ICMP", "TCP", "UDP", "ICMPv6"}
    number = listed[0]["number"]
    later = server.ask(f"{place}?at=away&after={number}")[1]["packets"]
    assert all(each["number"] > number for each in later)
    assert server.ask(f"{place}/packets/1?at=away")[1]["number"] == 1
    details = server.ask(f"{place}/packets/{number}?at=away")[1]
    assert (details["number"], len(details["content"]) > 40) == (number, True)
    assert server.ask(f"{place}/packets/0?at=away")[0] == 404
    assert server.ask(f"{place}?at=nowhere")[0] == 400
    assert server.ask(f"{place}/ticket?at=near", {})[0] == 200
    assert server.ask(place, method="DELETE")[0] == 200


def test_every_kind_of_event_is_told_as_the_schema_says(server: Served) -> None:
    if not server.ask("/api/state")[1]["can"]["live"]:
        pytest.skip("live runs do not work here")
    answered.heard.clear()
    run = server.start(LIVE, mode="live")
    has_changed = is_stopped = False
    captured: Future[None] | None = None
    with ThreadPoolExecutor(1) as beside, server.listen(run) as events:
        for name, data in events:
            if (name, data.get("name"), data.get("state")) == ("program", "look", "ended"):
                change = {"link": "wan", "way": "forward", "changes": {"delay": "60ms", "up": True}}
                status, told = server.ask(f"/api/runs/{run}/set", change)
                assert status == 200, told
                assert server.ask(f"/api/runs/{run}/logs/look")[0] == 200
                assert server.ask(f"/api/runs/{run}/links/wan")[0] == 200
                assert server.ask(f"/api/runs/{run}/hosts/near")[0] == 200
                # Beside the events: a reader that does not keep up misses some.
                captured = beside.submit(capture_by_the_page, server, run)
                impairment = {"link": "wan", "preset": "reorder"}
                status, told = server.ask(f"/api/runs/{run}/impairments", impairment)
                assert status == 200, told
                assert server.ask(f"/api/runs/{run}/links/wan")[1]["impairment"] == told
                assert server.ask(f"/api/runs/{run}/impairments/{told['id']}", method="DELETE")[0] == 200
                status, told = server.ask(f"/api/runs/{run}/terminals", {"host": "near"})
                assert status == 200, told
                shell = f"/api/runs/{run}/terminals/{told['id']}"
                assert server.ask(shell, method="DELETE")[0] == 200
                for table in ("links", "probes", "flows", "sockets", "connections"):
                    assert server.ask(f"/api/runs/{run}/series?table={table}")[0] == 200
            has_changed = has_changed or name == "change"
            # The first rows of flows come half a second after the flows.
            is_seen = has_changed and "connections" in answered.heard
            if is_seen and captured is not None and captured.done() and not is_stopped:
                is_stopped = True
                assert server.ask(f"/api/runs/{run}/stop", {})[0] == 200
    assert captured is not None
    captured.result()
    for table in ("links", "probes", "flows", "sockets", "connections"):
        assert server.ask(f"/api/runs/{run}/series?table={table}")[0] == 200
    # A run that breaks is another test's, and algorithms are learned by some kernels.
    assert set(answered.kinds()) - answered.heard == {"problem", "algorithm"}
    assert answered.heard >= LIVE_ALONE
