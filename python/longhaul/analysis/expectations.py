"""Expectations of a scenario, held against what a run measured."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from longhaul.scenario.metrics import DELAY, QUEUEING_DELAY, RTT, SEND_LATENESS


def metrics(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric by its dotted name; times in ns, rates in bit/s, shares from 0 to 1."""
    found: dict[str, Any] = {}
    for program in summary["programs"]:
        found[f"programs.{program['name']}.wall_time"] = program["wall_ns"]
        found[f"programs.{program['name']}.exit"] = program["exit"]
    for flow in summary["flows"]:
        for name in {flow["name"], flow["flow"]}:
            found[f"flows.{name}.goodput"] = flow["goodput_bits_per_s"]
            found[f"flows.{name}.retransmits"] = flow["retransmits"]
            found[f"flows.{name}.loss"] = flow["loss"]
            found[f"flows.{name}.throughput"] = flow["throughput_bits_per_s"]
            found[f"flows.{name}.retransmission_rate"] = flow["retransmission_rate"]
            if flow["rtt"] is not None:
                found |= {f"flows.{name}.rtt.{q}": flow["rtt"][f"{q}_ns"] for q in RTT}
            if flow.get("reordered") is not None:
                found[f"flows.{name}.reordered"] = flow["reordered"]
            for measure, quantiles in (("delay", DELAY), ("send_lateness", SEND_LATENESS)):
                if flow.get(measure):
                    found |= {f"flows.{name}.{measure}.{q}": flow[measure][f"{q}_ns"] for q in quantiles}
            if flow.get("done") is not None:
                found[f"flows.{name}.done"] = flow["done"]
                found |= {f"flows.{name}.took.{q}": flow[f"took_{q}_ns"] for q in ("p50", "p99", "max")}
    if summary.get("transfers"):
        found["transfers.f1"] = summary["transfers"]["f1_ns"]
        found["transfers.f2"] = summary["transfers"]["f2"]
    if summary.get("fairness"):
        found["fairness.jain"] = summary["fairness"]["jain"]
    for probe in summary["probes"]:
        name = f"probes.{probe['name']}.{probe['to']}"
        for quantile in ("min", "p50", "p99", "max"):
            found[f"{name}.rtt.{quantile}"] = probe[f"rtt_{quantile}_ns"]
        found[f"{name}.loss"] = probe["loss"]
    for link in summary["links"]:
        name = f"links.{link['name']}.{link['way']}"
        found[f"{name}.delay"] = link["achieved"]["delay_ns"]
        found[f"{name}.rate"] = link["achieved"]["rate_bits_per_s"]
        found[f"{name}.peak_rate"] = link["achieved"]["peak_bits_per_s"]
        found[f"{name}.loss"] = link["achieved"]["loss"]
        found[f"{name}.utilisation"] = link["achieved"]["utilisation"]
        waits = link["queueing_delay"]
        found |= {
            f"{name}.queueing_delay.{q}": waits[f"{q}_ns"] if waits["count"] else None for q in QUEUEING_DELAY
        }
        for counter, count in link["packets"].items():
            found[f"{name}.{counter}"] = count
    fidelity = summary["fidelity"]
    for figure in ("lateness", "spacing", "simulated"):
        for quantile in ("p50", "p90", "p99", "p999", "max"):
            found[f"fidelity.{figure}.{quantile}"] = fidelity.get(figure, {}).get(f"{quantile}_ns")
    found["fidelity.gaps"] = fidelity["gaps"].get("count")
    found["fidelity.waiting"] = max(fidelity.get("waiting", {}).values(), default=None)
    found["fidelity.verdict"] = fidelity["verdict"]
    return found


def evaluate(expectations: Iterable[Mapping[str, Any]], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each expectation with its value, whether it is met, and why not."""
    return [_evaluate(each, found) for each in expectations]


def _evaluate(expectation: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    metric = expectation["metric"]
    value = found.get(metric)
    why = None
    if metric not in found:
        near = get_close_matches(metric, list(found), n=1)
        why = f'nothing measured "{metric}"' + (f'; did you mean "{near[0]}"?' if near else "")
    elif value is None:
        why = "was not measured"
    elif expectation.get("equals") is not None and value != expectation["equals"]:
        why = f"is {value}, not {expectation['equals']}"
    elif expectation.get("min") is not None and value < expectation["min"]:
        why = f"is {value}, less than {expectation['min']}"
    elif expectation.get("max") is not None and value > expectation["max"]:
        why = f"is {value}, more than {expectation['max']}"
    otherwise = expectation.get("else") or "fail"
    return {**expectation, "else": otherwise, "value": value, "met": why is None, "why": why}
