"""Simulated compared with live: the same scenario, the host kernel's TCP and the simulator's.

Five paths, Reno and CUBIC, with several seeds; goodput with its interval. What holds on these paths need not
hold elsewhere.
"""

import sys
from math import hypot, inf
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Measurement, Part, Study, exact, measured, near, run_study

HEAD = """version: 1
name: {name}
seed: {seed}
duration: {seconds}s
addresses: ipv4
tcp: {{congestion_control: reno}}
profiles: {{lan: {{delay: 15us, rate: 10Gbit}}}}
"""
LINK = "  wan{n}: {{endpoints: [r{n}, s{n}], {link}}}\n"
NODES = """  r{n}: {{kind: router}}
  s{n}: {{kind: router}}
  a{n}: {{kind: host, attach: r{n}, profile: lan}}
  b{n}: {{kind: host, attach: r{n}, profile: lan}}
  c{n}: {{kind: host, attach: s{n}, profile: lan}}
  d{n}: {{kind: host, attach: s{n}, profile: lan}}
"""
FLOW = "  one{n}: {{kind: tcp, from: a{n}, to: c{n}, cc: {cc}, stop: {stop}s}}\n"
SECOND = "  two{n}: {{kind: tcp, from: b{n}, to: d{n}, cc: {cc}, stop: {stop}s}}\n"
CASES = {
    "delay": "delay: 20ms, rate: 200Mbit, queue: 1bdp",
    "rate": "delay: 5ms, rate: 50Mbit, queue: 1bdp",
    "loss": "delay: 10ms, rate: 500Mbit, queue: 1bdp, loss: 0.05%",
    "routes": "delay: 5ms, queue: 1bdp, routes: {count: 4, policy: round-robin, rate: 50Mbit, "
    "delays: [5ms, 5ms, 5ms, 5.2ms], resequence: {wait: 1ms}}",
    "two flows": "delay: 10ms, rate: 100Mbit, queue: 1bdp",
}
COPIES = {"loss": 8}
"""Paths side by side in one run, each with losses of its own, where chance decides."""
SECONDS = 14
ALGORITHMS = ("reno", "cubic")


def scenario(case: str, cc: str, seed: int, seconds: int = SECONDS) -> str:
    """One path, or several side by side."""
    numbers = range(COPIES.get(case, 1))
    what = {"cc": cc, "stop": seconds - 1, "link": CASES[case]}
    flows = FLOW + (SECOND if case == "two flows" else "")
    head = HEAD.format(name=f"{case}-{cc}".replace(" ", "-"), seed=seed, seconds=seconds, cc=cc)
    nodes, links, traffic = (
        "".join(text.format(n=n, **what) for n in numbers) for text in (NODES, LINK, flows)
    )
    return f"{head}nodes:\n{nodes}links:\n{links}traffic:\n{traffic}"


def one_round(study: Study, case: str, cc: str, seed: int, *, live: bool) -> dict[str, Any]:
    """Mbit/s over each path, and the digest of a simulation."""
    path = study.runs / "scenario.yaml"
    path.write_text(scenario(case, cc, seed, study.size(SECONDS, small=3)), encoding="utf-8")
    run = longhaul.run_live if live else longhaul.run_sim
    result = run(path, runs=study.runs, report=False)
    study.ran(result, mode="live" if live else "sim")
    numbers = range(COPIES.get(case, 1))
    rates = [
        sum(flow["goodput_bits_per_s"] for flow in result.summary["flows"] if flow["name"][3:] == str(n))
        / 1e6
        for n in numbers
    ]
    return {"mbits": rates, "digest": None if live else result.summary["simulation"]["digest"]}


def quotient(upper: Measurement, lower: Measurement) -> Measurement:
    """The ratio of two independent means, with its interval."""
    ratio = upper.value / lower.value
    half = ratio * hypot(upper.half_width / upper.value, lower.half_width / lower.value)
    return Measurement(ratio, half, min(upper.runs, lower.runs))


def study_paths(study: Study, *, rounds: int) -> None:
    """Run every path live and simulated, with as many seeds as there are rounds."""
    rows: list[dict[str, Any]] = []
    ratios: dict[tuple[str, str], Measurement] = {}
    for case in study.size(list(CASES), small=["rate"]):
        for cc in study.size(ALGORITHMS, small=ALGORITHMS[:1]):
            both = []
            for mode in ("live", "sim"):
                values: list[float] = []
                digests = set()
                for seed in range(1, rounds + 1):
                    found = study.measured(
                        f"{case}/{cc}/{mode}/{seed}",
                        lambda case=case, cc=cc, seed=seed, mode=mode: one_round(
                            study, case, cc, seed, live=mode == "live"
                        ),
                    )
                    if found is None:
                        continue
                    values += found["mbits"]
                    digests.add(found["digest"])
                    rows += [
                        {"path": case, "cc": cc, "mode": mode, "seed": seed, "mbit": round(each, 3)}
                        for each in found["mbits"]
                    ]
                # With equal digests chance has no part: all seeds are one run.
                same = mode == "sim" and len(digests) == 1
                both.append(exact(values[0]) if same else measured(values))
            ratios[case, cc] = quotient(both[1], both[0])
    study.table("goodput", rows)
    within = study.numbers("simulated-goodput")["within"]
    study.evaluate(
        "simulated-goodput",
        [near(f"{case}, {cc}", found, 1, within) for (case, cc), found in ratios.items()],
    )
    worst = max(ratios.values(), key=lambda found: abs(found.value - 1))
    study.value("worst", Measurement(abs(worst.value - 1), worst.half_width, worst.runs), percent=True)
    draw(study, ratios, within)


def draw(study: Study, ratios: dict[tuple[str, str], Measurement], within: float) -> None:
    """Ratios with their intervals."""
    cases = list(dict.fromkeys(case for case, _cc in ratios))
    with paper():
        made = figure(3.4, width_in=6.4)
        axes = made.subplots()
        axes.axhspan(1 - within, 1 + within, color="0.93")
        axes.axhline(1, color="0.6", linewidth=0.8)
        for cc, marker, shift in (("reno", "o", -0.1), ("cubic", "s", 0.1)):
            mine = [ratios[case, cc] for case in cases if (case, cc) in ratios]
            axes.errorbar(
                [number + shift for number in range(len(mine))],
                [each.value for each in mine],
                yerr=[0 if each.half_width == inf else each.half_width for each in mine],
                fmt=marker,
                label=cc,
                markersize=5,
                capsize=3,
            )
        axes.set_xticks(range(len(cases)), cases)
        axes.set(ylabel="goodput, simulated / live", ylim=(0.7, 1.3))
        made.legend(loc="outside lower center", ncols=2)
        study.figure(made, "paths", data=["goodput"])


PARTS = {"paths": Part(lambda study, given: study_paths(study, rounds=given.rounds), rounds=4)}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
