"""From a capture to the figures of Hacker and Smith, "A Network Simulation Model of TeraGrid" (2008).

A real transfer is captured, its losses fitted, and the fit simulated 83 times; then every variant of TCP
alone and beside five flows, with long and short queues, under several readings of the published loss.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pictures
from chain import FASTER, SECONDS, Chain, can_run, capture_to_model
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from results import Results, collect
from trials import MEANINGS, READINGS, WITHIN, Plan, plans
from verdicts import MEASURED_MBITS, SIMULATED_MBITS, SIMULATED_SD, verdicts

import longhaul
from longhaul.report.page import write_page
from longhaul.scenario.expand.axes import text_of
from longhaul.scenario.sweeps.options import Options
from longhaul.studies import Part, Study, StudyFolder, exact
from longhaul.studies.command import draw_again
from longhaul.studies.figures import cells
from longhaul.sweeps.folder import Folder
from longhaul.sweeps.pilot import estimate_cost
from longhaul.sweeps.preparation import prepare
from longhaul.sweeps.sweep import Swept

HERE = Path(__file__).parent
DIRECTORY = HERE.parents[1] / "runs" / "studies" / "teragrid"
"""Where everything goes."""
SECONDS_EACH = 1000
"""Simulated, of each trial."""
SMALL = 2, 5
"""Seeds and seconds of a study that is only tried out, which has no capture."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--full",
        action="store_true",
        help="every reading, seeds until intervals are narrow, at most 30,000 trials; says the cost first",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask whether the cost of --full is right")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted study has done")
    parser.add_argument("--only", action="append", choices=("trials", "simulated"), help="there is one part")
    parser.add_argument("--draw", action="store_true", help="draw the figures again; measure nothing")
    parser.add_argument("--small", action="store_true", help="a small size, to try it out; publishes nothing")
    parser.add_argument("--seeds", type=int, help="of each point, to try something out")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS_EACH, help="of each trial, to try something out"
    )
    parser.add_argument("--workers", type=int, help="threads; all cores if left out")
    arguments = parser.parse_args()
    if arguments.draw:
        draw_again(StudyFolder(HERE), {"trials": Part(lambda _study, _given: None, draw=pictures.draw)})
        return
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    if arguments.small:
        arguments.seeds, arguments.seconds = SMALL
    chain = None if arguments.small else _chain(resume=arguments.resume)
    if chain:
        print(
            f"capture: {chain.losses:,} of {chain.dropped:,} losses found; {text_of(chain.algorithm)}",
            flush=True,
        )
    every = plans(
        chain.algorithm if chain else READINGS["minutes"],
        full=arguments.full,
        seeds=arguments.seeds,
        seconds=arguments.seconds,
    )
    total = sum(plan.trials for plan in every)
    if arguments.full:
        costs = [(_cost_s(plan), plan.most_trials / plan.trials) for plan in every]
        least_s, most_s = sum(cost for cost, _ in costs), sum(cost * more for cost, more in costs)
        print(
            f"{total:,} trials, about {least_s / 3600:.1f} hours of one core; "
            f"seeds are added until each goodput is known within {WITHIN:.0%}: "
            f"at most {sum(plan.most_trials for plan in every):,} trials, {most_s / 3600:.1f} hours"
        )
        if not arguments.yes and input("go on? [y/N] ").strip().lower() != "y":
            return
    done = 0

    def run(plan: Plan) -> Swept:
        nonlocal done
        print(f"{plan.name}: {plan.trials:,} trials after {done:,} of {total:,}", flush=True)
        done += plan.trials
        return _sweep(plan, resume=arguments.resume, workers=arguments.workers)

    results = collect(every, run)
    whole = arguments.seeds is None and arguments.seconds == SECONDS_EACH
    study = Study(HERE, whole=whole, small=arguments.small, resume=True)
    with study.part("trials"):
        _write(study, results, chain, every, _spent(time.monotonic() - began, resume=arguments.resume))
    print(f"report: {DIRECTORY / 'report.html'}")
    study.finish()


def _chain(*, resume: bool) -> Chain | None:
    """The capture and its fit; with ``resume`` those of the study that was interrupted."""
    path = DIRECTORY / "chain.json"
    if resume and path.is_file():
        return Chain(**json.loads(path.read_text(encoding="utf-8")))
    if not can_run():
        return None
    chain = capture_to_model(DIRECTORY)
    path.write_text(json.dumps(asdict(chain), indent=1), encoding="utf-8")
    return chain


