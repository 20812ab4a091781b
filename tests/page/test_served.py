"""A server as a user starts it: simulated runs, faults, and other users of the machine."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.page.serving import ListenAddress, opened, serve

from .served import Served, children, is_alive, serving, until

ROOT = Path(__file__).parents[2]
SHORT = """\
version: 1
name: short
duration: 2s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}}
traffic:
  probe: {kind: ping, from: near, to: far, every: 100ms}
  bulk: {kind: tcp, from: near, to: far, cc: reno}
"""
LONG = SHORT.replace("short", "long").replace("2s", "100h").replace("20Mbit", "10Gbit")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture(scope="module")
def simulated(server: Served) -> str:
    """A simulated run that has ended."""
    run = server.start(SHORT, mode="sim")
    with server.listen(run) as events:
        told = dict(events)
    assert told["hello"]["links"] == ["wan"]
    passed = {"state": "passed", "detail": "1 flow"}
    assert told["end"] == {"reason": "duration", "exit_code": 0, "verdict": "faithful", "outcome": passed}
    return run


def test_a_run_is_listed_with_its_results(server: Served, simulated: str) -> None:
    row = next(each for each in server.ask("/api/runs")[1]["runs"] if each["id"] == simulated)
    assert (row["mode"], row["status"], row["verdict"], row["verdict_text"], row["made_by_page"]) == (
        "sim",
        "duration",
        "faithful",
        "simulated",
        True,
    )
    details = server.ask(f"/api/runs/{simulated}")[1]
    assert details["scenario"] == SHORT
    assert details["probes"] == [
        {"name": "probe", "program": "probe", "from": "near", "to": "far", "every_ns": 100_000_000}
    ]
    assert details["summary"]["flows"][0]["flow"] == "bulk"


def test_a_run_tells_what_transfers_it_carried_out(server: Served, simulated: str) -> None:
    assert server.ask(f"/api/runs/{simulated}")[1]["transfers"] is None
    told = server.directory / "runs" / simulated.replace("~", "/") / "transfers.json"
    told.write_text('{"policy": "fair", "requests": []}')
    assert server.ask(f"/api/runs/{simulated}")[1]["transfers"] == {"policy": "fair", "requests": []}
    told.unlink()


def test_series_have_as_many_points_as_are_asked_for(server: Served, simulated: str) -> None:
    path = f"/api/runs/{simulated}/series?link=wan&way=forward&max_points="
    (whole,) = server.ask(f"{path}1000")[1]["series"]
    (thin,) = server.ask(f"{path}5")[1]["series"]
    assert len(whole["t_ns"]) == 20  # 2 s, every 100 ms
    assert thin["t_ns"] == whole["t_ns"][3::4]
    fast = whole["columns"]["delivered_bits_per_s"]
    assert thin["columns"]["delivered_bits_per_s"][0] == pytest.approx(sum(fast[:4]) / 4)
    assert thin["columns"]["queue_bytes"] == [
        max(whole["columns"]["queue_bytes"][place : place + 4]) for place in range(0, 20, 4)
    ]
    bits, delays_ns = (whole["columns"][name] for name in ("queue_bytes", "queueing_delay_ns"))
    assert delays_ns == [each * 8e9 / 20e6 for each in bits]


def test_packets_are_those_on_the_link_at_that_time(server: Served, simulated: str) -> None:
    found = server.ask(f"/api/runs/{simulated}/packets?link=wan&from_ns=0&to_ns=2000000")[1]
    assert {"link": "wan", "way": "forward"}.items() <= found["recorded"][0].items()
    assert found["packets"]
    for packet in found["packets"]:
        assert packet["offered_ns"] < 2_000_000
        # 10 ms of wire and 84 B or more at 20 Mbit/s.
        assert packet["due_ns"] - packet["offered_ns"] >= 10_000_000 + packet["bytes"] * 8 * 50
    assert server.ask(f"/api/runs/{simulated}/packets?link=wan&from_ns=5&to_ns=5")[0] == 400


@pytest.mark.parametrize(
    ("link", "from_ms", "missing"),
    [
        ("wan", 0, None),
        ("wan", 500, "time"),
        ("wan", 1, "part"),
        ("wan", 999, "part"),
        ("nowhere", 0, "link"),
    ],
)
def test_where_no_packet_was_recorded_none_is_said_to_have_come(
    server: Served, simulated: str, link: str, from_ms: int, missing: str | None
) -> None:
    start = from_ms * 10**6
    query = f"link={link}&from_ns={start}&to_ns={start + 2 * 10**6}"
    assert server.ask(f"/api/runs/{simulated}/packets?{query}")[1]["missing"] == missing


def test_a_run_is_compared_with_itself_and_nothing_differs(server: Served, simulated: str) -> None:
    found = server.ask("/api/compare", {"runs": [simulated, simulated]})[1]
    assert len(found["groups"]) == 2
    assert {each["contrasts"][0]["difference"] for each in found["metrics"]} == {0}
    assert [each["letter"] for each in found["groups"]] == ["A", "B"]
    assert {each["name"] for each in found["charts"]} == {"over-time", "distributions"}


def test_a_report_opens_once_and_sees_nothing_of_the_page(server: Served, simulated: str) -> None:
    url = server.ask(f"/api/runs/{simulated}/ticket", {})[1]["url"]
    connection = server.connect()
    connection.request("GET", url)
    answer = connection.getresponse()
    assert answer.read().lstrip().lower().startswith(b"<!doctype html")
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    connection.request("GET", url)
    assert connection.getresponse().status == 404


def test_a_simulated_run_cannot_be_changed(server: Served, simulated: str) -> None:
    status, told = server.ask(f"/api/runs/{simulated}/set", {"link": "wan", "changes": {"delay": "60ms"}})
    assert (status, told["error"]["message"]) == (409, "a simulated run cannot be changed")


def test_the_example_of_the_reference_works(server: Served) -> None:
    text = (ROOT / "docs/reference/page-api.md").read_text()
    (block,) = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (server.directory / "wire.yaml").write_text(SHORT.replace("short", "wire"))
    place = {"TOKEN": server.token, "PORT": str(server.port)}
    done = subprocess.run(["sh", "-c", block], env={**os.environ, **place}, capture_output=True, check=True)
    run = json.loads(done.stdout)["id"]
    with server.listen(run) as events:
        assert dict(events)["end"]["exit_code"] == 0
    assert server.ask(f"/api/runs/{run}")[1]["run"]["argv"] == ["longhaul", "sim", "wire.yaml"]


def test_a_wrong_scenario_is_refused_with_its_place(server: Served) -> None:
    status, told = server.ask("/api/runs", {"text": SHORT.replace("10ms", "10"), "mode": "sim"})
    assert status == 400
    assert (told["error"]["line"], told["error"]["problems"][0]["path"]) == (5, "links.wan.delay")


def test_a_run_that_is_stopped_keeps_what_there_is(server: Served) -> None:
    run = server.start(LONG, mode="sim")
    with server.listen(run) as events:
        assert next(name for name, _data in events if name in ("sample", "end")) == "sample"
        assert server.ask(f"/api/runs/{run}/stop", {})[0] == 200
        told = dict(events)
    assert told["end"]["reason"] == "interrupted"
    assert server.ask(f"/api/runs/{run}")[1]["summary"]["flows"][0]["goodput_bits_per_s"] > 0


def test_a_run_that_is_killed_is_told_as_failed(server: Served) -> None:
    before = set(children(server.process.pid))
    run = server.start(LONG, mode="sim")
    (process,) = set(children(server.process.pid)) - before
    with server.listen(run) as events:
        next(events)
        os.kill(process, signal.SIGKILL)
        told = dict(events)
    assert told["problem"]["message"] == "the run was killed (signal 9)"
    assert told["end"]["reason"] == "failed"
    assert server.ask(f"/api/runs/{run}")[1]["status"] == "crashed"


def test_two_hundred_idle_streams_are_no_load(server: Served) -> None:
    run = server.start(LONG, mode="sim")
    streams = []
    for _ in range(200):
        connection = server.connect()
        headers = {"Authorization": f"Bearer {server.token}"}
        connection.request("GET", f"/api/events?run={run}", headers=headers)
        streams.append((connection, connection.getresponse()))
    # Nobody reads any of them: what they have been sent is bounded by the kernel's buffers and one sample.
    first = cpu_s(server.process.pid), memory_kib(server.process.pid)
    began = time.monotonic()
    time.sleep(3)
    answers = [server.ask("/api/quantity", {"kind": "delay", "text": "1ms"})[0] for _ in range(20)]
    share = (cpu_s(server.process.pid) - first[0]) / (time.monotonic() - began)
    assert answers == [200] * 20
    assert share < 0.5, "of a processor, with 2,000 samples a second to write"
    assert memory_kib(server.process.pid) - first[1] < 50_000
    for connection, _answer in streams:
        connection.close()
    assert server.ask(f"/api/runs/{run}/stop", {})[0] == 200


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid: int) -> int:
    match = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert match
    return int(match[1])


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_ends_with_its_server_and_keeps_its_results(tmp_path: Path, how: signal.Signals) -> None:
    with serving(tmp_path) as served:
        run = served.start(LONG, mode="sim")
        (process,) = children(served.process.pid)
        with served.listen(run) as events:
            assert next(name for name, _data in events if name in ("sample", "end")) == "sample"
            served.process.send_signal(how)
            # The page sees the end of the stream.
            for _event in events:
                pass
        served.process.wait(60)
        until(lambda: not is_alive(process))
    name, stamp = run.split("~")
    directory = tmp_path / "runs" / name / stamp
    assert json.loads((directory / "run.json").read_text())["status"] == "interrupted"
    assert (directory / "summary.json").is_file()


def test_another_user_of_the_machine_cannot_drive_it(server: Served) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    # All that others can see of a process, and all that they can say without having seen the address.
    script = f"""
