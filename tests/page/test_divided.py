"""The page shows and changes a network of several engine threads or machines as one that is not divided."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from machine_room import machine_room, missing

from longhaul.page import division

from .served import Served, serving

COMMAND = str(Path(sys.executable).parent / "longhaul")
TEXT = """\
version: 1
name: divided
duration: 120s
nodes:
  par: {kind: router}
  nyc: {kind: router}
  par1: {kind: host, attach: par}
  nyc1: {kind: host, attach: nyc}
links: {atlantic: {endpoints: [par, nyc], delay: 10ms, rate: 50Mbit}}
traffic:
  probe: {kind: ping, from: nyc1, to: par1, every: 50ms}
  load: {kind: udp, from: par1, to: nyc1, rate: 5Mbit}
"""


@contextmanager
def divided(place: Path, kind: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A run of the command line, in two engine threads or on two machines."""
    (place / "divided.yaml").write_text(TEXT)
    argv = [COMMAND, "run", "divided.yaml", "--no-report"]
    if kind == "threads":
        with subprocess.Popen([*argv, "--shards", "2"], cwd=place, stderr=subprocess.PIPE) as process:
            yield process
        return
    if reason := missing():
        pytest.skip(reason)
    with machine_room(place / "room", 2) as room:
        argv = room.at_switch(*argv, "--on", str(room.hostfile), "--ssh", room.ssh)
        with subprocess.Popen(argv, cwd=place, stderr=subprocess.PIPE) as process:
            yield process


def run_of(server: Served, process: "subprocess.Popen[bytes]") -> str:
    """The run, once it is there and has samples."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        for each in server.ask("/api/runs")[1]["runs"]:
            if (Path(each["directory"]) / "raw/samples.csv").is_file():
                return str(each["id"])
        time.sleep(0.2)
    raise AssertionError("there are no samples")


@pytest.mark.parametrize("kind", ["threads", "machines"])
def test_charts_link_panel_and_hosts_of_a_divided_network(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    os.chmod(tmp_path, 0o700)
    with serving(tmp_path) as server, divided(tmp_path, kind) as process:
        try:
            run = run_of(server, process)
            rates, rtts_ns, changes = [], [], []
            deadline = time.monotonic() + 60
            with server.listen(run) as events:
                for name, data in events:
                    assert time.monotonic() < deadline, (rates, rtts_ns, changes)
                    if name == "now":
                        # The link that is cut, forward and reverse, each counted in another part.
                        place = [0, 5]
                        rates.append([data["links"][-1][each] for each in place])
                    if name == "sample" and data["probes"] and data["probes"][0] is not None:
                        rtts_ns.append(data["probes"][0])
                    if name == "change":
                        changes.append(data)
                    if len(rates) == 3 and rtts_ns and not changes:
                        change = {"link": "atlantic", "way": None, "changes": {"delay": "60ms"}}
                        status, told = server.ask(f"/api/runs/{run}/set", change)
                        assert status == 200, told
                        rates.append([0, 0])
                    if changes and rtts_ns[-1] >= 120_000_000:
                        break
            link = server.ask(f"/api/runs/{run}/links/atlantic")[1]
            assert [link[way]["delay_ns"] for way in ("forward", "reverse")] == [60_000_000] * 2
            host = server.ask(f"/api/runs/{run}/hosts/nyc1")[1]
            assert any("ping" in each["command"] for each in host["processes"])
            # Packets of both directions of the link, in order of time.
            server.ask(f"/api/runs/{run}/captures", {"link": "atlantic", "snaplen_bytes": 96})
            listed: list[dict[str, Any]] = []
            while {each["leaves"] for each in listed if each["protocol"] == "ICMP"} != {False, True}:
                assert time.monotonic() < deadline, listed
                time.sleep(0.2)
                listed = server.ask(f"/api/runs/{run}/captures/atlantic?at=par")[1]["packets"]
            times_ns = [each["t_ns"] for each in listed]
            assert times_ns == sorted(times_ns)
            server.ask(f"/api/runs/{run}/captures/atlantic", method="DELETE")
            series = server.ask(f"/api/runs/{run}/series?link=atlantic&way=forward")[1]
            assert max(series["series"][0]["columns"]["throughput_bits_per_s"]) > 4e6
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        told = server.ask(f"/api/runs/{run}")[1]["divided"]
    assert told["kind"] == kind
    assert sorted(sorted(each["nodes"]) for each in told["parts"]) == [["nyc", "nyc1"], ["par", "par1"]]
    assert all(each["lateness_p99_ns"] > 0 for each in told["parts"])
    assert [(each["link"], each["delay_ns"]) for each in told["cuts"]] == [("atlantic", 10_000_000)]
    assert all(each["packets"] > 10 for each in told["crossings"])
    assert rates[2][0] == pytest.approx(5.1e6, rel=0.2)
    assert 0 < rates[2][1] < 1e5
    assert [each["words"] for each in changes] == [["delay=60ms"]]


def test_machines_of_hosts_on_the_virtual_clock_are_parts_without_cuts() -> None:
    machine = {"name": "m1", "host": "gate", "kernel": "6.18", "cores": 2, "hosts": ["par1", "nyc1"]}
    plan: Any = {"nodes": [{"name": "par"}, {"name": "par1"}, {"name": "nyc1"}], "links": []}
    found = division.divided({"host_machines": [machine]}, plan, None)
    assert found is not None
    assert (found["kind"], found["cuts"], found["crossings"]) == ("machines", [], [])
    (part,) = found["parts"]
    assert (part["name"], part["host"], part["nodes"]) == ("m1", "gate", ["par1", "nyc1"])
