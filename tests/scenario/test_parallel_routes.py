"""Links that are made of parallel routes."""

from io import StringIO

import pytest
from rich.console import Console

from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.show.describe import describe
from longhaul.scenario.show.tables import tables

from .links import NODES, forward, plan_of

FOUR = (
    "delay: 5ms, loss: 1%, count: ethernet, "
    "routes: {count: 4, policy: round-robin, rate: 1Gbit, delays: [42ms, 42ms, 42ms, 42.4ms], "
    "resequence: {wait: 1ms, limit: 1MiB}}"
)
MS = 10**6


def test_what_a_route_leaves_out_comes_from_the_link() -> None:
    bundle = forward(FOUR)["bundle"]
    assert [route["delay"]["delay_ns"] for route in bundle["routes"]] == [42 * MS] * 3 + [42_400_000]
    for route in bundle["routes"]:
        assert route["rate"] == {"model": "constant", "bits_per_s": 10**9}
        assert route["loss"] == {"model": "independent", "probability": 0.01}
        assert route["framing"]["overhead_bytes"] == 38
        assert "bundle" not in route
    assert bundle["resequence"] == {"wait_ns": MS, "limit_bytes": 1 << 20}


def test_the_link_itself_has_the_mean_delay_and_the_rates_together() -> None:
    link = forward(FOUR)
    assert link["delay"] == {"model": "constant", "delay_ns": 42 * MS + 100_000}
    assert link["rate"] == {"model": "constant", "bits_per_s": 4 * 10**9}
    assert link["loss"] == {"model": "none"}


def test_a_queue_of_a_route_is_measured_by_its_own_rate_and_delay() -> None:
    link = forward("rate: 100Mbit, queue: 1bdp, routes: {policy: least-queued, delays: [10ms, 20ms]}")
    # There 10 or 20 ms, and back 15 ms, the mean of both.
    limits = [route["queue"]["limit_bytes"] for route in link["bundle"]["routes"]]
    assert limits == [100_000_000 // 8 * 25 // 1000, 100_000_000 // 8 * 35 // 1000]


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("policy: flow-hash", {"kind": "flow-hash", "key": "flow"}),
        ("policy: flow-hash, key: hosts", {"kind": "flow-hash", "key": "hosts"}),
        ("policy: round-robin", {"kind": "round-robin"}),
        ("policy: vlan-block", {"kind": "vlan-block"}),
        ("policy: weighted, weights: [3, 1]", {"kind": "weighted", "weights": [3, 1]}),
        ("policy: least-queued", {"kind": "least-queued"}),
        ("policy: flowlet, gap: 100us", {"kind": "flowlet", "gap_ns": 100_000}),
        ("policy: flowlet", {"kind": "flowlet", "gap_ns": 500_000}),
    ],
)
def test_policies(written: str, planned: dict) -> None:
    assert forward(f"routes: {{count: 2, {written}}}")["bundle"]["policy"] == planned


def test_each_route_may_have_models_of_its_own() -> None:
    link = forward(
        "rate: 1Gbit, routes: {policy: round-robin, each: "
        "[{delay: 4ms, loss: {model: periodic, every: 7}}, "
        "{rate: {paced: 1Mbit, line_rate: 1Gbit}, up: false}]}"
    )
    first, second = link["bundle"]["routes"]
    assert (first["loss"], first["up"]) == ({"model": "periodic", "every": 7}, True)
    assert (second["rate"]["model"], second["up"]) == ("paced", False)
    assert link["rate"]["bits_per_s"] == 10**9 + 10**6


def test_a_link_that_is_down_has_routes_that_are_up() -> None:
    link = forward("up: false, routes: {count: 2, policy: round-robin}")
    assert not link["up"]
    assert all(route["up"] for route in link["bundle"]["routes"])


def addresses(plan: dict) -> list[tuple]:
    return [(event["direction"], event["route"]) for event in plan["events"]]


def test_an_event_may_pick_a_route_counting_from_one() -> None:
    plan = plan_of(FOUR, events="{at: 1s, link: w, route: 4, down: 1s}")
    assert addresses(plan) == [(None, 3), (None, 3)]
    assert [event["change"]["up"] for event in plan["events"]] == [False, True]


def test_an_event_without_a_route_is_one_change_of_all_where_they_become_alike() -> None:
    plan = plan_of(FOUR, events="{at: 1s, link: w, set: {delay: 50ms}}")
    assert addresses(plan) == [(None, None)]


def test_a_ramp_of_routes_that_differ_is_one_change_for_each() -> None:
    plan = plan_of(FOUR, events="{at: 1s, link: w, direction: forward, set: {delay: 50ms}, over: 20ms}")
    assert addresses(plan) == [("forward", number) for number in range(4)] + [("forward", None)]
    half = [event["change"]["delay"]["delay_ns"] for event in plan["events"][:4]]
    assert half == [46 * MS] * 3 + [46_200_000]


def test_paths_have_the_rate_of_the_routes_together() -> None:
    way = Routes(plan_of(FOUR)).way(0, 1)
    assert way is not None
    assert (way.bits_per_s, way.one_way_ns) == (4 * 10**9, 42_100_000)


def test_show_tells_of_routes_within_80_columns() -> None:
    models = FOUR + ", mtu: 9000, reverse: {loss: {preset: teragrid, position: egress}, duplicate: 1%}"
    text = f"{NODES}links: {{w: {{endpoints: [a, b], {models}}}}}\n"
    console = Console(width=80, record=True, file=StringIO())
    console.print(tables(describe(resolve(parse_scenario(text.encode(), name="t.yaml")))))
    shown = console.export_text()
    assert "4 routes" in shown
    assert "42.4 ms" in shown
    assert "4 Gbit/s" in shown
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())
