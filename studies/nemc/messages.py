"""Figures 3 and 4: messages of 512 bytes through emulators with and without a ticking clock."""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

SCENARIO = Path(__file__).parent / "messages.yaml"
CLOCKS: Mapping[str, tuple[str, str]] = {
    "exact": ("", "Longhaul (NemC)"),
    "rtc": (", ticks: {hz: 8192, rounding: nearest}", "8192 Hz (NIST Net)"),
    "jiffy": (", ticks: {hz: 1000, rounding: up}", "1000 Hz (netem, 2006)"),
}
COARSE_US = (0, 200, 400, 600, 800, 1000, 1200, 1400, 1600)
FINE_US = (0, 50, 100, 150, 200, 250, 300, 350, 400)
TICK_US = 1e6 / 8192
MESSAGE_BYTES = 512


def measure(network: longhaul.Network, clock: str, delay_us: int) -> dict[str, Any]:
    """Half a round trip, and the bandwidth, of small messages."""
    ticks, _label = CLOCKS[clock]
    network.set(clock, delay=f"{{base: {delay_us}us{ticks}}}" if ticks and delay_us else f"{delay_us}us")
    messages = 20_000 if clock == "jiffy" else 40_000
    sizes = ["--message", str(MESSAGE_BYTES), "--latencies", "300", "--messages", str(messages)]
    ended = network.run(f"{clock}-a", ["longhaul-workload", "sockets", f"{clock}-b", *sizes, "--json"])
    found = json.loads(ended.stdout)
    return {
        "clock": clock,
        "delay_us": delay_us,
        "latency_us": found["latency"]["median_us"],
        "megabits_per_s": found["bandwidth"]["megabits_per_s"],
    }


def study_messages(study: Study, *, rounds: int) -> None:
    """Measure every delay with every clock, draw figures 3 and 4, judge the claims."""
    delays = sorted({*COARSE_US, *FINE_US})
    rows = []
    with longhaul.up(SCENARIO, runs=study.directory / "runs") as network:
        for clock in CLOCKS:
            network.start(f"{clock}-b", ["longhaul-workload", "sockets", "--serve"])
        for number in range(rounds):
            for delay in delays:
                rows += [measure(network, clock, delay) for clock in CLOCKS]
                print(f"  round {number + 1} of {rounds}, {delay} us", flush=True)
    late = network.result.summary["fidelity"]["lateness"]
    study.say(
        f"{network.result.verdict}: "
        f"lateness p50 {late['p50_ns'] / 1e3:.2f} us, p99 {late['p99_ns'] / 1e3:.1f} us"
    )
    study.table("messages", rows)

    def met(field: str) -> dict[str, dict[int, float]]:
        return {
            clock: {
                delay: median(row[field] for row in rows if (row["clock"], row["delay_us"]) == (clock, delay))
                for delay in delays
            }
            for clock in CLOCKS
        }

    latency, bandwidth = met("latency_us"), met("megabits_per_s")
    judge_latency(study, latency)
    judge_bandwidth(study, bandwidth)
    draw(study, latency, bandwidth)


def judge_latency(study: Study, latency: Mapping[str, Mapping[int, float]]) -> None:
    """Figure 3."""
    exact, rtc, jiffy = (latency[clock] for clock in CLOCKS)
    base = median(found - delay for delay, found in exact.items())
    study.say(
        f"sockets, kernel and engine add {base:.1f} us to a message; the paper's testbed added about 100"
    )
    worst = max(abs(found - delay - base) for delay, found in exact.items())
    study.claim(f"without ticks every delay is met ({worst:.1f} us off the same base at most)", worst <= 20)
    groups = [[rtc[100], rtc[150]], [rtc[200], rtc[250], rtc[300]]]
    study.claim(
        "at 8192 Hz 100 and 150 us are one delay, and 200, 250 and 300 us another",
        all(max(group) - min(group) < TICK_US / 3 for group in groups)
        and median(groups[1]) - median(groups[0]) > TICK_US / 2,
    )
    flat = [jiffy[delay] for delay in COARSE_US if 0 < delay <= 800]
    study.claim(
        "at 1000 Hz latency is nearly constant, and far above the setting (below a tick)",
        max(flat) < 1.15 * min(flat) and min(flat) > 800,
    )


def judge_bandwidth(study: Study, bandwidth: Mapping[str, Mapping[int, float]]) -> None:
    """Figure 4."""
    exact, rtc, jiffy = (bandwidth[clock] for clock in CLOCKS)
    small = [delay for delay in COARSE_US if 0 < delay <= 800]
    gain = {delay: exact[delay] / rtc[delay] - 1 for delay in exact if delay > 0}
    best = max(gain, key=lambda delay: gain[delay])
    study.say(f"bandwidth over that at 8192 Hz: up to {gain[best]:.0%} more, at {best} us (the paper: 37 %)")
    study.claim("messages have more bandwidth than at 8192 Hz for small delays", gain[best] > 0.1)
    study.claim(
        "at 1000 Hz bandwidth is low, and the same whatever the delay (below a tick)",
        all(jiffy[delay] < 0.6 * exact[delay] for delay in small if delay <= 400)
        and max(jiffy[delay] for delay in small) < 1.3 * min(jiffy[delay] for delay in small),
    )
    window = exact[1600] * 1e6 * 2 * 1600e-6 / 8
    study.say(
        f"at 1600 us {exact[1600]:.0f} Mbit/s are {window / 1e3:.0f} kB a round trip: a buffer of 512 KiB"
        " holds no more, since each small segment is charged with all of its memory in the kernel"
    )


def draw(
    study: Study, latency: Mapping[str, Mapping[int, float]], bandwidth: Mapping[str, Mapping[int, float]]
) -> None:
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
                found = [values[clock][delay] for delay in delays]
                axes.plot(delays, found, f"{marker}-", markersize=4, label=label)
        coarse.set(xlabel="delay asked for [us]", ylabel="latency of 512 bytes [us]", ylim=(0, None))
        coarse.set_title("figure 3a")
        coarse.legend()
        fine.set(xlabel="delay asked for [us]", ylabel="latency of 512 bytes [us]", ylim=(0, None))
        fine.set_title("figure 3b")
        rates.set(xlabel="delay asked for [us]", ylabel="bandwidth of 512 bytes [Mbit/s]", ylim=(0, None))
        rates.set_title("figure 4")
        study.figure(made, "messages")
