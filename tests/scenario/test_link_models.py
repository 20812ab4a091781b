"""Each model as the language writes it, and as the plan has it; numbers come from arithmetic."""

import math

import numpy as np
import pytest

from longhaul.scenario import parse_scenario, resolve, resolve_changes
from longhaul.scenario.lower.link_models import distribution_mean, mean_loss

from .links import NODES, forward, plan_of

MS = 10**6


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("0.1%", {"model": "independent", "probability": 0.001}),
        ("0%", {"model": "none"}),
        ("{model: none}", {"model": "none"}),
        ("{model: block, packets: 1000}", {"model": "one-per-block", "block": 1000}),
        ("{model: periodic, every: 100}", {"model": "periodic", "every": 100}),
        (
            "{model: gilbert-elliott, mean: 1%, burst: 2.5}",
            {"model": "gilbert-elliott", "mean": 0.01, "burst": 2.5},
        ),
        (
            "{model: markov, good_to_bad: 1%, bad_to_good: 30%}",
            {"model": "markov", "good_to_bad": 0.01, "bad_to_good": 0.3, "loss_good": 0.0, "loss_bad": 1.0},
        ),
        (
            "{model: four-state, p13: 1%, p31: 30%, p32: 10%, p23: 50%, p14: 0.5%}",
            {"model": "four-state", "p13": 0.01, "p31": 0.3, "p32": 0.1, "p23": 0.5, "p14": 0.005},
        ),
        (
            "{model: correlated, mean: 2%, correlation: 0.3}",
            {"model": "correlated", "mean": 0.02, "correlation": 0.3},
        ),
    ],
)
def test_models_of_loss_keep_their_numbers(written: str, planned: dict) -> None:
    assert forward(f"loss: {written}")["loss"] == planned


@pytest.mark.parametrize(
    ("written", "gap", "unit"),
    [
        ("gap: 18s", {"dist": "constant", "value": 18e9}, "wall"),
        ("gap: {dist: uniform, low: 1s, high: 3s}", {"dist": "uniform", "low": 1e9, "high": 3e9}, "wall"),
        (
            "unit: packets, gap: {dist: exponential, mean: 2.5}",
            {"dist": "exponential", "mean": 2.5},
            "packets",
        ),
        (
            "unit: bytes, gap: {dist: normal, mean: 1MB, sd: 1kB}",
            {"dist": "normal", "mean": 1e6, "sd": 1e3},
            "bytes",
        ),
        (
            "unit: busy, rate: 10Gbit, gap: {dist: weibull, shape: 2.9, scale: 300ms}",
            {"dist": "weibull", "shape": 2.9, "scale": 0.3e9},
            {"busy": {"bits_per_s": 10**10}},
        ),
        (
            "gap: {dist: weibull, shape: 2.9, scale: 18s, location: 3s}",
            {"dist": "weibull", "shape": 2.9, "scale": 18e9, "location": 3e9},
            "wall",
        ),
        (
            "gap: {dist: log-logistic, shape: 3, scale: 10s}",
            {"dist": "log-logistic", "shape": 3.0, "scale": 10e9},
            "wall",
        ),
        (
            "unit: packets, gap: {dist: inverse-gaussian, mean: 1000, shape: 2000.5}",
            {"dist": "inverse-gaussian", "mean": 1000.0, "shape": 2000.5},
            "packets",
        ),
        (
            "unit: bytes, gap: {dist: generalised-pareto, shape: -0.2, scale: 1MB, location: -2kB}",
            {"dist": "generalised-pareto", "shape": -0.2, "scale": 1e6, "location": -2e3},
            "bytes",
        ),
        (
            "gap: {dist: generalised-pareto, shape: 0.2, scale: 5s}",
            {"dist": "generalised-pareto", "shape": 0.2, "scale": 5e9, "location": 0.0},
            "wall",
        ),
        (
            "unit: packets, gap: {dist: gev, shape: 0.15, scale: 400, location: -1.5}",
            {"dist": "gev", "shape": 0.15, "scale": 400.0, "location": -1.5},
            "packets",
        ),
        (
            "gap: {dist: wakeby, alpha: -2s, beta: 6, gamma: 3s, delta: 0.25, xi: 1ms}",
            {"dist": "wakeby", "alpha": -2e9, "beta": 6.0, "gamma": 3e9, "delta": 0.25, "xi": 1e6},
            "wall",
        ),
        (
            "unit: packets, gap: {dist: empirical, values: [30, 10, 20]}",
            {"dist": "empirical", "values": [10.0, 20.0, 30.0]},
            "packets",
        ),
    ],
)
def test_gaps_between_losses_are_counted_in_their_unit(written: str, gap: dict, unit: str | dict) -> None:
    loss = forward(f"loss: {{model: renewal, {written}, burst: 2}}")["loss"]
    assert loss == {"model": "renewal", "gap": gap, "burst": {"dist": "constant", "value": 2.0}, "unit": unit}


