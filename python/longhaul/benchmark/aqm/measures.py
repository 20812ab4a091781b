"""Measures of a run of queue disciplines, from the record of every packet of the congested link."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from longhaul.analysis.comparison import digest
from longhaul.analysis.fairness import jain
from longhaul.analysis.loss_patterns import mean_burst, synchronisation
from longhaul.benchmark.aqm.case import CENTRAL_MS, LINK, QueueCase, Source
from longhaul.benchmark.suite import Measure, Measured
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

TCP_HEADERS_BYTES, UDP_HEADERS_BYTES = 52, 28
SMALL_BYTES = 100
"""Packets up to this size carry no data of a transfer: SYN, FIN, acknowledgements."""
FRAME_GAP_S = 0.02
"""Packets of a video further apart than this belong to different frames."""
LEAST_SHARE = 0.01
"""A bulk flow with less than this share of its class's packets is iperf3's control connection."""
SMOOTHED_RTTS = 10
"""K of RFC 7928, section 2.7: goodput is measured over K round trips."""
QUANTILES = tuple(number / 50 for number in range(51))
POINTS = 120
"""Of a figure over time."""

Array = np.ndarray[Any, Any]

MEASURES: Mapping[str, Measure] = {
    each.name: each
    for each in (
        Measure("utilisation", "utilisation", "share", 1, 0.0),
        Measure("goodput", "goodput", "bit/s", 1, 0.0),
        Measure("queue_mean", "queueing delay", "s", -1, 0.001),
        Measure("queue_p99", "delay, 99 %", "s", -1, 0.001),
        Measure("queue_sd", "delay, std. dev.", "s", -1, 0.001),
        Measure("queue_max", "worst delay", "s", -1, 0.005),
        Measure("loss", "lost", "share", -1, 0.001),
        Measure("loss_burst", "lost in a row", "ratio", -1, 0.2),
        Measure("sync", "lose together", "share", -1, 0.05),
        Measure("jain", "Jain's index", "ratio", 1, 0.02),
        Measure("fct_p50", "completed, 50 %", "s", -1, 0.005),
        Measure("fct_p95", "completed, 95 %", "s", -1, 0.01),
        Measure("startup", "start-up", "s", -1, 0.005),
        Measure("long_goodput", "long flow", "bit/s", 1, 0.0),
        Measure("tcp_goodput", "TCP goodput", "bit/s", 1, 0.0),
        Measure("udp_goodput", "UDP goodput", "bit/s", 0, 0.0),
        Measure("udp_loss", "UDP lost", "share", 0, 0.001),
        Measure("background_goodput", "background goodput", "bit/s", 0, 0.0),
        Measure("one_goodput", "goodput, 100 ms", "bit/s", 0, 0.0),
        Measure("two_goodput", "goodput, other RTT", "bit/s", 0, 0.0),
        Measure("ratio", "other / 100 ms", "ratio", 0, 0.02),
        Measure("one_loss", "lost, 100 ms", "share", -1, 0.001),
        Measure("two_loss", "lost, other RTT", "share", -1, 0.001),
        Measure("cbr_delay", "CBR delay", "s", -1, 0.001),
        Measure("cbr_jitter", "CBR jitter", "s", -1, 0.001),
        Measure("cbr_loss", "CBR lost", "share", -1, 0.001),
        Measure("frames", "frames damaged", "share", -1, 0.01),
        Measure("voip_delay", "VoIP delay", "s", -1, 0.001),
        Measure("voip_jitter", "VoIP jitter", "s", -1, 0.001),
        Measure("voip_loss", "VoIP lost", "share", -1, 0.001),
        Measure("chunk_p95", "chunk, 95 %", "s", -1, 0.01),
        Measure("small_loss", "small packets lost", "share", -1, 0.001),
        Measure("back_utilisation", "back: utilisation", "share", 1, 0.0),
        Measure("back_queue", "back: queueing delay", "s", -1, 0.001),
    )
}
"""In the order of tables."""

_LINK = ("utilisation", "goodput", "queue_mean", "queue_p99", "loss", "loss_burst")
_WEB = ("fct_p50", "fct_p95", "startup")
_CBR = ("cbr_delay", "cbr_jitter", "cbr_loss")
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "single": _LINK,
    "short": (*_WEB, "long_goodput", "queue_mean", "loss"),
    "overload": _LINK,
    "beside-udp": ("tcp_goodput", "udp_goodput", "udp_loss", "queue_mean", "queue_p99"),
    "background": ("tcp_goodput", "background_goodput", "utilisation", "queue_mean", "queue_p99", "loss"),
    "rtt": ("one_goodput", "two_goodput", "ratio", "one_loss", "two_loss", "queue_mean"),
    "bursts": (*_WEB, *_CBR, "queue_mean", "loss"),
    "frames": (*_WEB, *_CBR, "frames", "queue_mean", "loss"),
    "load": ("goodput", *_LINK[2:], "queue_sd", "sync", "jain"),
    "varying": ("utilisation", *_LINK[2:5], "queue_sd", "queue_max"),
    "mix": (
        *("voip_delay", "voip_jitter", "voip_loss", *_WEB, "chunk_p95", *_CBR),
        *("tcp_goodput", "utilisation", "queue_mean", "loss"),
    ),
    "both-ways": ("utilisation", *_LINK[2:5], "back_utilisation", "back_queue", "small_loss", "sync"),
}


@dataclass(frozen=True)
class Packets:
    """Packets of one direction of the congested link, in order of arrival, with the class of each."""

    arrival_s: Array
    departure_s: Array
    """At the far end; NaN if it was dropped."""
    wait_s: Array
    """Queueing delay: what a packet took longer than in an empty link. NaN if it was dropped."""
    size_bytes: Array
    lost: Array
    source: Array
    """Name of its class; empty for opposite directions and others."""
    flow: Array
    """A number for each flow."""

    def where(self, mask: Array) -> "Packets":
        """Some of them."""
        return Packets(
            *(
                getattr(self, name)[mask]
                for name in ("arrival_s", "departure_s", "wait_s", "size_bytes", "lost", "source", "flow")
            )
        )

    def between(self, from_s: float, to_s: float) -> "Packets":
        """Those that arrive between two times."""
        return self.where((self.arrival_s >= from_s) & (self.arrival_s < to_s))

    def of(self, *names: str) -> "Packets":
        """Those of some classes."""
        return self.where(np.isin(self.source, names))

    @cached_property
    def waits_s(self) -> Array:
        """Queueing delays of those that were delivered."""
        return self.wait_s[~np.isnan(self.wait_s)]

    @property
    def loss(self) -> float | None:
        """The share that was dropped."""
        return float(self.lost.mean()) if len(self.lost) else None

    def delivered_bits(self, from_s: float, to_s: float, *, header_bytes: int = 0) -> float:
        """Bits that arrive at the far end between two times, without so many bytes of each packet."""
        inside = (self.departure_s > from_s) & (self.departure_s <= to_s)
        return 8 * float(np.sum(np.clip(self.size_bytes[inside] - header_bytes, 0, None)))


def measure(case: QueueCase, directory: Path, summary: Mapping[str, Any], *, stopped: float) -> Measured:
    """Read the results of a run. Raises LonghaulError if nothing of a class arrived."""
    forward, back = (_packets(case, directory, way) for way in ("forward", "reverse"))
    inside = forward.between(case.from_s, case.to_s)
    for source in case.sources:
        direction = back if source.back else forward
        if not len(direction.of(source.name).waits_s):
            raise LonghaulError(Code.MEASUREMENT_FAILED, f"nothing arrived of {source.name}", exit_code=1)
    if not len(inside.waits_s):
        raise LonghaulError(Code.MEASUREMENT_FAILED, "no packets while it was measured", exit_code=1)
    found = {
        **_of_link(case, forward, inside, back),
        **_of_classes(case, forward, inside),
        **_of_transfers(case, directory, forward),
    }
    return Measured(
        {name: found.get(name) for name in OF_KIND[case.kind]},
        {},
        _drawn(case, forward, inside),
        str(summary["fidelity"]["verdict"]),
        stopped,
        digest(summary),
    )


def _packets(case: QueueCase, directory: Path, way: str) -> Packets:
    table = pq.read_table(directory / "packets.parquet", filters=[("link", "==", LINK), ("way", "==", way)])
    # What is in the queue at the end has no fate yet.
    table = table.filter(pc.invert(pc.is_in(table.column("fate"), pa.array(["held"]))))
    arrival_s, departure_s, delay_s = (
        table.column(name).to_numpy(zero_copy_only=False).astype(float) / 1e9
        for name in ("arrival_ns", "departure_ns", "delay_ns")
    )
    size_bytes = table.column("bytes").to_numpy(zero_copy_only=False).astype(float)
    flows: Any = pc.dictionary_encode(table.column("flow").combine_chunks())
    flow = flows.indices.to_numpy(zero_copy_only=False)
    classes = _classes(case, directory, way)
    sources = np.array([_source(name, classes) for name in flows.dictionary.to_pylist()] or [""])
    fastest = max(case.bits_per_s, *(each.bits_per_s for each in case.changes), 0)
    lost = pc.is_in(table.column("fate"), pa.array(["lost", "overflowed", "dropped"]))
    return Packets(
        arrival_s,
        departure_s,
        np.clip(delay_s - CENTRAL_MS / 1000 - size_bytes * 8 / fastest, 0, None),
        size_bytes,
        lost.to_numpy(zero_copy_only=False).astype(bool),
        sources[flow],
        flow,
    )


def _classes(case: QueueCase, directory: Path, way: str) -> dict[str, str]:
    """The class by a flow's first word: a name in simulations, its sender's address in live runs."""
    plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
    addresses = {node["name"]: node.get("ipv4") for node in plan["nodes"]}
    found: dict[str, str] = {}
    for source in case.sources:
        if source.back == (way == "reverse"):
            found |= dict.fromkeys(source.names, source.name)
            found[str(addresses.get(f"s-{source.name}"))] = source.name
    return found


def _source(flow: str, classes: Mapping[str, str]) -> str:
    """The class of ``bulk-2.0``, or of ``tcp 10.1.0.1:40126 > 10.2.0.1:5201``; empty for acknowledgements."""
    if " > " in flow:
        sender = flow.split(" ")[1].rpartition(":")[0]
        return classes.get(sender, "")
    return "" if flow.endswith(" back") else classes.get(flow.rpartition(".")[0], "")


def _of_link(case: QueueCase, forward: Packets, inside: Packets, back: Packets) -> dict[str, float | None]:
    spans = (case.from_s, case.to_s)
    waits = inside.waits_s
    bulk = _bulk(case, inside)
    counts = np.bincount(bulk.flow) if len(bulk.flow) else np.zeros(0)
    active = np.flatnonzero(counts > LEAST_SHARE * max(1, counts.sum()))
    lost = bulk.where(bulk.lost & np.isin(bulk.flow, active))
    data = [bulk.where(bulk.flow == each) for each in active]
    small = [each.between(*spans) for each in (forward, back)]
    few = [each.where(each.size_bytes <= SMALL_BYTES) for each in small]
    returned = back.between(*spans)
    binned = _binned_waits(inside, *spans, SMOOTHED_RTTS * case.rtt_s)
    return {
        "utilisation": forward.delivered_bits(*spans) / _capacity_bits(case),
        "goodput": _goodput(case, forward),
        "queue_mean": float(waits.mean()),
        "queue_p99": float(np.quantile(waits, 0.99)),
        "queue_sd": float(np.nanstd(binned, ddof=1)) if np.sum(~np.isnan(binned)) > 1 else None,
        "queue_max": float(forward.between(case.event_s, case.to_s).waits_s.max(initial=0)),
        "loss": inside.loss,
        "loss_burst": mean_burst(inside.lost) or 0.0,
        "sync": synchronisation(lost.arrival_s, lost.flow, of=len(active), window_s=case.rtt_s),
        "jain": jain([each.delivered_bits(*spans) for each in data]) if len(data) > 1 else None,
        "back_utilisation": back.delivered_bits(*spans) / _capacity_bits(case),
        "back_queue": float(returned.waits_s.mean()) if len(returned.waits_s) else None,
        "small_loss": float(np.concatenate([each.lost for each in few]).mean())
        if sum(len(each.lost) for each in few)
        else None,
    }


def _of_classes(case: QueueCase, forward: Packets, inside: Packets) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    span_s = case.to_s - case.from_s
    for source in case.sources:
        if source.back:
            continue
        mine = inside.of(source.name)
        bits = forward.of(source.name).delivered_bits(case.from_s, case.to_s, header_bytes=_headers(source))
        found[f"{source.name}_goodput"] = bits / span_s
        found[f"{source.name}_loss"] = mine.loss
        if source.name in ("cbr", "voip") and len(mine.waits_s):
            found[f"{source.name}_delay"] = float(mine.waits_s.mean())
            found[f"{source.name}_jitter"] = float(np.quantile(mine.waits_s, 0.99) - mine.waits_s.min())
        if source.name == "video":
            found["frames"] = _damaged(mine)
    if found.get("one_goodput"):
        found["ratio"] = (found.get("two_goodput") or 0.0) / (found["one_goodput"] or 1.0)
    return found


def _damaged(video: Packets) -> float | None:
    """The share of frames that lost at least one packet."""
    if not len(video.arrival_s):
        return None
    frame = np.concatenate([[0], np.cumsum(np.diff(video.arrival_s) > FRAME_GAP_S)])
    return len(np.unique(frame[video.lost])) / (int(frame[-1]) + 1)


def _of_transfers(case: QueueCase, directory: Path, forward: Packets) -> dict[str, float | None]:
    """Completion times; a transfer that had not completed counts with the time that it had."""
    found: dict[str, float | None] = {}
    sources = {source.name: source for source in case.sources if source.entries[0]["kind"] == "requests"}
    if not sources:
        return found
    table = pq.read_table(directory / "requests.parquet", columns=["name", "start_ns", "took_ns"])
    names = table.column("name").to_numpy(zero_copy_only=False).astype(str)
    start_s, took_s = (
        table.column(name).to_numpy(zero_copy_only=False).astype(float) / 1e9
        for name in ("start_ns", "took_ns")
    )
    took_s = np.where(np.isnan(took_s), case.to_s - start_s, took_s)
    for name, source in sources.items():
        counted = np.isin(names, source.names) & (start_s >= case.from_s) & (start_s < case.to_s - 2)
        if not counted.any():
            continue
        if name == "chunks":
            found["chunk_p95"] = float(np.quantile(took_s[counted], 0.95))
            continue
        found["fct_p50"], found["fct_p95"] = (
            float(each) for each in np.quantile(took_s[counted], (0.5, 0.95))
        )
        found["startup"] = _startup(forward.of(name).between(case.from_s, case.to_s))
    return found


def _startup(packets: Packets) -> float | None:
    """Mean time from a flow's first packet, its SYN, to its first packet with data, at the queue."""
    times = []
    for flow in np.unique(packets.flow):
        mine = packets.where(packets.flow == flow)
        data = np.flatnonzero(mine.size_bytes > SMALL_BYTES)
        if len(data) and mine.size_bytes[0] <= SMALL_BYTES:
            times.append(float(mine.arrival_s[data[0]] - mine.arrival_s[0]))
    return float(np.mean(times)) if times else None


