"""``report.html``: everything about one run in one self-contained file."""

import gzip
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from longhaul.analysis import clocks
from longhaul.analysis.algorithms import algorithms_text
from longhaul.analysis.changes import verdict_text
from longhaul.analysis.limits import limit_texts
from longhaul.analysis.outcome import Outcome
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report import (
    figures,
    monitor_figures,
    packet_figures,
    run_tables,
    sequence_figures,
    sharing_figures,
    topology,
    transfer_results,
)
from longhaul.report.chart import Chart
from longhaul.report.chart_json import embedded
from longhaul.report.page import page, write_page
from longhaul.results.arrow_functions import column_of
from longhaul.results.directory import read_plan
from longhaul.results.growing_files import last_bytes
from longhaul.results.run_files import kept_json, kept_table, kept_text, read_json, reading
from longhaul.results.summary import programs_of_traffic
from longhaul.units.text import bytes_text, rate_text, share_text, time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

Charting = Callable[[], Chart | None]
"""Makes a chart; gives None where there is nothing to draw."""

_LARGEST_TABLE = 4_000_000
"""Bytes of CSV or JSON beyond which data are not put into the report."""
_BYTES_OF_A_CELL = 6
"""Of a table as CSV, about."""


def charts(directory: Path) -> list[Chart]:
    """The charts of a run directory that has results: those that have something to draw."""
    return [chart for make in drawings(directory).values() if (chart := make())]


def write_report(directory: Path, summary: Json | None = None) -> Path:
    """Write ``report.html`` into a run directory that has results; returns its path.

    ``summary`` is that of the directory, if it is known already.
    """
    with reading(directory):
        return _write_report(directory, summary or _summary(directory))


def _write_report(directory: Path, summary: Json) -> Path:
    filters: dict[str, Callable[..., Any]] = {"time": time_text, "rate": rate_text, "share": share_text}
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


def drawings(directory: Path) -> dict[str, Charting]:
    """How to make each chart of a run directory that has results, by name."""
    return _drawings(directory, _summary(directory), read_json(directory / "fidelity.json") or {})


def _drawings(directory: Path, summary: Json, fidelity: Json) -> dict[str, Charting]:
    engine = fidelity.get("engine") or {}
    flows, links, probes = summary["flows"], summary["links"], summary["probes"]
    changes = summary["changes"]
    none: Json = {"all": {}, "links": {}}
    late, spaced = engine.get("lateness", none), engine.get("spacing", none)

    @cache
    def table(name: str) -> dict[str, Array]:
        return kept_table(directory, name)

    def monitor() -> Chart | None:
        rows = table("monitor")
        return monitor_figures.monitor(rows, read_plan(directory), changes) if rows else None

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
        "monitor": monitor,
        "packet_delays": lambda: monitor_figures.packet_delays(table("packets"), links, changes),
        "sequences": lambda: sequence_figures.sequences(table("segments"), changes),
        "sockets": lambda: monitor_figures.sockets(table("sockets"), changes),
    }


def _context(directory: Path, summary: Json) -> dict[str, Any]:
    fidelity = read_json(directory / "fidelity.json") or {}
    made = {name: make() for name, make in _drawings(directory, summary, fidelity).items()}
    shown = {name: embedded(chart) if chart else None for name, chart in made.items()}
    transferred = _planned(summary.get("planned_transfers"), summary["changes"])
    return {
        "summary": summary,
        "directory": directory,
        "run": kept_json(directory, "run.json"),
        "engine": fidelity.get("engine") or {},
        "fidelity": summary["fidelity"],
        "verdict": verdict_text(summary),
        "clock": clocks.virtual_text(summary),
        "carried": transferred,
        "outcome": Outcome.from_dict(summary["outcome"]),
        "limits": list(limit_texts(summary.get("limits") or [])),
        "algorithms": algorithms_text(summary.get("algorithms") or ()),
        "access": len(_access(summary["links"])),
        "tables": _tables(summary, fidelity),
        "topology": _topology(directory, summary["links"]),
        "charts": shown,
        "drawn": any(shown.values()) or (transferred or {}).get("chart"),
        "outputs": list(_outputs(directory, summary["programs"])),
        "scenario": kept_text(directory, "scenario.yaml"),
        "downloads": list(_downloads(directory)),
    }


_MOST_OUTPUT_BYTES = 1 << 15
_MOST_OUTPUTS = 20
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _outputs(directory: Path, programs: Sequence[Json]) -> Iterator[dict[str, Any]]:
    """The end of what programs of the scenario wrote to their standard output, if they did."""
    shown = 0
    made = programs_of_traffic(read_json(directory / "raw" / "traffic.json") or [])
    for each in programs:
        if each["name"] in made:
            continue
        try:
            content, size = last_bytes(directory / "logs" / f"{each['name']}.out", _MOST_OUTPUT_BYTES)
        except OSError:
            continue
        if not content.strip() or shown >= _MOST_OUTPUTS:
            continue
        shown += 1
        if size > _MOST_OUTPUT_BYTES:
            content = content[content.find(b"\n") + 1 :]
        cut = bytes_text(len(content)) if size > len(content) else None
        yield {
            "name": each["name"],
            "text": _UNPRINTABLE.sub("\ufffd", content.decode(errors="replace")),
            "cut": cut,
        }


