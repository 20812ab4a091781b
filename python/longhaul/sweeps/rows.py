"""The results of one run of a sweep as rows of a part, with the metrics of ``longhaul sim``."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from longhaul.analysis.configuration import Configuration, Steps, planned
from longhaul.analysis.fairness import fairness
from longhaul.analysis.links import measured
from longhaul.analysis.metrics import (
    flow_measures,
    iteration_measures,
    link_measures,
    probe_measures,
    total_measures,
    transfer_measures,
)
from longhaul.analysis.rates import utilisation
from longhaul.analysis.totals import totals
from longhaul.analysis.transfers import summarise_transfers
from longhaul.plan import WAYS, Plan, Way
from longhaul.results import request_flows, simulated_flows
from longhaul.results.iterations import simulated_iterations
from longhaul.results.summary import shared_bits_per_s
from longhaul.scenario.lower.main_tables import is_access_link
from longhaul.scenario.model.metrics import LINK_COUNTERS, PROBE_QUANTILES
from longhaul.scenario.model.traffic import TRANSFER_KINDS
from longhaul.sweeps.columns import MEASURES

Json = dict[str, Any]


@dataclass(frozen=True)
class Variant:
    """What all runs of a variant have in common, worked out once."""

    plan: Plan
    traffic: Sequence[Mapping[str, Any]]
    wants: Callable[[str], bool]
    """Whether the metrics of a link (``links.NAME``) are asked for by name."""

    @cached_property
    def directions(self) -> list[tuple[int, Way, Json, Steps]]:
        """Position, way, ends, and rates over time of each direction that has a row.

        Links that attach a host have one if they are asked for, or if there are no others.
        """
        nodes, configuration = self.plan["nodes"], Configuration(self.plan, planned(self.plan))
        access = [is_access_link(nodes, link) for link in self.plan["links"]]
        found = []
        for place, link in enumerate(self.plan["links"]):
            if access[place] and not all(access) and not self.wants(f"links.{link['name']}"):
                continue
            for way in WAYS:
                ends = link["endpoints"] if way == "forward" else link["endpoints"][::-1]
                names = {"from": nodes[ends[0]]["name"], "to": nodes[ends[1]]["name"]}
                found.append((place, way, names, configuration.rates(place, way)))
        return found

    @cached_property
    def shared_bits_per_s(self) -> int | None:
        """The least rate that all TCP flows share, if each has a volume."""
        bulk = [item for item in self.traffic if item["kind"] == "tcp"]
        if not bulk or not all(item.get("volume_bytes") for item in bulk):
            return None
        return shared_bits_per_s(self.plan, bulk)


def rows_of(variant: Variant, result: str, pings: str | None) -> list[Json]:
    """A row for each flow, ping, program and direction, and one for fairness and for transfers."""
    engine: Json = json.loads(result)
    run = {key: engine[key] for key in ("duration_ns", "hops", "digest")}
    streams = simulated_flows.by_program(engine["flows"])
    flows: list[Json] = []
    found: list[Json] = []
    for item in variant.traffic:
        if item["kind"] != "ping" and item["kind"] not in TRANSFER_KINDS:
            of_flow = streams.get(item["program"], [])
            flows.append(simulated_flows.flow_total(item, of_flow))
            timeouts = sum(each.get("timeouts", 0) for each in of_flow)
            found.append(_flow(flows[-1], timeouts=timeouts, streams=len(of_flow)))
    answers = _answers(pings) if pings else {}
    down = simulated_flows.echoes_down(engine)
    found += [
        _ping(item, answers.get(item["program"], ()), down.get(item["program"], 0))
        for item in variant.traffic
        if item["kind"] == "ping"
    ]
    for group in request_flows.gathered(variant.traffic):
        of_group = [each for item in group for each in streams.get(item["program"], [])]
        flows.append(request_flows.total(group, of_group))
        found.append(_flow(flows[-1], timeouts=None, streams=len(of_group)))
    total = totals(flows)
    if total:
        found.append(item_row("total", "total", total_measures(total)))
    shared = fairness(flows)
    if shared:
        found.append(item_row("fairness", "fairness", {"jain": shared["jain"]}, streams=shared["streams"]))
    moved = summarise_transfers(flows, variant.shared_bits_per_s)
    if moved:
        found.append(item_row("transfers", "transfers", transfer_measures(moved)))
    found += [
        item_row(
            f"programs.{job['name']}",
            "program",
            {"wall_time": job["wall_ns"], **iteration_measures(simulated_iterations(job))},
        )
        for job in engine["jobs"]
    ]
    found += _links(variant, engine)
    return [{**row, **run} for row in found]


def item_row(item: str, kind: str, measures: Mapping[str, Any], **beside: Any) -> Json:
    """A row of a flow, ping, program or link, with those of its measures that have a column."""
    named = {MEASURES[name][0]: value for name, value in measures.items() if name in MEASURES}
    return {"item": item, "kind": kind, **named, **beside}


def _flow(total: Json, *, timeouts: int | None, streams: int) -> Json:
    beside = {key: total[key] for key in ("from", "to", "cc", "bytes")}
    item = f"flows.{total['flow']}"
    return item_row(item, total["kind"], flow_measures(total), **beside, timeouts=timeouts, streams=streams)


def _ping(item: Mapping[str, Any], answers: Sequence[int | None], down: int) -> Json:
    values = np.array(sorted(each for each in answers if each is not None), dtype=np.int64)
    shares = dict(zip(PROBE_QUANTILES, (0.0, 0.5, 0.99, 1.0), strict=True))
    probe: Json = {
        f"rtt_{name}_ns": int(np.quantile(values, q, method="inverted_cdf")) if len(values) else None
        for name, q in shares.items()
    }
    probe["loss"] = (len(answers) - len(values)) / len(answers) if answers else None
    probe["lost_down"] = min(down, len(answers) - len(values))
    ends = {"from": item["from"], "to": item["to"], "cc": item["cc"]}
    return item_row(f"probes.{item['name']}.{item['to']}", "ping", probe_measures(probe), **ends)


def _links(variant: Variant, engine: Json) -> Iterator[Json]:
    whole_ns = np.array([0]), np.array([engine["duration_ns"]])
    for place, way, ends, rates in variant.directions:
        counted = engine["links"][place][way]
        share = float(utilisation(rates, np.array([counted["wire_bytes"]]), *whole_ns)[0])
        link = {
            "achieved": {
                **measured(counted, engine["duration_ns"]),
                "utilisation": share if np.isfinite(share) else None,
            },
            "queueing_delay": counted["waits"],
            "packets": {counter: counted[f"{counter}_packets"] for counter in LINK_COUNTERS},
        }
        name = variant.plan["links"][place]["name"]
        yield item_row(f"links.{name}.{way}", "link", link_measures(link), **ends)


def _answers(pings: str) -> dict[str, list[int | None]]:
    """Round trips in ns by flow, in the order of sending; ``None`` where no answer came."""
    found: dict[str, dict[str, int | None]] = {}
    for row in csv.DictReader(io.StringIO(pings)):
        answers = found.setdefault(row["flow"], {})
        rtt = row["rtt_ns"]
        answers[row["seq"]] = int(rtt) if rtt else answers.get(row["seq"])
    return {flow: list(answers.values()) for flow, answers in found.items()}