def test_sizes_and_silences_need_no_mean() -> None:
    traffic = "size: {dist: pareto, shape: 0.9, scale: 1kB}, gap: {dist: log-logistic, shape: 1, scale: 1s}"
    text = f"{NODES}links: {{w: {{endpoints: [a, b]}}}}\n"
    text += f"traffic: {{web: {{kind: requests, from: a, to: b, {traffic}}}}}\n"
    (flow,) = resolve(parse_scenario(text.encode(), name="t.yaml")).traffic
    assert flow["size"] == {"dist": "pareto", "shape": 0.9, "scale": 1e3}
    assert distribution_mean(flow["size"]) == distribution_mean(flow["gap"]) == math.inf


def test_teragrid_loses_once_in_sixteen_seconds() -> None:
    loss = forward("loss: {preset: teragrid}")["loss"]
    assert loss["unit"] == "wall"
    assert distribution_mean(loss["gap"]) == pytest.approx(18e9 * math.gamma(1 + 1 / 2.9))
    assert distribution_mean(loss["gap"]) == pytest.approx(16.05e9, rel=1e-3)


def test_teragrid_in_literal_seconds_is_sixty_times_as_lossy() -> None:
    wall = forward("loss: {preset: teragrid-literal-seconds}")["loss"]
    busy = forward("loss: {preset: teragrid-busy-10g}")["loss"]
    assert distribution_mean(wall["gap"]) == pytest.approx(0.2675e9, rel=1e-3)
    assert busy["gap"] == wall["gap"]
    assert (wall["unit"], busy["unit"]) == ("wall", {"busy": {"bits_per_s": 10**10}})


def test_losses_may_come_after_the_queue() -> None:
    assert forward("loss: 1%")["loss_position"] == "ingress"
    assert forward("loss: {preset: teragrid, position: egress}")["loss_position"] == "egress"


def test_the_long_run_share_of_chains_is_known() -> None:
    markov = forward("loss: {model: markov, good_to_bad: 1%, bad_to_good: 24%, loss_bad: 50%}")["loss"]
    assert mean_loss(markov) == pytest.approx(0.01 / 0.25 * 0.5)
    # A point every 99 packets takes one of them; the burst's second packet stands beside the gap.
    renewal = forward("loss: {model: renewal, unit: packets, gap: 99, burst: 2}")["loss"]
    assert mean_loss(renewal) == pytest.approx(0.02)
    every_fifth = forward("loss: {model: renewal, unit: packets, gap: 5}")["loss"]
    assert mean_loss(every_fifth) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("written", "mean"),
    [
        # Of the weights 1, 0.1 / 0.4 * 0.2 / 0.5 = 0.1, 0.1 / 0.4 = 0.25 and 0.05, the last two are lost.
        ("p13: 10%, p31: 40%, p32: 20%, p23: 50%, p14: 5%", 0.3 / 1.4),
        ("p13: 0%, p31: 0%, p14: 25%", 0.25 / 1.25),
        # Without a way back to the gap, the chain stays in its burst: lost with 0.6 / (0.2 + 0.6).
        ("p13: 1%, p31: 0%, p32: 20%, p23: 60%, p14: 5%", 0.75),
        ("p13: 1%, p31: 0%", 1.0),
        # It enters state 2, which receives everything, and never leaves it.
        ("p13: 1%, p31: 40%, p32: 20%, p23: 0%, p14: 5%", 0.0),
    ],
)
def test_four_states_lose_the_long_run_share_of_the_lost_states(written: str, mean: float) -> None:
    assert mean_loss(forward(f"loss: {{model: four-state, {written}}}")["loss"]) == pytest.approx(mean)


def test_the_long_run_share_of_four_states_is_that_of_their_transition_matrix() -> None:
    chain = "p13: 1%, p31: 30%, p32: 10%, p23: 50%, p14: 0.5%"
    steps = np.array([[0.985, 0, 0.01, 0.005], [0, 0.5, 0.5, 0], [0.3, 0.1, 0.6, 0], [1, 0, 0, 0]])
    after = np.linalg.matrix_power(steps, 10_000)[0]
    loss = forward(f"loss: {{model: four-state, {chain}}}")["loss"]
    assert mean_loss(loss) == pytest.approx(after[2] + after[3])


