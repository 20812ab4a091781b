"""Traffic that a live run sends and receives itself: its programs, and what they wrote."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.distributions import thinned
from longhaul.run import transfers
from longhaul.run.traffic import Program, program

Json = dict[str, Any]

PLAYED = ("udp", *transfers.KINDS)
"""Kinds of traffic that need no program of this machine."""
FIRST_PORT = 6201
"""Of the receivers, counted up over all flows."""


def parts(flows: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> list[Program]:
    """Receivers and senders of those of the plan's ``flows`` that are not simulated.

    Each of ``rows`` tells what flow belongs to whom. Flows that name the same player share it, and a port.
    """
    ports: dict[str, int] = {}
    made: dict[tuple[str, str], Program] = {}
    for position, (flow, row) in enumerate(zip(flows, rows, strict=True)):
        if flow["simulated"]:
            continue
        group = row["name"] if row["kind"] == "replay" else flow["name"]
        port = ports.setdefault(group, FIRST_PORT + len(ports))
        for end, host, name in (
            ("sink", "destination", row["server"]),
            ("source", "source", row["player"]),
        ):
            part = made.get((end, name))
            if part is None:
                argv = [f"longhaul-{end}", group]
                part = made[end, name] = program(name, flow[host], argv, service=end == "sink", expect_exit=0)
                law = {"congestion_control": row["kernel_law"]} if row["kind"] in transfers.KINDS else {}
                part["plays"] = {"flows": [], "end": end, "port": port, **law}
            part["plays"]["flows"].append(position)
    return [each for (end, _), each in made.items() if end == "sink"] + [
        each for (end, _), each in made.items() if end == "source"
    ]


def totals(item: Mapping[str, Any], logs: Path, *, every_ns: int) -> tuple[Json, list[Json]]:
    """What came of a flow of datagrams, in the shape of simulated ones, and a row for each interval."""
    source, sink = (_read(logs / f"{item[name]}.out") for name in ("program", "server"))
    sent, distinct = source.get("sent"), sink.get("received", 0) - sink.get("copies", 0)
    start_ns, end_ns = item.get("start_ns", 0), source.get("end_ns")
    span_s = (end_ns - start_ns) / 1e9 if end_ns and end_ns > start_ns else None
    delay, lateness = sink.get("delay"), source.get("lateness")
    found = {
        "goodput_bits_per_s": sink["bytes"] * 8 / span_s if span_s and "bytes" in sink else None,
        "throughput_bits_per_s": source["bytes_sent"] * 8 / span_s if span_s else None,
        "retransmits": None,
        "retransmission_rate": None,
        "loss": (sent - distinct) / sent if sent and sink else None,
        "reordered": sink.get("reordered"),
        "delay": thinned(delay) if delay and delay["count"] else None,
        "send_lateness": thinned(lateness) if lateness and lateness["count"] else None,
        "rtt": None,
        "bytes": sink.get("bytes"),
        "volume_bytes": item.get("volume_bytes"),
        "start_ns": start_ns,
        "end_ns": end_ns if source.get("done") else None,
        "error": source.get("error") or sink.get("error"),
        "stream_rates": [],
        "sent": sent,
        "received": sink.get("received"),
    }
    return found, list(_intervals(sink.get("intervals", ()), every_ns))


def _intervals(found: Sequence[Mapping[str, int]], every_ns: int) -> Iterator[Json]:
    """Each with its rate, those in which nothing came among them."""
    expected_ns = found[0]["start_ns"] if found else 0
    for each in found:
        for start_ns in range(expected_ns, each["start_ns"], every_ns):
            yield _interval({"start_ns": start_ns, "end_ns": start_ns + every_ns})
        yield _interval(each)
        expected_ns = each["end_ns"]


def _interval(each: Mapping[str, int]) -> Json:
    delays = each.get("delays", 0)
    return {
        "stream": 0,
        "start_s": each["start_ns"] / 1e9,
        "end_s": each["end_ns"] / 1e9,
        "bits_per_s": each.get("bytes", 0) * 8e9 / (each["end_ns"] - each["start_ns"]),
        "packets": each.get("packets", 0),
        "delay_mean_ns": each["delay_sum_ns"] / delays if delays else None,
        "delay_max_ns": each["delay_max_ns"] if delays else None,
    }


def _read(path: Path) -> Json:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
