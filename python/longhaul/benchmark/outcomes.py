"""Results of a benchmark's runs, written as each ends, so that a killed benchmark has results."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longhaul.benchmark.suite import Measured, SuiteCase
from longhaul.benchmark.trials import Outcome, Trial

Json = dict[str, Any]
FILE = "outcomes.jsonl"


def append(directory: Path, outcome: Outcome, *, took_s: float) -> None:
    """Add an outcome, ``took_s`` after the benchmark began."""
    trial = outcome.trial
    line = {
        "took_s": round(took_s, 1),
        "case": trial.case.name,
        "subject": trial.subject,
        "standard": trial.standard,
        "mode": trial.mode,
        "repeat": trial.repeat,
        "seed": trial.seed,
        "measured": asdict(outcome.measured) if outcome.measured is not None else None,
        "error": outcome.error,
        "interrupted": outcome.interrupted,
    }
    with (directory / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def read(directory: Path, cases: Sequence[SuiteCase]) -> tuple[list[Outcome], float]:
    """The outcomes that are there, and when the last came; a line that was cut off is left out."""
    known = {case.name: case for case in cases}
    outcomes: list[Outcome] = []
    took_s = 0.0
    try:
        lines = (directory / FILE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return outcomes, took_s
    for text in lines:
        try:
            line: Json = json.loads(text)
        except ValueError:
            continue
        took_s = line["took_s"]
        trial = Trial(
            known[line["case"]], line["subject"], line["standard"], line["mode"], line["repeat"], line["seed"]
        )
        measured = Measured(**line["measured"]) if line["measured"] is not None else None
        outcomes.append(Outcome(trial, measured, line["error"], interrupted=line["interrupted"]))
    return outcomes, took_s
