"""Traces as plain data, and the check of trace files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.traces import Trace
from longhaul.scenario.traces.builtin import is_builtin
from longhaul.scenario.traces.files import read_sidecar, read_traces, sidecar_of
from longhaul.scenario.traces.statistics import PERCENTILES, pauses, summaries
from longhaul.units.text import count_text


def as_plain(trace: Trace) -> Mapping[str, Any]:
    """What a trace comes to, for JSON."""
    way = trace.way
    return {
        "from": way.source if way else None,
        "to": way.destination if way else None,
        "tool": way.tool if way else None,
        "rows": len(trace),
        "span_s": round(trace.span_s(), 9),
        "period_s": round(trace.period_s(), 9),
        "pauses": pauses(trace),
        "columns": [
            {
                **{key: value for key, value in asdict(each).items() if key != "percentiles"},
                **{f"p{share}": at for share, at in zip(PERCENTILES, each.percentiles, strict=True)},
            }
            for each in summaries(trace)
        ],
    }


def validation(names: Sequence[str], *, as_json: bool) -> tuple[str, int]:
    """What is wrong with the traces called ``names``, and the exit code: 0 if nothing is, else 2."""
    told: list[dict[str, Any]] = []
    for name in names:
        problem, warnings, rows = None, [], 0
        try:
            reading = read_traces(name)
            warnings = list(reading.warnings)
            rows = sum(len(trace) for trace in reading.traces)
            _check_sidecar(name)
        except LonghaulError as error:
            problem = str(error)
        told.append(
            {"trace": name, "good": problem is None, "problem": problem, "warnings": warnings, "rows": rows}
        )
    exit_code = 0 if all(each["good"] for each in told) else 2
    if as_json:
        return json.dumps(told, indent=1), exit_code
    lines = []
    for each in told:
        lines += [f"warning: {warning}" for warning in each["warnings"]]
        lines.append(each["problem"] or f"{each['trace']}: good ({count_text(each['rows'], 'row')})")
    return "\n".join(lines), exit_code


def _check_sidecar(name: str) -> None:
    """Refuse a trace whose bytes are not those of its sidecar."""
    if is_builtin(name):
        return
    path = Path(name)
    facts = read_sidecar(path)
    wanted = facts.get("sha256") if facts else None
    if wanted is not None and sha256(path.read_bytes()).hexdigest() != wanted:
        message = f"{path} is not what {sidecar_of(path)} is about: the SHA-256 differs"
        raise LonghaulError(
            Code.RESULTS_DAMAGED, message, remedy="restore it, or remove the sidecar", exit_code=2
        )
