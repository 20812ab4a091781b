"""What was changed in a run, in words."""

from link_changes import MS, S, by_user, constant, plan_of

from longhaul.analysis.changes import (
    Change,
    ChangeLog,
    describe_changes,
    interventions,
    verdict_text,
)
from longhaul.analysis.configuration import Applied, planned

SLOW = {"model": "constant", "bits_per_s": 10**6}


def texts(plan: dict, *applied: Applied) -> list[str]:
    return [each.text for each in describe_changes(plan, applied)]


def test_a_change_has_the_old_model_and_the_new_one() -> None:
    plan = plan_of("delay: 35ms, rate: 10Mbit")
    assert texts(
        plan, by_user(1, {"delay": constant(80)}), by_user(2, {"rate": SLOW, "delay": constant(35)})
    ) == [
        "w: delay 35 → 80 ms",
        "w: delay 80 → 35 ms, rate 10 → 1 Mbit/s",
    ]


def test_down_and_up_need_no_old_state() -> None:
    assert texts(plan_of("delay: 1ms"), by_user(1, {"up": False}), by_user(2, {"up": True})) == [
        "w: down",
        "w: up",
    ]


def test_a_change_to_what_was_there_says_so() -> None:
    assert texts(plan_of("delay: 35ms"), by_user(1, {"delay": constant(35)})) == [
        "w: delay 35 ms (as before)"
    ]


def test_ways_that_change_differently_are_two_changes() -> None:
    plan = plan_of("delay: 35ms, reverse: {delay: 5ms}")
    found = describe_changes(plan, [by_user(1, {"delay": constant(80)}, words=("delay=80ms",))])
    assert [each.text for each in found] == ["w forward: delay 35 → 80 ms", "w reverse: delay 5 → 80 ms"]
    assert interventions([each.as_dict() for each in found]) == 1


def test_parts_of_one_request_are_one_change() -> None:
    parts = (
        by_user(1, {"up": True}, words=("up", "delay=1ms")),
        by_user(1, {"delay": constant(1)}, words=("up", "delay=1ms")),
    )
    assert texts(plan_of("delay: 35ms, up: false"), *parts) == ["w: up, delay 35 → 1 ms"]


def test_a_gradual_event_is_one_change_from_its_beginning_to_its_end() -> None:
    plan = plan_of(
        "delay: 35ms", "{at: 1s, link: w, set: {delay: 80ms}, over: 2s}", "{at: 5s, link: w, down: 1s}"
    )
    found = describe_changes(plan, planned(plan))
    assert [(each.at_ns / S, each.until_ns / S, each.text) for each in found] == [
        (1, 3, "w: delay 35 → 80 ms"),
        (5, 5, "w: down"),
        (6, 6, "w: up"),
    ]
    assert [each.source for each in found] == ["events[0]", "events[1]", "events[1]"]
    assert not any(each.is_intervention for each in found)


def test_a_route_is_counted_from_1_and_all_of_them_are_the_link() -> None:
    plan = plan_of("delay: 10ms, routes: {count: 3, policy: round-robin}")
    assert texts(
        plan,
        by_user(1, {"delay": constant(30)}, route=1),
        by_user(2, {"delay": constant(30)}, way="forward"),
        by_user(3, {"up": False}),
    ) == [
        "w, route 2: delay 10 → 30 ms",
        "w forward, route 1: delay 10 → 30 ms",
        "w forward, route 3: delay 10 → 30 ms",
        "w forward, route 2: delay 30 ms (as before)",
        "w: down",
    ]


def test_every_model_of_a_link_has_words() -> None:
    plan = plan_of("delay: 10ms, rate: 10Mbit, queue: 100p")
    red = {"limit_packets": None, "limit_bytes": 10**6, "discipline": {"kind": "codel", "target_ns": 5 * MS}}
    change = {
        "loss": {"model": "independent", "probability": 0.01},
        "queue": red,
        "duplicate": 0.001,
        "reorder": True,
    }
    queue = "queue 100 packets, fifo → 1 MB, codel (target 5 ms)"
    assert texts(plan, by_user(1, change)) == [
        f"w: reorder no → yes, loss none → 1 %, {queue}, duplicate 0 → 0.1 %"
    ]


def test_a_verdict_names_the_interventions_and_not_the_events() -> None:
    plan = plan_of("delay: 35ms", "{at: 1s, link: w, down: 1s}")
    made = [*planned(plan), by_user(3, {"up": False}, by="page", words=("down",))]
    changes: list[Change] = describe_changes(plan, made)
    rows = [each.as_dict() for each in changes]
    assert [row["kind"] for row in rows] == ["event", "event", "intervention"]
    assert (rows[-1]["source"], rows[-1]["user"], rows[-1]["words"]) == ("ann, page", "ann", ["down"])
    faithful = {"fidelity": {"verdict": "faithful"}}
    assert verdict_text({**faithful, "changes": rows}) == "faithful, with 1 intervention"
    assert verdict_text({**faithful, "changes": rows[:2]}) == "faithful"


def test_a_faithful_simulation_is_called_simulated_and_an_invalid_one_invalid() -> None:
    made = {"fidelity": {"verdict": "faithful"}, "simulation": {"digest": "0"}}
    assert verdict_text(made) == "simulated"
    assert verdict_text({**made, "fidelity": {"verdict": "invalid"}}) == "invalid"


def test_what_a_user_did_during_a_ramp_began_where_the_ramp_was() -> None:
    plan = plan_of("delay: 10ms", "{at: 1s, link: w, set: {delay: 40ms}, over: 30ms}")
    steps = planned(plan)
    assert texts(plan, steps[0], by_user(1.015, {"delay": constant(5)}), *steps[1:]) == [
        "w: delay 10 → 40 ms",
        "w: delay 20 → 5 ms",
    ]


def test_a_log_tells_each_change_once_and_a_gradual_one_with_its_end() -> None:
    plan = plan_of("delay: 10ms", "{at: 1s, link: w, set: {delay: 40ms}, over: 30ms}")
    steps = planned(plan)
    log = ChangeLog(plan)
    told = [[each.text for each in log.take([step], goes_on=True)] for step in steps]
    assert told == [["w: delay 10 → 40 ms"], [], []]
    (first,) = ChangeLog(plan).take(steps[:1], goes_on=True)
    assert (first.at_ns, first.until_ns) == (S, S + 30 * MS)
    assert [each.text for each in log.take([by_user(2, {"up": False})], goes_on=True)] == ["w: down"]