@pytest.mark.parametrize(
    ("jitter", "mean_ms"),
    [
        ("{dist: lognormal, mean: 2ms, sd: 3ms}", 2),
        ("{dist: weibull, shape: 0.8, mean: 2ms}", 2),
        ("{dist: weibull, shape: 2, scale: 2ms}", 2 * math.sqrt(math.pi) / 2),
        ("{dist: gamma, mean: 2ms, sd: 1ms}", 2),
        ("{dist: pareto, shape: 1.5, mean: 3ms}", 3),
        ("{dist: pareto, shape: 3, scale: 2ms}", 3),
        ("{dist: exponential, mean: 2ms}", 2),
        ("{dist: empirical, values: [1ms, 2ms, 6ms]}", 3),
        ("{dist: weibull, shape: 0.8, mean: 2ms, location: 1ms}", 2),
        ("{dist: weibull, shape: 1, scale: 2ms, location: 1ms}", 3),
        # The mean of scale 1 is (pi/2) / sin(pi/2).
        ("{dist: log-logistic, shape: 2, scale: 4ms}", 2 * math.pi),
        ("{dist: log-logistic, shape: 1.5, mean: 3ms}", 3),
        ("{dist: inverse-gaussian, mean: 3ms, shape: 1ms}", 3),
        ("{dist: generalised-pareto, shape: 0.5, scale: 2ms, location: 1ms}", 5),
        ("{dist: gev, shape: 0.5, scale: 2ms, location: 1ms}", 1 + 4 * (math.sqrt(math.pi) - 1)),
        ("{dist: gev, shape: 0, scale: 1ms, location: 1ms}", 1.5772156649),
        ("{dist: gev, shape: 0.000001, scale: 1ms, location: 1ms}", 1.5772166),
        ("{dist: wakeby, alpha: 3ms, beta: 2, gamma: 1ms, delta: 0.5, xi: -1ms}", -1 + 1 + 2),
        ("{dist: wakeby, alpha: 0ms, beta: -9, gamma: 1ms, delta: 0.5, xi: 1ms}", 3),
    ],
)
def test_the_mean_delay_is_the_base_and_the_mean_of_the_jitter(jitter: str, mean_ms: float) -> None:
    delay = forward(f"delay: {{base: 10ms, jitter: {jitter}}}")["delay"]
    assert (delay["model"], delay["base_ns"], delay["correlation"]) == ("random", 10 * MS, 0.0)
    assert delay["mean_ns"] == pytest.approx((10 + mean_ms) * MS, abs=1)
    assert isinstance(delay["mean_ns"], int)


