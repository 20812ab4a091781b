"""Figures 3 and 4: messages of 512 bytes through emulators with and without a ticking clock."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judging import Found, at_least, at_most, between, measured, ratios
from matplotlib.axes import Axes
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

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
CLOSE_US = 20
"""How far from a delay is still very close to it: a fifth of what the paper's hosts added."""
GAIN = 0.37

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
    """Measure every delay with every clock in every round, draw figures 3 and 4, judge the claims."""
    rows: list[dict[str, Any]] = []
    for number in range(rounds):
        rows += study.measured(f"messages/{number}", lambda number=number: one_round(study, number)) or []
    study.table("messages", rows)
    latency, bandwidth = (_values(rows, field) for field in ("latency_us", "megabits_per_s"))
    judge_latency(study, latency)
    judge_bandwidth(study, bandwidth)
    draw(study, latency, bandwidth)


def _values(rows: list[dict[str, Any]], field: str) -> Values:
    found: dict[str, dict[int, list[float]]] = {clock: {} for clock in CLOCKS}
    for row in sorted(rows, key=lambda row: (row["delay_us"], row["round"])):
        found[row["clock"]].setdefault(row["delay_us"], []).append(row[field])
    return found


def _differences(one: list[float], other: list[float], less: float = 0.0) -> Found:
    return measured([a - b - less for a, b in zip(one, other, strict=True)])


def judge_latency(study: Study, latency: Values) -> None:
    """Figure 3."""
    exact, rtc, jiffy = (latency[clock] for clock in CLOCKS)
    study.value("base", measured(exact[0]), "µs")
    study.claim(
        "the latency over NemC is very close to the given delay, and accurate where it is fine",
        place="section 4.2, figures 3a and 3b",
        rule=f"latency less the delay is within {CLOSE_US} us of the latency without delay, at every delay;"
        " 95 % intervals over rounds",
        cases=[
            between(f"{delay} us", _differences(exact[delay], exact[0], delay), -CLOSE_US, CLOSE_US, "us")
            for delay in exact
            if delay
        ],
        over="the delay",
    )
    study.claim(
        "NISTNet has almost the same latency for 100 and 150 us, and for 200, 250 and 300 us",
        place="section 4.2, figure 3b",
        rule=f"within a third of a tick of {TICK_US:.0f} us of each other; the two groups are over half a"
        " tick apart",
        cases=[
            between(f"{b} less {a} us", _differences(rtc[b], rtc[a]), -TICK_US / 3, TICK_US / 3, "us")
            for a, b in ((100, 150), (200, 250), (200, 300))
        ]
        + [at_least("200 less 150 us", _differences(rtc[200], rtc[150]), TICK_US / 2, "us")],
        over="the delay",
    )
    study.claim(
        "NetEm has an almost constant latency whatever the delay",
        place="section 4.2, figure 3a",
        rule="below its tick of 1 ms latency is 0.85 to 1.15 of that at 200 us",
        cases=[
            between(f"{delay} us", ratios(jiffy[delay], jiffy[200]), 0.85, 1.15)
            for delay in BELOW_A_TICK_US
            if delay != 200
        ],
        over="the delay",
    )
    study.claim(
        "and NetEm's latency is much higher than the given delay",
        place="section 4.2, figure 3a",
        rule="below a tick, latency less that without delay is at least 200 us above the delay",
        cases=[
            at_least(f"{delay} us", _differences(jiffy[delay], exact[0], delay), 200, "us")
            for delay in BELOW_A_TICK_US
        ],
        over="the delay",
    )


