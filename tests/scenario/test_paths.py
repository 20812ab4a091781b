"""Paths of a plan: compared with a reference and with the engine; how far it is, by walking each one."""

import json
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul import _longhaul
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.lower.link_models import plan_bits_per_s, plan_mean_ns
from longhaul.scenario.lower.paths import Routes, Step
from longhaul.scenario.lower.resolve import resolve


@st.composite
def plans(draw: st.DrawFn) -> Any:
    """Up to six routers, joined at random, each with a host; routes given by hand, some of them wrong."""
    count = draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(count) for b in range(a)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=8, unique=True))
    models = st.sampled_from(
        [
            "delay: 1ms",
            "delay: 2ms, rate: 1Gbit",
            "rate: 10Mbit",
            "mtu: 9000",
            "delay: {base: 1ms, jitter: {dist: uniform, half_width: 1ms}}",
            "forward: {delay: 1ms}, reverse: {delay: 3ms}",
        ]
    )
    links = [f"  l{i}: {{endpoints: [r{a}, r{b}], {draw(models)}}}" for i, (a, b) in enumerate(chosen)]
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


def reference(plan: Any, source: int, destination: int) -> tuple[Step, ...] | None:
    """The path by the words of docs/models/routing.md: every edge is relaxed until nothing changes."""
    passes = [node["kind"] == "router" for node in plan["nodes"]]
    passes[destination] = True
    edges: list[tuple[int, int, int, Step]] = []
    for index, link in enumerate(plan["links"]):
        a, b = link["endpoints"]
        edges.append((a, b, plan_mean_ns(link["forward"]["delay"]), (index, "forward")))
        edges.append((b, a, plan_mean_ns(link["reverse"]["delay"]), (index, "reverse")))
    distance: dict[int, tuple[float, int]] = {destination: (0, 0)}
    for _node in plan["nodes"]:
        for a, b, delay_ns, _step in edges:
            if passes[b] and b in distance:
                found = (distance[b][0] + delay_ns, distance[b][1] + 1)
                distance[a] = min(distance.get(a, (inf, 0)), found)
    overrides = {(each["node"], each["destination"]): each["link"] for each in plan["routes"]}
    steps: list[Step] = []
    node = source
    while node != destination:
        if len(steps) > len(passes) or (steps and not passes[node]):
            return None
        link = overrides.get((node, destination))
        chosen = [
            (b, step)
            for a, b, delay_ns, step in edges
            if a == node
            and (
                step[0] == link
                if link is not None
                else passes[b]
                and b in distance
                and (distance[b][0] + delay_ns, distance[b][1] + 1) == distance[node]
            )
        ]
        if not chosen:
            return None
        node, step = chosen[0]
        steps.append(step)
    return tuple(steps)


def engine_path(as_text: str, source: int, destination: int) -> tuple[Step, ...] | None:
    """The path in the network of a run."""
    path = _longhaul.path(as_text, source, destination)
    return None if path is None else tuple((link, "reverse" if back else "forward") for link, back in path)


@settings(max_examples=150, deadline=None)
@given(plans())
def test_paths_are_those_of_the_reference_and_of_the_engine(plan: Any) -> None:
    """Ties and overrides included: delays are drawn from few values so that there are many ties."""
    routes, as_text = Routes(plan), json.dumps(plan)
    nodes = range(len(plan["nodes"]))
    for source in nodes:
        for destination in nodes:
            expected = reference(plan, source, destination)
            assert routes.steps(source, destination) == expected, (source, destination)
            if source < 2:
                assert engine_path(as_text, source, destination) == expected, (source, destination)


MEAN_NS = 5_000_000
DELAYS: list[dict[str, Any]] = [
    {"model": "constant", "delay_ns": MEAN_NS},
    {"model": "ticks", "delay_ns": MEAN_NS, "hz": 1000, "rounding": "up"},
    {"model": "uniform", "mean_ns": MEAN_NS, "half_width_ns": 1000},
    {"model": "normal", "mean_ns": MEAN_NS, "sd_ns": 1000},
    {
        "model": "random",
        "mean_ns": MEAN_NS,
        "base_ns": 4_000_000,
        "jitter": {"dist": "exponential", "mean": 1e6},
        "correlation": 0.0,
    },
    {"model": "series", "mean_ns": MEAN_NS, "points": [[0, 1], [10, 2]], "linear": False, "repeat_ns": None},
]


@pytest.mark.parametrize("delay", DELAYS, ids=lambda delay: delay["model"])
@pytest.mark.parametrize(("beside_ns", "taken"), [(MEAN_NS - 1, 1), (MEAN_NS, 0), (MEAN_NS + 1, 0)])
def test_a_link_costs_its_mean_delay_in_the_scenario_and_in_the_engine(
    delay: dict[str, Any], beside_ns: int, taken: int
) -> None:
    text = "version: 1\nname: two\nduration: 1s\n"
    text += "nodes: {a: {kind: router}, b: {kind: host}, r: {kind: router}}\n"
    text += "links:\n  x: {endpoints: [a, r]}\n  y: {endpoints: [a, r]}\n  z: {endpoints: [r, b]}\n"
    plan: Any = resolve(parse_scenario(text.encode(), name="two.yaml")).plan
    for way in ("forward", "reverse"):
        plan["links"][0][way]["delay"] = delay
        plan["links"][1][way]["delay"] = {"model": "constant", "delay_ns": beside_ns}
    routes, as_text = Routes(plan), json.dumps(plan)
    for source, destination in ((0, 1), (1, 0)):
        steps = routes.steps(source, destination)
        assert steps is not None
        assert sorted(link for link, _way in steps) == [taken, 2]
        assert engine_path(as_text, source, destination) == steps


def test_nodes_and_links_that_are_not_there_are_refused() -> None:
    with pytest.raises(_longhaul.InvalidValueError, match=r"links\[0\].endpoints: there is no node 2"):
        _longhaul.Routes(kinds=[False, True], hosts=[0, 1], links=[(0, 2, 1, 1, True)], overrides=[])
    routes = _longhaul.Routes(kinds=[False, True], hosts=[0, 1], links=[(0, 1, 1, 1, True)], overrides=[])
    for ask in (routes.next, routes.path, lambda a, b: routes.tree([a], b)):
        for pair in ((0, 2), (2, 0)):
            with pytest.raises(ValueError, match="there are 2 nodes"):
                ask(*pair)
    with pytest.raises(ValueError, match="there are 2 nodes"):
        routes.attachment(2)


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
    (warning,) = [each.headline for each in resolve(parse_scenario(text.encode(), name="star.yaml")).warnings]
    assert "links.rest: no path between hosts uses this link" in warning
