"""What differs between scenarios, in words: nothing left out, nothing said twice."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.differences import ABSENT, differences, facts, unlike
from longhaul.analysis.wording import model_text, value_text
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.lower.resolve import resolve

SCENARIO = b"""
version: 1
name: pairs
duration: 2s
nodes: {r: {kind: router}, s: {kind: router}, a1..4: {kind: host, attach: r}, b: {kind: host, attach: s}}
links: {wan: {endpoints: [r, s], delay: 10ms, rate: 10Mbit, loss: 0.1%}}
events: [{at: 1s, link: wan, set: {delay: 20ms}}]
"""
PLAN: dict[str, Any] = resolve(parse_scenario(SCENARIO, name="pairs.yaml")).plan
WAN = next(place for place, link in enumerate(PLAN["links"]) if link["name"] == "wan")
MODELS = {
    "loss": {"model": "gilbert-elliott", "mean": 0.01, "burst": 3.0},
    "rate": {"model": "constant", "bits_per_s": 5_000_000},
    "delay": {"model": "constant", "delay_ns": 11_000_000},
    "reorder": True,
    "duplicate": 0.5,
}


def changed(**models: Any) -> dict[str, Any]:
    plan = copy.deepcopy(PLAN)
    for way in ("forward", "reverse"):
        plan["links"][WAN][way] |= models
    return plan


def told(*plans: dict[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.subject, each.what, each.values) for each in differences([facts(plan) for plan in plans])]


@given(st.sets(st.sampled_from(sorted(MODELS))))
def test_every_model_that_was_changed_is_named_and_no_other(names: set[str]) -> None:
    found = told(PLAN, changed(**{name: MODELS[name] for name in names}))
    assert {(subject, what) for subject, what, _ in found} == {("link wan", name) for name in names}


def test_values_are_told_in_their_units() -> None:
    assert told(PLAN, changed(**MODELS)) == [
        ("link wan", "delay", ("10 ms", "11 ms")),
        ("link wan", "rate", ("10 Mbit/s", "5 Mbit/s")),
        ("link wan", "loss", ("0.1 %", "gilbert-elliott (mean 1 %, burst 3)")),
        ("link wan", "reorder", ("no", "yes")),
        ("link wan", "duplicate", ("0", "50 %")),
    ]


def test_a_way_that_differs_is_told_apart() -> None:
    plan = copy.deepcopy(PLAN)
    plan["links"][WAN]["reverse"]["delay"] = MODELS["delay"]
    assert told(PLAN, plan) == [("link wan", "delay", ("10 ms", "10 ms there, 11 ms back"))]


def test_things_with_the_same_difference_are_one_line() -> None:
    plan = copy.deepcopy(PLAN)
    for link in plan["links"]:
        if link["name"].startswith("a"):
            link["mtu"] = 9000
    ((subject, what, values),) = told(PLAN, plan)
    assert subject == "links a1-r, a2-r and 2 more"
    assert (what, values) == ("MTU", ("1500", "9000"))


def test_what_is_on_one_side_only_is_one_line() -> None:
    program = {"name": "fetch", "argv": ["curl", "x"]}
    found = differences([facts(PLAN), facts(PLAN, programs=[program])])
    assert [(each.subject, each.values) for each in found] == [("program fetch", (ABSENT, "curl x"))]


def test_events_that_differ_only_in_between_are_said_to() -> None:
    def with_events(delay_ns: int) -> dict[str, Any]:
        plan = copy.deepcopy(PLAN)
        (last,) = plan["events"]
        first = copy.deepcopy(last)
        first["change"]["delay"]["delay_ns"] = delay_ns
        plan["events"] = [first, last]
        return plan

    ((subject, what, values),) = told(with_events(1_000), with_events(2_000))
    assert (subject, what) == ("link wan", "changes")
    assert values == ("2, at 1 s; then delay 20 ms, different in detail",) * 2


def test_traffic_is_compared_by_what_both_have_recorded() -> None:
    row = {"name": "bulk", "kind": "tcp", "from": "a1", "to": "b", "cc": "cubic", "simulated": True}
    found = differences([facts(PLAN, [{**row, "stop_ns": 5}]), facts(PLAN, [{**row, "cc": "bbr"}])])
    assert [(each.what, each.values) for each in found] == [("congestion control", ("cubic", "bbr"))]


def with_flow(**model: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    row = {"name": "load", "program": "load", "kind": "udp", "from": "a1", "to": "b", "rate_bits_per_s": 5}
    traffic = {"kind": "udp", "bits_per_s": 5, "arrivals": "even", "sizes": "fixed", "on_off": None, **model}
    return {**PLAN, "flows": [{"name": "load", "traffic": traffic}]}, [row]


def test_what_only_the_model_of_a_flow_says_is_a_difference_too() -> None:
    even, poisson = with_flow(), with_flow(arrivals="poisson")
    (found,) = differences([facts(*even), facts(*poisson)])
    assert (found.subject, found.what) == ("traffic load", "details")
    assert found.values == ("arrivals even, sizes fixed", "arrivals poisson, sizes fixed")
    # Where something that has a name of its own differs, that is enough.
    plan, (row,) = poisson
    (found,) = differences([facts(*even), facts(plan, [{**row, "rate_bits_per_s": 9}])])
    assert (found.what, found.values) == ("rate", ("5 bit/s", "9 bit/s"))


def test_pacing_on_one_side_alone_is_a_difference() -> None:
    paced = copy.deepcopy(PLAN)
    host = next(each for each in paced["nodes"] if each["kind"] == "host")
    host["pacing"] = {"classes": [{"rate_bits_per_s": 1_000_000}]}
    ((subject, what, values),) = told(PLAN, paced)
    assert (subject, what) == (f"host {host['name']}", "pacing")
    assert values[0] == ABSENT


def test_seeds_do_not_make_runs_unlike_and_models_do() -> None:
    assert unlike([facts(PLAN), facts({**PLAN, "seed": 7})]) == []
    (found,) = unlike([facts(PLAN), facts(PLAN), facts(changed(rate=MODELS["rate"]))])
    assert found.what == "rate"


def test_long_models_are_counted() -> None:
    assert model_text({"model": "runs", "runs": list(range(500)), "repeat": False}) == (
        "runs (runs 500 values, repeat no)"
    )
    assert value_text("limit_bytes", 12_500_000) == "12.5 MB"
    assert model_text(None) == "-"
