"""Traffic from several hosts: who sends to whom, and what the flows are called."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.run.flows import plan_flows
from longhaul.scenario import parse_scenario, resolve

HEAD = """
version: 1
name: pairs
duration: 1s
nodes: {r: {kind: router}, "a1..3": {kind: host, attach: r}, "b1..3": {kind: host, attach: r}}
traffic:
"""


def flows(written: str, rest: str = "") -> list[tuple[str, str, str]]:
    """Name, sender and receiver of each flow of the plan."""
    resolved = resolve(parse_scenario((HEAD + f"  t: {{{written}}}\n" + rest).encode(), name="pairs.yaml"))
    nodes = resolved.plan["nodes"]
    planned, rows = plan_flows(resolved, resolved.traffic)
    assert [row["program"] for row in rows] == [flow["name"] for flow in planned]
    return [
        (flow["name"], nodes[flow["source"]]["name"], nodes[flow["destination"]]["name"]) for flow in planned
    ]


def test_as_many_senders_as_receivers_are_pairs_in_order() -> None:
    assert flows("kind: tcp, from: a1..3, to: [b3, b1..2]") == [
        ("t.a1.b3", "a1", "b3"),
        ("t.a2.b1", "a2", "b1"),
        ("t.a3.b2", "a3", "b2"),
    ]


def test_several_senders_send_to_one_receiver() -> None:
    assert flows("kind: udp, from: [a1, a3], to: b2, rate: 1Mbit") == [
        ("t.a1.b2", "a1", "b2"),
        ("t.a3.b2", "a3", "b2"),
    ]


def test_one_sender_sends_to_each_receiver() -> None:
    assert flows("kind: ping, from: a1, to: b1..2") == [("t.b1", "a1", "b1"), ("t.b2", "a1", "b2")]
    assert flows("kind: ping, from: a1..1, to: b1") == [("t", "a1", "b1")]


def test_metrics_name_both_ends_of_a_pair() -> None:
    bound = "expect: [{metric: %s, min: 1Mbit}]\n"
    assert flows("kind: tcp, from: a1..3, to: b1..3", bound % "flows.t.a2.b2.goodput")
    assert flows(
        "kind: ping, from: a1..3, to: b1..3", (bound % "probes.t.a2.b2.rtt.min").replace("1Mbit", "1ms")
    )
    with pytest.raises(LonghaulError, match=r"flows\.t\.a1\.b2\.goodput"):
        flows("kind: tcp, from: a1..3, to: b1..3", bound % "flows.t.a1.b2.goodput")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("from: a1..3, to: b1..2", '"from" names 3 hosts and "to" 2; name as many in both for pairs'),
        ("from: a1..2, to: [b1, a2]", '"a2" would send to itself; name another host'),
        ("from: a1..3, to: a3", '"a3" would send to itself; name another host'),
        ("from: [a1, r], to: b1..2", '"r" is a router, where no programs run'),
        ("from: a1..4, to: b1", 'there is no host "a4"'),
        ("from: a3..1, to: b1", '"a3..1" counts down'),
    ],
)
def test_what_is_not_a_pair_is_refused_where_it_is_written(written: str, problem: str) -> None:
    with pytest.raises(LonghaulError) as refused:
        flows(f"kind: tcp, {written}")
    assert problem in str(refused.value)
    assert "pairs.yaml:7:" in str(refused.value)
