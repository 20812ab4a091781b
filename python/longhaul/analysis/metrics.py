"""Metrics by name, for the summary of a run and for sweeps.

Times are in ns, rates in bit/s, shares from 0 to 1. :mod:`longhaul.scenario.model.metrics` has all names.
"""

from collections.abc import Mapping
from typing import Any

from longhaul.scenario.model.metrics import (
    DELAY,
    FIDELITY_QUANTILES,
    ITERATION,
    PROBE_QUANTILES,
    QUEUEING_DELAY,
    RTT,
    SEND_LATENESS,
    TOOK,
)

Json = Mapping[str, Any]


def metrics(summary: Json) -> dict[str, Any]:
    """Every metric of a run by its dotted name."""
    found: dict[str, Any] = {}

    def add(item: str, measures: Json) -> None:
        found.update({f"{item}.{measure}": value for measure, value in measures.items()})

    for program in summary["programs"]:
        add(f"programs.{program['name']}", program_measures(program))
    for flow in summary["flows"]:
        # A flow to several hosts is one for each of them.
        add(f"flows.{flow['flow']}", flow_measures(flow))
    if summary.get("transfers"):
        add("transfers", transfer_measures(summary["transfers"]))
    if summary.get("total"):
        add("total", total_measures(summary["total"]))
    if summary.get("fairness"):
        add("fairness", {"jain": summary["fairness"]["jain"]})
    for probe in summary["probes"]:
        add(f"probes.{probe['name']}.{probe['to']}", probe_measures(probe))
    for link in summary["links"]:
        add(f"links.{link['name']}.{link['way']}", link_measures(link))
    add("fidelity", _fidelity(summary["fidelity"]))
    return found


def flow_measures(flow: Json) -> dict[str, Any]:
    """Of a flow, or of all its transfers, by the end of each metric's name; without those that it lacks."""
    found = {
        "goodput": flow["goodput_bits_per_s"],
        "retransmits": flow["retransmits"],
        "loss": flow["loss"],
        "throughput": flow["throughput_bits_per_s"],
        "retransmission_rate": flow["retransmission_rate"],
    }
    if flow.get("reordered") is not None:
        found["reordered"] = flow["reordered"]
    for measure, quantiles in (("rtt", RTT), ("delay", DELAY), ("send_lateness", SEND_LATENESS)):
        if flow.get(measure):
            found |= {f"{measure}.{q}": flow[measure][f"{q}_ns"] for q in quantiles}
    if has_size(flow):
        found["took"] = took_ns(flow)
    if flow.get("done") is not None:
        found["done"] = flow["done"]
        found |= {f"took.{q}": flow[f"took_{q}_ns"] for q in TOOK}
    return found


def has_size(flow: Json) -> bool:
    """Whether a flow is a transfer of so many bytes, which takes a time."""
    return flow["kind"] == "tcp" and bool(flow.get("volume_bytes"))


def took_ns(flow: Json) -> int | None:
    """How long a transfer has taken; ``None`` if it has not ended."""
    return None if flow["end_ns"] is None else int(flow["end_ns"] - flow["start_ns"])


def total_measures(total: Json) -> dict[str, Any]:
    """Of all flows together."""
    return {"goodput": total["goodput_bits_per_s"]}


def program_measures(program: Json) -> dict[str, Any]:
    """Of a program, real or simulated."""
    printed = program.get("metrics") or {}
    return {
        "wall_time": program["wall_ns"],
        "exit": program["exit"],
        **iteration_measures(program.get("iteration")),
        **{name: each["value"] for name, each in printed.items()},
    }


def iteration_measures(iteration: Json | None) -> dict[str, Any]:
    """Of the iterations of a program; none without iterations."""
    names = ITERATION if iteration else ()
    return {f"iteration.{name}": (iteration or {}).get(f"{name}_ns") for name in names}


def transfer_measures(transfers: Json) -> dict[str, Any]:
    """Of transfers of a given volume, together."""
    return {"f1": transfers["f1_ns"], "f2": transfers["f2"]}


def probe_measures(probe: Json) -> dict[str, Any]:
    """Of pings to one host."""
    found = {f"rtt.{q}": probe[f"rtt_{q}_ns"] for q in PROBE_QUANTILES}
    return {**found, "loss": probe["loss"], "lost_down": probe.get("lost_down")}


def link_measures(link: Json) -> dict[str, Any]:
    """Of one direction of a link; a simulation that keeps no samples has no peak rate."""
    achieved, waits = link["achieved"], link["queueing_delay"]
    found = {
        "delay": achieved["delay_ns"],
        "rate": achieved["rate_bits_per_s"],
        "loss": achieved["loss"],
        "utilisation": achieved["utilisation"],
        **{f"queueing_delay.{q}": waits[f"{q}_ns"] if waits["count"] else None for q in QUEUEING_DELAY},
        **link["packets"],
    }
    if "peak_bits_per_s" in achieved:
        found["peak_rate"] = achieved["peak_bits_per_s"]
    return found


def _fidelity(fidelity: Json) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{figure}.{quantile}": fidelity.get(figure, {}).get(f"{quantile}_ns")
        for figure in ("lateness", "spacing", "simulated")
        for quantile in FIDELITY_QUANTILES
    }
    delays = (fidelity.get("read_delay") or {}).values()
    for quantile in FIDELITY_QUANTILES:
        found[f"read_delay.{quantile}"] = max((each[f"{quantile}_ns"] for each in delays), default=None)
    found["gaps"] = fidelity["gaps"].get("count")
    found["waiting"] = max(fidelity.get("waiting", {}).values(), default=None)
    found["verdict"] = fidelity["verdict"]
    found["hosts"] = (fidelity.get("hosts") or {}).get("state")
    return found
