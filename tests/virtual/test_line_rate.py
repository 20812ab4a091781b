"""Network cards with a line rate: what they hold back stays in the host, and their times are arithmetic."""

from itertools import pairwise
from pathlib import Path

import pytest
from virtual_runs import BETWEEN_TWO, Ran, Run

SHORT = BETWEEN_TWO.replace("{kind: fifo, limit: 1bdp}", "{kind: fifo, limit: 20p}")
TRANSFER = "traffic:\n  bulk: {kind: tcp, from: a, to: b, cc: cubic}\n"
FULL = 1448 / 1538
"""Payload of a full segment, of its bytes on Ethernet."""


def with_card(text: str, rate: str = "100Mbit") -> str:
    return text.replace("  a: {kind: host}", f"  a: {{kind: host, line_rate: {rate}}}")


def overflowed(ran: Ran) -> int:
    return int(ran.summary["links"][0]["packets"]["overflowed"])


def test_what_exceeds_the_line_rate_stays_in_the_host(run: Run) -> None:
    bare = run(SHORT + TRANSFER, duration="5s")
    held = run(with_card(SHORT) + TRANSFER, duration="5s")
    assert bare.code == held.code == 0, bare.stderr + held.stderr
    assert overflowed(bare) > 0
    assert overflowed(held) == 0
    flow = held.summary["flows"][0]
    # The first quarter of a second is slow start.
    assert 0.95 * FULL < flow["goodput_bits_per_s"] / 100e6 < FULL
    # TCP's small queues: two super-packets of at most 20 KB each, and no queue in a link.
    assert 20e6 < flow["rtt"]["mean_ns"] < 25e6


SEND = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(socket.getaddrinfo("b", 9, socket.AF_INET)[0][4])
time.sleep(0.1)
for _ in range(10):
    s.send(bytes(1000))
"""
TAKE = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9))
while True:
    s.recv(2000)
    print(time.clock_gettime_ns(time.CLOCK_REALTIME), flush=True)
"""


@pytest.mark.parametrize("rate", [100, 40])
def test_datagrams_leave_one_after_the_other(run: Run, work: Path, rate: int) -> None:
    (work / "send.py").write_text(SEND)
    (work / "take.py").write_text(TAKE)
    programs = (
        "programs:\n"
        "  take: {run: python3 take.py, hosts: [b], service: true}\n"
        "  send: {run: python3 send.py, hosts: [a], start: 200ms}\n"
    )
    ran = run(with_card(BETWEEN_TWO, f"{rate}Mbit") + programs)
    assert ran.code == 0, ran.stderr
    times = [int(each) for each in ran.log("take.out").split()]
    assert len(times) == 10
    # 1,000 bytes of payload, 28 of headers, 14 + 24 of Ethernet.
    expected = (1_066 * 8_000) // rate
    gaps = [after - before for before, after in pairwise(times)]
    assert all(abs(gap - expected) <= 1 for gap in gaps), (gaps, expected)


def test_runs_with_cards_are_repeated_bit_by_bit(run: Run) -> None:
    text = with_card(SHORT) + TRANSFER
    assert run(text, duration="1s").digest == run(text, duration="1s").digest


URGENT = """
import socket, time
if {unlimited}:
    open("/sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit_min", "w").write("1000000")
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(socket.getaddrinfo("b", 9, socket.AF_INET)[0][4])
s.send(bytes(1000))
# The kernel computes the limit when this one has left.
time.sleep(0.1)
for number in range(1, 40):
    s.send(bytes([number]) + bytes(999))
# Low delay: the first band of pfifo_fast.
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x10)
s.send(bytes([40]) + bytes(999))
"""
NUMBERS = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9))
while True:
    print(s.recv(2000)[0], flush=True)
"""


@pytest.mark.parametrize("unlimited", [False, True])
def test_byte_queue_limits_keep_packets_in_the_queueing_discipline(
    run: Run, work: Path, unlimited: bool
) -> None:
    (work / "send.py").write_text(URGENT.replace("{unlimited}", str(unlimited)))
    (work / "take.py").write_text(NUMBERS)
    programs = (
        "programs:\n"
        "  take: {run: python3 take.py, hosts: [b], service: true}\n"
        "  send: {run: python3 send.py, hosts: [a], start: 200ms}\n"
    )
    ran = run(with_card(BETWEEN_TWO, "10Mbit") + programs)
    assert ran.code == 0, ran.stderr
    numbers = [int(each) for each in ran.log("take.out").split()]
    # With a limit the driver holds three frames, and the urgent one is the first of all others.
    assert numbers == ([*range(41)] if unlimited else [0, 1, 2, 3, 40, *range(4, 40)])
