"""Longhaul from Python, on a network that is up."""

import os
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError

BUNDLE = """
version: 1
name: bundle
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wan: {endpoints: [a, b], delay: 5ms, routes: {count: 2, policy: round-robin, delays: [5ms, 9ms]}}
"""


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "bundle.yaml").write_text(BUNDLE)
    with longhaul.up(tmp_path / "bundle.yaml", runs=tmp_path / "runs") as network:
        yield network


def rtts_ms(network: longhaul.Network, count: int = 8) -> list[float]:
    out = network.run("a", ["ping", "-n", "-c", str(count), "-i", "0.05", "b"]).stdout
    return [float(line.partition("time=")[2].split()[0]) for line in out.splitlines() if "time=" in line]


def test_a_route_fails_and_comes_back(network: longhaul.Network) -> None:
    # Each way takes 5 or 9 ms in turn.
    rtts = rtts_ms(network)
    assert min(rtts) >= 10
    # A pause of the machine may make single ones late.
    assert sum(round(rtt / 2) * 2 in {10, 14, 18} for rtt in rtts) >= 6, rtts
    network.set("wan", route=2, up=False)
    without = rtts_ms(network)
    assert len(without) == 8
    assert 10 <= statistics.median(without) < 13
    network.set("wan", route=2, up=True)
    assert max(rtts_ms(network)) > 13
    result = network.down()
    assert result.link("wan")["packets"]["down"] == 0
    assert result.link("wan")["packets"]["delivered"] == 24


def test_any_model_changes_in_place(network: longhaul.Network) -> None:
    first = network.set("wan", delay="{base: 2ms, jitter: {dist: uniform, half_width: 1ms}}")
    rtts = rtts_ms(network)
    assert 1.9 < min(rtts) < statistics.median(rtts) < 8
    half = "{model: periodic, every: 2}"
    second = network.set("wan", way="reverse", loss=half, rate="10Mbit", queue="100p")
    assert second > first >= 0
    with pytest.raises(subprocess.CalledProcessError):
        network.run("a", ["ping", "-c", "1", "-W", "1", "-i", "0.2", "no-such-host"])
    assert len(rtts_ms(network)) == 4
    assert network.down().link("wan", "reverse")["packets"]["lost"] == 4


def test_hosts_have_no_control_of_the_machine(network: longhaul.Network) -> None:
    said = network.run("a", ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]).stdout.strip()
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    assert said == ("cubic" if "cubic" in allowed else "reno")


def test_what_is_not_there_is_named(network: longhaul.Network) -> None:
    with pytest.raises(LonghaulError, match='there is no route 3: "wan" has 2 routes; write 1 to 2'):
        network.set("wan", route=3, up=False)
    with pytest.raises(LonghaulError, match='did you mean "wan"'):
        network.set("wam", up=False)
    with pytest.raises(KeyError, match="there is no name"):
        network.down().link("lan")


def test_what_was_started_ends_with_the_run(network: longhaul.Network) -> None:
    # It entered from outside, so that nobody inside waits for its end.
    sleeper = network.start("a", ["sh", "-c", "echo here; sleep 1000"], stdout=subprocess.PIPE)
    assert sleeper.stdout is not None
    assert sleeper.stdout.readline() == "here\n"
    assert groups(network) or os.geteuid() != 0
    network.down()
    assert sleeper.wait(timeout=5) != 0
    assert not groups(network)


def groups(network: longhaul.Network) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"**/longhaul-{network.name}-*"))
