"""A server of the run's own traffic that dies makes the run a failure, with its signal and its flow."""

import os
import signal
import time
from pathlib import Path

import longhaul

SCENARIO = """\
version: 1
name: bereft
duration: 5s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 20Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: reno}}
"""


def descendants(ancestor: int) -> dict[int, list[bytes]]:
    """Command lines of the processes that descend from a process."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: set[int] = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    commands = {}
    for pid in found - {ancestor}:
        try:
            commands[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
    return commands


def test_a_dead_iperf3_server_is_a_failure_and_so_is_its_flow(tmp_path: Path) -> None:
    (tmp_path / "bereft.yaml").write_text(SCENARIO)
    name = f"bereft-{time.time_ns()}"
    with longhaul.up(tmp_path / "bereft.yaml", name=name, runs=tmp_path / "runs") as network:
        time.sleep(1)
        (server,) = (
            pid
            for pid, words in descendants(os.getpid()).items()
            if words[0].endswith(b"iperf3") and b"-s" in words
        )
        os.kill(server, signal.SIGKILL)
        time.sleep(0.7)
    assert network.result is not None
    assert not network.result.good
    failed = {(each.kind, each.name): each for each in network.result.failed}
    assert failed["service", "bulk.server"].signal == signal.SIGKILL
    assert ("flow", "bulk") in failed
    (flow,) = network.result.summary["flows"]
    assert flow["bytes"] > 0, "what the network carried until then is known"
