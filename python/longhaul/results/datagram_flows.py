"""Results of flows of datagrams, from the logs of their traffic generators."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.distributions import thinned
from longhaul.results.run_files import read_object

Json = dict[str, Any]


def totals(item: Mapping[str, Any], logs: Path, *, every_ns: int) -> tuple[Json, list[Json]]:
    """What came of a flow of datagrams, in the shape of simulated ones, and a row for each interval."""
    source, sink = (read_object(logs / f"{item[name]}.out") for name in ("program", "server"))
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
