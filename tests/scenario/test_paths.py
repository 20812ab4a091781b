"""Paths of a plan: how far it is, by walking each one."""

from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul.scenario.laws import plan_bits_per_s, plan_mean_ns
from longhaul.scenario.load import parse_scenario
from longhaul.scenario.paths import Routes
from longhaul.scenario.resolve import resolve


@st.composite
def plans(draw: st.DrawFn) -> Any:
    """Up to six routers, joined at random, each with a host; routes given by hand, some of them wrong."""
    count = draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8, unique=True))
    laws = st.sampled_from(["delay: 1ms", "delay: 2ms, rate: 1Gbit", "rate: 10Mbit", "mtu: 9000"])
    links = [f"  l{i}: {{endpoints: [r{a}, r{b}], {draw(laws)}}}" for i, (a, b) in enumerate(chosen)]
    nodes = (
        f"  r{i}: {{kind: router}}\n  h{i}: {{kind: host, attach: r{i}, profile: lan}}" for i in range(count)
    )
    head = "version: 1\nname: net\nduration: 1s\nprofiles: {lan: {delay: 10us, rate: 1Gbit}}"
    text = "\n".join([head, "nodes:", *nodes, "links:", *links])
    plan = resolve(parse_scenario(text.encode(), name="net.yaml")).plan
    by_hand = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(plan["nodes"]) - 1),
                st.integers(0, len(plan["nodes"]) - 1),
                st.integers(0, len(plan["links"]) - 1),
            ),
            max_size=3,
        )
    )
    routes = [
        {"node": node, "destination": destination, "link": link}
        for node, destination, link in by_hand
        if node in plan["links"][link]["endpoints"] and node != destination
    ]
    return {**plan, "routes": routes}


@settings(max_examples=150, deadline=None)
@given(plans())
def test_the_reach_of_a_node_is_what_its_path_adds_up_to(plan: Any) -> None:
    routes = Routes(plan)
    nodes = range(len(plan["nodes"]))
    for destination in nodes:
        found = routes.reaches(nodes, destination)
        for source in nodes:
            steps = routes.steps(source, destination)
            reach = found[source]
            assert (steps is None) == (reach is None), (source, destination)
            if steps is None or reach is None:
                continue
            directions = [plan["links"][link][way] for link, way in steps]
            assert reach.delay_ns == sum(plan_mean_ns(each["delay"]) for each in directions)
            rates = [plan_bits_per_s(each) or inf for each in directions]
            assert (reach.bits_per_s or inf) == min(rates, default=inf)
            if reach.bottleneck is not None:
                assert steps.index(reach.bottleneck) == rates.index(min(rates))
            assert reach.mtu == min((plan["links"][link]["mtu"] for link, _way in steps), default=65_535)


@settings(max_examples=150, deadline=None)
@given(plans())
def test_the_links_that_are_used_are_those_of_all_paths(plan: Any) -> None:
    routes = Routes(plan)
    nodes = range(len(plan["nodes"]))
    for destination in nodes:
        every = [routes.steps(source, destination) or () for source in nodes]
        assert routes.used(nodes, destination) == {link for steps in every for link, _way in steps}


@pytest.mark.parametrize("hosts", [2, 3, 7])
def test_links_of_hosts_that_are_alike_are_on_paths(hosts: int) -> None:
    # The last router has no host, so its link leads nowhere.
    text = "version: 1\nname: star\nduration: 1s\nnodes:\n  r: {kind: router}\n  end: {kind: router}\n"
    text += "".join(f"  h{n}: {{kind: host}}\n" for n in range(hosts))
    text += "links:\n  rest: {endpoints: [r, end]}\n"
    text += "".join(f"  l{n}: {{endpoints: [h{n}, r]}}\n" for n in range(hosts))
    (warning,) = resolve(parse_scenario(text.encode(), name="star.yaml")).warnings
    assert "links.rest: no path between hosts uses this link" in warning
