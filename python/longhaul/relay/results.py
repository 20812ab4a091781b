"""Results of a relay: tables, verdict, summary."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.analysis.changes import describe_changes
from longhaul.analysis.expectations import evaluate
from longhaul.analysis.fidelity import with_damage
from longhaul.analysis.outcome import expectation_state
from longhaul.analysis.relay_delays import judge_relay
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import ending, manifest, outcomes
from longhaul.results.changes import read_changes
from longhaul.results.raw_tables import Records
from longhaul.results.run_files import read_json
from longhaul.storage import replace_json, replacing

Json = dict[str, Any]

_CLUSTERS = ("from", "to")
_RESULT_WITHIN_S = 60.0


def write_results(directory: Path) -> Json:
    """Write tables, ``fidelity.json`` and ``summary.json`` of a relay; returns the summary."""
    result: Json | None = read_json(directory / "raw" / "relay.json")
    damaged = manifest.check_sources(directory)
    plan = directories.read_plan(directory)
    clusters: list[Json] = plan["clusters"]  # type: ignore[typeddict-item]
    names = [each["name"] for each in clusters]
    records = Records(directory, dict.fromkeys(_CLUSTERS, (*names, "")))
    # Messages are many, and name clusters by their numbers.
    codes: Mapping[str, Mapping[Any, str]] = {
        "messages": dict(enumerate(names)),
        "connections": {name: name for name in names},
    }
    for name in codes:
        _write_table(records, name, codes[name])
    judged = judge_relay(result)
    fidelity = with_damage(judged, files=map(str, damaged), lines=records.damaged_lines).as_dict()
    counted = result or {}
    summary: Json = {
        "name": plan["name"],
        "mode": "relay",
        "duration_ns": counted.get("duration_ns"),
        "ended": (read_json(directory / "raw" / "ended.json") or {}).get("ended"),
        "connections": counted.get("connections") or {},
        "bytes": counted.get("bytes"),
        "pieces": counted.get("pieces"),
        "links": counted.get("links") or [],
        "changes": [each.as_dict() for each in describe_changes(plan, read_changes(directory, plan))],
        "log": counted.get("log") or {},
        "cpu_ns": counted.get("cpu_ns"),
        "programs": [],
        "fidelity": fidelity,
    }
    _write_links(summary["links"], directory / "links.parquet")
    wanted: list[Json] = read_json(directory / "raw" / "expectations.json") or []
    evaluated = evaluate(wanted, _metrics(fidelity))
    summary["expectations"] = [
        {**each, "state": expectation_state(each, summary["ended"])} for each in evaluated
    ]
    summary["outcome"] = outcomes.evaluate(directory, summary).as_dict()
    replace_json(directory / "fidelity.json", {**fidelity, "relay": result})
    replace_json(directory / "summary.json", summary)
    manifest.update(directory)
    return summary


def exit_code(summary: Mapping[str, Any]) -> int:
    """0 good; 1 an expectation failed; 4 the relay was invalid; 130 interrupted: as the outcome says."""
    return int(summary["outcome"]["exit_code"])


def finished_summary(directory: Path) -> Json:
    """Wait until the relay's own process has written its results; returns their summary."""
    ends = time.monotonic() + _RESULT_WITHIN_S
    while (ended := ending.settle(directory)).is_running:
        if time.monotonic() > ends:
            raise LonghaulError(
                Code.INTERNAL,
                "the relay's process writes no results",
                remedy=f"see {directory}",
                exit_code=70,
            )
        time.sleep(0.05)
    summary: Json = read_json(directory / "summary.json") or {}
    if not summary:
        raise LonghaulError(
            Code.RUN_FAILED, f"the relay failed: {ended.reason}", remedy=f"see {directory}", exit_code=1
        )
    return summary


def _metrics(fidelity: Mapping[str, Any]) -> Json:
    """The metrics that a relay measures, by their dotted names."""
    return {
        "fidelity.verdict": fidelity["verdict"],
        **{f"fidelity.lateness.{name.removesuffix('_ns')}": v for name, v in fidelity["lateness"].items()},
    }


def _write_table(records: Records, name: str, clusters: Mapping[Any, str]) -> None:
    """A log as Parquet, piece by piece, clusters by their names; nothing if there is none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches = records.batches(name, _CLUSTERS)
    first = next(batches, None)
    if first is None:
        return
    schema = pa.schema(
        [(each.name, pa.string() if each.name in _CLUSTERS else each.type) for each in first.schema]
    )
    with (
        replacing(records.directory / f"{name}.parquet") as made,
        pq.ParquetWriter(made, schema, compression="zstd") as writer,
    ):
        for batch in batches:
            columns: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
            for each in _CLUSTERS:
                codes = columns[each].dictionary_encode()
                called = [clusters.get(code) for code in codes.dictionary.to_pylist()]
                texts = pa.DictionaryArray.from_arrays(codes.indices, pa.array(called, pa.string()))
                columns[each] = texts.dictionary_decode()
            writer.write_batch(pa.record_batch(columns))


def _write_links(links: list[Json], path: Path) -> None:
    import pyarrow as pa

    from longhaul.results.run_files import write_table

    flat = [
        {key: value for key, value in each.items() if not isinstance(value, dict | list)} for each in links
    ]
    if flat:
        write_table(pa.Table.from_pylist(flat), path)
