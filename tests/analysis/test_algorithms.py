"""Which congestion-control algorithm real hosts used, and whether a simulation uses the same."""

from typing import Any

from longhaul.analysis.algorithms import (
    algorithm_warnings,
    algorithms_text,
    flow_algorithm,
    summarise_algorithms,
)
from longhaul.scenario.lower.congestion_control import CC_SYSCTL

PLAN = {
    "nodes": [
        {"name": "a", "kind": "host", "sysctls": {}},
        {"name": "b", "kind": "host", "sysctls": {CC_SYSCTL: "bic_1a2b"}},
        {"name": "r", "kind": "router", "sysctls": {}},
    ],
    "algorithms": [{"name": "bic_1a2b", "cc": {"algorithm": "bic"}}],
}
SOCKETS = {
    "host": ["a", "a", "a", "b"],
    "socket": [1, 1, 2, 3],
    "cc": ["reno", "reno", "cubic", "bic_1a2b"],
    "sent_bytes": [0, 500, 10, 9],
    "local": ["10.0.0.1:7", "10.0.0.1:7", "10.0.0.1:8", "10.0.0.2:9"],
    "remote": ["10.0.0.2:80", "10.0.0.2:80", "10.0.0.2:5201", "10.0.0.1:80"],
}


def hosts() -> list[dict[str, Any]]:
    defaults = {"a": "reno", "b": "bic_1a2b"}
    return summarise_algorithms(PLAN, defaults, SOCKETS, own_ends={"10.0.0.2:5201"})


def test_connections_count_once_by_the_scenario_s_names_and_without_the_run_s_own() -> None:
    assert hosts() == [
        {"host": "a", "default": "reno", "configured": "cubic", "connections": {"reno": 1}},
        {"host": "b", "default": "bic", "configured": "bic", "connections": {"bic": 1}},
    ]
    assert algorithms_text(hosts()) == "reno on a (configured: cubic); bic on b"


def test_programs_that_used_another_algorithm_than_a_simulation_are_named_with_a_remedy() -> None:
    (warning,) = algorithm_warnings(hosts(), [], with_programs=set(), is_watched=True)
    assert warning["text"].startswith(
        "TCP connections of programs on a used reno, where a simulation uses cubic"
    )
    assert warning["text"].endswith("tcp: {congestion_control: reno}")


def test_hosts_without_such_connections_are_not_warned_of() -> None:
    quiet = [{**each, "connections": {}} for each in hosts()]
    assert list(algorithm_warnings(quiet, [], with_programs={"a"}, is_watched=True)) == []
    (warning,) = algorithm_warnings(quiet, [], with_programs={"a"}, is_watched=False)
    assert "may have used" in warning["text"]


def test_a_flow_that_used_another_algorithm_than_its_own_is_named() -> None:
    flows = [
        {"flow": "bulk", "cc": "cubic", "algorithms": ["reno"]},
        {"flow": "good", "cc": "bbr", "algorithms": ["bbr"]},
        {"flow": "unseen", "cc": "bbr", "algorithms": []},
    ]
    (warning,) = algorithm_warnings([], flows, with_programs=set(), is_watched=True)
    assert warning["text"] == "flow bulk used reno, not cubic"


def test_the_algorithm_of_a_flow_is_that_of_its_connections_else_the_configured_one() -> None:
    assert flow_algorithm({"algorithms": ["cubic", "reno"], "cc": "cubic"}) == "cubic+reno"
    assert flow_algorithm({"algorithms": [], "cc": "cubic"}) == "cubic"
    assert flow_algorithm({"cc": None}) == ""