def test_parameters_of_distributions_come_from_mean_and_deviation() -> None:
    lognormal = forward("delay: {base: 1ms, jitter: {dist: lognormal, mean: 2ms, sd: 3ms}}")["delay"][
        "jitter"
    ]
    variance = (math.exp(lognormal["sigma"] ** 2) - 1) * distribution_mean(lognormal) ** 2
    assert math.sqrt(variance) == pytest.approx(3 * MS)
    gamma = forward("delay: {base: 1ms, jitter: {dist: gamma, mean: 2ms, sd: 1ms}}")["delay"]["jitter"]
    assert (gamma["shape"], gamma["scale"]) == pytest.approx((4, 0.5 * MS))
    weibull = forward("delay: {base: 1ms, jitter: {dist: weibull, shape: 0.8, mean: 120us}}")["delay"][
        "jitter"
    ]
    assert weibull["scale"] == pytest.approx(120_000 / math.gamma(2.25))
    pareto = forward("delay: {base: 1ms, jitter: {dist: pareto, shape: 1.5, mean: 3ms}}")["delay"]["jitter"]
    assert pareto["scale"] == pytest.approx(1 * MS)


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("38ms", {"model": "constant", "delay_ns": 38 * MS}),
        (
            "{base: 5ms, jitter: {dist: uniform, half_width: 1ms}}",
            {"model": "uniform", "mean_ns": 5 * MS, "half_width_ns": MS},
        ),
        ("{base: 5ms, jitter: {dist: normal, sd: 1ms}}", {"model": "normal", "mean_ns": 5 * MS, "sd_ns": MS}),
        (
            "{base: 5ms, jitter: {dist: normal, sd: 1ms}, correlation: 0.5}",
            {
                "model": "random",
                "mean_ns": 5 * MS,
                "base_ns": 5 * MS,
                "jitter": {"dist": "normal", "mean": 0.0, "sd": 1e6},
                "correlation": 0.5,
            },
        ),
        (
            "{base: 5ms, jitter: {dist: uniform, half_width: 1ms}, correlation: 25%}",
            {
                "model": "random",
                "mean_ns": 5 * MS,
                "base_ns": 5 * MS,
                "jitter": {"dist": "uniform", "low": -1e6, "high": 1e6},
                "correlation": 0.25,
            },
        ),
        (
            "{base: 300us, ticks: {hz: 8192, rounding: nearest}}",
            {"model": "ticks", "delay_ns": 300_000, "hz": 8192, "rounding": "nearest"},
        ),
    ],
)
def test_models_of_delay_keep_their_numbers(written: str, planned: dict) -> None:
    assert forward(f"delay: {written}")["delay"] == planned


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("{every: 100, delay: 50ms}", {"model": "block", "block": 100, "delay_ns": 50 * MS}),
        ("{share: 1%, delay: 50ms}", {"model": "share", "probability": 0.01, "delay_ns": 50 * MS}),
        ("{gap: 5, early: 25%}", {"model": "early", "gap": 5, "probability": 0.25}),
    ],
)
def test_packets_leave_the_order_by_three_models(written: str, planned: dict) -> None:
    assert forward(f"delay: 5ms, reordering: {written}")["reordering"] == planned


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("1Gbit", {"model": "constant", "bits_per_s": 10**9}),
        (
            "{paced: 500Mbit, line_rate: 1Gbit}",
            {"model": "paced", "bits_per_s": 5 * 10**8, "line_bits_per_s": 10**9},
        ),
        (
            "{bucket: 100Mbit, burst: 15400B, peak: 1Gbit}",
            {"model": "token-bucket", "bits_per_s": 10**8, "burst_bytes": 15_400, "peak_bits_per_s": 10**9},
        ),
        (
            "{bucket: 100Mbit, burst: 15400B}",
            {"model": "token-bucket", "bits_per_s": 10**8, "burst_bytes": 15_400, "peak_bits_per_s": None},
        ),
    ],
)
def test_models_of_rate_keep_their_numbers(written: str, planned: dict) -> None:
    assert forward(f"rate: {written}")["rate"] == planned


@pytest.mark.parametrize(
    ("count", "overhead", "least", "cells"),
    [
        ("ip", 0, 0, None),
        ("ethernet", 8 + 14 + 4 + 12, 8 + 14 + 46 + 4 + 12, None),
        ("vlan", 8 + 18 + 4 + 12, 8 + 18 + 46 + 4 + 12, None),
        ("atm", 8, 0, {"payload_bytes": 48, "cell_bytes": 53}),
    ],
)
def test_framing_counts_what_is_around_a_packet(
    count: str, overhead: int, least: int, cells: dict | None
) -> None:
    framing = {"overhead_bytes": overhead, "least_bytes": least, "cells": cells}
    assert forward(f"count: {count}")["framing"] == framing


@pytest.mark.parametrize(
    ("written", "planned"),
    [
        ("100p", {"kind": "fifo"}),
        ("{kind: head-drop, limit: 100p}", {"kind": "head-drop"}),
        ("{kind: codel}", {"kind": "codel", "target_ns": 5 * MS, "interval_ns": 100 * MS, "ecn": False}),
        (
            "{kind: fq-codel}",
            {
                "kind": "fq-codel",
                "target_ns": 5 * MS,
                "interval_ns": 100 * MS,
                "quantum_bytes": 1514,
                "flows": 1024,
                "ecn": True,
            },
        ),
        (
            "{kind: pie}",
            {
                "kind": "pie",
                "target_ns": 15 * MS,
                "update_ns": 15 * MS,
                "alpha": 0.125,
                "beta": 1.25,
                "burst_ns": 150 * MS,
                "ecn": False,
            },
        ),
        (
            "{kind: red, min: 30p, max: 135kB, weight: 0.002, ecn: true}",
            {
                "kind": "red",
                "least_bytes": 30 * 1500,
                "most_bytes": 135_000,
                "probability": 0.1,
                "weight": 0.002,
                "gentle": True,
                "ecn": True,
                "packet_bytes": 1500,
            },
        ),
        ("{kind: drr}", {"kind": "drr", "quantum_bytes": 1514, "flows": 1024}),
    ],
)
def test_queues_take_the_defaults_of_their_papers(written: str, planned: dict) -> None:
    assert forward(f"rate: 100Mbit, queue: {written}")["queue"]["discipline"] == planned


