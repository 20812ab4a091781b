"""Packets that are due together are written together: fewer writes, the same packets for the receiver."""

import json
import sys
from typing import Any

import pytest

from longhaul.calibrate import plans
from longhaul.calibrate.probe import Measured, measure

BURSTS, BURST = 40, 50
RECEIVE = f"""
import json, select, socket, sys
server = socket.create_server(("0.0.0.0", 5201))
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
incoming = socket.socket(family, socket.SOCK_DGRAM)
incoming.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
incoming.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", 6000))
got = []
while len(got) < {BURSTS * BURST} and select.select([incoming], [], [], 8)[0]:
    datagram = incoming.recv(2048)
    number = int.from_bytes(datagram[:4], "big")
    assert datagram[4:] == bytes([number % 251]) * (len(datagram) - 4)
    got.append([number, len(datagram)])
print(json.dumps({{"got": got}}), flush=True)
select.select([], [], [], 60)
"""
SEND = f"""
import json, socket, sys, time
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
out = socket.socket(family, socket.SOCK_DGRAM)
out.connect(("fd00::2" if family == socket.AF_INET6 else "10.0.0.2", 6000))
for number in range({BURSTS * BURST}):
    # The last of each burst is shorter, as the rest of a message is.
    size = 60 if number % {BURST} == {BURST - 1} else 96
    out.send(number.to_bytes(4, "big") + bytes([number % 251]) * size)
    if number % {BURST} == {BURST - 1}:
        time.sleep(0.01)
time.sleep(0.5)
print(json.dumps({{"sent": number + 1}}))
"""


def bursts(version: str, coalesce_ns: int) -> Measured:
    """Bursts of datagrams; near sends, far receives.

    With jitter that keeps the order, packets behind one that is delayed by more are due at the same instant.
    """
    programs = [
        plans.program("receive", 1, [sys.executable, "-c", RECEIVE, version], service_port=5201),
        plans.program("send", 0, [sys.executable, "-c", SEND, version]),
    ]
    plan = plans.pair(coalesce_ns=coalesce_ns, programs=programs)
    jitter = {"model": "uniform", "mean_ns": 20_000_000, "half_width_ns": 15_000_000}
    plan["links"][0]["forward"]["delay"] = jitter
    return measure(plan)


def far(run: Measured) -> dict[str, Any]:
    port: dict[str, Any] = run.engine["ports"]["far"]
    return port


@pytest.mark.parametrize("version", ["4", "6"])
def test_datagrams_that_are_due_together_arrive_each_for_itself_in_order(version: str) -> None:
    run = bursts(version, 10_000)
    received = json.loads(run.logs["receive"])["got"]
    sizes = [64 if number % BURST == BURST - 1 else 100 for number in range(BURSTS * BURST)]
    assert received == [[number, size] for number, size in enumerate(sizes)]
    assert run.drops() == {}
    port = far(run)
    assert port["written_packets"] >= BURSTS * BURST
    if port["udp_offload"]:
        # The due times of a burst are the running maxima of its delays, of which there are about ln 50 = 4.
        assert port["writes"] < port["written_packets"] / 4
    delivered = run.engine["links"][0]["forward"]["delivered_packets"]
    assert run.engine["lateness"]["links"]["wan/forward"]["count"] == delivered, "each has a lateness"


def test_each_packet_is_written_alone_if_nothing_may_be_joined() -> None:
    port = far(bursts("4", 0))
    assert port["writes"] == port["written_packets"] >= BURSTS * BURST
