"""Which link model held when: the plan and the changes that a run applied."""

from collections.abc import Iterable

from link_changes import MS, S, by_user, constant, plan_of

from longhaul.analysis.configuration import Applied, Configuration, planned
from longhaul.scenario import parse_scenario, resolve


def configuration(plan: dict) -> Configuration:
    return Configuration(plan, planned(plan))


def delays(phases: Iterable) -> list[tuple[float, float]]:
    return [(phase.from_ns / S, phase.delay_ns / MS) for phase in phases]


def test_a_change_holds_from_its_instant_until_the_next() -> None:
    plan = plan_of(
        "delay: 35ms", "{at: 2s, link: w, set: {delay: 80ms}}", "{at: 5s, link: w, set: {delay: 35ms}}"
    )
    found = configuration(plan)
    assert delays(found.phases(0, "forward")) == [(0, 35), (2, 80), (5, 35)]
    assert [found.at(0, "reverse", at * S).delay_ns / MS for at in (0, 1, 2, 4, 5, 9)] == [
        35,
        35,
        80,
        80,
        35,
        35,
    ]


def test_what_a_user_changed_counts_as_what_the_scenario_changed() -> None:
    plan = plan_of("delay: 35ms, rate: 10Mbit", "{at: 2s, link: w, set: {delay: 80ms}}")
    slower = by_user(3, {"rate": {"model": "constant", "bits_per_s": 10**6}}, way="reverse")
    found = Configuration(plan, [*planned(plan), slower])
    assert found.rates(0, "forward") == [(0, 10**7)]
    assert found.rates(0, "reverse") == [(0, 10**7), (3 * S, 10**6)]
    assert found.at(0, "reverse").delay_ns == 80 * MS


def test_each_phase_knows_whether_the_link_was_up() -> None:
    found = configuration(plan_of("delay: 1ms", "{at: 2s, link: w, down: 3s}"))
    assert [(phase.from_ns / S, phase.configured.up) for phase in found.phases(0, "forward")] == [
        (0, True),
        (2, False),
        (5, True),
    ]


def test_one_route_changes_by_itself_and_moves_the_mean() -> None:
    plan = plan_of("delay: 10ms, rate: 10Mbit, routes: {count: 4, policy: round-robin}")
    found = Configuration(
        plan,
        [
            by_user(1, {"delay": constant(30)}, route=2),
            by_user(2, {"up": False}, route=0),
            by_user(3, {"up": False}),
        ],
    )
    assert delays(found.phases(0, "forward")) == [(0, 10), (1, 15), (2, 15), (3, 15)]
    assert [phase.configured.up for phase in found.phases(0, "forward")] == [True, True, True, False]
    routes = found.model(0, "forward")["bundle"]["routes"]
    assert [each["delay"]["delay_ns"] // MS for each in routes] == [10, 10, 30, 10]
    assert [each["up"] for each in routes] == [False, True, True, True]


def test_two_changes_at_one_instant_are_one_phase() -> None:
    before = {"forward": {"offered_packets": 7}}
    first = Applied(S, 0, ("forward",), None, {"up": False}, {"by": "cli"}, before)
    second = Applied(
        S, 0, ("forward",), None, {"corrupt": 0.1}, {"by": "cli"}, {"forward": {"offered_packets": 7}}
    )
    found = Configuration(plan_of("delay: 1ms"), [first, second])
    (_, phase) = found.phases(0, "forward")
    assert (phase.configured.up, phase.model["corrupt"], phase.before) == (False, 0.1, {"offered_packets": 7})


def test_delays_along_a_path_add_up_at_every_time() -> None:
    nodes = "nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}"
    links = "links: {x: {endpoints: [a, b], delay: 10ms}, y: {endpoints: [b, c], delay: 1ms}}"
    events = "[{at: 1s, link: x, set: {delay: 20ms}}, {at: 2s, link: [x, y], set: {delay: 3ms}}]"
    text = f"version: 1\nname: n\n{nodes}\n{links}\nevents: {events}"
    found = configuration(resolve(parse_scenario(text.encode(), name="n.yaml")).plan)
    path = [(0, "forward"), (1, "forward"), (1, "reverse"), (0, "reverse")]
    assert found.delays(path) == [(0, 22 * MS), (S, 42 * MS), (2 * S, 12 * MS)]


def test_an_event_says_which_of_the_scenario_it_is_and_when_it_began() -> None:
    plan = plan_of(
        "delay: 10ms", "{at: 9s, link: w, down: 1s}", "{at: 1s, link: w, set: {delay: 20ms}, over: 30ms}"
    )
    ramp, ramp_cause = plan["events"][:3], {"by": "event", "position": 1, "begins_ns": S, "over_ns": 30 * MS}
    assert [each["cause"] for each in ramp] == [ramp_cause] * 3
    assert [each["cause"]["position"] for each in plan["events"][3:]] == [0, 0]