def test_limits_of_queues_are_their_own() -> None:
    def limits(queue: str) -> tuple[int | None, int | None]:
        found = forward(f"delay: 5ms, rate: 100Mbit, queue: {queue}")["queue"]
        return found["limit_packets"], found["limit_bytes"]

    assert limits("{kind: codel}") == (1000, None)
    assert limits("{kind: fq-codel}") == (10_240, None)
    # One BDP of 100 Mbit/s and 10 ms is 125,000 bytes, as 10 ms at the rate are.
    assert limits("{kind: drr}") == (None, 125_000)
    assert limits("{kind: head-drop, limit: 2bdp}") == (None, 250_000)


def test_priorities_are_by_code_point() -> None:
    queue = "queue: {kind: priority, limit: 100p, bands: [[ef, cs6, 56], [af41, AF42], default, cs1]}"
    bands = forward(queue)["queue"]["discipline"]["bands"]
    assert len(bands) == 64
    first = {46, 48, 56}
    assert {point for point, band in enumerate(bands) if band == 0} == first
    assert {point for point, band in enumerate(bands) if band == 1} == {34, 36}
    assert {point for point, band in enumerate(bands) if band == 3} == {8}
    assert bands[0] == 2


def test_what_no_band_names_goes_last() -> None:
    bands = forward("queue: {kind: priority, limit: 100p, bands: [ef, af11]}")["queue"]["discipline"]["bands"]
    assert (bands[46], bands[10], bands[0]) == (0, 1, 1)


def test_shares_of_copies_and_wrong_bits() -> None:
    direction = forward("duplicate: 1%, corrupt: 0.01%")
    assert (direction["duplicate"], direction["corrupt"]) == (0.01, 0.0001)


def changes(plan: dict, key: str) -> list:
    return [event["change"][key] for event in plan["events"]]


def test_shares_of_loss_change_gradually_by_every_model_that_has_one() -> None:
    model = "{model: gilbert-elliott, mean: 2%, burst: 3}"
    plan = plan_of("loss: 0%", events=f"{{at: 1s, link: w, set: {{loss: {model}}}, over: 20ms}}")
    assert changes(plan, "loss") == [
        {"model": "gilbert-elliott", "mean": 0.01, "burst": 3.0},
        {"model": "gilbert-elliott", "mean": 0.02, "burst": 3.0},
    ]


def test_a_paced_rate_changes_gradually_on_its_line() -> None:
    rate = "{paced: 300Mbit, line_rate: 1Gbit}"
    plan = plan_of(
        "rate: {paced: 100Mbit, line_rate: 1Gbit}",
        events=f"{{at: 1s, link: w, set: {{rate: {rate}}}, over: 20ms}}",
    )
    assert [each["bits_per_s"] for each in changes(plan, "rate")] == [2 * 10**8, 3 * 10**8]


def test_the_base_of_a_jittery_delay_changes_gradually() -> None:
    def jittery(base: str) -> str:
        return f"delay: {{base: {base}, jitter: {{dist: exponential, mean: 1ms}}}}"

    plan = plan_of(jittery("10ms"), events=f"{{at: 1s, link: w, set: {{{jittery('20ms')}}}, over: 20ms}}")
    assert [(each["base_ns"], each["mean_ns"]) for each in changes(plan, "delay")] == [
        (15 * MS, 16 * MS),
        (20 * MS, 21 * MS),
    ]


def test_an_event_may_let_packets_overtake_and_corrupt_them() -> None:
    plan = plan_of(
        "delay: 5ms", events="{at: 1s, link: w, set: {delay: {base: 5ms, reorder: true}, corrupt: 1%}}"
    )
    (change,) = [event["change"] for event in plan["events"]]
    assert (change["reorder"], change["corrupt"], change["loss"]) == (True, 0.01, None)


def test_set_takes_flow_mappings() -> None:
    link = plan_of("delay: 5ms, rate: 100Mbit")["links"][0]
    words = ["loss={model: gilbert-elliott, mean: 1%, burst: 3}", "queue={kind: codel}", "corrupt=1%"]
    (asked,) = resolve_changes(words, link, to_hosts=(), way="forward")
    change = asked["change"]
    assert change["loss"] == {"model": "gilbert-elliott", "mean": 0.01, "burst": 3.0}
    assert change["queue"]["discipline"]["kind"] == "codel"
    assert (change["corrupt"], change["delay"], change["up"]) == (0.01, None, None)
