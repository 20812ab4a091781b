"""What the command line says of a run before it begins."""

import json
from pathlib import Path

from .conftest import Command

SCENARIO = """
version: 1
name: pair
duration: 100ms
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 20ms, rate: 100Mbit, queue: 10p}}
traffic: {bulk: {kind: tcp, from: a, to: b}}
"""
LINE = "a > b: RTT 40 ms (20 ms each way)"


def written(work: Path) -> str:
    (work / "pair.yaml").write_text(SCENARIO)
    return "pair.yaml"


def test_a_simulation_says_the_rtt_and_what_is_short_before_it_begins(longhaul: Command, work: Path) -> None:
    done = longhaul("sim", written(work), "--no-report")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"longhaul: expected {LINE}\n") == 1
    assert done.stderr.count("[W0207]") == 1


def test_with_json_only_warnings_are_on_standard_error(longhaul: Command, work: Path) -> None:
    done = longhaul("sim", written(work), "--no-report", "--json")
    assert json.loads(done.stdout)["outcome"]["state"] == "passed"
    assert "expected" not in done.stderr
    assert "[W0207]" in done.stderr


def test_a_quiet_shell_does_not_say_the_rtt(longhaul: Command, work: Path) -> None:
    loud = longhaul("shell", "--delay", "1ms", "--", "true")
    assert "expected near > far: RTT 2 ms (1 ms each way)" in loud.stderr
    assert "expected" not in longhaul("shell", "--quiet", "--delay", "1ms", "--", "true").stderr


def test_a_shell_says_which_sysctl_a_larger_socket_buffer_needs(longhaul: Command, work: Path) -> None:
    done = longhaul("shell", "--delay", "1ms", "--", "sh", "-c", "true iperf3 -c far -w 2000G")
    assert "sudo sysctl -w net.core.rmem_max=" in done.stderr


def test_check_has_the_rtt_as_text_and_as_json(longhaul: Command, work: Path) -> None:
    assert f"  expected {LINE}\n" in longhaul("check", written(work)).stdout
    (found,) = json.loads(longhaul("check", "pair.yaml", "--json").stdout)
    assert found["round_trips"] == [
        {"from": "a", "to": "b", "there_ns": 20_000_000, "back_ns": 20_000_000, "round_trip_ns": 40_000_000}
    ]
    assert [each["code"] for each in found["warnings"]] == ["W0207"]
