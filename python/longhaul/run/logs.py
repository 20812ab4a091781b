"""What real programs wrote: ping's lines, iperf3's JSON. Truncated logs give what they have."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_REPLY = re.compile(r"icmp_seq=(\d+).*time=([\d.]+) ms")
_SENT = re.compile(r"(\d+) packets transmitted")


def read_ping(path: Path) -> tuple[dict[int, int], int]:
    """Round-trip times in ns by sequence number (the first reply counts), and how many were sent."""
    text = _text(path)
    rtts: dict[int, int] = {}
    for match in _REPLY.finditer(text):
        rtts.setdefault(int(match[1]), round(float(match[2]) * 1e6))
    sent = _SENT.search(text)
    # A ping that was killed prints no summary: what came back last tells how many there were at least.
    return rtts, int(sent[1]) if sent else max(rtts, default=0)


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
    """Goodput (at the receiver), retransmissions, loss and mean RTT of one iperf3 run."""
    end = client.get("end") or {}
    received = end.get("sum_received") or end.get("sum") or {}
    sent = end.get("sum_sent") or end.get("sum") or {}
    datagrams = (server.get("end") or {}).get("sum") or end.get("sum") or {}
    is_udp = "lost_packets" in (end.get("sum") or {})
    rates = received.get("bits_per_second")
    if is_udp and datagrams.get("packets"):
        lost = datagrams.get("lost_packets", 0)
        loss = lost / datagrams["packets"]
        rates = (datagrams.get("bits_per_second") or 0.0) * (
            (1 - loss) if datagrams is end.get("sum") else 1.0
        )
    else:
        loss = None
    rtts = [stream.get("sender", {}).get("mean_rtt") for stream in end.get("streams", [])]
    rtts = [rtt for rtt in rtts if rtt]
    return {
        "goodput_bits_per_s": rates,
        "retransmits": sent.get("retransmits"),
        "loss": loss,
        "rtt_mean_ns": round(sum(rtts) / len(rtts) * 1e3) if rtts else None,
        "bytes": received.get("bytes"),
        "error": client.get("error"),
    }


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
