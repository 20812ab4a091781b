"""One scenario on three clocks: simulated, real and virtual.

Eight networks: by the simulator, on the real clock with this machine's kernel, and on the virtual clock with
kernels of the hosts' own. Whether their goodputs differ by more than 5 %, and three more measures. And what
other work on the machine changes.
"""

import sys
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from comparison import CLOCKS, Rows, results, side_by_side, values
from loads import study_loads
from scenarios import CASES, SECONDS, Case, scenario

import longhaul
from longhaul.studies import Measurement, Part, Study, exact, measured, near, run_study

JOINED_CASES = ("cubic", "bbr", "CoDel", "LAN")


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
            found = study.measured(f"{clock}/{name}/{seed}", partial(run, study, case, clock, seed))
            if found is not None:
                rows.append({"case": name, "seed": seed, **found})
    study.table(clock, rows)


def study_joined(study: Study) -> None:
    """What a longer span of joined segments changes on the virtual clock."""
    span = f"{study.numbers('joined-segments')['joined_us']}us"
    rows = []
    for name in JOINED_CASES:
        found = study.measured(
            f"joined/{name}", partial(run, study, CASES[name], "virtual", 1, coalesce=span)
        )
        if found is not None:
            rows.append({"case": name, "seed": 1, **found})
    study.table("joined", rows)


def study_comparison(study: Study) -> None:
    """Put measures side by side and evaluate goodputs, from the tables of the other parts."""
    tables = results(study)
    within = study.numbers("joined-segments")["within"]
    study.table("comparison", side_by_side(tables, within=within))
    for one, other in combinations(CLOCKS, 2):
        study.evaluate(
            f"{one}-and-{other}",
            [
                near(name, ratio(tables[one], tables[other], name), 1, within)
                for name in CASES
                if one in tables and other in tables
            ],
        )
    joined = study.rows("joined")
    study.evaluate(
        "joined-segments",
        [
            near(name, ratio(joined, tables["virtual"], name), 1, within)
            for name in JOINED_CASES
            if joined and "virtual" in tables
        ],
    )


def ratio(one: Rows, other: Rows, case: str) -> Measurement:
    """The ratio of two goodputs; where one run is all that there can be, it is that of each seed."""
    upper, lower = (values(rows, case, "goodput_mbit") for rows in (one, other))
    if len(upper) == len(lower) == 1:
        return exact(next(iter(upper.values())) / next(iter(lower.values())))
    seeds = upper | lower
    return measured(
        upper.get(seed, next(iter(upper.values()))) / lower.get(seed, next(iter(lower.values())))
        for seed in seeds
    )


PARTS = {
    "simulated": Part(lambda study, given: study_clock(study, "simulated", given.rounds), rounds=3),
    "virtual": Part(lambda study, given: study_clock(study, "virtual", given.rounds), rounds=3),
    "joined": Part(lambda study, _given: study_joined(study)),
    "real": Part(lambda study, given: study_clock(study, "real", given.rounds), rounds=3),
    "loads": Part(lambda study, _given: study_loads(study)),
    "comparison": Part(lambda study, _given: study_comparison(study)),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