def _bulk(case: QueueCase, packets: Packets) -> Packets:
    """Packets of long TCP flows."""
    return packets.of(
        *(each.name for each in case.sources if each.entries[0]["kind"] == "tcp" and not each.back)
    )


def _headers(source: Source) -> int:
    return UDP_HEADERS_BYTES if source.entries[0]["kind"] == "udp" else TCP_HEADERS_BYTES


def _goodput(case: QueueCase, forward: Packets) -> float:
    """Payload of all classes; needless retransmissions count."""
    bits = sum(
        forward.of(each.name).delivered_bits(case.from_s, case.to_s, header_bytes=_headers(each))
        for each in case.sources
        if not each.back
    )
    return bits / (case.to_s - case.from_s)


def _capacity_bits(case: QueueCase) -> float:
    """What the congested link can carry while it is measured, as its rate changes."""
    bits, since_s, rate = 0.0, case.from_s, case.bits_per_s
    for change in (*case.changes, None):
        until_s = case.to_s if change is None else min(change.at_s, case.to_s)
        bits += rate * max(0.0, until_s - since_s)
        since_s = max(since_s, until_s)
        rate = rate if change is None else change.bits_per_s
    return bits


def _binned_waits(packets: Packets, from_s: float, to_s: float, bin_s: float) -> Array:
    """Mean queueing delays of bins of time; NaN for one without packets."""
    count = max(1, round((to_s - from_s) / bin_s))
    kept = packets.where(~np.isnan(packets.wait_s))
    place = np.clip(((kept.arrival_s - from_s) / (to_s - from_s) * count).astype(int), 0, count - 1)
    number = np.bincount(place, minlength=count)
    with np.errstate(invalid="ignore"):
        return np.bincount(place, weights=kept.wait_s, minlength=count) / np.where(number, number, np.nan)


def _drawn(case: QueueCase, forward: Packets, inside: Packets) -> dict[str, list[float]]:
    """The distribution of queueing delays; and its course, in cases in which something changes."""
    found = {"delay_ms": [round(1e3 * float(each), 3) for each in np.quantile(inside.waits_s, QUANTILES)]}
    if case.kind == "varying":
        waits = _binned_waits(forward.between(0, case.to_s), 0, case.to_s, case.to_s / POINTS)
        found["t_s"] = [round((number + 0.5) * case.to_s / POINTS, 3) for number in range(POINTS)]
        found["queue_ms"] = [round(1e3 * float(each), 3) for each in np.nan_to_num(waits)]
    return found
