"""What a live run may have whose network is divided among engine threads."""

from typing import Any

import pytest

from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.run import live, live_shards
from longhaul.scenario import parse_scenario, resolve

SCENARIO = """\
version: 1
name: pair
duration: 3s
nodes:
  r1..2: {kind: router}
  a: {kind: host, attach: r1}
  b: {kind: host, attach: r2}
links:
  wan: {endpoints: [r1, r2], delay: DELAY, rate: 10Mbit}
traffic:
  bulk: {kind: tcp, from: a, to: b, simulated: true}
  probe: {kind: ping, from: a, to: b, simulated: true}
"""


def plan_of(more: str = "", *, delay: str = "10ms") -> Plan:
    text = SCENARIO.replace("DELAY", delay) + more
    return live.plan_run(resolve(parse_scenario(text.encode(), name="pair.yaml"))).plan


def test_simulated_flows_may_be_on_several_threads_and_on_several_machines() -> None:
    plan = plan_of()
    assert live_shards.unsupported(plan) == []
    threads = live_shards.threads_of(plan, 2)
    assert threads is not None
    assert sorted(set(threads)) == [0, 1]


def test_threads_with_simulated_traffic_are_joined_by_links_with_some_delay() -> None:
    """They wait for each other, unlike those of real traffic alone."""
    short = plan_of(delay="150us")
    with pytest.raises(LonghaulError, match="of at least 200 µs, with simulated traffic"):
        live_shards.threads_of(short, 2)
    assert live_shards.threads_of(short, "auto") is None
    real: Plan = {**short, "flows": []}
    assert live_shards.threads_of(real, 2) is not None


def test_what_threads_cannot_share_is_named_and_auto_leaves_it_on_one_thread() -> None:
    plan = plan_of("events:\n  - {at: 1s, link: wan, set: {duplicate: 1%}}\n")
    what = "simulated pings on links that duplicate packets"
    with pytest.raises(LonghaulError, match=f"--shards does not support {what} yet"):
        live_shards.threads_of(plan, 2)
    assert live_shards.threads_of(plan, "auto") is None
    assert live_shards.preview(plan, "auto")["reason"] == f"{what} need one engine thread"


def test_simulated_ends_that_share_state_are_not_divided() -> None:
    plan = plan_of()
    (bulk, _probe) = plan["flows"]
    subflows: Any = {**bulk, "traffic": {**bulk["traffic"], "subflows": [[2, 3]]}}
    shared: Any = {**plan, "flows": [subflows], "jobs": [{"name": "solver", "after": ["mesh"]}]}
    assert live_shards.unsupported(shared) == [
        "simulated programs that start after others",
        "simulated Multipath TCP",
    ]
    with pytest.raises(
        LonghaulError, match="--on does not support simulated programs that start after others, simulated Mul"
    ) as error:
        live_shards.refuse(shared, option="--on")
    assert error.value.remedy == "leave out --on"
