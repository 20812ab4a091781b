"""What is said of traffic before a live run."""

import pytest

from longhaul.run import traffic
from longhaul.scenario import parse_scenario, resolve

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


def warnings(host: str, flow: str) -> list[str]:
    text = SCENARIO.replace("HOST", host).replace("FLOW", flow)
    resolved = resolve(parse_scenario(text.encode(), name="two.yaml"))
    return list(traffic.concerns(resolved, resolved.traffic))


def test_pacing_that_a_flow_would_keep_is_told() -> None:
    (warning,) = warnings("bbr", "reno")
    assert warning.startswith("two.yaml:9:")
    assert "goes on pacing" in warning
    assert "tcp: {congestion_control: reno}" in warning


@pytest.mark.parametrize(("host", "flow"), [("bbr", "bbr"), ("cubic", "bbr"), ("reno", "cubic")])
def test_other_controls_leave_nothing_behind(host: str, flow: str) -> None:
    assert warnings(host, flow) == []
