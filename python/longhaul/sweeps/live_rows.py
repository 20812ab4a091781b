"""The results of one live run of a sweep as rows of a part, with the metrics of ``longhaul run``."""

import platform
from collections.abc import Callable, Mapping
from typing import Any

from longhaul.analysis.comparison import digest
from longhaul.analysis.metrics import (
    flow_measures,
    link_measures,
    metrics,
    probe_measures,
    program_measures,
    total_measures,
    transfer_measures,
)
from longhaul.run.live import Planned
from longhaul.sweeps.columns import PRINTED
from longhaul.sweeps.rows import Variant, item_row

Json = dict[str, Any]

_FIDELITY = "fidelity."


def rows_of_summary(summary: Mapping[str, Any], planned: Planned, wants: Callable[[str], bool]) -> list[Json]:
    """A row for each flow, ping, program and direction, and for fairness, transfers and fidelity.

    ``wants``: whether the metrics of a link (``links.NAME``) are asked for by name. Equal runs on the virtual
    clock have equal rows on all machines; those on the real clock name theirs.
    """
    plan, clock = planned.plan, planned.clock
    run = {
        "duration_ns": summary["duration_ns"],
        "digest": digest(summary),
        "verdict": summary["fidelity"]["verdict"],
        "kernel": platform.release() if clock is None else clock.kernel.release,
        "machine": platform.node() if clock is None else None,
    }
    found = [_flow(flow) for flow in summary["flows"]]
    found += [
        item_row(
            f"probes.{probe['name']}.{probe['to']}",
            "ping",
            probe_measures(probe),
            **{"from": probe["from"], "to": probe["to"]},
        )
        for probe in summary["probes"]
    ]
    if summary["total"]:
        found.append(item_row("total", "total", total_measures(summary["total"])))
    if summary["fairness"]:
        shared = summary["fairness"]
        found.append(item_row("fairness", "fairness", {"jain": shared["jain"]}, streams=shared["streams"]))
    if summary["transfers"]:
        found.append(item_row("transfers", "transfers", transfer_measures(summary["transfers"])))
    found += [
        item_row(f"programs.{program['name']}", "program", program_measures(program))
        for program in summary["programs"]
    ]
    found += [
        {"item": f"programs.{program['name']}.{name}", "kind": "printed", PRINTED: each["value"]}
        for program in summary["programs"]
        for name, each in (program.get("metrics") or {}).items()
    ]
    named = {
        (plan["links"][place]["name"], way)
        for place, way, _ends, _rates in Variant(plan, (), wants).directions
    }
    found += [
        item_row(
            f"links.{link['name']}.{link['way']}",
            "link",
            link_measures(link),
            **{"from": link["from"], "to": link["to"]},
        )
        for link in summary["links"]
        if (link["name"], link["way"]) in named
    ]
    fidelity = {
        name.removeprefix(_FIDELITY): value
        for name, value in metrics(summary).items()
        if name.startswith(_FIDELITY)
    }
    found.append(item_row("fidelity", "fidelity", fidelity))
    return [{**row, **run} for row in found]


def _flow(flow: Mapping[str, Any]) -> Json:
    beside = {key: flow.get(key) for key in ("from", "to", "cc", "bytes")}
    streams = len(flow.get("stream_rates") or ()) or None
    return item_row(f"flows.{flow['flow']}", flow["kind"], flow_measures(flow), **beside, streams=streams)
