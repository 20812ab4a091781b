"""Files of a benchmark: JSON with everything, CSV with a row for each measure."""

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import isinf
from pathlib import Path
from typing import Any

from longhaul.benchmark.results import Compared, Result, Results
from longhaul.benchmark.suite import Suite, SuiteCase
from longhaul.storage import replace_text

Json = dict[str, Any]

KEY = ("scenario", "case", "subject", "measure")
COLUMNS = {
    **{name: name for name in ("scenario", "case", "subject", "mode", "measure", "unit", "mean")},
    "half_width": "half_width_95",
    "runs": "runs",
    "repeats": "repeats",
    "open_runs": "open_runs",
}
"""Of a result; the name in the CSV file."""
JUDGED = {"difference": "sim_against_live", "disagrees": "disagrees", "certain": "certain"}
_WITH_SUBJECT = ("results", "compared", "series")
"""Lists whose rows name a subject."""


def as_plain(suite: Suite, results: Results, cases: Sequence[SuiteCase], head: Json) -> Json:
    """Everything: ``head`` says how it was made. Units: s, bit/s, shares from 0 to 1, ratios.

    Keys are those of every suite: ``subjects``, ``subject``, and ``columns`` of a series.
    """
    compared = {(each.scenario, each.case, each.subject, each.measure): each for each in results.compared}
    return {
        **head,
        "subjects": list(head[suite.words.subjects]),
        "scenarios": [
            {
                "name": each.name,
                "title": each.title,
                "question": each.question,
                "section": each.section,
                "cases": [_case(case) for case in cases if case.scenario == each.name],
            }
            for each in suite.scenarios
            if any(case.scenario == each.name for case in cases)
        ],
        "measures": [asdict(each) for each in suite.measures.values()],
        "results": [_result(suite, each) for each in results.results],
        "compared": [_compared(each) for each in compared.values()],
        "disagreements": sum(each.agreement.disagrees for each in results.compared),
        "certain_disagreements": sum(
            each.agreement.disagrees and each.agreement.certain is True for each in results.compared
        ),
        "verdicts": dict(results.verdicts),
        "disturbed": results.disturbed,
        "errors": list(results.errors),
        "series": [
            {"case": case, "subject": subject, "mode": mode, "columns": dict(columns)}
            for (case, subject, mode), columns in results.series.items()
        ],
    }


def in_words(suite: Suite, plain: Json) -> Json:
    """The results with the suite's own keys, such as ``control`` and ``controls``."""
    own = {"subject": suite.words.subject, "columns": suite.words.series}
    return {
        name: [{own.get(key, key): each for key, each in row.items()} for row in value]
        if name in _WITH_SUBJECT
        else value
        for name, value in plain.items()
        if name != "subjects"
    }


def read(suite: Suite, written: Json) -> Json:
    """What :func:`as_plain` returned, from the contents of ``results.json``."""
    ours = {suite.words.subject: "subject", suite.words.series: "columns"}
    return {
        "subjects": written[suite.words.subjects],
        **{
            name: [{ours.get(key, key): each for key, each in row.items()} for row in value]
            if name in _WITH_SUBJECT
            else value
            for name, value in written.items()
        },
    }


def write(suite: Suite, directory: Path, plain: Json) -> None:
    """Write ``results.json`` and ``results.csv``."""
    replace_text(directory / "results.json", json.dumps(in_words(suite, plain), indent=1) + "\n")
    judged = {tuple(each[key] for key in KEY): each for each in plain["compared"]}
    columns = {**COLUMNS, "subject": suite.words.subject}
    with (directory / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns.values(), *JUDGED.values()])
        for each in plain["results"]:
            both = judged.get(tuple(each[key] for key in KEY), {})
            writer.writerow([each[key] for key in COLUMNS] + [both.get(key) for key in JUDGED])


def _case(case: SuiteCase) -> Json:
    return {
        "name": case.name,
        "label": case.label,
        "bits_per_s": case.bits_per_s,
        "scale": case.scale,
        "from_s": case.from_s,
        "to_s": case.to_s,
        "event_s": case.event_s,
        "flows": case.flow_count,
    }


def _result(suite: Suite, each: Result) -> Json:
    return {
        "scenario": each.scenario,
        "case": each.case,
        "subject": each.subject,
        "mode": each.mode,
        "measure": each.measure,
        "unit": suite.measures[each.measure].unit,
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
        "subject": each.subject,
        "measure": each.measure,
        "live": found.live,
        "simulated": found.simulated,
        "difference": None if isinf(found.difference) else found.difference,
        "disagrees": found.disagrees,
        "certain": found.certain,
    }