def _spent(more_s: float, *, resume: bool) -> float:
    """Seconds that the study has taken, with those before it was resumed."""
    path = DIRECTORY / "spent.json"
    before_s = json.loads(path.read_text(encoding="utf-8")) if resume and path.is_file() else 0.0
    path.write_text(json.dumps(before_s + more_s), encoding="utf-8")
    return float(before_s + more_s)


def _sweep(plan: Plan, *, resume: bool, workers: int | None) -> Swept:
    path = DIRECTORY / f"{plan.name}.yaml"
    path.write_text(plan.text, encoding="utf-8")
    asked: dict[str, Any] = {
        "axes": plan.axes,
        "repeat": plan.seeds,
        "until": plan.until,
        "params": plan.settings,
    }
    runs = DIRECTORY / "sweeps"
    if resume:
        for folder in sorted((runs / plan.name).glob("*-sweep-*"), reverse=True):
            if _same(Folder(folder), plan):
                return longhaul.resume(folder, workers=workers, report=False)
    return longhaul.sweep(path, **asked, runs=runs, name=plan.name, workers=workers, report=False)


def _same(folder: Folder, plan: Plan) -> bool:
    """Whether a sweep asked for the same."""
    facts = folder.read()
    return (
        (folder.path / "scenario.yaml").read_text(encoding="utf-8") == plan.text
        and facts["settings"] == plan.settings
        and facts["repeats"] == plan.seeds
        and folder.options().until == plan.until
        and [len(axis["values"]) for axis in facts["axes"]] == [len(each) for each in plan.axes.values()]
    )


def _cost_s(plan: Plan) -> float:
    """CPU seconds of a sweep with the least number of seeds, as ``longhaul sweep --dry-run`` says."""
    path = DIRECTORY / f"{plan.name}.yaml"
    path.write_text(plan.text, encoding="utf-8")
    axes = {name: ", ".join(map(text_of, values)) for name, values in plan.axes.items()}
    prepared = prepare(path, settings=plan.settings, options=Options(axes=axes, repeat=plan.seeds))
    return float(estimate_cost(prepared, cores=1)["core_s"])


