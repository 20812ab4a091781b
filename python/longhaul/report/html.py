"""``report.html``: everything about one run in one self-contained file."""

import csv
import gzip
import io
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.analysis.algorithms import algorithms_text, flow_algorithm
from longhaul.analysis.changes import verdict_text
from longhaul.analysis.outcome import Outcome
from longhaul.analysis.phases import path_rtt_text, series_of
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report import (
    figures,
    monitor_figures,
    packet_figures,
    sequence_figures,
    sharing_figures,
    topology,
    transfer_results,
    zoom,
)
from longhaul.report.page import page, write_page
from longhaul.results.directory import read_plan
from longhaul.results.run_files import kept_json, kept_table, kept_text, read_json, reading
from longhaul.units.text import quantity_text, rate_text, share_text, time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

Drawing = Callable[[], str | None]
"""Draws a figure; gives None where there is nothing to draw."""

_MOST_CHANGES = 200
"""Listed in a report."""
_LARGEST_TABLE = 4_000_000
"""Bytes of CSV beyond which a table is not put into the report."""


def draw(directory: Path) -> dict[str, str | None]:
    """The figures of a run directory that has results, by name; None where there is nothing to draw."""
    return _figures(directory, _summary(directory), read_json(directory / "fidelity.json") or {})


def write_report(directory: Path) -> Path:
    """Write ``report.html`` into a run directory that has results; returns its path."""
    with reading(directory):
        return _write_report(directory)


def _write_report(directory: Path) -> Path:
    summary = _summary(directory)
    filters: dict[str, Callable[..., Any]] = {
        "time": time_text,
        "rate": rate_text,
        "share": share_text,
        "series": series_of,
        "path_rtt": path_rtt_text,
        "flow_algorithm": flow_algorithm,
        "quantity": quantity_text,
    }
    path = directory / "report.html"
    write_page(path, page("report.html.j2", context=_context(directory, summary), filters=filters))
    return path


def _summary(directory: Path) -> Json:
    if not (directory / "summary.json").is_file():
        raise LonghaulError(
            Code.RESULTS_INCOMPLETE,
            f"{directory} has no summary.json",
            remedy="name a run directory that has ended, such as runs/NAME/latest-live or latest-sim",
            exit_code=2,
        )
    summary: Json = kept_json(directory, "summary.json")
    return summary


def drawings(directory: Path) -> dict[str, Drawing]:
    """How to draw each figure of a run directory that has results, by name."""
    return _drawings(directory, _summary(directory), read_json(directory / "fidelity.json") or {})


def _drawings(directory: Path, summary: Json, fidelity: Json) -> dict[str, Drawing]:
    engine = fidelity.get("engine") or {}
    flows, links, probes = summary["flows"], summary["links"], summary["probes"]
    changes = summary["changes"]
    none: Json = {"all": {}, "links": {}}
    late, spaced = engine.get("lateness", none), engine.get("spacing", none)

    @cache
    def table(name: str) -> dict[str, Array]:
        return kept_table(directory, name)

    return {
        "delays": lambda: figures.delays(links, probes),
        "lateness": lambda: figures.lateness(late["all"], late["links"]),
        "spacing": lambda: figures.spacing(spaced["all"], spaced["links"]),
        "throughput": lambda: figures.throughput(table("links"), links, changes),
        "round_trips": lambda: figures.round_trips(table("probes"), probes, changes),
        "stacked": lambda: sharing_figures.stacked(flows, table("flows"), links, changes),
        "fairness": lambda: sharing_figures.fairness(flows, table("flows"), links),
        "windows": lambda: figures.windows(table("flows"), flows, sharing_figures.colours(flows), changes),
        "queues": lambda: figures.queues(table("links"), links, changes),
        "queueing_delays": lambda: figures.queueing_delays(links),
        "utilisation": lambda: figures.utilisation(table("links"), links, changes),
        "rtts": lambda: figures.rtts(flows, sharing_figures.colours(flows)),
        "packets": lambda: packet_figures.packet_diagram(_packets(directory / "raw" / "packets.csv"), links),
        "monitor": lambda: monitor_figures.monitor(table("monitor"), read_plan(directory), changes),
        "packet_delays": lambda: monitor_figures.packet_delays(table("packets"), links, changes),
        "sequences": lambda: sequence_figures.sequences(table("segments"), changes),
        "sockets": lambda: monitor_figures.sockets(table("sockets"), changes),
    }


