"""The capacity of a link by arithmetic, and of an emulated link by measurement.

eWAN calibrated with gigabit Ethernet of MTU 1500 (Vicat-Blanc Primet et al., PFLDnet 2006, Table III):
each packet takes 38 bytes more on the wire (IEEE 802.3, clauses 3 and 4), and what is not payload is headers.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from longhaul.calibrate import plans
from longhaul.calibrate.plans import Plan
from longhaul.calibrate.probe import measure
from longhaul.plan import WAYS
from longhaul.scenario.lower.link_models.rate import FRAMING
from longhaul.subprocesses import python_code_command

Transport = Literal["tcp", "udp"]

GIGABIT = 10**9
_MTU = 1500
_HEADERS = {"tcp": 20 + 20 + 12, "udp": 20 + 8}
"""IPv4, and TCP with timestamps (RFC 7323) or UDP."""
_DELAY_NS = 100_000
_QUEUE_BYTES = 16 << 20
"""Keeps the wire busy while the sender is off the processor, for up to 0.13 s."""
_SECONDS = 4

# iperf3 sends datagrams one by one, which at a gigabit takes a processor. Here the kernel cuts 44 at
# a time (UDP_SEGMENT, 103), and the packets on the wire are the same.
_SOURCE = """
import socket, sys, time
rate, size = int(sys.argv[1]), int(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.IPPROTO_UDP, 103, size)
out.connect(("10.0.0.2", 5201))
block = bytes(44 * size)
step = 8 * len(block) / rate
due = begin = time.monotonic()
while due < begin + 4:
    time.sleep(max(0, due - time.monotonic()))
    out.send(block)
    due = max(due + step, time.monotonic() - 0.1)
"""
# Counts from one second after the first datagram to three seconds after it, by the kernel's time of arrival
# (SIOCGSTAMPNS, 0x8907), which a reader that is late does not change. 33 is SO_RCVBUFFORCE.
_SINK = """
import fcntl, json, socket, struct, time
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for option in (socket.SO_RCVBUF, 33):
    try:
        sink.setsockopt(socket.SOL_SOCKET, option, 1 << 24)
    except PermissionError:
        pass
sink.bind(("", 5201))
sink.settimeout(10)
def arrived():
    seconds, ns = struct.unpack("qq", fcntl.ioctl(sink, 0x8907, bytes(16)))
    return seconds + ns / 1e9
sink.recv(65536)
arrived()
begin = time.monotonic()
while time.monotonic() < begin + 1:
    sink.recv(65536)
since, count = arrived(), 0
while time.monotonic() < begin + 3:
    count += len(sink.recv(65536))
print(json.dumps({"bytes": count, "seconds": arrived() - since}))
"""


@dataclass(frozen=True)
class Wire:
    """One row of the table: bit/s of payload."""

    transport: Transport
    expected_bits_per_s: float
    shown_bits_per_s: float


def payload_rate(transport: Transport, *, bits_per_s: int = GIGABIT, mtu: int = _MTU) -> float:
    """What full packets leave of an Ethernet's rate: 1448/1538 for TCP, 1472/1538 for UDP at MTU 1500."""
    beside: int = FRAMING["ethernet"]["overhead_bytes"]
    return bits_per_s * (mtu - _HEADERS[transport]) / (mtu + beside)


def gigabit(transport: Transport) -> Wire:
    """Payload that arrives over an emulated gigabit Ethernet, without begin and end of the flow."""
    size = _MTU - _HEADERS["udp"]
    if transport == "tcp":
        programs = plans.tcp(seconds=_SECONDS)
        programs[0]["argv"].append("-J")
        shown = steady(measure(_ethernet(programs)).logs["server"])
    else:
        programs = datagrams(bits_per_s=round(1.1 * payload_rate("udp")), size=size)
        counted = measure(_ethernet(programs)).report("sink")
        shown = 8 * counted["bytes"] / counted["seconds"] if counted["seconds"] else 0.0
    return Wire(transport, payload_rate(transport), shown)


def datagrams(*, bits_per_s: int, size: int) -> list[dict[str, Any]]:
    """Programs for four seconds of datagrams of ``size`` bytes of payload, in blocks of 44."""
    source = python_code_command(_SOURCE, str(bits_per_s), str(size))
    return [
        plans.program("sink", 1, python_code_command(_SINK)),
        plans.program("source", 0, source, start_ns=10**9),
    ]


def _ethernet(programs: list[dict[str, Any]]) -> Plan:
    plan = plans.pair(
        delay_ns=_DELAY_NS, bits_per_s=GIGABIT, queue_bytes=_QUEUE_BYTES, programs=programs, name="gigabit"
    )
    for way in WAYS:
        plan["links"][0][way]["framing"] = FRAMING["ethernet"]
    return plan


def steady(report: str) -> float:
    """The receiver's mean over iperf3's seconds but the first, slow start, and the last, cut short.

    A server that was only looked at, for whether it listens, has written a report of that before.
    """
    last = report[max(0, report.rfind("\n{")) :]
    whole = [each["sum"] for each in json.loads(last)["intervals"][1 : _SECONDS - 1]]
    bits: float = 8 * sum(float(each["bytes"]) for each in whole)
    seconds: float = sum(float(each["seconds"]) for each in whole)
    return bits / seconds