def results_tables(directory: Path) -> dict[str, Any]:
    """The tables of the report of a run directory that has results, by name."""
    return _tables(_summary(directory), read_json(directory / "fidelity.json") or {})


def _tables(summary: Json, fidelity: Json) -> dict[str, Any]:
    links, access = summary["links"], _access(summary["links"])
    transfers = [each for each in summary["flows"] if each.get("done") is not None]
    sent_captures = [each for each in summary["flows"] if each["kind"] == "pcap"]
    has_drops = summary["drops"] and summary["drops"]["packets"]
    return {
        "most_changes": run_tables.MOST_CHANGES,
        "changes": run_tables.changes(summary["changes"]),
        "expectations": run_tables.expectations(summary["expectations"]),
        "traffic": run_tables.traffic(summary),
        "traffic_has_times": run_tables.traffic_has_times(summary),
        "transfers": run_tables.transfers(transfers) if transfers else None,
        "sent_captures": run_tables.sent_captures(sent_captures) if sent_captures else None,
        "inner": run_tables.links([each for each in links if not each["access"]] if access else links),
        "access": run_tables.links(access),
        "drops": run_tables.drops(summary) if has_drops else None,
        "pacing": run_tables.pacing(summary.get("pacing") or ()),
        "interfaces": run_tables.interfaces(summary["fidelity"], fidelity),
        "machines": run_tables.machines(summary["machines"]) if summary.get("machines") else None,
        "host_machines": run_tables.host_machines(on) if (on := _host_machines(summary)) else None,
        "crossings": run_tables.crossings(summary["machines"]) if summary.get("machines") else None,
        "programs": run_tables.programs(summary["programs"]),
        "iterations": run_tables.iterations(summary["programs"]),
        "printed": run_tables.printed(summary["programs"]),
        "fates": run_tables.fates(summary["packets"] or {}),
        "counters": run_tables.counters(_counters(fidelity)),
        "captures": run_tables.captures(summary.get("captures") or ()),
    }


def _host_machines(summary: Json) -> Sequence[Json]:
    """The machines of hosts on the virtual clock, if there are several."""
    found: Sequence[Json] = (summary.get("virtual_clock") or {}).get("machines") or ()
    return found


def _access(links: Sequence[Json]) -> list[Json]:
    """Directions of the links of hosts, where there are others."""
    return [each for each in links if each["access"]] if any(not each["access"] for each in links) else []


def _topology(directory: Path, links: Sequence[Json]) -> str | None:
    if len({each["from"] for each in links}) > topology.MOST_NODES:
        return None
    return topology.draw(
        kept_json(directory, "plan.json"),
        read_json(directory / "raw" / "positions.json") or {},
        functions=read_json(directory / "raw" / "functions.json") or {},
        spots=read_json(directory / "raw" / "spots.json") or {},
    )


def _planned(found: Json | None, changes: Sequence[Json]) -> dict[str, Any] | None:
    if found is None:
        return None
    chart = transfer_results.gantt(found, changes)
    return {
        "policy": found["policy"],
        "table": run_tables.planned_transfers(found),
        "reasons": [
            each for each in transfer_results.rows(found)[: transfer_results.MOST_ROWS] if each["reason"]
        ],
        "chart": embedded(chart) if chart else None,
        "measured": transfer_results.measured(found),
        "decisions": run_tables.decisions(found["decisions"]),
        "more": max(len(found["decisions"]) - run_tables.MOST_DECISIONS, 0),
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


def _downloads(directory: Path) -> Iterator[dict[str, str]]:
    """Tables and the summary, but for those that are too large; they lie beside the report."""
    for name in ("links", "flows", "probes"):
        columns = kept_table(directory, name)
        if not columns or sum(map(len, columns.values())) * _BYTES_OF_A_CELL > _LARGEST_TABLE:
            continue
        content = pa.BufferOutputStream()
        pa_csv.write_csv(pa.table({name: column_of(values) for name, values in columns.items()}), content)
        yield _packed(f"{name}.csv", content.getvalue().to_pybytes())
    summary = (directory / "summary.json").read_bytes()
    if len(summary) <= _LARGEST_TABLE:
        yield _packed("summary.json", summary)


def _packed(name: str, content: bytes) -> dict[str, str]:
    data = b64encode(gzip.compress(content, compresslevel=4, mtime=0)).decode()
    return {"name": f"{name}.gz", "plain": name, "data": data}


def _packets(path: Path) -> Sequence[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pa_csv.read_csv(path, convert_options=_TYPES_OF_PACKETS).to_pylist()
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
        return []
    return rows


_TYPES_OF_PACKETS = pa_csv.ConvertOptions(
    column_types={"link": pa.string(), "way": pa.string(), "offered_ns": pa.int64(), "due_ns": pa.int64()},
    include_columns=["link", "way", "offered_ns", "due_ns", "fate"],
)
