"""What is said of traffic before a live run."""

from typing import Any, get_args

import pytest

from longhaul.results.simulated_flows import flow_total
from longhaul.run import traffic
from longhaul.run.flows import plan_flows
from longhaul.scenario import Resolved, parse_scenario, resolve
from longhaul.scenario.model.traffic import Kind, transport

SCENARIO = """
version: 1
name: two
duration: 5s
tcp: {congestion_control: HOST}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: FLOW}
"""


def resolved_with(host: str, flow: str) -> Resolved:
    text = SCENARIO.replace("HOST", host).replace("FLOW", flow)
    return resolve(parse_scenario(text.encode(), name="two.yaml"))


def warnings(host: str, flow: str) -> list[str]:
    resolved = resolved_with(host, flow)
    return [each.headline for each in traffic.concerns(resolved, resolved.traffic)]


def test_pacing_that_a_flow_would_keep_is_told() -> None:
    (warning,) = warnings("bbr", "reno")
    assert warning.startswith("two.yaml:9:")
    assert "continues to pace" in warning
    assert "tcp: {congestion_control: reno}" in warning


@pytest.mark.parametrize(("host", "flow"), [("bbr", "bbr"), ("cubic", "bbr"), ("reno", "cubic")])
def test_other_controls_leave_nothing_behind(host: str, flow: str) -> None:
    assert warnings(host, flow) == []


def test_each_kind_of_a_resolved_scenario_has_one_transport_and_one_sender() -> None:
    assert {kind: (transport(kind), traffic.command({"kind": kind})) for kind in get_args(Kind)} == {
        "ping": ("icmp", "ping"),
        "tcp": ("tcp", "iperf3"),
        "udp": ("udp", None),
        "requests": ("tcp", None),
        "replay": ("tcp", None),
        "pcap": ("any", None),
    }


@pytest.mark.parametrize(
    ("more", "sender"),
    [
        ({"bytes": None}, "iperf3"),
        ({"bytes": 1000, "rate_bits_per_s": None, "mptcp": False}, None),
        ({"bytes": 1000, "rate_bits_per_s": 1_000_000}, "iperf3"),
        ({"bytes": 1000, "mptcp": True}, "iperf3"),
    ],
)
def test_bulk_traffic_with_a_size_is_sent_by_longhaul_itself(
    more: dict[str, Any], sender: str | None
) -> None:
    assert traffic.command({"kind": "tcp", **more}) == sender


def test_an_unknown_kind_of_traffic_is_refused_and_not_sent_over_tcp() -> None:
    resolved = resolved_with("reno", "reno")
    item = {**resolved.traffic[0], "kind": "http"}
    with pytest.raises(AssertionError, match="http"):
        plan_flows(resolved, [item])
    with pytest.raises(AssertionError, match="http"):
        traffic.realise(resolved.plan, [item], duration_ns=None)
    with pytest.raises(AssertionError, match="http"):
        flow_total({**item, "program": "bulk"}, [])


def test_no_program_is_started_for_what_the_network_generates_itself() -> None:
    resolved = resolved_with("reno", "reno")
    with pytest.raises(ValueError, match="no program sends udp"):
        traffic.realise(resolved.plan, [{**resolved.traffic[0], "kind": "udp"}], duration_ns=None)