import http.client, pathlib, sys
seen = pathlib.Path("/proc/{server.process.pid}/cmdline").read_bytes()
for name in ("environ", "fd/1", "mem"):
    try:
        pathlib.Path(f"/proc/{server.process.pid}/{{name}}").read_bytes()
        print("could read", name)
    except OSError:
        pass
for path in ("/api/state", "/api/runs"):
    connection = http.client.HTTPConnection("127.0.0.1", {server.port}, timeout=60)
    connection.request("GET", path, headers={{"Authorization": "Bearer guess"}})
    print(connection.getresponse().status, {server.token!r}.encode() in seen)
"""
    command = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "/usr/bin/python3",
        "-c",
        script,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout == "401 False\n401 False\n"


def test_a_browser_is_not_started_with_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    browser, asked = tmp_path / "browser", tmp_path / "asked"
    browser.write_text(f'#!/bin/sh\necho "$@" >{asked}.part; mv {asked}.part {asked}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with opened("http://127.0.0.1:1/#token=secret"):
        until(asked.exists)
        uri = asked.read_text().strip()
        assert "secret" not in uri
        path = Path(uri.removeprefix("file://"))
        assert "http://127.0.0.1:1/#token=secret" in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not path.exists()


def test_only_this_machine_can_connect(server: Served) -> None:
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{server.port:04X}")
    ]
    assert listening == [f"0100007F:{server.port:04X}"]


def test_a_port_that_is_taken_is_said(server: Served, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="cannot listen at") as refused:
        serve(tmp_path, ListenAddress(port=server.port), open_browser=False, read_only=False, say=print)
    assert refused.value.exit_code == 3


def test_half_a_request_does_not_keep_others_waiting(server: Served) -> None:
    slow = server.connect()
    slow.connect()
    slow.sock.sendall(b"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1")
    assert server.ask("/api/quantity", {"kind": "rate", "text": "1Gbit"})[0] == 200
    assert not select.select([slow.sock], [], [], 0)[0]
    slow.close()


def test_nothing_else_speaks_http() -> None:
    script = "import sys, longhaul, longhaul.cli.main, longhaul.cli.ui; print('starlette' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", "help is quick"


def test_the_server_keeps_no_descriptor_of_runs_that_have_ended(tmp_path: Path) -> None:
    def ended(served: Served) -> int:
        run = served.start(SHORT, mode="sim")
        with served.listen(run) as events:
            assert any(name == "end" for name, _ in events)
        until(lambda: not children(served.process.pid))
        time.sleep(0.1)
        return len(list(Path(f"/proc/{served.process.pid}/fd").iterdir()))

    with serving(tmp_path) as served:
        first = ended(served)
        assert ended(served) == first
