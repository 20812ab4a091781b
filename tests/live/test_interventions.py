"""Changes by hand of a live network: recorded, told, exported, and replayed to the picosecond."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.main import longhaul as command
from longhaul.errors import LonghaulError
from longhaul.run.replay import replay
from longhaul.scenario import ScenarioError
from longhaul.units.quantities import Span

pytestmark = pytest.mark.waiting

PAIR = """
version: 1
name: pair
duration: 60s
nodes: {r: {kind: router}, a: {kind: host}, b: {kind: host, attach: r}}
links: {wan: {endpoints: [a, r], delay: 10ms, rate: 100Mbit}}
events:
  - {at: 50ms, link: wan, set: {delay: 12ms}}
measure: {journal: true}
"""

EVERY = {
    "delay": "{base: 5ms, jitter: {dist: normal, sd: 1ms}, reorder: true}",
    "rate": "50Mbit",
    "loss": "{model: periodic, every: 9, position: egress}",
    "queue": "{kind: drr, limit: 200p}",
    "reordering": "{share: 20%, delay: 15ms}",
    "duplicate": "10%",
    "corrupt": "1%",
    "count": "ethernet",
    "coalesce": "50us",
}


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("SUDO_USER", "ann")
    (tmp_path / "pair.yaml").write_text(PAIR)
    with longhaul.up(tmp_path / "pair.yaml", runs=tmp_path / "runs") as network:
        yield network


def ping(network: longhaul.Network, count: int = 10) -> None:
    network.run("a", ["ping", "-n", "-c", str(count), "-i", "0.01", "-W", "1", "b"], check=False)


def test_every_model_changes_by_hand_and_the_run_says_so(network: longhaul.Network) -> None:
    ping(network)
    for key, value in EVERY.items():
        network.set("wan", **{key: value})
        ping(network, 3)
    with pytest.raises(ScenarioError):
        network.set("wan", rate="5")
    with pytest.raises(LonghaulError):
        network.set("wan", route=1, up=False)
    assert CliRunner().invoke(command, ["set", "--name", network.name, "wan", "down"]).exit_code == 0
    ping(network, 2)
    result = network.down()
    made = result.interventions
    assert [each["words"] for each in made] == [[f"{key}={value}"] for key, value in EVERY.items()] + [
        ["down"]
    ]
    assert [each["by"] for each in made] == ["python"] * len(EVERY) + ["cli"]
    assert {each["user"] for each in made} == {"ann"}
    assert made[0]["text"].startswith("wan: delay 12 ms → normal (mean 5 ms, sd 1 ms), reorder no → yes")
    assert made[-1]["text"] == "wan: down"
    assert [each["text"] for each in result.changes if each["kind"] == "event"] == ["wan: delay 10 → 12 ms"]
    page = (result.directory / "report.html").read_text()
    assert f", with {len(made)} interventions." in page
    assert "did what the scenario says" not in page
    link = result.link("wan")
    assert link["phases"][-1]["measured"]["down_packets"] == link["packets"]["down"] == 2
    assert link["phases"][-1]["measured"]["lost_packets"] == 0

    replayed = replay(result.directory)
    assert replayed.agrees, replayed.difference
    # Both directions of each, and of the event; segments join in the direction that ends at a host alone.
    assert replayed.changes == 2 * (len(EVERY) + 2) - 1

    printed = CliRunner().invoke(command, ["report", "--events-of", str(result.directory)])
    assert printed.exit_code == 0, printed.output
    times = [Span.parse(at).ns for at in re.findall(r"at: ([0-9.]+\w+)", printed.output)]
    assert times[1:] == [each["at_ns"] for each in made]