def _figures(directory: Path, summary: Json, fidelity: Json) -> dict[str, str | None]:
    return {name: drawn() for name, drawn in _drawings(directory, summary, fidelity).items()}


def _context(directory: Path, summary: Json) -> dict[str, Any]:
    plan = kept_json(directory, "plan.json")
    fidelity = read_json(directory / "fidelity.json") or {}
    links = summary["links"]
    drawn = _figures(directory, summary, fidelity)
    return {
        "summary": summary,
        "most_changes": _MOST_CHANGES,
        "directory": directory,
        "run": kept_json(directory, "run.json"),
        "engine": fidelity.get("engine") or {},
        "fidelity": summary["fidelity"],
        "verdict": verdict_text(summary),
        "transfers": [each for each in summary["flows"] if each.get("done") is not None],
        "carried": _carried(summary.get("planned_transfers"), summary["changes"]),
        "outcome": Outcome.from_dict(summary["outcome"]),
        "counters": _counters(fidelity),
        "links": links,
        "algorithms": algorithms_text(summary.get("algorithms") or ()),
        "inner": [each for each in links if not each["access"]] or links,
        "access": [each for each in links if each["access"]]
        if any(not each["access"] for each in links)
        else [],
        "topology": topology.draw(
            plan,
            read_json(directory / "raw" / "positions.json") or {},
            functions=read_json(directory / "raw" / "functions.json") or {},
            spots=read_json(directory / "raw" / "spots.json") or {},
        ),
        "figures": drawn,
        "zooms": any(zoom.MARK in (each or "") for each in drawn.values()),
        "scenario": kept_text(directory, "scenario.yaml"),
        "downloads": _downloads(directory),
    }


def _carried(found: Json | None, changes: Sequence[Json]) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "policy": found["policy"],
        "rows": transfer_results.rows(found)[: transfer_results.MOST_ROWS],
        "figure": transfer_results.gantt(found, changes),
        "measured": transfer_results.measured(found),
        "decisions": found["decisions"][:200],
        "more": max(len(found["decisions"]) - 200, 0),
        "begins_s": found["begins_s"],
    }


def _counters(fidelity: Json) -> list[tuple[str, int]]:
    """Every kernel and port counter with its sum over hosts, none left out."""
    totals: dict[str, int] = {}
    for group in (fidelity.get("host_counters") or {}, (fidelity.get("engine") or {}).get("ports") or {}):
        for counters in group.values():
            for name, value in counters.items():
                if isinstance(value, int) and not isinstance(value, bool):
                    machine_wide = name == "softnet_dropped"
                    totals[name] = (
                        max(totals.get(name, 0), value) if machine_wide else totals.get(name, 0) + value
                    )
    return sorted(totals.items(), key=lambda item: (-item[1], item[0]))


def _downloads(directory: Path) -> list[dict[str, str]]:
    found = []
    for name in ("links", "flows", "probes"):
        columns = kept_table(directory, name)
        if not columns:
            continue
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
        content = text.getvalue().encode()
        if len(content) <= _LARGEST_TABLE:
            found.append(_packed(f"{name}.csv", content))
    summary = (directory / "summary.json").read_bytes()
    return [*found, _packed("summary.json", summary)]


def _packed(name: str, content: bytes) -> dict[str, str]:
    data = b64encode(gzip.compress(content, mtime=0)).decode()
    return {"name": f"{name}.gz", "plain": name, "data": data}


def _packets(path: Path) -> Sequence[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                {
                    **row,
                    "offered_ns": int(row["offered_ns"]),
                    "due_ns": int(row["due_ns"]) if row["due_ns"] else None,
                }
                for row in csv.DictReader(file)
            ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
