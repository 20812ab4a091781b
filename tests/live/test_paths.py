"""Paths of known delays, found from inside by real probes."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.lower.resolve import resolve

pytestmark = pytest.mark.light

CHAIN = """
version: 1
name: chain
nodes:
  r1: {kind: router}
  r2: {kind: router}
  r3: {kind: router}
  a: {kind: host, attach: r1, profile: edge}
  b: {kind: host, attach: r3, profile: edge}
  c: {kind: host, attach: r2, profile: edge}
profiles: {edge: {delay: 1ms}}
links:
  r1-r2: {endpoints: [r1, r2], delay: 5ms}
  r2-r3: {endpoints: [r2, r3], forward: {delay: 4ms}, reverse: {delay: 16ms}}
"""
WAY_NS = [1_000_000, 5_000_000, 10_000_000, 1_000_000]
"""To b; of the asymmetric link the mean of both ways."""
ERROR_NS = 300_000
"""What a busy machine may add to the shortest of six round trips, halved; most of it is far less."""


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "chain.yaml").write_text(CHAIN)
    with longhaul.up(tmp_path / "chain.yaml", runs=tmp_path / "runs") as network:
        yield network


def find(network: longhaul.Network, *arguments: str) -> str:
    command = [sys.executable, "-m", "longhaul.cli.main", "path", *arguments]
    return network.run("a", command).stdout


def plan(text: str) -> Any:
    return json.loads(json.dumps(resolve(parse_scenario(text.encode(), name="found.yaml")).plan))


def way_ns(text: str, target: str) -> list[int]:
    """The delays of the links from here to ``target``, which are in the file in this order."""
    found = plan(text)
    names = [node["name"] for node in found["nodes"]]
    links = {tuple(link["endpoints"]): link["forward"]["delay"] for link in found["links"]}
    came = {there: here for here, there in links}
    here = names.index(target)
    delays = []
    while here in came:
        delay = links[came[here], here]
        delays.append(delay["delay_ns"])
        here = came[here]
    return delays[::-1]


@pytest.mark.parametrize("version", ["-4", "-6"])
@pytest.mark.parametrize("means", ["own", "traceroute", "tracepath"])
def test_a_chain_of_routers_is_found_with_its_delays(
    network: longhaul.Network, version: str, means: str
) -> None:
    ways = [way_ns(find(network, "b", version, "--with", means, "--no-jitter"), "b")]
    # A busy machine delays answers, more often than not those of tracepath's only probe; it hastens none.
    while len(ways) < 5 and ways[-1] != pytest.approx(WAY_NS, abs=ERROR_NS):
        ways.append(way_ns(find(network, "b", version, "--with", means, "--no-jitter"), "b"))
    assert all(sum(way) >= sum(WAY_NS) - 1000 * len(WAY_NS) for way in ways)
    assert ways[-1] == pytest.approx(WAY_NS, abs=ERROR_NS)


def test_no_privilege_and_no_program_is_needed(network: longhaul.Network) -> None:
    bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "env", "PATH=/nowhere"]
    command = [*bare, sys.executable, "-m", "longhaul.cli.main", "path", "b", "--with", "own", "--no-jitter"]
    assert way_ns(network.run("a", command).stdout, "b") == pytest.approx(WAY_NS, abs=ERROR_NS)


def test_two_ways_share_their_routers_and_pings_tell_the_loss(network: longhaul.Network) -> None:
    network.set("a-r1", way="forward", loss="{model: periodic, every: 4}")
    text = find(network, "b", "c", "-4", "--with", "own", "--with", "ping", "--pings", "20", "--no-jitter")
    found = plan(text)
    kinds = [node["kind"] for node in found["nodes"]]
    assert kinds.count("router") == 3
    assert kinds.count("host") == 3
    assert way_ns(text, "c") == pytest.approx([1e6, 5e6, 1e6], abs=ERROR_NS)
    for missing in re.findall(r"([0-9]+) of 20 pings lost", " ".join(text.replace("#", "").split())):
        # Every fourth packet is lost, of our probes and pings in turn.
        assert 3 <= int(missing) <= 7


def test_what_was_found_is_found_again_in_itself(network: longhaul.Network, tmp_path: Path) -> None:
    text = find(network, "b", "-4", "--with", "own", "--no-jitter", "--name", "found")
    network.down()
    (tmp_path / "found.yaml").write_text(text)
    with longhaul.up(tmp_path / "found.yaml", runs=tmp_path / "runs") as copy:
        again = copy.run(
            "here",
            [sys.executable, "-m", "longhaul.cli.main", "path", "b", "-4", "--with", "own", "--no-jitter"],
        )
    assert way_ns(again.stdout, "b") == pytest.approx(way_ns(text, "b"), abs=ERROR_NS)


@pytest.mark.waiting
def test_hosts_that_are_not_there_are_said(network: longhaul.Network) -> None:
    command = [sys.executable, "-m", "longhaul.cli.main", "path"]
    unknown = network.run("a", [*command, "nowhere"], check=False)
    assert unknown.returncode == 2
    assert 'no address is known of "nowhere"; correct the name, or give an address' in unknown.stderr
    absent = network.run("a", [*command, "10.77.0.1", "--with", "own", "--wait", "0.2"], check=False)
    assert absent.returncode == 0, absent.stderr
    assert "10.77.0.1 did not answer; the last that did is" in absent.stderr
    assert "unreachable" in absent.stderr
    network.set("a-r1", up=False)
    down = network.run("a", [*command, "b", "--with", "own", "--wait", "0.05"], check=False)
    assert down.returncode == 1
    assert "nothing answered on the way to b; look at ip route" in down.stderr
    assert len([line for line in down.stderr.splitlines() if line.startswith("longhaul:")]) == 1
