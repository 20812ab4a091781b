"""From a good scenario to numbers."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul import _longhaul
from longhaul.analysis.metrics import metrics
from longhaul.scenario import json_schema, parse_scenario, resolve
from longhaul.scenario.edit.templates import TEMPLATES, template
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model.metrics import FIDELITY, FLOW, LINK, LINK_COUNTERS, PROBE, PROGRAM, TRANSFERS

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))

HEAD = """
version: 1
name: t
duration: 10s
nodes:
  r: {kind: router}
  s: {kind: router}
  h1..3: {kind: host, attach: r, profile: lan}
  k: {kind: host, attach: s, profile: lan}
profiles: {lan: {delay: 15us, rate: 10Gbit}}
"""


def plan_of(text: str, **settings: str) -> dict:
    plan = resolve(parse_scenario((HEAD + text).encode(), name="t.yaml", settings=settings)).plan
    _longhaul.check_plan(json.dumps(plan))
    return plan


def link(plan: dict, name: str) -> dict:
    return next(each for each in plan["links"] if each["name"] == name)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_our_own_scenarios_resolve_to_plans_that_rust_accepts(path: Path) -> None:
    resolved = resolve(parse_scenario(path.read_bytes(), name=str(path)))
    _longhaul.check_plan(json.dumps(resolved.plan))
    assert resolved.expectations


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_what_new_writes_is_good(name: str) -> None:
    resolved = resolve(parse_scenario(template("mine", kind=name).encode(), name=name))
    _longhaul.check_plan(json.dumps(resolved.plan))


def test_a_queue_of_one_bdp_holds_rate_times_round_trip() -> None:
    plan = plan_of("links: {w: {endpoints: [r, s], delay: 10ms, rate: 1Gbit, queue: 1bdp}}")
    assert link(plan, "w")["forward"]["queue"]["limit_bytes"] == 1_000_000_000 // 8 * 20 // 1000


def test_one_way_settings_override_both_ways() -> None:
    plan = plan_of("links: {w: {endpoints: [r, s], delay: 10ms, loss: 1%, reverse: {delay: 3ms}}}")
    wire = link(plan, "w")
    assert wire["forward"]["delay"] == {"model": "constant", "delay_ns": 10_000_000}
    assert wire["reverse"]["delay"] == {"model": "constant", "delay_ns": 3_000_000}
    assert wire["reverse"]["loss"] == {"model": "independent", "probability": 0.01}


def test_every_rate_has_a_finite_queue_without_being_told() -> None:
    plan = plan_of("links: {w: {endpoints: [r, s], delay: 10ms, rate: 1Gbit}}")
    for each in plan["links"]:
        for way in ("forward", "reverse"):
            queue = each[way]["queue"]
            assert queue["limit_bytes"] or queue["limit_packets"]


def test_parameters_are_replaced_and_set_from_outside() -> None:
    text = "params: {d: 10ms}\nlinks: {w: {endpoints: [r, s], delay: $d}}"
    assert link(plan_of(text), "w")["forward"]["delay"]["delay_ns"] == 10_000_000
    assert link(plan_of(text, d="7ms"), "w")["forward"]["delay"]["delay_ns"] == 7_000_000


def test_addresses_stay_when_another_cluster_gets_a_host() -> None:
    text = "links: {w: {endpoints: [r, s], delay: 10ms}}"
    before = {node["name"]: node["ipv4"] for node in plan_of(text)["nodes"]}
    more = (HEAD + text).replace("h1..3", "h1..9")
    after = {
        node["name"]: node["ipv4"]
        for node in resolve(parse_scenario(more.encode(), name="t.yaml")).plan["nodes"]
    }
    assert {name: after[name] for name in before} == before


def test_a_gradual_event_is_many_small_steps_that_end_where_asked() -> None:
    plan = plan_of(
        "links: {w: {endpoints: [r, s], delay: 10ms}}\n"
        "events: [{at: 2s, link: w, set: {delay: 30ms}, over: 1s}]"
    )
    delays = [event["change"]["delay"]["delay_ns"] for event in plan["events"]]
    assert delays == sorted(delays)
    assert len(delays) == 100
    assert (plan["events"][-1]["at_ns"], delays[-1]) == (3_000_000_000, 30_000_000)


def test_down_for_a_while_is_down_and_up_again() -> None:
    plan = plan_of("links: {w: {endpoints: [r, s]}}\nevents: [{at: 2s, link: w, down: 3s}]")
    assert [(event["at_ns"], event["change"]["up"]) for event in plan["events"]] == [
        (2 * 10**9, False),
        (5 * 10**9, True),
    ]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 5)), min_size=1, max_size=14))
def test_show_and_the_engine_take_the_same_paths(edges: list[tuple[int, int, int]]) -> None:
    """Ties included: delays are drawn from few values so that there are many."""
    edges = [(a, b, delay) for a, b, delay in edges if a != b]
    nodes = "".join(f"  r{n}: {{kind: router}}\n  h{n}: {{kind: host, attach: r{n}}}\n" for n in range(7))
    links = "".join(
        f"  l{n}: {{endpoints: [r{a}, r{b}], delay: {delay}ms}}\n" for n, (a, b, delay) in enumerate(edges)
    )
    text = f"version: 1\nname: t\nnodes:\n{nodes}links:\n{links or '  x: {endpoints: [r0, r1]}'}\n"
    plan = resolve(parse_scenario(text.encode(), name="t.yaml")).plan
    routes, as_text = Routes(plan), json.dumps(plan)
    for source in (1, 3, 5):
        for target in (7, 9, 13):
            way = routes.way(source, target)
            engine = _longhaul.path(as_text, source, target)
            assert (way is None) == (engine is None)
            if way is not None and engine is not None:
                assert [(number, name == "reverse") for number, name in way.there] == [
                    tuple(hop) for hop in engine
                ]


def test_the_catalogue_of_metrics_is_what_results_offer() -> None:
    quantiles = {"count": 1, **{f"{q}_ns": 1 for q in ("mean", "p50", "p90", "p99", "max")}}
    link_row = {
        "name": "w",
        "way": "forward",
        "achieved": dict.fromkeys(("delay_ns", "rate_bits_per_s", "peak_bits_per_s", "loss", "utilisation")),
        "packets": dict.fromkeys(LINK_COUNTERS),
        "queueing_delay": quantiles,
    }
    found = metrics(
        {
            "programs": [
                {
                    "name": "p",
                    "wall_ns": 1,
                    "exit": 0,
                    "iteration": {**quantiles, "first_ns": 1, "warm_up_ns": 1},
                }
            ],
            "flows": [
                {
                    **dict.fromkeys(("name", "flow"), "f"),
                    **dict.fromkeys(("goodput_bits_per_s", "retransmits", "loss", "done"), 1),
                    **dict.fromkeys(("throughput_bits_per_s", "retransmission_rate"), 1),
                    **{f"took_{q}_ns": 1 for q in ("p50", "p99", "max")},
                    "kind": "tcp",
                    "volume_bytes": 1,
                    "start_ns": 1,
                    "end_ns": 2,
                    "rtt": quantiles,
                    "delay": quantiles,
                    "send_lateness": quantiles,
                    "reordered": 1,
                }
            ],
            "probes": [
                {
                    "name": "q",
                    "to": "b",
                    "loss": 0,
                    **{f"rtt_{q}_ns": 1 for q in ("min", "p50", "p99", "max")},
                }
            ],
            "links": [link_row],
            "fairness": {"jain": 1.0, "streams": 2},
            "transfers": {"f1_ns": 1, "f2": 1.0, "f2_literal": 2.0},
            "fidelity": {"lateness": {}, "spacing": {}, "gaps": {}, "verdict": "faithful"},
        }
    )
    promised = {f"programs.p.{name}" for name in PROGRAM}
    promised |= {f"flows.f.{name}" for kind in FLOW.values() for name in kind}
    promised |= {f"probes.q.b.{name}" for name in PROBE}
    promised |= {f"links.w.forward.{name}" for name in LINK}
    promised |= {f"fidelity.{name}" for name in FIDELITY} | {"fairness.jain"}
    promised |= {f"transfers.{name}" for name in TRANSFERS}
    assert promised == set(found)


def test_the_schema_knows_every_section() -> None:
    schema = json_schema()
    assert {"version", "name", "nodes", "links", "traffic", "programs", "events", "expect"} <= set(
        schema["properties"]
    )
    assert schema["additionalProperties"] is False
