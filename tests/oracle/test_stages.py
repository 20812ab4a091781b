"""One direction of a link in tc's words, stage by stage."""

from textwrap import dedent, indent

import pytest

from longhaul.oracle.stages import LIMIT_PACKETS, NO_TIME, Chain, chain, rounding_ns
from longhaul.plan import Direction
from longhaul.scenario import parse_scenario, resolve

NETEM = f"root handle 1: netem limit {LIMIT_PACKETS}"


def direction(models: str) -> Direction:
    text = "version: 1\nname: one\nduration: 10s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
    text += "links:\n  ab:\n    endpoints: [a, b]\n" + indent(dedent(models).strip(), "    ") + "\n"
    return resolve(parse_scenario(text.encode(), name="one.yaml")).plan["links"][0]["forward"]


def made(models: str) -> Chain:
    return chain(direction(models), mtu=1500)


def commands(models: str) -> dict[str, tuple[str, ...]]:
    found = made(models)
    assert not found.refused
    return {stage.role: stage.commands for stage in found.stages}


def refusal(models: str) -> str:
    (found,) = made(models).refused
    return f"{found.at[0]}: {found.message}"


def test_a_link_without_rate_is_a_delay_alone() -> None:
    assert commands("delay: 10ms") == {"delay": (f"{NETEM} delay 10ms",)}


def test_the_queue_comes_before_the_serialiser_and_both_before_the_delay() -> None:
    found = made("delay: 10ms\nrate: 100Mbit\nqueue: 250000B\nloss: 1%")
    assert [(each.role, *each.commands) for each in found.stages] == [
        ("loss", f"{NETEM} {NO_TIME} loss 1%"),
        ("queue", "root handle 10: stab overhead -14 tbf rate 100mbit burst 1500 limit 250000"),
        ("serialiser", f"{NETEM} rate 100mbit -14"),
        ("delay", f"{NETEM} delay 10ms"),
    ]


def test_packets_are_counted_with_their_framing() -> None:
    found = commands("rate: 100Mbit\ncount: ethernet\nqueue: 50p")
    assert found["queue"] == (
        "root handle 10: stab overhead 24 tbf rate 100mbit burst 1538 limit 2147483647",
        "parent 10:1 handle 20: pfifo limit 50",
    )
    assert found["serialiser"] == (f"{NETEM} rate 100mbit 24",)


def test_a_token_bucket_needs_no_serialiser() -> None:
    found = commands("rate: {bucket: 100Mbit, burst: 15000B}\nqueue: 50p")
    assert "burst 15000" in found["queue"][0]
    assert "serialiser" not in found


def test_queue_disciplines_are_children_of_the_bucket() -> None:
    found = commands("rate: 10Mbit\nqueue: {kind: codel, limit: 1000p}")
    assert found["queue"][1].startswith("parent 10:1 handle 20: codel limit 1000 target 5ms interval 100ms")


def test_losses_at_the_egress_come_with_the_delay() -> None:
    found = commands("rate: 10Mbit\nloss: {model: independent, mean: 1%, position: egress}")
    assert "loss" not in found["loss"][0].split()
    assert found["delay"][0].endswith("loss 1%")


def test_bursts_of_losses_keep_their_mean_and_length() -> None:
    (words,) = commands("loss: {model: gilbert-elliott, mean: 1%, burst: 4}")["loss"]
    # r = 1 / 4, p = m r / (1 - m).
    assert words.endswith(f"loss gemodel {100 * 0.01 * 0.25 / 0.99:.9g}% 25%")


@pytest.mark.parametrize(
    ("reorder", "end"), [("false", f"delay 5ms 1ms {NO_TIME}"), ("true", "delay 5ms 1ms")]
)
def test_jitter_changes_the_order_where_the_scenario_lets_it(reorder: str, end: str) -> None:
    models = f"delay: {{base: 5ms, jitter: {{dist: uniform, half_width: 1ms}}, reorder: {reorder}}}"
    assert commands(models)["delay"] == (f"{NETEM} {end}",)


def test_copies_and_damage_come_after_the_wire() -> None:
    assert commands("duplicate: 1%\ncorrupt: 2%") == {"delay": (f"{NETEM} duplicate 1% corrupt 2%",)}


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("loss: {model: periodic, every: 7}", "loss: netem has no such losses"),
        ("loss: {model: correlated, mean: 1%, correlation: 50%}", "loss: netem's correlated loss"),
        ("delay: {base: 1ms, jitter: {dist: exponential, mean: 1ms}}", "delay: netem has no table of"),
        ("delay: {base: 1500us, ticks: {hz: 1000, rounding: up}}", "delay: netem has no coarse clock"),
        ("rate: {bucket: 1Mbit, burst: 1000B}", "rate: a burst below 1500 bytes"),
        ("rate: 1Mbit\nqueue: {kind: drr}", "queue: this queue (drr)"),
    ],
)
def test_what_tc_cannot_do_is_refused_with_its_key(models: str, message: str) -> None:
    assert refusal(models).startswith(message)


@pytest.mark.parametrize(
    ("delay", "rounding"),
    # Ticks of 64 ns: 8 us are 125 of them, 1 us is 15 and something, and 400 ns are no microsecond.
    [("8us", 0), ("10ms", 0), ("1us", 40), ("400ns", 400), ("15us", 24)],
)
def test_netem_rounds_delays_to_its_ticks(delay: str, rounding: int) -> None:
    assert rounding_ns(direction(f"delay: {delay}")) == rounding
