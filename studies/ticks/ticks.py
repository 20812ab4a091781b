"""Emulators with a ticking clock compared with one without, on one machine: NemC's figure 3.

Fifty pairs of hosts ping at once, each over a link of its own: ten delays through five clocks. A
round trip over two links with the same delay model gives twice what one adds.
"""

import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from judging import at_least, at_most, between, measured
from study import Part, Study, run_study

import longhaul
from longhaul.report.plotting import figure, paper

CLOCKS = {
    "exact": ("", "none (Longhaul, NemC)"),
    "rtc": (", ticks: {hz: 8192, rounding: nearest}", "8192 Hz (NIST Net)"),
    "khz": (", ticks: {hz: 1000, rounding: up}", "1000 Hz (netem, 2006)"),
    "q": (", ticks: {hz: 250, rounding: up}", "250 Hz"),
    "c": (", ticks: {hz: 100, rounding: up}", "100 Hz (netem, 2.4)"),
}
DELAYS_US = (50, 100, 150, 200, 250, 300, 350, 400, 800, 1600)
TICK_US = 1e6 / 8192
WITHIN_US = 10


def scenario() -> str:
    """Ten delays through five clocks."""
    nodes, links, traffic = [], [], []
    for clock, (ticks, _label) in CLOCKS.items():
        for delay in DELAYS_US:
            name = f"{clock}{delay}"
            nodes.append(f"  {name}a: {{kind: host}}\n  {name}b: {{kind: host}}")
            links.append(f"  {name}: {{endpoints: [{name}a, {name}b], delay: {{base: {delay}us{ticks}}}}}")
            # 17 ms and a bit: no multiple of any tick, so that all phases occur.
            traffic.append(f"  {name}: {{kind: ping, from: {name}a, to: {name}b, every: 17.3ms}}")
    head = ["version: 1", "name: ticks", "duration: 12s", "addresses: ipv4", "measure: {every: 1s}"]
    return "\n".join([*head, "nodes:", *nodes, "links:", *links, "traffic:", *traffic, ""])


def one_round(study: Study) -> list[dict[str, Any]]:
    """The median of half the round trips, for every clock and delay."""
    path = study.runs / "ticks.yaml"
    path.write_text(scenario(), encoding="utf-8")
    result = longhaul.run_live(path, runs=study.runs, report=False)
    study.ran(result)
    table = result.table("probes")
    rtts: dict[str, list[float]] = {}
    for name, rtt in zip(table["name"], table["rtt_ns"], strict=True):
        if rtt is not None:
            rtts.setdefault(name, []).append(rtt / 1e3)
    return [
        {
            "clock": clock,
            "delay_us": delay,
            "measured_us": round(median(rtts[f"{clock}{delay}"]) / 2, 2),
            "pings": len(rtts[f"{clock}{delay}"]),
        }
        for clock in CLOCKS
        for delay in DELAYS_US
    ]


def study_ticks(study: Study, *, rounds: int) -> None:
    """Measure in every round, judge, draw."""
    rows = []
    for number in range(rounds):
        found = study.measured(f"delays/{number}", lambda: one_round(study)) or []
        rows += [{"round": number, **row} for row in found]
    study.table("delays", rows)
    met: dict[str, dict[int, list[float]]] = {clock: {delay: [] for delay in DELAYS_US} for clock in CLOCKS}
    for row in rows:
        met[row["clock"]][row["delay_us"]].append(row["measured_us"])
    exact, rtc, jiffy = met["exact"], met["rtc"], met["khz"]
    kept = range(len(exact[DELAYS_US[0]]))
    bases = [median(exact[delay][number] - delay for delay in DELAYS_US) for number in kept]
    study.value("base", measured(bases), "µs")
    study.claim(
        "without ticks every delay is exact",
        place="figure 3",
        rule=f"within {WITHIN_US} us of the same base, which hosts and ports add; 95 % intervals over rounds",
        cases=[
            between(
                f"{delay} us",
                measured([exact[delay][number] - delay - bases[number] for number in kept]),
                -WITHIN_US,
                WITHIN_US,
                "us",
            )
            for delay in DELAYS_US
        ],
        over="the delay",
    )
    study.claim(
        "at 8192 Hz 100 and 150 us are one delay, and 200, 250 and 300 us another, a tick of 122 us apart",
        place="figure 3b",
        rule="within a quarter of a tick of each other, and of a tick between the two",
        cases=[
            between(
                f"{b} less {a} us",
                measured([high - low for low, high in zip(rtc[a], rtc[b], strict=True)]),
                apart - TICK_US / 4,
                apart + TICK_US / 4,
                "us",
            )
            for a, b, apart in ((100, 150, 0), (200, 250, 0), (200, 300, 0), (150, 200, TICK_US))
        ],
        over="the delays",
    )
    below = [delay for delay in DELAYS_US if delay < 1000]
    study.claim(
        "at 1000 Hz every delay below a tick is the same, 1 to 2 ms",
        place="figure 3a",
        rule="1 to 2 ms, and at most 250 us between the shortest and the longest",
        cases=[
            *(between(f"{delay} us", measured(jiffy[delay]), 1000, 2000, "us") for delay in below),
            at_most(
                "longest less shortest",
                measured(
                    [
                        max(jiffy[delay][number] for delay in below)
                        - min(jiffy[delay][number] for delay in below)
                        for number in kept
                    ]
                ),
                250,
                "us",
            ),
        ],
        over="the delay",
    )
    study.claim(
        "a clock of 1000 Hz makes over a millisecond of 50 us",
        place="figure 3a",
        rule="at least 1000 us",
        cases=at_least("", measured(jiffy[50]), 1000, "us"),
    )
    draw(study, {clock: [measured(met[clock][delay]).value for delay in DELAYS_US] for clock in CLOCKS})


def draw(study: Study, found: dict[str, list[float]]) -> None:
    """Delays met, against those configured."""
    with paper():
        made = figure(4.2, width_in=9)
        left, right = made.subplots(1, 2)
        for clock, (_ticks, label) in CLOCKS.items():
            left.plot(DELAYS_US, found[clock], "o-", markersize=3.5, label=label)
        same = {"color": "0.6", "linewidth": 0.8, "linestyle": "--", "label": "configured"}
        left.plot(DELAYS_US, DELAYS_US, **same)
        left.set(
            xscale="log", yscale="log", xlabel="configured delay [µs]", ylabel="measured delay, one way [µs]"
        )
        left.set_title("all clocks")
        left.legend()
        for clock in ("exact", "rtc"):
            right.plot(DELAYS_US[:-2], found[clock][:-2], "o-", markersize=4, label=CLOCKS[clock][1])
        right.plot(DELAYS_US[:-2], DELAYS_US[:-2], **same)
        right.set(
            xlabel="configured delay [µs]",
            ylabel="measured delay, one way [µs]",
            xlim=(0, 420),
            ylim=(0, 520),
        )
        right.set_title("below 400 µs")
        right.legend()
        study.figure(made, "ticks", data=["delays"])


QUESTION = "What does a delay become in an emulator whose clock ticks?"
PARTS = {"delays": Part("live", lambda study, given: study_ticks(study, rounds=given.rounds), rounds=4)}

if __name__ == "__main__":
    run_study("ticks", QUESTION, __doc__, PARTS)
