"""Simulations, relays, sweeps and benchmarks that are killed, hung up on or interrupted: what they leave."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import injection
import pyarrow.parquet as pq
import pytest
from injection import until
from stage import is_settled

from longhaul.results import ending, run_record

from .runs import Place

TRAFFIC = """
version: 1
name: hurt
duration: 100h
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 1Gbit, queue: 1000p}}
traffic: {bulk: {kind: tcp, from: a, to: b}, p: {kind: ping, from: a, to: b, every: 1s}}
"""
ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "pair.yaml").write_text(TRAFFIC)
    place = Place(tmp_path, name="hurt")
    yield place
    for pid in injection.tagged(place.tag):
        injection.send(pid, signal.SIGKILL)


def simulating(place: Place) -> "subprocess.Popen[str]":
    """A simulation that has written what it counted so far."""
    process = place.start("sim", "pair.yaml")
    written = place.path / "runs" / place.name / "latest" / "raw" / "engine.json"
    assert until(written.is_file), process.communicate(timeout=10)
    return process


def test_a_simulation_that_is_killed_has_results_of_what_it_did(place: Place) -> None:
    process = simulating(place)
    process.kill()
    process.communicate()
    found = ending.read(place.directory)
    assert found.status == "crashed"
    assert f"the client (process {process.pid}) ended without giving a reason" in str(found.reason)
    summary = place.summary()
    assert run_record.read(place.directory / "run.json")["reason"] == found.reason
    assert summary["outcome"]["state"] == "crashed"
    assert summary["fidelity"]["verdict"] == "invalid"
    assert summary["duration_ns"] > 0
    [flow] = summary["flows"]
    assert flow["goodput_bits_per_s"] == pytest.approx(0.95e9, rel=0.1)
    assert pq.read_table(place.directory / "links.parquet").num_rows > 10
    assert not place.left()


@pytest.mark.parametrize("number", ENDS)
def test_each_signal_that_ends_commands_ends_a_simulation_with_results(
    place: Place, number: signal.Signals
) -> None:
    process = simulating(place)
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 130, out
    found = ending.read(place.directory)
    assert (found.status, found.reason) == ("interrupted", f"it was interrupted by {number.name}")
    assert json.loads((place.directory / "summary.json").read_text())["fidelity"]["verdict"] == "faithful"
    assert not place.left()


def test_a_signal_that_is_ignored_stays_so(place: Place) -> None:
    process = place.start("sim", "pair.yaml", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    written = place.path / "runs" / place.name / "latest" / "raw" / "engine.json"
    assert until(written.is_file)
    process.send_signal(signal.SIGHUP)
    assert not until(lambda: process.poll() is not None, within_s=1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert "SIGTERM" in str(ending.read(place.directory).reason)


def relaying(place: Place, *more: str) -> tuple["subprocess.Popen[str]", int]:
    """A relay that listens, and at which port."""
    arguments = ("--delay", "1ms", "--forward", "0=127.0.0.1:9", "--name", "r", *more)
    process = place.start("relay", *arguments)
    assert process.stdout is not None
    port = int(process.stdout.readline().split()[1].rpartition(":")[2])
    assert "relaying" in process.stdout.readline()
    return process, port


def latest(place: Place) -> Path:
    """The directory of the relay that ran last."""
    return (place.runs / "relay" / "latest").resolve()


@pytest.mark.parametrize("number", ENDS)
def test_each_signal_that_ends_commands_ends_a_relay_with_results(
    place: Place, number: signal.Signals
) -> None:
    process, _port = relaying(place)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    found = ending.read(latest(place))
    assert (found.status, found.reason) == ("stopped", f"it was interrupted by {number.name}")
    assert not [path for path in place.runtime.rglob("*") if not path.is_dir()]


def test_a_relay_that_was_killed_has_results_and_its_name_is_free(place: Place) -> None:
    process, _port = relaying(place)
    again = place.command("relay", "--delay", "1ms", "--forward", "0=127.0.0.1:9", "--name", "r")
    assert again.returncode == 2, again.stderr
    assert "a run called r is up" in again.stderr
    process.kill()
    process.communicate()
    directory = latest(place)
    done = place.command("report", str(directory))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(directory / "report.html")
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["outcome"]["state"] == "crashed"
    assert run_record.read(directory / "run.json")["status"] == "crashed"
    process, _port = relaying(place)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert not [path for path in place.runtime.rglob("*") if not path.is_dir()]


def test_a_relay_whose_socket_is_gone_is_found_and_taken_down(place: Place) -> None:
    process, _port = relaying(place)
    for each in (place.runtime / "longhaul").iterdir():
        each.unlink()
    assert "r is up (process" in place.command("status").stderr
    done = place.command("down", "--name", "r")
    assert done.returncode == 0, done.stderr
    process.communicate(timeout=60)
    assert ending.read(latest(place)).status == "stopped"


def sweeping(place: Place) -> "subprocess.Popen[str]":
    """A sweep that has done some of its runs."""
    text = TRAFFIC.replace("100h", "1s")
    (place.path / "pair.yaml").write_text(text)
    axis = ("--axis", "links.wan.delay=5ms,6ms", "--repeat", "1000")
    process = place.start("sweep", "pair.yaml", *axis, "--workers", "1", "--metric", "flows.bulk.goodput")
    parts = place.path / "runs" / place.name / "latest" / "parts"
    assert until(lambda: bool(list(parts.glob("*.parquet"))), within_s=20), process.communicate(timeout=10)
    return process


def test_a_sweep_that_was_killed_says_so_and_goes_on(place: Place) -> None:
    process = sweeping(place)
    process.kill()
    process.communicate()
    found = ending.read(place.directory)
    assert found.status == "crashed"
    assert f"the sweep (process {process.pid})" in str(found.reason)
    done = place.command("report", str(place.directory))
    assert done.returncode == 0, done.stderr
    summary = json.loads((place.directory / "summary.json").read_text())
    assert summary["status"] == "crashed"
    assert summary["points"] > 0
    assert not list(place.directory.rglob("*.part"))
    resumed = place.start("sweep", "--resume", str(place.directory), "--workers", "1")
    assert until(lambda: ending.read(place.directory).is_running)
    resumed.send_signal(signal.SIGHUP)
    out, _ = resumed.communicate(timeout=60)
    assert resumed.returncode == 130, out
    found = ending.read(place.directory)
    assert (found.status, found.reason) == ("interrupted", "it was interrupted by SIGHUP")


def test_a_benchmark_that_was_killed_has_results_of_the_runs_that_were_done(place: Place) -> None:
    arguments = ("reno", "--sim", "--only", "data-centre", "--seeds", "40", "--most", "10Mbit")
    process = place.start("benchmark-cc", *arguments)
    folder = place.path / "runs" / "benchmark-cc" / "latest"
    written = folder / "outcomes.jsonl"
    assert until(lambda: written.is_file() and written.read_bytes().count(b"\n") >= 2, within_s=90)
    process.kill()
    process.communicate()
    directory = folder.resolve()
    assert until(lambda: is_settled(directory))
    done = place.command("report", str(directory))
    assert done.returncode == 0, done.stderr
    assert run_record.read(directory / "benchmark.json")["status"] == "crashed"
    plain: dict[str, Any] = json.loads((directory / "results.json").read_text())
    assert plain["interrupted"]
    assert plain["results"][0]["runs"] >= 2
    assert (directory / "report.html").is_file()


def test_a_worker_of_a_benchmark_that_is_killed_costs_its_run_alone(place: Place) -> None:
    arguments = ("reno", "--sim", "--only", "data-centre", "--seeds", "4", "--most", "10Mbit")
    process = place.start("benchmark-cc", *arguments)

    def workers() -> list[int]:
        return [
            int(word) for word in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        ]

    folder = place.path / "runs" / "benchmark-cc" / "latest" / "runs"
    assert until(lambda: folder.is_dir() and bool(list(folder.glob("*/latest"))), within_s=90)
    spawned = [pid for pid in workers() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(spawned[-1], signal.SIGKILL)
    out, _ = process.communicate(timeout=150)
    assert process.returncode == 1, out
    directory = (place.path / "runs" / "benchmark-cc" / "latest").resolve()
    found = ending.read(directory)
    assert found.status == "incomplete"
    assert "a process of the benchmark was killed meanwhile" in str(found.reason)
    plain: dict[str, Any] = json.loads((directory / "results.json").read_text())
    assert plain["results"][0]["runs"] >= 2
