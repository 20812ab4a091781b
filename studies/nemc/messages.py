"""Figures 3 and 4: messages of 512 bytes through emulators with and without a ticking clock."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import longhaul
from longhaul.report.mpl import Axes, Figure
from longhaul.report.plotting import figure, paper
from longhaul.studies import (
    Figures,
    Measurement,
    PaperValue,
    Study,
    at_least,
    at_most,
    between,
    measured,
    ratios,
)
from longhaul.studies.drawing import MARKERS, colour, draw_measured, draw_paper, legend_below

CLOCKS: Mapping[str, tuple[str, str]] = {
    "exact": ("", "Longhaul (as NemC)"),
    "rtc": (", ticks: {hz: 8192, rounding: nearest}", "8192 Hz (as NIST Net)"),
    "jiffy": (", ticks: {hz: 1000, rounding: up}", "1000 Hz (as netem in 2006)"),
}
COARSE_US = (0, 200, 400, 600, 800, 1000, 1200, 1400, 1600)
FINE_US = (0, 50, 100, 150, 200, 250, 300, 350, 400)
SMALL_US = tuple(delay for delay in FINE_US if delay)
"""Small delays: those of figure 3b."""
BELOW_A_TICK_US = tuple(delay for delay in COARSE_US if 0 < delay <= 800)
TICK_US = 1e6 / 8192
MESSAGE_BYTES = 512
SCENARIO = Path(__file__).parent / "messages.yaml"

Values = Mapping[str, Mapping[int, list[float]]]
"""By clock and delay, one for each round."""


def measure(network: longhaul.Network, clock: str, delay_us: int) -> dict[str, Any]:
    """Half a round trip, and the bandwidth, of small messages."""
    ticks, _label = CLOCKS[clock]
    network.set(clock, delay=f"{{base: {delay_us}us{ticks}}}" if ticks and delay_us else f"{delay_us}us")
    messages = 20_000 if clock == "jiffy" else 40_000
    sizes = ["--message", str(MESSAGE_BYTES), "--latencies", "300", "--messages", str(messages)]
    argv = ["timeout", "60", "longhaul-workload", "sockets", f"{clock}-b", *sizes, "--json"]
    found = json.loads(network.run(f"{clock}-a", argv).stdout)
    return {
        "clock": clock,
        "delay_us": delay_us,
        "latency_us": round(found["latency"]["median_us"], 2),
        "megabits_per_s": round(found["bandwidth"]["megabits_per_s"], 2),
    }


def one_round(study: Study, number: int) -> list[dict[str, Any]]:
    """Every delay with every clock, in an order that differs from round to round."""
    delays = sorted({*COARSE_US, *FINE_US})
    # Neighbours in time differ in every round, so that a slow minute is not a delay's own.
    order = delays[number % len(delays) :] + delays[: number % len(delays)]
    order = order if number % 2 == 0 else order[::-1]
    with study.network(SCENARIO) as network:
        for clock in CLOCKS:
            network.start(f"{clock}-b", ["longhaul-workload", "sockets", "--serve"])
        return [measure(network, clock, delay) | {"round": number} for delay in order for clock in CLOCKS]


def study_messages(study: Study, *, rounds: int) -> None:
    """Measure every delay with every clock in every round, evaluate the claims."""
    rows: list[dict[str, Any]] = []
    for number in range(rounds):
        rows += study.measured(f"messages/{number}", lambda number=number: one_round(study, number)) or []
    study.table("messages", rows)
    latency, bandwidth = (_values(rows, field) for field in ("latency_us", "megabits_per_s"))
    evaluate_latency(study, latency)
    evaluate_bandwidth(study, bandwidth)


def _values(rows: list[dict[str, Any]], field: str) -> Values:
    found: dict[str, dict[int, list[float]]] = {clock: {} for clock in CLOCKS}
    for row in sorted(rows, key=lambda row: (row["delay_us"], row["round"])):
        found[row["clock"]].setdefault(row["delay_us"], []).append(row[field])
    return found


def _differences(one: list[float], other: list[float], less: float = 0.0) -> Measurement:
    return measured([a - b - less for a, b in zip(one, other, strict=True)])


def evaluate_latency(study: Study, latency: Values) -> None:
    """Figure 3."""
    exact, rtc, jiffy = (latency[clock] for clock in CLOCKS)
    study.value("base", measured(exact[0]), "µs")
    close_us = study.numbers("latency-close")["close_us"]
    study.evaluate(
        "latency-close",
        [
            between(f"{delay} µs", _differences(exact[delay], exact[0], delay), -close_us, close_us, "µs")
            for delay in exact
            if delay
        ],
    )
    groups = study.numbers("nistnet-groups")
    near_us, far_us = (groups[each] * TICK_US for each in ("within_ticks", "apart_ticks"))
    study.evaluate(
        "nistnet-groups",
        [
            between(f"{b} less {a} µs", _differences(rtc[b], rtc[a]), -near_us, near_us, "µs")
            for a, b in ((100, 150), (200, 250), (200, 300))
        ]
        + [at_least("200 less 150 µs", _differences(rtc[200], rtc[150]), far_us, "µs")],
    )
    constant = study.numbers("netem-constant-latency")
    least, most = constant["constant_least"], constant["constant_most"]
    study.evaluate(
        "netem-constant-latency",
        [
            between(f"{delay} µs", ratios(jiffy[delay], jiffy[200]), least, most)
            for delay in BELOW_A_TICK_US
            if delay != 200
        ],
    )
    above_us = study.numbers("netem-high-latency")["above_us"]
    study.evaluate(
        "netem-high-latency",
        [
            at_least(f"{delay} µs", _differences(jiffy[delay], exact[0], delay), above_us, "µs")
            for delay in BELOW_A_TICK_US
        ],
    )


def _gains(bandwidth: Values) -> dict[int, Measurement]:
    """How much more bandwidth there is without ticks than at 8192 Hz, by delay, as a share."""
    found = {delay: ratios(values, bandwidth["rtc"][delay]) for delay, values in bandwidth["exact"].items()}
    return {delay: Measurement(each.value - 1, each.half_width, each.runs) for delay, each in found.items()}


def evaluate_bandwidth(study: Study, bandwidth: Values) -> None:
    """Figure 4."""
    exact, _rtc, jiffy = (bandwidth[clock] for clock in CLOCKS)
    over_one = _gains(bandwidth)
    study.value("identical-links", over_one[0], percent=True)
    study.evaluate(
        "nemc-more-bandwidth",
        [at_least(f"{delay} µs", over_one[delay], 0, percent=True) for delay in SMALL_US],
    )
    best = max(SMALL_US, key=lambda delay: over_one[delay].value)
    limits = study.numbers("nemc-bandwidth-gain")
    gained = between(f"{best} µs", over_one[best], limits["low"], limits["high"], percent=True)
    study.evaluate("nemc-bandwidth-gain", gained)
    factor = study.numbers("netem-constant-bandwidth")["factor"]
    study.evaluate(
        "netem-constant-bandwidth",
        [
            between(f"{delay} µs", ratios(jiffy[delay], jiffy[200]), 1 / factor, factor)
            for delay in BELOW_A_TICK_US
            if delay != 200
        ],
    )
    most = study.numbers("netem-low-bandwidth")["most"]
    study.evaluate(
        "netem-low-bandwidth",
        [
            at_most(f"{delay} µs", ratios(jiffy[delay], exact[delay]), most, percent=True)
            for delay in (200, 400)
        ],
    )
    most = study.numbers("nemc-bandwidth-drops")["most"]
    study.evaluate("nemc-bandwidth-drops", at_most("", ratios(exact[1600], exact[200]), most, percent=True))
    in_flight = [rate * 1e6 * 2 * 1600e-6 / 8 / 1e3 for rate in exact[1600]]
    study.value("window", measured(in_flight), "kB")


def draw(figures: Figures) -> None:
    """Figures 3 and 4."""
    rows = figures.rows("messages")
    with paper():
        figures.add(_figure_3(figures, _values(rows, "latency_us")), "figure-3", data=["messages"])
        figures.add(_figure_4(figures, _values(rows, "megabits_per_s")), "figure-4", data=["messages"])


def _figure_3(figures: Figures, latency: Values) -> Figure:
    made = figure(3.5, width_in=8.6)
    for axes, panel, delays, clocks in zip(
        made.subplots(1, 2), ("3a", "3b"), (COARSE_US, FINE_US), (CLOCKS, ("exact", "rtc")), strict=True
    ):
        for clock in clocks:
            _curve(axes, clock, delays, latency[clock])
        draw_paper(axes, figures.paper.values(panel))
        axes.set(xlabel="configured delay, one way [µs]", ylabel="latency of 512 bytes [µs]", ylim=(0, None))
        axes.set_title(f"figure {panel}")
    legend_below(made, ncols=4)
    return made


def _figure_4(figures: Figures, bandwidth: Values) -> Figure:
    made = figure(3.5, width_in=8.6)
    rates, gain = made.subplots(1, 2)
    for clock in CLOCKS:
        _curve(rates, clock, COARSE_US, bandwidth[clock])
    rates.set(
        xlabel="configured delay, one way [µs]", ylabel="bandwidth of 512 bytes [Mbit/s]", ylim=(0, None)
    )
    rates.set_title("figure 4")
    over = [_percent(_gains(bandwidth)[delay]) for delay in SMALL_US]
    draw_measured(gain, SMALL_US, over, color=colour(4), label="more bandwidth than at 8192 Hz")
    draw_paper(gain, [_in_percent(each) for each in figures.paper.values("4")])
    gain.axhline(0, color="0.5", linewidth=0.8)
    gain.set(xlabel="configured delay, one way [µs]", ylabel="gain over 8192 Hz [%]")
    gain.set_title("small delays: no ticks compared with 8192 Hz")
    legend_below(made, ncols=3)
    return made


def _percent(found: Measurement) -> Measurement:
    return Measurement(100 * found.value, 100 * found.half_width, found.runs)


def _in_percent(value: PaperValue) -> PaperValue:
    assert value.y is not None
    return replace(value, y=100 * value.y)


def _curve(axes: Axes, clock: str, delays: tuple[int, ...], values: Mapping[int, list[float]]) -> None:
    number = list(CLOCKS).index(clock)
    found = {delay: measured(values[delay]) for delay in delays if delay in values}
    draw_measured(
        axes,
        list(found),
        list(found.values()),
        label=CLOCKS[clock][1],
        marker=MARKERS[number],
        color=colour(number),
    )
