"""Simulated programs whose messages are in a file take the time that arithmetic says."""

from pathlib import Path

import pytest

import longhaul
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.lower import jobs
from longhaul.scenario.lower.resolve import resolve

SCENARIO = """
version: 1
name: recorded
addresses: ipv4
nodes: {a: {kind: host}, b: {kind: host}}
links: {ab: {endpoints: [a, b], delay: 5ms, rate: 8Mbit, queue: 1MiB}}
tcp: {buffers: 4MiB}
programs: {p: {simulate: {kind: recorded, file: steps.csv, repeat: 3}, hosts: [a, b]}}
"""


def test_computing_and_messages_take_their_time(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(
        "# there and back\nrank,do,with,amount\n"
        "0,compute,,1000000000\n0,send,1,1000\n0,receive,1,1000\n"
        "1,receive,0,1000\n1,compute,,500000000\n1,send,0,1000\n"
    )
    (tmp_path / "recorded.yaml").write_text(SCENARIO)
    result = longhaul.run_sim(tmp_path / "recorded.yaml", runs=tmp_path / "runs", report=False)
    # A packet of 1052 bytes takes 1.052 ms at 8 Mbit/s, and 5 ms.
    once_s = 1.5 + 2 * (0.001052 + 0.005)
    took_s = result.summary["programs"][0]["wall_ns"] / 1e9
    assert took_s == pytest.approx(3 * once_s, abs=1e-5)


def test_variants_read_the_same_file_once_and_a_changed_one_again(tmp_path: Path) -> None:
    def bytes_sent() -> int:
        resolved = resolve(parse_scenario(SCENARIO.encode(), name="recorded.yaml", folder=tmp_path))
        sent: int = resolved.jobs[0]["steps"][0][0]["bytes"]
        return sent

    def write(size: int) -> None:
        (tmp_path / "steps.csv").write_text(f"rank,do,with,amount\n0,send,1,{size}\n1,receive,0,{size}\n")

    write(1000)
    before = jobs._remembered.cache_info().misses
    assert [bytes_sent() for _ in range(3)] == [1000] * 3
    write(2000)
    assert bytes_sent() == 2000
    assert jobs._remembered.cache_info().misses - before == 2
