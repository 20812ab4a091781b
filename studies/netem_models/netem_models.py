"""Longhaul's link models beside netem, tbf and the queueing disciplines of Linux, on the virtual clock.

Each model that Linux has, too: the same traffic over a link of Longhaul and over one of Linux's devices.
Losses, delays, goodputs and counts are compared, and evaluated by what chance and rounding explain.
"""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from link_models import MODELS, Model

import longhaul
from longhaul.oracle import api
from longhaul.run.virtual_clock import virtual_clock
from longhaul.scenario import load_scenario, resolve
from longhaul.studies import Part, Study, holds_if, run_study


def compare(study: Study, model: Model) -> list[dict[str, Any]]:
    """Both runs of a model, and their quantities."""
    path = study.runs / "model.yaml"
    path.write_text(model.scenario(seed=1), encoding="utf-8")
    resolved = resolve(load_scenario(path))
    accepted = api.accept(resolved)
    result = longhaul.run_live(path, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    kernel = virtual_clock(resolved.scenario, None).kernel
    comparison = api.consult(accepted, Path(result.directory), result.summary, kernel)
    # The way back carries answers and acknowledgements alone.
    return [
        {
            "of": f"{row.kind} {row.name}",
            "quantity": row.quantity,
            "unit": row.unit,
            "longhaul": row.longhaul,
            "linux": row.oracle,
            "tolerance": row.tolerance,
            "within": row.is_within,
            "reason": row.reason,
        }
        for row in comparison.rows
        if row.name != "b > a"
    ]


def study_models(study: Study) -> None:
    """All models, one after another."""
    quantities, rows, cases = [], [], []
    chosen = study.size(list(MODELS), small=["delay", "independent loss"])
    for name in chosen:
        model = MODELS[name]
        found = study.measured(f"models/{name}", partial(compare, study, model))
        if found is None:
            continue
        quantities += [{"model": name, **each} for each in found]
        compared = [each for each in found if each["within"] is not None]
        outside = [each for each in compared if not each["within"]]
        text = f"{len(compared) - len(outside)} of {len(compared)} quantities"
        rows.append(
            {
                "model": name,
                "page": model.page,
                "linux": model.linux,
                "compared": len(compared),
                "within": len(compared) - len(outside),
                "outside": "; ".join(_difference(each) for each in outside),
            }
        )
        cases.append(holds_if(name, not outside, text))
    study.table("quantities", quantities)
    study.table("models", rows)
    study.evaluate("link-models", cases)


def _difference(row: Mapping[str, Any]) -> str:
    return f"{row['of']}, {row['quantity']}: {row['longhaul']:.6g} and {row['linux']:.6g} {row['unit']}"


PARTS = {"models": Part(lambda study, _given: study_models(study))}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
