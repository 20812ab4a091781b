"""Files of a benchmark: JSON with everything, CSV with a row for each measure."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isinf
from pathlib import Path
from typing import Any

from longhaul.benchmark.case import Case
from longhaul.benchmark.cases import SCENARIOS
from longhaul.benchmark.measures import MEASURES
from longhaul.benchmark.results import Compared, Result, Results
from longhaul.storage import replace_text

Json = dict[str, Any]

KEY = ("scenario", "case", "control", "measure")
COLUMNS = {
    **{name: name for name in ("scenario", "case", "control", "mode", "measure", "unit", "mean")},
    "half_width": "half_width_95",
    "runs": "runs",
    "repeats": "repeats",
    "open_runs": "open_runs",
}
"""Of a result; the name in the CSV file."""
JUDGED = {"difference": "sim_against_live", "disagrees": "disagrees", "certain": "certain"}


def as_plain(results: Results, cases: Sequence[Case], head: Json) -> Json:
    """Everything, for JSON: ``head`` says how it was made. Units: s, bit/s, shares from 0 to 1, ratios."""
    compared = {(each.scenario, each.case, each.control, each.measure): each for each in results.compared}
    return {
        **head,
        "scenarios": [
            {
                "name": each.name,
                "title": each.title,
                "question": each.question,
                "section": each.section,
                "cases": [_case(case) for case in cases if case.scenario == each.name],
            }
            for each in SCENARIOS
            if any(case.scenario == each.name for case in cases)
        ],
        "measures": [asdict(each) for each in MEASURES.values()],
        "results": [_result(each) for each in results.results],
        "compared": [_compared(each) for each in compared.values()],
        "disagreements": sum(each.agreement.disagrees for each in results.compared),
        "certain_disagreements": sum(
            each.agreement.disagrees and each.agreement.certain is True for each in results.compared
        ),
        "verdicts": dict(results.verdicts),
        "disturbed": results.disturbed,
        "errors": list(results.errors),
        "series": [
            {"case": case, "control": control, "mode": mode, "mbit_per_s": dict(rates)}
            for (case, control, mode), rates in results.series.items()
        ],
    }


def write(directory: Path, plain: Json) -> None:
    """Write ``results.json`` and ``results.csv``."""
    replace_text(directory / "results.json", json.dumps(plain, indent=1) + "\n")
    judged = {tuple(each[key] for key in KEY): each for each in plain["compared"]}
    with (directory / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*COLUMNS.values(), *JUDGED.values()])
        for each in plain["results"]:
            both = judged.get(tuple(each[key] for key in KEY), {})
            writer.writerow([each[key] for key in COLUMNS] + [both.get(key) for key in JUDGED])


def _case(case: Case) -> Json:
    return {
        "name": case.name,
        "label": case.label,
        "bits_per_s": case.bits_per_s,
        "scale": case.scale,
        "from_s": case.from_s,
        "to_s": case.to_s,
        "event_s": case.event_s,
        "flows": len(case.flows),
    }


def _result(each: Result) -> Json:
    return {
        "scenario": each.scenario,
        "case": each.case,
        "control": each.control,
        "mode": each.mode,
        "measure": each.measure,
        "unit": MEASURES[each.measure].unit,
        "mean": each.estimate.mean,
        "half_width": each.estimate.half_width,
        "runs": each.estimate.runs,
        "repeats": each.estimate.repeats,
        "open_runs": each.open_runs,
        "values": list(each.values),
    }


def _compared(each: Compared) -> Json:
    found = each.agreement
    return {
        "scenario": each.scenario,
        "case": each.case,
        "control": each.control,
        "measure": each.measure,
        "live": found.live,
        "simulated": found.simulated,
        "difference": None if isinf(found.difference) else found.difference,
        "disagrees": found.disagrees,
        "certain": found.certain,
    }
