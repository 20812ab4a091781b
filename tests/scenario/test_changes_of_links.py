"""Every model of a link changes while it runs: by an event and by ``set`` in the same way."""

from typing import Any

import pytest
from link_changes import MS, plan_of

from longhaul.scenario import ScenarioError, parse_scenario, resolve, resolve_changes
from longhaul.scenario.model import Changes

LINK = "delay: 5ms, rate: 100Mbit, loss: 1%"
EVERY = {
    "delay": ("{base: 8ms, jitter: {dist: normal, sd: 1ms}, reorder: true}", {"delay", "reorder"}),
    "rate": ("50Mbit", {"rate"}),
    "loss": ("{model: independent, mean: 2%, position: egress}", {"loss", "loss_position"}),
    "queue": ("{kind: codel, limit: 1bdp}", {"queue"}),
    "reordering": ("{share: 1%, delay: 20ms}", {"reordering"}),
    "duplicate": ("0.5%", {"duplicate"}),
    "corrupt": ("0.1%", {"corrupt"}),
    "count": ("ethernet", {"framing"}),
    "coalesce": ("50us", {"coalesce_ns"}),
}


def changed(change: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in change.items() if value is not None}


def hosts(event: str) -> dict[str, Any]:
    """A plan with the link ``w`` between two hosts."""
    text = f"""
version: 1
name: n
nodes: {{r: {{kind: host}}, s: {{kind: host}}}}
links: {{w: {{endpoints: [r, s], {LINK}}}}}
events: [{event}]
"""
    return resolve(parse_scenario(text.encode(), name="n.yaml")).plan


def test_every_key_of_a_change_is_tried_here() -> None:
    assert set(EVERY) == set(Changes.model_fields)


@pytest.mark.parametrize("key", EVERY)
def test_set_makes_the_change_that_an_event_makes(key: str) -> None:
    written, planned = EVERY[key]
    plan = hosts(f"{{at: 1s, link: w, set: {{{key}: {written}}}}}")
    (event,) = plan["events"]
    assert set(changed(event["change"])) == planned
    (asked,) = resolve_changes([f"{key}={written}"], plan["links"][0], to_hosts=("forward", "reverse"))
    assert asked == {key: event[key] for key in ("direction", "route", "change")}


def test_reordering_may_end() -> None:
    plan = plan_of(
        f"{LINK}, reordering: {{share: 1%, delay: 20ms}}", "{at: 1s, link: w, set: {reordering: none}}"
    )
    assert plan["links"][0]["forward"]["reordering"] == {
        "model": "share",
        "probability": 0.01,
        "delay_ns": 20 * MS,
    }
    assert changed(plan["events"][0]["change"]) == {"reordering": {"model": "none"}}
    (asked,) = resolve_changes(["delay=30ms", "reordering=none"], plan["links"][0], to_hosts=())
    assert asked["change"]["reordering"] == {"model": "none"}
    with pytest.raises(ScenarioError, match="is not below the delay of reordered packets"):
        resolve_changes(["delay=30ms"], plan["links"][0], to_hosts=())


def test_a_link_may_take_back_the_reordering_of_its_profile() -> None:
    text = """
version: 1
name: n
profiles: {wan: {delay: 5ms, reordering: {share: 1%, delay: 20ms}}}
nodes: {r: {kind: router}, s: {kind: router}}
links: {w: {endpoints: [r, s], profile: wan, reverse: {reordering: none}}}
"""
    (link,) = resolve(parse_scenario(text.encode(), name="n.yaml")).plan["links"]
    assert link["forward"]["reordering"]["model"] == "share"
    assert link["reverse"]["reordering"] is None


def test_what_has_no_number_to_move_changes_with_the_first_step() -> None:
    loss = "{model: independent, mean: 3%, position: egress}"
    models = f"{{loss: {loss}, count: vlan, reordering: {{gap: 5, early: 1%}}}}"
    plan = plan_of(LINK, f"{{at: 1s, link: w, set: {models}, over: 20ms}}")
    first, second = (changed(each["change"]) for each in plan["events"])
    assert set(first) == {"loss", "loss_position", "framing", "reordering"}
    assert first["loss"]["probability"] == pytest.approx(0.02)
    assert set(second) == {"loss"}


def test_segments_join_where_a_direction_ends_at_a_host() -> None:
    text = """
version: 1
name: n
nodes: {r: {kind: router}, h: {kind: host}}
links: {w: {endpoints: [h, r], delay: 5ms}}
events: [{at: 1s, link: w, set: {coalesce: 0s, delay: 6ms}}, {at: 2s, link: w, set: {coalesce: 1us}}]
"""
    events = resolve(parse_scenario(text.encode(), name="n.yaml")).plan["events"]
    # The direction to the router has nothing to change at 2 s.
    assert [(each["direction"], each["change"]["coalesce_ns"]) for each in events] == [
        ("forward", None),
        ("reverse", 0),
        ("reverse", 1_000),
    ]


def test_what_both_ways_ask_for_together_is_resolved_together() -> None:
    plan = plan_of("delay: 5ms, rate: 100Mbit", "{at: 1s, link: w, set: {delay: 20ms, queue: 1bdp}}")
    (asked,) = resolve_changes(["delay=20ms", "queue=1bdp"], plan["links"][0], to_hosts=())
    # 100 Mbit/s for 40 ms, as both ways have 20 ms then.
    assert asked["change"]["queue"]["limit_bytes"] == 500_000
    assert asked["change"] == plan["events"][0]["change"]


def test_up_and_other_models_change_in_one_request() -> None:
    plan = plan_of("delay: 5ms, routes: {count: 2, policy: round-robin}")
    first, second = resolve_changes(["up", "delay=20ms"], plan["links"][0], to_hosts=())
    assert (changed(first["change"]), first["route"]) == ({"up": True}, None)
    assert changed(second["change"]) == {"delay": {"model": "constant", "delay_ns": 20 * MS}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["coalesce=50us"], "ends at a host"),
        (["bandwidth=5Mbit"], "rate"),
        (["mtu=9000"], "fixed for a run"),
        (["reordering=5ms"], "must be a mapping of keys to values"),
    ],
)
def test_what_cannot_change_says_why(words: list[str], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        resolve_changes(words, plan_of(LINK)["links"][0], to_hosts=())
