"""Links, nodes and hosts of a running network join, leave and move; a journal replays them."""

import re
from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError
from longhaul.run.interventions import change_link

NETWORK = """
version: 1
name: moving
measure: {journal: true}
nodes:
  a: {kind: host, attach: r}
  b: {kind: host, attach: s}
  r: {kind: router}
  s: {kind: router}
  t: {kind: router}
links:
  r-s: {endpoints: [r, s], delay: 5ms}
  r-t: {endpoints: [r, t], delay: 10ms}
  t-s: {endpoints: [t, s], delay: 10ms}
events:
  - {at: 3600s, host: b, attach: t}
"""


@pytest.mark.light
def test_a_live_network_reroutes_when_links_leave_and_hosts_move(tmp_path: Path) -> None:
    scenario = tmp_path / "moving.yaml"
    scenario.write_text(NETWORK, encoding="utf-8")
    with longhaul.up(scenario, runs=tmp_path / "runs") as running:
        name = running.name

        def shortest_ms() -> float | None:
            done = running.run("a", ["ping", "-n", "-c", "3", "-i", "0.2", "-W", "1", "b"], check=False)
            found = re.search(r"= ([0-9.]+)/", done.stdout)
            return float(found[1]) if found else None

        # Without queues, a ping takes the propagation delay and some time in the kernel.
        assert shortest_ms() == pytest.approx(10, abs=2)
        change_link(name, "r-s", ["leave"], by="python")
        assert shortest_ms() == pytest.approx(40, abs=2)
        change_link(name, "b", ["attach=t"], by="python")
        assert shortest_ms() == pytest.approx(20, abs=2)
        change_link(name, "t", ["leave"], by="python")
        assert shortest_ms() is None
        change_link(name, "t", ["join"], by="python")
        assert shortest_ms() == pytest.approx(20, abs=2)
        wrong = (
            ("t", "flap", "is a node"),
            ("a", "attach=t", "no link leads"),
            ("r-s", "flap", "nor up, down, join or leave"),
            ("nosuch", "leave", 'there is no link or node "nosuch"'),
        )
        for link, change, words in wrong:
            with pytest.raises(LonghaulError, match=words):
                change_link(name, link, [change], by="python")
