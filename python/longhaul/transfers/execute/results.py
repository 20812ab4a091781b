"""The results of a transfer plan, beside the plan."""

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longhaul.storage import replace_text
from longhaul.transfers.execute.preparation import LEAD_S
from longhaul.transfers.plan.controller import Controller
from longhaul.transfers.plan.measures import measures
from longhaul.transfers.plan.plan_data import asked
from longhaul.transfers.plan.plans import Outcome
from longhaul.transfers.plan.progress import Transfer

Json = dict[str, Any]


def write(controller: Controller, directory: Path, *, how: Mapping[str, Any]) -> Json:
    """Write ``transfers.json`` and ``decisions.csv`` into a run directory; returns the former."""
    found = as_plain(controller, how=how)
    replace_text(directory / "transfers.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    with open(directory / "decisions.csv", "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(("t_s", "why", "request", "what"))
        lines.writerows(
            (f"{each.at_s:.6f}", each.why, each.request, each.what) for each in controller.decisions
        )
    return found


def as_plain(controller: Controller, *, how: Mapping[str, Any]) -> Json:
    """Per request planned and achieved, the measures of both, and the decisions."""
    planned, achieved = controller.planned(), controller.achieved()
    return {
        "policy": controller.care.policy,
        "begins_s": LEAD_S,
        **how,
        "margin": controller.care.margin,
        "planned": asdict(measures(planned)),
        "achieved": asdict(measures(achieved)),
        "requests": [
            _request(*each)
            for each in zip(controller.transfers, planned.outcomes, achieved.outcomes, strict=True)
        ],
        "decisions": [asdict(each) for each in controller.decisions],
    }


def _request(transfer: Transfer, planned: Outcome, achieved: Outcome) -> Json:
    off = None
    if planned.pieces and achieved.pieces:
        off = (achieved.finish_s - planned.finish_s) / (planned.finish_s - planned.start_s)
    return {
        **asked(transfer.request),
        "state": transfer.state,
        "accepted": transfer.accepted,
        "met": achieved.satisfied,
        "reason": (transfer.reason if not transfer.begun_s else achieved.reason) or None,
        "attempts": transfer.attempts,
        "planned": _times(planned),
        "achieved": _times(achieved),
        "finish_off": off,
    }


def _times(outcome: Outcome) -> Json | None:
    if not outcome.pieces:
        return None
    return {
        "start_s": outcome.start_s,
        "finish_s": outcome.finish_s,
        "bits_per_s": outcome.bits_per_s,
        "pieces": [asdict(piece) for piece in outcome.pieces],
    }
