"""Real packets of a host that paces: when they come, what a change does, and what is counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError

PACED = """
version: 1
name: paced
nodes:
  a:
    kind: host
    pacing:
      line_rate: 1Gbit
      count: ip
      classes:
        echo: {rate: 80kbit, protocol: icmp, to: b, queue: 6p}
  b: {kind: host}
links:
  wan: {endpoints: [a, b], delay: 5ms}
"""


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "paced.yaml").write_text(PACED)
    with longhaul.up(tmp_path / "paced.yaml", runs=tmp_path / "runs") as network:
        yield network


def rtts_ms(network: longhaul.Network, count: int) -> list[float]:
    """Of packets of 1000 bytes, sent together, or nearly."""
    argv = ["ping", "-4", "-n", "-c", str(count), "-l", str(count), "-s", "972", "-W", "3", "b"]
    out = network.run("a", argv).stdout
    return [float(line.partition("time=")[2].split()[0]) for line in out.splitlines() if "time=" in line]


def test_real_packets_are_spaced_by_their_class_and_a_change_holds_at_once(network: longhaul.Network) -> None:
    # 1000 bytes at 80 kbit/s: one leaves at once, the others 100 ms apart.
    late = sorted(rtt - (10 + 100 * number) for number, rtt in enumerate(rtts_ms(network, 5)))
    # A busy ping sends the last of them some ms after the first; a tenth of the rate would be 400 ms off.
    assert late[0] > -30
    assert late[2] < 60
    with pytest.raises(LonghaulError, match="promise 2000000000 bit/s of a line of 1000000000 bit/s"):
        network.set("a", echo="2Gbit")
    with pytest.raises(LonghaulError, match='there is no class "ecco"; did you mean "echo"'):
        network.set("a", ecco="2Mbit")
    network.set("a", echo="8Mbit")
    assert sorted(rtts_ms(network, 5))[2] < 60
    # One leaves and six wait; what comes beyond them ends in the host.
    network.set("a", echo="80kbit")
    assert len(rtts_ms(network, 10)) == 7
    summary = network.down().summary
    row = summary["pacing"][0]
    assert (row["offered_packets"], row["sent_packets"], row["dropped_packets"]) == (20, 17, 3)
    assert summary["packets"]["pacer_dropped"] == 3
    assert row["gap_errors"]["max_ns"] == 0