def judge_bandwidth(study: Study, bandwidth: Values) -> None:
    """Figure 4."""
    exact, rtc, jiffy = (bandwidth[clock] for clock in CLOCKS)
    gains = {delay: ratios(exact[delay], rtc[delay]) for delay in exact}
    over_one = {delay: Found(each.value - 1, each.half_width, each.runs) for delay, each in gains.items()}
    study.value("identical-links", over_one[0], percent=True)
    study.claim(
        "NemC has a higher bandwidth than NISTNet for small delays",
        place="section 4.2, figure 4",
        rule=f"more than at 8192 Hz at each delay of {SMALL_US[0]} to {SMALL_US[-1]} us; ratios within a"
        " round, 95 % intervals over rounds",
        cases=[at_least(f"{delay} us", over_one[delay], 0, percent=True) for delay in SMALL_US],
        over="the delay",
    )
    best = max(SMALL_US, key=lambda delay: over_one[delay].value)
    study.claim(
        "by up to 37 %, for small delays",
        place="section 4.2, figure 4",
        rule=f"the largest mean gain at {SMALL_US[0]} to {SMALL_US[-1]} us is {GAIN:.0%}, within 10 points",
        cases=[between(f"{best} us", over_one[best], GAIN - 0.1, GAIN + 0.1, percent=True)],
    )
    study.claim(
        "NetEm has almost the same bandwidth whatever the delay",
        place="section 4.2, figure 4",
        rule="below a tick bandwidth is 0.77 to 1.3 of that at 200 us",
        cases=[
            between(f"{delay} us", ratios(jiffy[delay], jiffy[200]), 1 / 1.3, 1.3)
            for delay in BELOW_A_TICK_US
            if delay != 200
        ],
        over="the delay",
    )
    study.claim(
        "and NetEm's bandwidth is very low for small delays",
        place="section 4.2, figure 4",
        rule="at most 60 % of that without ticks, at 200 and 400 us",
        cases=[
            at_most(f"{delay} us", ratios(jiffy[delay], exact[delay]), 0.6, percent=True)
            for delay in (200, 400)
        ],
        over="the delay",
    )
    study.claim(
        "the bandwidth of NemC drops with larger delays, since a window of 512 KB does not fill the pipe",
        place="section 4.2, figure 4",
        rule="at 1600 us at most 90 % of that at 200 us",
        cases=at_most("", ratios(exact[1600], exact[200]), 0.9, percent=True),
    )
    in_flight = [rate * 1e6 * 2 * 1600e-6 / 8 / 1e3 for rate in exact[1600]]
    study.value("window", measured(in_flight), "kB")


def draw(study: Study, latency: Values, bandwidth: Values) -> None:
    """Figures 3a, 3b and 4, side by side."""
    with paper():
        made = figure(3.6, width_in=10)
        coarse, fine, rates = made.subplots(1, 3)
        for (clock, (_ticks, label)), marker in zip(CLOCKS.items(), "osv", strict=True):
            for axes, delays, values in (
                (coarse, COARSE_US, latency),
                (rates, COARSE_US, bandwidth),
                *([] if clock == "jiffy" else [(fine, FINE_US, latency)]),
            ):
                _curve(axes, delays, values[clock], marker, label)
        coarse.set(xlabel="configured delay [µs]", ylabel="latency of 512 bytes [µs]", ylim=(0, None))
        coarse.set_title("figure 3a")
        fine.set(xlabel="configured delay [µs]", ylabel="latency of 512 bytes [µs]", ylim=(0, None))
        fine.set_title("figure 3b")
        rates.set(xlabel="configured delay [µs]", ylabel="bandwidth of 512 bytes [Mbit/s]", ylim=(0, None))
        rates.set_title("figure 4")
        shown = rates.get_legend_handles_labels()
        made.legend(*shown, loc="outside lower center", ncols=3)
        study.figure(made, "messages", data=["messages"])


def _curve(
    axes: Axes, delays: tuple[int, ...], values: Mapping[int, list[float]], marker: str, label: str
) -> None:
    found = [measured(values[delay]) for delay in delays]
    bars = [0.0 if each.runs < 2 else each.half_width for each in found]
    means = [each.value for each in found]
    axes.errorbar(delays, means, yerr=bars, fmt=f"{marker}-", markersize=4, capsize=2, label=label)
