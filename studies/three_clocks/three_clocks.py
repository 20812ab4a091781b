"""One scenario on three clocks: simulated, real and virtual.

Eight networks, each run by the simulator, on the real clock with this machine's kernel, and on the virtual
clock with kernels of their own. Four measures; differences of more than 5 % have their reason in reasons.toml.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from documents import read_table
from judging import between, exact, measured
from scenarios import CASES, SECONDS, Case, scenario
from study import ROOT, Part, Study, run_study

import longhaul

CLOCKS = ("simulated", "real", "virtual")
WITHIN = 0.05
"""Goodputs of two clocks that differ by less are equal."""
JOINED = "200us"
"""The longer of the two spans within which segments are delivered together."""
JOINED_CASES = ("cubic", "bbr", "CoDel", "LAN")
MEASURES = ("goodput_mbit", "retransmitted", "dropped", "rtt_p50_ms")


def run(study: Study, case: Case, clock: str, seed: int, coalesce: str = "10us") -> dict[str, Any]:
    """One run and its measures."""
    path = study.runs / f"{clock}.yaml"
    path.write_text(scenario(case, seed=seed, coalesce=coalesce), encoding="utf-8")
    if clock == "simulated":
        result = longhaul.run_sim(path, runs=study.runs, report=False)
    elif clock == "real":
        result = longhaul.run_live(path, runs=study.runs, report=False)
    else:
        result = longhaul.run_live(path, runs=study.runs, report=False, clock="virtual")
    study.ran(result, mode="sim" if clock == "simulated" else "live")
    return {**measures(result), **pace(result)}


def measures(result: longhaul.Result) -> dict[str, Any]:
    """What the clocks are compared by."""
    flows = result.summary["flows"]
    packets = result.link("wan")["packets"]
    return {
        "goodput_mbit": round(sum(flow["goodput_bits_per_s"] for flow in flows) / 1e6, 3),
        "retransmitted": sum(flow["retransmits"] for flow in flows),
        "dropped": packets["lost"] + packets["overflowed"] + packets["dropped"],
        "rtt_p50_ms": round(result.probe("probe")["rtt_p50_ns"] / 1e6, 4),
    }


def pace(result: longhaul.Result) -> dict[str, Any]:
    """Verdict, digest, and real time for a second of the run's."""
    virtual = result.summary["virtual_clock"]
    if virtual is not None:
        speed, digest = virtual["wall_s_per_s"], virtual["digest"]
    elif "simulation" in result.summary:
        simulation = result.summary["simulation"]
        speed, digest = simulation["cpu_s"] / SECONDS, simulation["digest"]
    else:
        speed, digest = 1.0, ""
    return {"verdict": result.verdict, "wall_s_per_s": round(speed, 4), "digest": str(digest)}


def study_clock(study: Study, clock: str, rounds: int) -> None:
    """All cases on one clock. Where nothing is random but the real clock, one seed is enough."""
    rows = []
    for name, case in CASES.items():
        repeats = rounds if case.chance or clock == "real" else 1
        for seed in range(1, repeats + 1):
            found = study.measured(f"{clock}/{name}/{seed}", lambda: run(study, case, clock, seed))
            if found is not None:
                rows.append({"case": name, "seed": seed, **found})
    study.table(clock, rows)


def study_joined(study: Study) -> None:
    """What a longer span of joined segments changes on the virtual clock."""
    rows = []
    for name in JOINED_CASES:
        found = study.measured(
            f"joined/{name}", lambda: run(study, CASES[name], "virtual", 1, coalesce=JOINED)
        )
        if found is not None:
            rows.append({"case": name, "seed": 1, **found})
    study.table("joined", rows)


def study_comparison(study: Study) -> None:
    """Judge goodputs, from the tables of the other parts."""
    tables = {clock: read_table(ROOT / "studies/three_clocks/results" / f"{clock}.csv") for clock in CLOCKS}
    goodputs = {
        clock: {name: [float(row["goodput_mbit"]) for row in rows if row["case"] == name] for name in CASES}
        for clock, rows in tables.items()
    }
    means = {
        clock: {name: sum(each) / len(each) for name, each in of.items()} for clock, of in goodputs.items()
    }
    for clock in ("virtual", "simulated"):
        study.claim(
            f"a transfer has the goodput on the {clock} clock that it has on the real one, in these eight networks",
            place="ours",
            rule=f"the ratio of the real clock's goodput and the {clock} one's mean is within {WITHIN:.0%} of 1, "
            "with its whole 95 % interval",
            cases=[
                between(
                    name,
                    measured([each / means[clock][name] for each in goodputs["real"][name]]),
                    1 - WITHIN,
                    1 + WITHIN,
                )
                for name in CASES
            ],
            over="the network",
        )
    joined = {
        row["case"]: float(row["goodput_mbit"])
        for row in read_table(ROOT / "studies/three_clocks/results/joined.csv")
    }
    study.claim(
        f"joining segments within {JOINED} leaves goodputs on the virtual clock as they are",
        place="ours",
        rule=f"with {JOINED} over with 10us, equal seeds, is within {WITHIN:.0%} of 1; one run each, repeatable",
        cases=[
            between(name, exact(joined[name] / goodputs["virtual"][name][0]), 1 - WITHIN, 1 + WITHIN)
            for name in JOINED_CASES
        ],
        over="the network",
    )


QUESTION = "Do the three clocks give one scenario the same results?"
PARTS = {
    "simulated": Part(
        "simulated", lambda study, given: study_clock(study, "simulated", given.rounds), rounds=3
    ),
    "virtual": Part("virtual", lambda study, given: study_clock(study, "virtual", given.rounds), rounds=3),
    "joined": Part("virtual", lambda study, _given: study_joined(study)),
    "real": Part("live", lambda study, given: study_clock(study, "real", given.rounds), rounds=3),
    "comparison": Part("arithmetic", lambda study, _given: study_comparison(study)),
}

if __name__ == "__main__":
    run_study("three-clocks", QUESTION, __doc__, PARTS)
