"""Logs of real programs: ping's lines, iperf3's JSON; also truncated ones."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.analysis.distributions import distribution
from longhaul.analysis.network_flows import EchoCounts

_REPLY = re.compile(r"^\[(\d+)\.(\d{6})\].*icmp_seq=(\d+).*time=([\d.]+) ms", re.MULTILINE)
_SENT = re.compile(r"(\d+) packets transmitted")


@dataclass(frozen=True)
class Pings:
    """Echo requests and their answers."""

    sent: int
    rtt_ns: dict[int, int]
    """By sequence number; the first reply counts."""
    sent_ns: dict[int, int]
    """When each echo request left, since the start of the run; live, to the microsecond, and those without
    reply are interpolated."""
    lost: int | None = None
    """Sent without an answer; None: all that have no reply."""
    lost_down: int | None = None
    """Of these, while a link was down; None if that is not known."""
    reported: int | None = None
    """Replies that the program printed, and those that the network delivered, where it counted them."""
    received: int | None = None


def read_ping(
    path: Path, t0_unix_ns: int, *, every_ns: int | None = None, counted: EchoCounts | None = None
) -> Pings:
    """The log of one `ping -D` in a run that began at ``t0_unix_ns``.

    What the network ``counted`` says how many requests were sent and what became of them: a ping that is
    stopped does not say how many it sent after its last reply.
    """
    text = _text(path)
    rtt_ns: dict[int, int] = {}
    left: dict[int, int] = {}
    for seconds, micros, number, ms in _REPLY.findall(text):
        if int(number) not in rtt_ns:
            rtt_ns[int(number)] = rtt = round(float(ms) * 1e6)
            left[int(number)] = int(seconds) * 1_000_000_000 + int(micros) * 1000 - rtt - t0_unix_ns
    if counted is not None:
        if not left and counted.first_ns is not None:
            left[1] = counted.first_ns
        return Pings(
            counted.sent,
            rtt_ns,
            _interpolated(left, counted.sent, every_ns),
            lost=counted.lost,
            lost_down=counted.lost_down,
            reported=len(rtt_ns),
            received=counted.received,
        )
    total = _SENT.search(text)
    # A ping that was killed prints no summary: what came back last tells how many there were at least.
    sent = int(total[1]) if total else max(rtt_ns, default=0)
    return Pings(sent, rtt_ns, _interpolated(left, sent, every_ns))


def _interpolated(left: dict[int, int], sent: int, every_ns: int | None) -> dict[int, int]:
    if not left:
        return {}
    known = sorted(left)
    if every_ns is not None:
        # Before the first reply and after the last one, requests keep their interval.
        for number, near in ((1, known[0]), (sent, known[-1])):
            if number > 0:
                left = {number: left[near] + (number - near) * every_ns, **left}
        known = sorted(left)
    wanted = range(1, sent + 1)
    first = left[known[0]]
    values = np.interp(wanted, known, [left[number] - first for number in known])
    return {number: first + int(value) for number, value in zip(wanted, values, strict=True)}


def read_iperf(path: Path) -> dict[str, Any]:
    """The report of an iperf3 client or server; ``{"error": ...}`` when there is none."""
    text = _text(path)
    try:
        report = json.loads(text)
    except ValueError:
        # A server that is told to stop appends a line behind its report.
        try:
            report, _ = json.JSONDecoder().raw_decode(text.lstrip())
        except ValueError:
            return {"error": "no report: the program was stopped before it could write one"}
    return report if isinstance(report, dict) else {"error": "no report"}


def flow_totals(client: Mapping[str, Any], server: Mapping[str, Any]) -> dict[str, Any]:
    """What came of one iperf3 run: goodput at the receiver, throughput and retransmissions at the sender.

    iperf3 counts what it wrote, so each retransmission counts as one more segment of full size. RTT is the
    kernel's smoothed one (TCP_INFO), read once per second.
    """
    end = client.get("end") or {}
    server_end = server.get("end") or {}
    received = server_end.get("sum_received") or {}
    if not received.get("bits_per_second"):
        received = end.get("sum_received") or end.get("sum") or {}
    sent = end.get("sum_sent") or end.get("sum") or {}
    loss = received["lost_packets"] / received["packets"] if received.get("packets") else None
    receivers = [stream.get("receiver", {}).get("bits_per_second") for stream in end.get("streams", [])]
    rtts = Counter(row["rtt_ns"] for row in flow_intervals(client) if row["rtt_ns"])
    retransmitted = sent.get("retransmits")
    segment = (client.get("start") or {}).get("tcp_mss_default")
    sent_bytes = sent.get("bytes") or 0
    segments = sent_bytes / segment + retransmitted if segment and retransmitted is not None else 0
    more_bits = retransmitted * segment * 8 if segment and retransmitted else 0
    seconds = sent.get("seconds")
    took_s = received.get("seconds") if received.get("bytes") and not client.get("error") else None
    return {
        "goodput_bits_per_s": received.get("bits_per_second"),
        "throughput_bits_per_s": (sent_bytes * 8 + more_bits) / seconds if seconds else None,
        "retransmits": retransmitted,
        "retransmission_rate": retransmitted / segments if retransmitted is not None and segments else None,
        "loss": loss,
        "rtt": distribution(rtts) if rtts else None,
        "bytes": received.get("bytes"),
        "took_ns": round(took_s * 1e9) if took_s else None,
        "stream_rates": [rate for rate in receivers if rate is not None],
        "error": client.get("error"),
        "reported": bool(received.get("bytes")),
    }


def iperf_algorithms(client: Mapping[str, Any]) -> list[str]:
    """The congestion-control algorithm that an iperf3 client says it used."""
    found = (client.get("end") or {}).get("sender_tcp_congestion")
    return [str(found)] if found else []


def flow_intervals(client: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row for each interval and stream: start and end in s, bit/s, retransmissions, window, RTT."""
    for interval in client.get("intervals") or []:
        for stream in interval.get("streams") or []:
            yield {
                "stream": stream.get("socket"),
                "start_s": stream.get("start"),
                "end_s": stream.get("end"),
                "bits_per_s": stream.get("bits_per_second"),
                "retransmits": stream.get("retransmits"),
                "cwnd_bytes": stream.get("snd_cwnd"),
                "rtt_ns": stream["rtt"] * 1000 if stream.get("rtt") else None,
            }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