def _write(
    study: Study, results: Results, chain: Chain | None, every: tuple[Plan, ...], took_s: float
) -> None:
    """Figures, claims, tables and ``report.html``."""
    found = [study.evaluate(claim, cases) for claim, cases in verdicts(results)]
    table = _goodputs(results)
    study.table("goodput", table)
    study.table("validation", [{"mbits": round(each / 1e6, 3)} for each in _validated(results)])
    study.draw(pictures.draw)
    bars, stated = pictures.Bars([cells(row) for row in table]), study.definition.paper
    mains = list(dict.fromkeys(key[1] for key in results.cells if key[0] == "long"))
    places = [("long", f"Figure 3: beside five flows, long queues ({each})", each) for each in mains]
    places += [("short", f"Figure 4: beside five flows, short queues ({each})", each) for each in mains]
    places += [("long-apart", "Beside five flows with sinks of their own (seconds)", "seconds")]
    places += [("apart-minutes", "Beside five flows with sinks of their own (minutes)", "minutes")]
    seeds = {plan.name: results.seeds(plan.name) for plan in every}
    caption = (
        "Below: the variant; above: the five SACK flows together. Bars: standard deviations of {} trials, in "
        "the middle of the variant, to the right of the five."
    )
    figures = {
        "validation": pictures.validation(
            [{"mbits": each / 1e6} for each in _validated(results)], stated
        ).on_page(DIRECTORY),
        "readings": pictures.readings(bars, stated).on_page(DIRECTORY),
        "alone": [
            (each, pictures.alone(bars, stated, each).on_page(DIRECTORY)) for each in bars.readings("alone")
        ],
        "beside": [
            (
                title,
                caption.format(seeds[sweep]),
                pictures.beside(bars, stated, sweep, reading).on_page(DIRECTORY),
            )
            for sweep, title, reading in places
        ],
        "fairness": [(each, pictures.fairness(bars, each).on_page(DIRECTORY)) for each in mains],
    }
    fairness = [
        {"title": title, "rows": _fairness(results, sweep, reading)} for sweep, title, reading in places
    ]
    counts = Counter(each.word for each in found)
    environment = Environment(
        # The look is that of all reports.
        loader=ChoiceLoader([FileSystemLoader(HERE), PackageLoader("longhaul.report", ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("page.html.j2").render(
        trials=results.trials,
        hops=f"{results.hops / 1e9:.1f} billion",
        took=f"{took_s / 60:.0f} minutes",
        started=datetime.now(UTC).isoformat(timespec="minutes"),
        counts={each: counts[each] for each in ("reproduced", "depends", "not reproduced")},
        answers=_answers(results),
        claims=found,
        chain=chain,
        chain_seconds=SECONDS,
        faster=FASTER,
        algorithm=text_of(chain.algorithm) if chain else "",
        figures=figures,
        few=seeds["alone"],
        readings=_readings(results),
        fairness=fairness,
        sweeps=results.sweeps,
    )
    write_page(DIRECTORY / "report.html", page)
    study.table("fairness", [{"sweep": table["title"], **row} for table in fairness for row in table["rows"]])
    study.value("trials", exact(results.trials))
    study.value("took", exact(took_s / 60), "minutes")
    if chain:
        study.note(f"capture: {chain.losses:,} of {chain.dropped:,} losses found; {text_of(chain.algorithm)}")


def _goodputs(results: Results) -> list[dict[str, Any]]:
    """For a CSV file: the mean of every cell."""
    return [
        {
            "sweep": sweep,
            "reading": reading,
            "round_trip_ms": round_trip_ms,
            "variant": name,
            "trials": len(cell.main),
            "mbits": round(cell.mbits, 3),
            "sd_mbits": round(cell.sd_mbits, 3) if len(cell.main) > 1 else "",
            "others_mbits": round(cell.cross_mbits, 3),
            "others_sd_mbits": round(cell.cross_sd_mbits, 3) if len(cell.main) > 1 else "",
            "taken_share": round(stolen.mean, 4) if stolen else "",
            "taken_half_width": round(stolen.half_width or 0.0, 4) if stolen else "",
        }
        for (sweep, reading, round_trip_ms, name), cell in results.cells.items()
        for stolen in [results.stolen(sweep, reading, name) if cell.cross_mbits else None]
    ]


def _validated(results: Results) -> tuple[float, ...]:
    """Goodputs of the validation trials in bit/s."""
    return results.cell("validation", "fitted", "SACK").main


def _answers(results: Results) -> list[str]:
    validation = results.cell("validation", "fitted", "SACK")
    rates = {
        reading: results.cell("readings", reading, "SACK").mbits
        for reading in dict.fromkeys(key[1] for key in results.cells if key[0] == "readings")
    }
    said = [reading for reading in rates if reading != "packets"]
    nearest = min(said, key=lambda reading: abs(rates[reading] - MEASURED_MBITS))
    return [
        f"{len(validation.main)} SACK transfers with the fitted loss: {validation.mbits:.1f} Mbit/s, "
        f"sd {validation.sd_mbits:.1f} (measured {MEASURED_MBITS}; "
        f"the paper's simulation {SIMULATED_MBITS}, sd {SIMULATED_SD:g}).",
        f"Of the readings of the loss, {nearest} comes nearest to the measured throughput: "
        f"{rates[nearest]:.1f} Mbit/s ({MEANINGS[nearest]}).",
    ]


def _readings(results: Results) -> list[dict[str, Any]]:
    rows = []
    for reading in dict.fromkeys(key[1] for key in results.cells if key[0] == "readings"):
        cells = [
            results.cells.get(("round-trips", reading, 60, "SACK")),
            results.cell("readings", reading, "SACK"),
            results.cells.get(("round-trips", reading, 70, "SACK")),
        ]
        rates = [f"{cell.mbits:.1f} ± {cell.sd_mbits:.1f}" if cell else "" for cell in cells]
        rows.append({"name": reading, "meaning": MEANINGS[reading], "rates": rates})
    return rows


def _fairness(results: Results, sweep: str, reading: str) -> list[dict[str, str]]:
    rows = []
    for name in [key[3] for key in results.cells if key[:2] == (sweep, reading)]:
        cell, stolen = results.cell(sweep, reading, name), results.stolen(sweep, reading, name)
        rows.append(
            {
                "name": name,
                "main": f"{cell.mbits:.1f} ± {cell.sd_mbits:.1f}",
                "cross": f"{cell.cross_mbits:.1f} ± {cell.cross_sd_mbits:.1f}",
                "stolen": f"{100 * stolen.mean:.1f} %"
                + ("" if stolen.half_width is None else f" ± {100 * stolen.half_width:.1f}"),
                "jain": f"{mean(cell.jain):.3f}",
            }
        )
    return rows


if __name__ == "__main__":
    main()
