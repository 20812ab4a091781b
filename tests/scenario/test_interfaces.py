"""Hosts that are the end of several links: interfaces, addresses, names, main routing tables."""

from pathlib import Path
from typing import Any

import pytest

import longhaul
from longhaul.scenario import ScenarioError, load_scenario, parse_scenario, resolve
from longhaul.scenario.lower.main_tables import (
    choose_interface,
    interfaces_of,
    is_access_link,
    without_interfaces,
)
from longhaul.scenario.lower.mptcp import subflows
from longhaul.scenario.lower.paths import Routes

TWO_PATHS = """
version: 1
name: two-paths
duration: 5s
nodes:
  a: {kind: host}
  b: {kind: host}
  c: {kind: host, attach: r2}
  r1: {kind: router}
  r2: {kind: router}
links:
  a-fast: {endpoints: [a, r1], delay: 5ms, rate: 50Mbit}
  fast-b: {endpoints: [r1, b], delay: 5ms, rate: 50Mbit}
  a-slow: {endpoints: [a, r2], delay: 15ms, rate: 20Mbit, mtu: 1400}
  slow-b: {endpoints: [r2, b], delay: 15ms, rate: 20Mbit}
"""


def planned(text: str) -> Any:
    return resolve(parse_scenario(text.encode(), name="interfaces.yaml")).plan


def named(plan: Any) -> dict[str, int]:
    return {node["name"]: index for index, node in enumerate(plan["nodes"])}


def test_each_link_of_a_host_has_an_interface_with_its_own_name_addresses_and_mtu() -> None:
    plan = planned(TWO_PATHS)
    index = named(plan)
    a, further = plan["nodes"][index["a"]], plan["nodes"][index["a.r2"]]
    assert (a["kind"], a["aliases"], a["mtu"]) == ("host", ["a.r1"], 1500)
    assert (further["kind"], further["of"], further["mtu"]) == ("interface", index["a"], 1400)
    assert interfaces_of(plan["nodes"]) == {
        index["a"]: [index["a"], index["a.r2"]],
        index["b"]: [index["b"], index["b.r2"]],
    }
    addresses = [node[family] for node in plan["nodes"] for family in ("ipv4", "ipv6")]
    assert len(set(addresses)) == len(addresses)
    ends = [
        end for link in plan["links"] for end in link["endpoints"] if plan["nodes"][end]["kind"] != "router"
    ]
    assert len(set(ends)) == len(ends)


def test_a_second_link_moves_no_address() -> None:
    before = planned(TWO_PATHS.replace("  a-slow", "  # a-slow").replace("  slow-b", "  # slow-b"))
    known = {node["name"]: (node["ipv4"], node["ipv6"]) for node in before["nodes"]}
    after = {node["name"]: (node["ipv4"], node["ipv6"]) for node in planned(TWO_PATHS)["nodes"]}
    assert known.items() <= after.items()


def test_links_to_the_same_neighbour_have_interfaces_called_like_the_links() -> None:
    text = TWO_PATHS.replace("  fast-b: {endpoints: [r1, b]", "  fast-b: {endpoints: [a, r1]")
    assert {"a.fast-b", "a.r2"} <= named(planned(text)).keys()


def test_a_destination_is_reached_by_the_interface_with_the_shortest_path() -> None:
    plan = planned(TWO_PATHS)
    index, routes = named(plan), Routes(plan)
    chosen = {to: choose_interface(plan["nodes"], index["a"], index[to]) for to in ("b", "b.r2", "c", "r1")}
    assert chosen == {"b": index["a"], "b.r2": index["a.r2"], "c": index["a.r2"], "r1": index["a"]}
    # Each by its own path, there and back.
    for to, one_way_ns in (("b", 10_000_000), ("b.r2", 30_000_000)):
        way = routes.way(index["a"], index[to])
        assert way is not None
        assert (way.one_way_ns, way.return_ns) == (one_way_ns, one_way_ns)


def test_answers_to_whom_no_path_leads_follow_the_main_table() -> None:
    plan = planned(TWO_PATHS)
    index, routes = named(plan), Routes(plan)
    # c is at r2 alone, and eth0 of a at r1 alone.
    assert index["c"] in plan["nodes"][index["a"]]["no_path_to"]
    assert routes.answering(index["a"], index["c"]) == index["a.r2"]
    way = routes.way(index["c"], index["a"])
    assert way is not None
    assert way.round_trip_ns == 30_000_000
    assert plan["nodes"][index["a.r2"]]["no_path_to"] == [index["r1"]]


def test_routes_of_the_scenario_choose_interfaces() -> None:
    plan = planned(TWO_PATHS + "routes:\n  - {at: a, to: b, via: a-slow}\n")
    index = named(plan)
    assert choose_interface(plan["nodes"], index["a"], index["b"]) == index["a.r2"]
    assert plan["routes"] == []


