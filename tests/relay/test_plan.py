"""From section ``relay`` to the plan of a gateway."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.scenario import parse_scenario, resolve
from longhaul.scenario.lower.relay import plan_relay

from .scenarios import HEAD, THREE, plan_of, resolved_of


def steps(plan: dict, source: int, destination: int) -> list[tuple[str, str]]:
    """The names of the links from one cluster to another, and the ways."""
    (path,) = [each for each in plan["paths"] if (each["from"], each["to"]) == (source, destination)]
    return [(plan["links"][step["link"]]["name"], step["way"]) for step in path["steps"]]


def test_paths_between_sites_are_the_shortest_ones() -> None:
    # 18 ms + 7 ms through b is less than 100 ms straight on.
    plan = plan_of(THREE)
    assert steps(plan, 0, 2) == [("ab", "forward"), ("bc", "forward")]
    assert steps(plan, 2, 0) == [("bc", "reverse"), ("ab", "reverse")]
    assert steps(plan, 1, 1) == []
    assert len(plan["paths"]) == 9


def test_links_off_all_paths_are_left_out_and_events_follow_the_others() -> None:
    events = "[{at: 1s, link: bc, set: {delay: 9ms}}, {at: 2s, link: unused, down: true}]"
    text = f"{THREE}\nevents: {events}"
    resolved = resolved_of(text)
    planned = plan_relay(resolved)
    assert [each["name"] for each in planned.plan["links"]] == ["ab", "bc"]
    assert [(each["at_ns"], each["link"]) for each in planned.plan["events"]] == [(10**9, 1)]
    assert any("no path between clusters uses" in each.headline for each in planned.warnings)
    assert any("unused" in each.headline for each in resolved.warnings)
    assert not any("links.ab" in each.headline or "links.bc" in each.headline for each in resolved.warnings)


def test_models_of_links_are_those_of_a_run() -> None:
    resolved = resolved_of(THREE)
    index = [each["name"] for each in resolved.plan["links"]].index("bc")
    planned = plan_relay(resolved).plan["links"][1]
    assert planned == {key: resolved.plan["links"][index][key] for key in ("name", "forward", "reverse")}


def test_every_gateway_listens_for_socks_and_forwards_at_those_of_their_clusters() -> None:
    listeners = plan_of(THREE)["listeners"]
    assert listeners == [
        {"kind": "socks", "address": "127.1.0.1:1080", "from": 0},
        {"kind": "socks", "address": "127.2.0.1:1080", "from": 1},
        {"kind": "socks", "address": "127.3.0.1:1080", "from": 2},
        {
            "kind": "forward",
            "address": "127.1.0.1:15201",
            "target": "127.2.0.11:5201",
            "from": 0,
            "to": 1,
        },
        {"kind": "datagrams", "address": "127.1.0.2:53", "target": "[fd00:2::1]:53", "from": 0, "to": 1},
    ]


def test_ranges_of_names_count_addresses_on_and_names_elsewhere_are_members() -> None:
    plan = plan_of(THREE)
    assert plan["names"] == {
        "n1": "127.1.0.11",
        "n2": "127.1.0.12",
        "n11": "127.2.0.11",
        "away": "10.9.9.9",
    }
    assert plan["clusters"][2] == {"name": "far", "members": ["127.3.0.0/24", "10.9.9.9/32"]}


def test_one_gateway_for_two_clusters_tells_them_by_their_addresses() -> None:
    text = """
relay:
  clusters:
    a: {gateway: 10.0.0.1, machines: 10.1.0.0/16}
    b: {gateway: 10.0.0.1, machines: 10.2.0.0/16}
  socks: 1080
"""
    assert plan_of(text)["listeners"] == [{"kind": "socks", "address": "10.0.0.1:1080"}]


def test_a_gateway_apart_serves_its_own_cluster_and_delays_both_ways() -> None:
    plan = plan_of(f"{THREE}  gateways: apart\n", gateway="b")
    assert plan["listeners"] == [{"kind": "socks", "address": "127.2.0.1:1080", "from": 1}]
    assert plan["inward"] is None
    assert plan["peers"] == []


def test_chained_gateways_delay_what_comes_in_and_have_a_port_for_each_other() -> None:
    text = THREE.replace(", protocol: udp", "") + "  gateways: chained\n"
    plans = {name: plan_of(text, gateway=name) for name in ("a", "b", "far")}
    assert [plans[name]["inward"] for name in plans] == [[0], [1], [2]]
    assert plans["a"]["peers"] == [
        {"cluster": 1, "address": "127.2.0.1:1090"},
        {"cluster": 2, "address": "127.3.0.1:1090"},
    ]
    # What b opens for those who come from cluster 0 is where a connects to.
    for position, plan in enumerate(plans.values()):
        for other, theirs in enumerate(plans.values()):
            for peer in plan["peers"]:
                if peer["cluster"] == other:
                    wanted = {"kind": "socks", "address": peer["address"], "from": position}
                    assert wanted in theirs["listeners"]


@pytest.mark.parametrize(
    ("more", "gateway", "message"),
    [
        ("", "a", "one process is the gateway of all"),
        ("  gateways: apart\n", None, "--gateway a or b or far"),
        ("  gateways: apart\n", "c", "no cluster"),
    ],
)
def test_the_scenario_says_whether_gateways_are_one_process(
    more: str, gateway: str | None, message: str
) -> None:
    with pytest.raises(LonghaulError, match=message) as caught:
        plan_of(THREE + more, gateway=gateway)
    assert caught.value.exit_code == 2


def test_papers_threads_do_not_share_a_link_unless_told_nothing() -> None:
    assert plan_of(THREE)["share"] == "link"
    plan = plan_of(f"{THREE}  algorithm: paper\n")
    assert (plan["share"], plan["algorithm"]) == ("connection", "paper")


def test_quantities_become_integers() -> None:
    more = "  retransmit: 200ms\n  subtract: 30us\n  buffer: 64KiB\n  memory: 1MiB\n  connections: 40\n"
    plan = plan_of(f"{THREE}{more}  log: {{messages: false, limit: 1MB}}\n")
    assert plan["retransmit_ns"] == 200 * 10**6
    assert plan["subtract_ns"] == 30_000
    assert (plan["buffer_bytes"], plan["memory_bytes"], plan["connections"]) == (1 << 16, 1 << 20, 40)
    assert plan["log"] == {"messages": False, "limit_bytes": 10**6}


def test_a_transparent_gateway_takes_connections_at_any_address() -> None:
    text = THREE.replace("  socks: 1080\n", "  transparent: 15001\n  gateways: apart\n")
    assert plan_of(text, gateway="far")["listeners"] == [
        {"kind": "transparent", "address": "0.0.0.0:15001", "from": 2}
    ]


def test_hosts_and_programs_may_stand_beside_a_relay() -> None:
    text = HEAD.replace("nodes: {", "nodes: {h: {kind: host, attach: a}, ") + THREE
    resolved = resolve(parse_scenario(f"{text}\nprograms: {{p: {{run: date, host: h}}}}".encode(), name="t"))
    planned = plan_relay(resolved)
    assert [each["name"] for each in planned.plan["links"]] == ["ab", "bc"]
    assert any("runs no programs" in each.headline for each in planned.warnings)


def test_without_a_section_there_is_no_relay() -> None:
    with pytest.raises(LonghaulError, match="no section relay"):
        plan_of("")
