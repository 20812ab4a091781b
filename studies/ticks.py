"""Emulators with a ticking clock against one without, on one machine: NemC's figure 3.

Fifty pairs of hosts ping at once, each over a link of its own: ten delays through five clocks. A
round trip over two links with the same law gives twice what one adds.
"""

from pathlib import Path
from statistics import median

from study import Study

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


def scenario() -> str:
    """Ten delays through five clocks."""
    nodes, links, traffic = [], [], []
    for clock, (ticks, _label) in CLOCKS.items():
        for delay in DELAYS_US:
            name = f"{clock}{delay}"
            nodes.append(f"  {name}a: {{kind: host}}\n  {name}b: {{kind: host}}")
            links.append(f"  {name}: {{endpoints: [{name}a, {name}b], delay: {{base: {delay}us{ticks}}}}}")
            # 17 ms and a bit: no multiple of any tick, so that all phases are met.
            traffic.append(f"  {name}: {{kind: ping, from: {name}a, to: {name}b, every: 17.3ms}}")
    head = ["version: 1", "name: ticks", "duration: 12s", "addresses: ipv4", "measure: {every: 1s}"]
    return "\n".join([*head, "nodes:", *nodes, "links:", *links, "traffic:", *traffic, ""])


def main() -> None:
    study = Study("ticks", "What does a delay become in an emulator whose clock ticks?")
    path = Path(study.directory / "ticks.yaml")
    path.write_text(scenario(), encoding="utf-8")
    result = longhaul.run_live(path, runs=study.directory / "runs", report=False)
    late = result.summary["fidelity"]["lateness"]
    study.say(
        f"{result.verdict}: lateness p50 {late['p50_ns'] / 1e3:.2f} us, p99 {late['p99_ns'] / 1e3:.1f} us"
    )
    table = result.table("probes")
    rows = []
    found: dict[str, list[float]] = {}
    for clock, (_ticks, label) in CLOCKS.items():
        for delay in DELAYS_US:
            name = f"{clock}{delay}"
            rtts = [
                rtt / 1e3
                for each, rtt in zip(table["name"], table["rtt_ns"], strict=True)
                if each == name and rtt is not None
            ]
            one_way = median(rtts) / 2
            found.setdefault(clock, []).append(one_way)
            rows.append(
                {"clock": label, "delay_us": delay, "measured_us": round(one_way, 2), "pings": len(rtts)}
            )
    study.table("delays", rows)
    base = median(got - delay for got, delay in zip(found["exact"], DELAYS_US, strict=True))
    study.say(f"without ticks the delay is met, and hosts and ports add {base:.1f} us")
    study.claim(
        "without ticks every delay is met within 10 us of the same base",
        all(abs(got - delay - base) <= 10 for got, delay in zip(found["exact"], DELAYS_US, strict=True)),
    )
    rtc = dict(zip(DELAYS_US, found["rtc"], strict=True))
    groups = [[rtc[100], rtc[150]], [rtc[200], rtc[250], rtc[300]]]
    study.claim(
        "at 8192 Hz 100 and 150 us are one delay, and 200, 250 and 300 us another, a tick of 122 us apart",
        all(max(group) - min(group) < TICK_US / 4 for group in groups)
        and abs(median(groups[1]) - median(groups[0]) - TICK_US) < TICK_US / 4,
    )
    jiffy = dict(zip(DELAYS_US, found["khz"], strict=True))
    study.claim(
        "at 1000 Hz every delay below a tick is the same, 1 to 2 ms",
        all(1000 <= jiffy[delay] <= 2000 for delay in DELAYS_US if delay < 1000)
        and max(jiffy[delay] for delay in DELAYS_US if delay < 1000)
        - min(jiffy[delay] for delay in DELAYS_US if delay < 1000)
        < 250,
    )
    with paper():
        made = figure(4.2, width_in=9)
        left, right = made.subplots(1, 2)
        for clock, (_ticks, label) in CLOCKS.items():
            left.plot(DELAYS_US, found[clock], "o-", markersize=3.5, label=label)
        left.plot(DELAYS_US, DELAYS_US, color="0.6", linewidth=0.8, linestyle="--", label="as asked")
        left.set(xscale="log", yscale="log", xlabel="delay asked for [us]", ylabel="delay met, one way [us]")
        left.set_title("all clocks")
        left.legend()
        for clock in ("exact", "rtc"):
            right.plot(DELAYS_US[:-2], found[clock][:-2], "o-", markersize=4, label=CLOCKS[clock][1])
        right.plot(
            DELAYS_US[:-2], DELAYS_US[:-2], color="0.6", linewidth=0.8, linestyle="--", label="as asked"
        )
        right.set(
            xlabel="delay asked for [us]", ylabel="delay met, one way [us]", xlim=(0, 420), ylim=(0, 520)
        )
        right.set_title("below 400 us")
        right.legend()
        study.figure(made, "ticks")
    study.finish()


if __name__ == "__main__":
    main()
