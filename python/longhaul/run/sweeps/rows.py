"""What one run of a sweep came to, as rows of a part."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.fairness import jain
from longhaul.run import transfers
from longhaul.run.sweeps.columns import MEASURES

Json = dict[str, Any]
_COUNTERS = (
    "offered",
    "delivered",
    "lost",
    "overflowed",
    "dropped",
    "down",
    "too_big",
    "marked",
    "corrupted",
)


def rows_of(plan: Json, traffic: Sequence[Mapping[str, Any]], result: str, echoes: str | None) -> list[Json]:
    """A row for each flow, ping, program and wide-area direction, and one for fairness."""
    engine: Json = json.loads(result)
    run = {key: engine[key] for key in ("duration_ns", "hops", "digest")}
    answers = _answers(echoes) if echoes else {}
    streams: dict[str, list[Json]] = {}
    for stream in engine["flows"]:
        if stream is not None:
            streams.setdefault(stream["name"], []).append(stream)
    found = [
        _of_traffic(item, streams.get(item["program"], []), answers)
        for item in traffic
        if item["kind"] not in transfers.KINDS
    ]
    found += [
        _of_transfers([each for item in group for each in streams.get(item["program"], [])], group)
        for group in transfers.gathered(traffic)
    ]
    found += [_fairness(found)]
    found += [
        _row(f"programs.{job['name']}", "program", {"wall_time": job["wall_ns"]}) for job in engine["jobs"]
    ]
    found += _links(plan, engine)
    return [{**{key: each for key, each in row.items() if key != "rates"}, **run} for row in found if row]


def _row(item: str, kind: str, measures: Mapping[str, Any], **beside: Any) -> Json:
    named = {MEASURES[name][0]: value for name, value in measures.items()}
    return {"item": item, "kind": kind, **named, **beside}


def _of_traffic(
    item: Mapping[str, Any], streams: Sequence[Json], answers: Mapping[str, Sequence[int | None]]
) -> Json:
    ends = {"from": item["from"], "to": item["to"], "cc": item["cc"]}
    if item["kind"] == "ping":
        return _ping(item, ends, answers.get(item["program"], ()))
    rates = [each["goodput_bits_per_s"] for each in streams if each["goodput_bits_per_s"] is not None]
    measures: Json = {"goodput": sum(rates) if streams else None}
    if item["kind"] == "udp":
        sent, received, copies = (
            sum(each[key] for each in streams) for key in ("sent", "received", "copies")
        )
        measures["loss"] = (sent - received + copies) / sent if sent else None
    else:
        measures["retransmits"] = sum(each.get("retransmits", 0) for each in streams)
    rtts = [each["srtt_ns"] for each in streams if each.get("srtt_ns")]
    beside = {
        "bytes": sum(each["bytes"] for each in streams),
        "timeouts": sum(each.get("timeouts", 0) for each in streams),
        "rtt_mean_ns": sum(rtts) / len(rtts) if rtts else None,
        "streams": len(streams),
    }
    return _row(f"flows.{item['program']}", item["kind"], measures, **beside, **ends, rates=rates)


def _of_transfers(streams: Sequence[Json], items: Sequence[Mapping[str, Any]]) -> Json:
    found = transfers.total(items, streams)
    measures = {"goodput": found["goodput_bits_per_s"], "retransmits": found["retransmits"]}
    measures |= {"done": found["done"]}
    measures |= {f"took.{q}": found[f"took_{q}_ns"] for q in ("p50", "p99", "max")}
    ends = {key: found[key] for key in ("from", "to", "cc")}
    beside = {"bytes": found["bytes"], "timeouts": None, "rtt_mean_ns": None, "streams": len(streams)}
    return _row(f"flows.{found['flow']}", found["kind"], measures, **beside, **ends, rates=[])


def _ping(item: Mapping[str, Any], ends: Json, answers: Sequence[int | None]) -> Json:
    values = np.array(sorted(each for each in answers if each is not None), dtype=np.int64)
    measures: Json = {
        f"rtt.{name}": int(np.quantile(values, q, method="inverted_cdf")) if len(values) else None
        for name, q in (("min", 0.0), ("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }
    measures["loss"] = 1 - len(values) / len(answers) if answers else None
    return _row(f"probes.{item['name']}.{item['to']}", "ping", measures, **ends)


def _fairness(found: Sequence[Json]) -> Json:
    rates = [rate for row in found if row["kind"] == "tcp" for rate in row["rates"]]
    index = jain(rates) if len(rates) > 1 else None
    return {} if index is None else _row("fairness", "fairness", {"jain": index}, streams=len(rates))


def _links(plan: Json, engine: Json) -> Iterator[Json]:
    """Both directions of every link that ends at no host, or of all if all do."""
    nodes = plan["nodes"]
    access = [any(nodes[end]["kind"] == "host" for end in link["endpoints"]) for link in plan["links"]]
    for planned, counted, at_host in zip(plan["links"], engine["links"], access, strict=True):
        if at_host and not all(access):
            continue
        for way in ("forward", "reverse"):
            counters = counted[way]
            ends = planned["endpoints"] if way == "forward" else planned["endpoints"][::-1]
            offered = counters["offered_packets"]
            entered = counters["delivered_packets"] + counters["flying_packets"]
            measures = {
                "delay": counters["wire_delay_mean_ns"] if entered else None,
                "rate": counters["delivered_bytes"] * 8e9 / max(engine["duration_ns"], 1),
                "loss": counters["lost_packets"] / offered if offered else None,
                **{counter: counters[f"{counter}_packets"] for counter in _COUNTERS},
            }
            names = {"from": nodes[ends[0]]["name"], "to": nodes[ends[1]]["name"]}
            yield _row(f"links.{planned['name']}.{way}", "link", measures, **names)


def _answers(echoes: str) -> dict[str, list[int | None]]:
    """Round trips in ns by flow, in the order of sending; ``None`` where no answer came."""
    found: dict[str, dict[str, int | None]] = {}
    for row in csv.DictReader(io.StringIO(echoes)):
        answers = found.setdefault(row["flow"], {})
        rtt = row["rtt_ns"]
        answers[row["seq"]] = int(rtt) if rtt else answers.get(row["seq"])
    return {flow: list(answers.values()) for flow, answers in found.items()}
