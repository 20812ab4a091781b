"""Links and nodes that join and leave, and hosts that move: the language, and simulated round trips."""

from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul.diagnostics import Code
from longhaul.scenario import ScenarioError, parse_scenario, resolve

MS = 10**6
NETWORK = """
version: 1
name: moving
duration: 6s
nodes:
  a: {kind: host, attach: r, profile: near}
  b: {kind: host, attach: s, profile: near}
  r: {kind: router}
  s: {kind: router}
  t: {kind: router}
profiles:
  near: {delay: 0us}
links:
  r-s: {endpoints: [r, s], delay: 5ms}
  r-t: {endpoints: [r, t], delay: 10ms}
  t-s: {endpoints: [t, s], delay: 10ms}
traffic:
  probe: {kind: ping, from: a, to: b, every: 100ms}
events:
"""


def scenario(*events: str, more: str = "") -> str:
    return more + NETWORK + "".join(f"  - {event}\n" for event in events)


def planned(*events: str, more: str = "") -> Any:
    return resolve(parse_scenario(scenario(*events, more=more).encode(), name="moving.yaml"))


def round_trips(tmp_path: Path, *events: str, more: str = "") -> dict[float, float | None]:
    """RTT in ms of each ping, by the second at which it was sent."""
    path = tmp_path / "moving.yaml"
    path.write_text(scenario(*events, more=more), encoding="utf-8")
    table = longhaul.run_sim(path, runs=tmp_path / "runs", report=False).table("probes")
    rows = zip(table["t_s"], table["rtt_ns"], strict=True)
    return {sent_s: None if rtt is None else rtt / MS for sent_s, rtt in rows}


def codes(*events: str) -> list[tuple[Code, str]]:
    with pytest.raises(ScenarioError) as caught:
        planned(*events)
    return [(problem.code, problem.message) for problem in caught.value.diagnostics]


def test_packets_take_the_longer_path_while_a_link_is_away(tmp_path: Path) -> None:
    found = round_trips(tmp_path, "{at: 2050ms, link: r-s, leave: 2s}")
    for at, rtt in found.items():
        assert rtt == pytest.approx(40 if 2.05 < at < 4.05 else 10, abs=0.1), at


def test_until_routes_converge_packets_are_lost(tmp_path: Path) -> None:
    found = round_trips(tmp_path, "{at: 2050ms, link: r-s, leave: true}", more="routing: {convergence: 1s}\n")
    for at, rtt in found.items():
        if 2.05 < at < 3.05:
            assert rtt is None, at
        else:
            assert rtt == pytest.approx(10 if at < 2.05 else 40, abs=0.1), at


def test_a_packet_on_a_link_that_leaves_is_lost(tmp_path: Path) -> None:
    # The ping of 2 s is on r-s from 2.000 to 2.005 s.
    found = round_trips(tmp_path, "{at: 2002ms, link: r-s, leave: true}")
    lost = [at for at, rtt in found.items() if rtt is None]
    assert lost == [pytest.approx(2.0)]


def test_a_host_that_moves_keeps_its_address_and_is_reached_over_the_new_router(tmp_path: Path) -> None:
    plan = planned("{at: 2050ms, host: b, attach: t}").plan
    links = {link["name"]: link for link in plan["links"]}
    assert links["b-t"]["present"] is False
    assert [node["name"] for node in plan["nodes"]] == ["a", "b", "r", "s", "t"]
    found = round_trips(tmp_path, "{at: 2050ms, host: b, attach: t}", "{at: 4050ms, host: b, attach: s}")
    for at, rtt in found.items():
        # Over r-t: 10 ms; r-s, s-t would take longer.
        assert rtt == pytest.approx(20 if 2.05 < at < 4.05 else 10, abs=0.1), at


def test_a_node_that_joins_first_is_absent_until_then(tmp_path: Path) -> None:
    events = ("{at: 1s, link: r-s, leave: true}", "{at: 3050ms, node: t, join: true}")
    resolved = planned(*events)
    absent = [link["name"] for link in resolved.plan["links"] if not link.get("present", True)]
    assert absent == ["r-t", "t-s"]
    warnings = [each for each in resolved.warnings if each.code is Code.CUT_OFF]
    assert len(warnings) == 1
    assert "from a to b from 1 s to 3.05 s" in warnings[0].message
    found = round_trips(tmp_path, *events)
    for at, rtt in found.items():
        if 1 <= at < 3.05:
            assert rtt is None, at
        else:
            assert rtt == pytest.approx(10 if at < 1 else 40, abs=0.1), at


def test_nodes_that_join_at_the_beginning_are_never_cut_off() -> None:
    joining = ("{at: 0s, node: a, join: true}", "{at: 0s, node: b, join: true}")
    assert not [each for each in planned(*joining).warnings if each.code is Code.CUT_OFF]
    leaving = planned(*joining, "{at: 4s, node: b, leave: true}").warnings
    (warning,) = [each for each in leaving if each.code is Code.CUT_OFF]
    assert "from a to b from 4 s on" in warning.message


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        (
            ("{at: 1s, link: r-s, leave: true}", "{at: 2s, link: r-s, leave: true}"),
            Code.NOT_IN_NETWORK,
            "since 1 s",
        ),
        (
            ("{at: 1s, link: r-s, leave: true}", "{at: 2s, link: r-s, down: 1s}"),
            Code.NOT_IN_NETWORK,
            "since 1 s",
        ),
        (
            ("{at: 1s, node: t, leave: true}", "{at: 2s, link: r-t, set: {delay: 1ms}}"),
            Code.NOT_IN_NETWORK,
            "r-t",
        ),
        (
            ("{at: 1s, node: t, leave: 1s}", "{at: 3s, node: t, join: true}"),
            Code.NOT_IN_NETWORK,
            "already since 2 s",
        ),
        (("{at: 1s, host: b, attach: s}",), Code.NOT_IN_NETWORK, "attached to it already"),
        (("{at: 1s, host: r, attach: s}",), Code.NODE_KIND, "does not move"),
        (("{at: 1s, host: b, attach: a}",), Code.NODE_KIND, "not a router"),
        (("{at: 1s, node: q, leave: true}",), Code.NODE_UNKNOWN, '"q"'),
        (("{at: 1s, node: t, down: 1s}",), Code.KEY_OUT_OF_PLACE, "joins or leaves"),
        (("{at: 1s, link: r-s, direction: forward, leave: true}",), Code.KEY_OUT_OF_PLACE, "as a whole"),
        (("{at: 1s, link: r-s, join: false}",), Code.EVENT_INCOMPLETE, "says nothing"),
    ],
)
def test_what_cannot_join_leave_or_move_is_refused(events: tuple[str, ...], code: Code, words: str) -> None:
    found = codes(*events)
    assert found[0][0] is code, found
    assert words in found[0][1], found
