"""Simulated against live: the same scenario, the host kernel's TCP against the simulator's.

Five paths, Reno and CUBIC, three seeds each; goodput with its interval.
"""

import argparse
from statistics import mean
from typing import Any

import numpy as np
from study import Study

import longhaul
from longhaul.analysis.estimates import estimate, interval_text
from longhaul.report.plotting import figure, paper

HEAD = """version: 1
name: {name}
seed: {seed}
duration: {seconds}s
addresses: ipv4
nodes:
  a: {{kind: host, attach: r, profile: lan}}
  b: {{kind: host, attach: r, profile: lan}}
  c: {{kind: host, attach: s, profile: lan}}
  d: {{kind: host, attach: s, profile: lan}}
  r: {{kind: router}}
  s: {{kind: router}}
profiles: {{lan: {{delay: 15us, rate: 10Gbit}}}}
links: {{wan: {{endpoints: [r, s], {link}}}}}
traffic:
  one: {{kind: tcp, from: a, to: c, cc: {cc}, stop: {stop}s}}
"""
SECOND = "  two: {{kind: tcp, from: b, to: d, cc: {cc}, stop: {stop}s}}\n"
CASES = {
    "delay": "delay: 20ms, rate: 200Mbit, queue: 1bdp",
    "rate": "delay: 5ms, rate: 50Mbit, queue: 1bdp",
    "loss": "delay: 10ms, rate: 500Mbit, queue: 1bdp, loss: 0.05%",
    "routes": "delay: 5ms, queue: 1bdp, routes: {{count: 4, policy: round-robin, rate: 50Mbit, "
    "delays: [5ms, 5ms, 5ms, 5.2ms], resequence: {{wait: 1ms}}}}",
    "two flows": "delay: 10ms, rate: 100Mbit, queue: 1bdp",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    study = Study("sim-vs-live", "Does a simulated transfer take as long as a real one?")
    rows: list[dict[str, Any]] = []
    for case, link in CASES.items():
        for law in ("reno", "cubic"):
            goodput: dict[str, list[float]] = {"live": [], "sim": []}
            digests: list[str] = []
            for seed in range(1, arguments.seeds + 1):
                text = HEAD + (SECOND if case == "two flows" else "")
                path = study.directory / "scenario.yaml"
                path.write_text(
                    text.format(
                        name=f"{case}-{law}".replace(" ", "-"),
                        seed=seed,
                        seconds=arguments.seconds,
                        stop=arguments.seconds - 1,
                        cc=law,
                        link=link.format(),
                    ),
                    encoding="utf-8",
                )
                live = longhaul.run_live(path, runs=study.directory / "runs", report=False)
                goodput["live"].append(sum(flow["goodput_bits_per_s"] for flow in live.summary["flows"]))
                model_run = longhaul.run_sim(path, runs=study.directory / "runs", report=False)
                goodput["sim"].append(sum(flow["goodput_bits_per_s"] for flow in model_run.summary["flows"]))
                digests.append(model_run.summary["simulation"]["digest"])
            real, model = estimate(goodput["live"]), estimate(goodput["sim"], digests)
            ratio = model.mean / real.mean
            half = [
                None if each.half_width is None else round(100 * each.half_width / each.mean, 2)
                for each in (real, model)
            ]
            rows.append(
                {
                    "case": case,
                    "law": law,
                    **{f"{kind}_mbit": round(mean(values) / 1e6, 3) for kind, values in goodput.items()},
                    "live_half_percent": half[0],
                    "sim_half_percent": half[1],
                    "live_runs": real.runs,
                    "sim_runs": model.runs,
                    "ratio": round(ratio, 4),
                }
            )
            study.claim(
                f"{case}, {law}: live {real.mean / 1e6:.1f} Mbit/s ({interval_text(real)}), "
                f"simulated {model.mean / 1e6:.1f} ({interval_text(model)}): within 10 %",
                abs(ratio - 1) <= 0.1,
            )
    study.table("goodput", rows)
    with paper():
        made = figure(3.4, width_in=6.4)
        axes = made.subplots()
        axes.axhspan(0.9, 1.1, color="0.93")
        axes.axhline(1, color="0.6", linewidth=0.8)
        for law, marker, shift in (("reno", "o", -0.1), ("cubic", "s", 0.1)):
            mine = [row for row in rows if row["law"] == law]
            both = [
                np.hypot(row["live_half_percent"] or 0, row["sim_half_percent"] or 0) / 100 for row in mine
            ]
            axes.errorbar(
                [number + shift for number in range(len(mine))],
                [row["ratio"] for row in mine],
                yerr=[share * row["ratio"] for share, row in zip(both, mine, strict=True)],
                fmt=marker,
                label=law,
                markersize=5,
                capsize=3,
            )
        axes.set_xticks(range(len(CASES)), list(CASES))
        axes.set(ylabel="goodput, simulated / live", ylim=(0.3, 1.7))
        axes.legend(loc="upper left")
        study.figure(made, "sim-vs-live")
    study.finish()


if __name__ == "__main__":
    main()