def test_a_host_takes_packets_for_any_of_its_addresses_at_each_interface() -> None:
    text = """
version: 1
name: middle
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}, c: {kind: host}}
links:
  x: {endpoints: [a, b], delay: 1ms}
  y: {endpoints: [b, c], delay: 2ms}
"""
    plan = planned(text)
    index, routes = named(plan), Routes(plan)
    assert routes.steps(index["c"], index["b"]) == ((1, "reverse"),)
    # No path leads through a host.
    assert routes.steps(index["a"], index["c"]) is None


def test_links_between_hosts_that_forward_are_not_access_links() -> None:
    plan = planned(TWO_PATHS.replace("a: {kind: host}", "a: {kind: host, forward: true}"))
    access = {link["name"] for link in plan["links"] if is_access_link(plan["nodes"], link)}
    assert access == {"fast-b", "slow-b", "c-r2"}


def test_without_interfaces_a_host_has_all_of_its_links() -> None:
    plan = without_interfaces(planned(TWO_PATHS))
    index = named(plan)
    assert index.keys() == {"a", "b", "c", "r1", "r2"}
    assert [link["endpoints"] for link in plan["links"] if link["name"] == "a-slow"] == [
        [index["a"], index["r2"]]
    ]
    assert not any("main_routes" in node or "aliases" in node for node in plan["nodes"])


@pytest.mark.parametrize(("ends", "rtt_ns"), [("ab", 20e6), ("ac", 30e6), ("ca", 30e6)])
def test_simulated_flows_take_the_interfaces_of_the_tables(ends: str, rtt_ns: float, tmp_path: Path) -> None:
    text = TWO_PATHS + f"traffic: {{echo: {{kind: ping, from: {ends[0]}, to: {ends[1]}, every: 100ms}}}}\n"
    (tmp_path / "two.yaml").write_text(text)
    result = longhaul.run_sim(tmp_path / "two.yaml", runs=tmp_path / "runs", report=False)
    assert result.probe("echo")["rtt_min_ns"] == pytest.approx(rtt_ns, rel=0.01)


def test_simulated_traffic_to_an_interface_takes_its_path(tmp_path: Path) -> None:
    text = TWO_PATHS + "traffic: {echo: {kind: ping, from: a, to: [b, b.r2], every: 100ms}}\n"
    (tmp_path / "two.yaml").write_text(text)
    result = longhaul.run_sim(tmp_path / "two.yaml", runs=tmp_path / "runs", report=False)
    rtt_ns = {each["to"]: each["rtt_min_ns"] for each in result.summary["probes"]}
    assert rtt_ns == pytest.approx({"b": 20e6, "b.r2": 60e6}, rel=0.01)


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("b.r3", 'there is no host "b.r3"; did you mean "b.r2"?'),
        ("b.r1", '"b.r1" is the first interface of "b", and has its name; write b'),
        ("c.r2", 'there is no host "c.r2"'),
        ("a.r2", '"a" would send to itself'),
    ],
)
def test_traffic_goes_to_interfaces_that_are_there(to: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(TWO_PATHS + f"traffic: {{echo: {{kind: ping, from: a, to: {to}, every: 100ms}}}}\n")
    assert str(caught.value).count("[E") == 1
    assert message in str(caught.value)


def test_a_flow_list_begins_at_hosts_and_ends_at_hosts_or_interfaces(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO_PATHS + "traffic: {list: {kind: replay, file: flows.csv}}\n")
    for line, wrong in (("a,b.r2", None), ("a.r2,b", "hosts choose the one that they send from; write a")):
        (tmp_path / "flows.csv").write_text(f"start_s,from,to,bytes\n0,{line},1000\n")
        if wrong is None:
            (flow,) = resolve(load_scenario(path)).traffic
            assert flow["destinations"] == [named(resolve(load_scenario(path)).plan)["b.r2"]]
        else:
            with pytest.raises(ScenarioError, match=wrong):
                resolve(load_scenario(path))


def with_mptcp(of_a: str, of_b: str = "", general: str = "") -> str:
    text = TWO_PATHS.replace("  a: {kind: host}", f"  a: {{kind: host{of_a}}}")
    return text.replace("  b: {kind: host}", f"  b: {{kind: host{of_b}}}") + general


def paths_of(text: str) -> list[tuple[str, str]]:
    plan = planned(text)
    index = named(plan)
    pairs = subflows(plan["nodes"], Routes(plan), index["a"], index["b"])
    return [(plan["nodes"][here]["name"], plan["nodes"][there]["name"]) for here, there in pairs]


@pytest.mark.parametrize(
    ("of_a", "of_b", "pairs"),
    [
        # The server announces its second address, and the client goes there as its main table says.
        ("", "", [("a", "b"), ("a.r2", "b.r2")]),
        ("", ", tcp: {mptcp: false}", [("a", "b")]),
        (", tcp: {mptcp: {add_addr_accepted: 0}}", "", [("a", "b")]),
        (", tcp: {mptcp: {subflows: 0}}", "", [("a", "b")]),
        # Answers from b's first address come in by a's; the kernel binds the subflow to a.r2.
        (
            ", tcp: {mptcp: {endpoints: {a.r2: subflow}}}",
            ", tcp: {mptcp: {endpoints: {b: signal}}}",
            [("a", "b")],
        ),
        (
            ", tcp: {mptcp: {endpoints: {a.r2: fullmesh}}}",
            ", tcp: {mptcp: {endpoints: {b.r2: signal}}}",
            [("a", "b"), ("a.r2", "b.r2")],
        ),
    ],
)
def test_paths_of_multipath_tcp_are_those_of_the_path_manager(
    of_a: str, of_b: str, pairs: list[tuple[str, str]]
) -> None:
    assert paths_of(with_mptcp(of_a, of_b)) == pairs


def star(links: int, mptcp: str = "{}", addresses: str = "dual") -> str:
    """A host with ``links`` links, and these settings of Multipath TCP."""
    lines = ["version: 1", "name: star", f"addresses: {addresses}", "duration: 1s", "nodes:"]
    lines += [f"  a: {{kind: host, tcp: {{mptcp: {mptcp}}}}}", "  b: {kind: host, attach: r1}"]
    lines += [f"  r{number}: {{kind: router}}" for number in range(links)]
    lines += ["  hub: {kind: router}", "links:"]
    for number in range(links):
        lines += [f"  a-{number}: {{endpoints: [a, r{number}], delay: 1ms}}"]
        lines += [f"  hub-{number}: {{endpoints: [hub, r{number}], delay: 1ms}}"]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(("addresses", "announced"), [("dual", 4), ("ipv4", 8)])
def test_a_host_announces_as_many_addresses_as_linux_takes(addresses: str, announced: int) -> None:
    plan = planned(star(10, addresses=addresses))
    endpoints = plan["nodes"][named(plan)["a"]]["mptcp"]["endpoints"]
    names = [plan["nodes"][each["interface"]]["name"] for each in endpoints]
    assert names == [f"a.r{number}" for number in range(1, announced + 1)]


def test_a_simulated_connection_has_a_subflow_for_each_path(tmp_path: Path) -> None:
    for multipath, least, most in (("true", 60e6, 68e6), ("false", 40e6, 49e6)):
        traffic = f"traffic: {{bulk: {{kind: tcp, from: a, to: b, mptcp: {multipath}, cc: cubic}}}}\n"
        (tmp_path / "two.yaml").write_text(with_mptcp("", general=traffic))
        (flow,) = longhaul.run_sim(tmp_path / "two.yaml", runs=tmp_path / "runs").summary["flows"]
        assert least < flow["goodput_bits_per_s"] < most
        # Fairness is between connections.
        assert flow["stream_rates"] == pytest.approx([flow["goodput_bits_per_s"]])
        assert len(flow.get("subflow_rates", ())) == 2 * (multipath == "true")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            with_mptcp(", tcp: {mptcp: {endpoints: {a.r3: signal}}}"),
            ["E0401", 'a has no interface "a.r3"', "a.r2", "interfaces.yaml:6:"],
        ),
        (
            with_mptcp("", general="tcp: {mptcp: {endpoints: {a.r2: signal}}}\n"),
            ["endpoints are interfaces of one host", "interfaces.yaml:16:"],
        ),
        (
            TWO_PATHS.replace("attach: r2}", "attach: r2, tcp: {mptcp: {endpoints: {c: signal}}}}"),
            ["c has one link", "interfaces.yaml:8:"],
        ),
        (
            star(6, "{endpoints: {a.r1: signal, a.r2: signal, a.r3: signal, a.r4: signal, a.r5: signal}}"),
            ["E0206", "a has 10 addresses here", "at most 8", "each has 2", "interfaces.yaml:6:"],
        ),
        (with_mptcp(", tcp: {mptcp: {endpoints: {a.r2: loud}}}"), ["signal", "interfaces.yaml:6:"]),
        (with_mptcp(", tcp: {mptcp: {subflows: 9}}"), ["8", "interfaces.yaml:6:"]),
        (with_mptcp(", tcp: {mptcp: often}"), ["interfaces.yaml:6:"]),
    ],
)
def test_wrong_endpoints_are_one_error(text: str, words: list[str]) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(text)
    assert str(caught.value).count("[E") == 1
    message = str(caught.value)
    for word in words:
        assert word in message
