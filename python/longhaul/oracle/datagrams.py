"""Sends or receives the datagrams of a flow inside the guest, and prints its results as JSON.

``sink ADDRESS PORT`` and ``source ADDRESS PORT NAME=VALUE...``. Each datagram has its number and the time at
which it was sent, in ns of the guest's clock, if it has room for both. The result has the shape of that of
Longhaul's own generators (``crates/live/src/traffic``).
"""

import json
import os
import signal
import socket
import struct
import sys
import time
from collections import Counter
from types import FrameType
from typing import Any

BEGIN = "LONGHAUL_BEGIN_NS"
"""The variable with the time of the guest's clock at which the run begins."""
_HEADER = struct.Struct("!QQ")
_NUMBER = struct.Struct("!Q")


class _Stopped(BaseException):
    """SIGTERM."""


def due_ns(number: int, bits_per_s: int, payload_bytes: int) -> int:
    """When a datagram leaves, counted from the first, which is number 0."""
    return number * payload_bytes * 8 * 10**9 // bits_per_s


def main() -> int:
    """Be the one end or the other until the flow ends or SIGTERM comes."""
    end, address, port, *words = sys.argv[1:]
    signal.signal(signal.SIGTERM, _stop)
    # Timers may otherwise be 50 us late.
    with open("/proc/self/timerslack_ns", "w", encoding="ascii") as file:
        file.write("1")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as endpoint:
        if end == "sink":
            found = _receive(endpoint, address, int(port))
        else:
            numbers = {name: int(value) for name, _, value in (word.partition("=") for word in words)}
            endpoint.connect((address, int(port)))
            found = _send(endpoint, **numbers)
    json.dump(found, sys.stdout)
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def _send(
    endpoint: socket.socket,
    *,
    bits_per_s: int,
    payload_bytes: int,
    volume_bytes: int,
    start_ns: int,
    stop_ns: int,
) -> dict[str, Any]:
    """Send until ``stop_ns`` or ``volume_bytes``, where they are not 0."""
    begin_ns = int(os.environ[BEGIN])
    sent = failed = at_ns = 0
    filler = b"\0" * payload_bytes
    done = False
    try:
        while not volume_bytes or sent * payload_bytes < volume_bytes:
            due = start_ns + due_ns(sent, bits_per_s, payload_bytes)
            if stop_ns and due >= stop_ns:
                break
            wait_ns = begin_ns + due - time.monotonic_ns()
            if wait_ns > 0:
                time.sleep(wait_ns / 1e9)
            now_ns = time.monotonic_ns()
            at_ns = now_ns - begin_ns
            try:
                endpoint.send((_HEADER.pack(sent, now_ns) + filler)[:payload_bytes])
            except OSError:
                failed += 1
            sent += 1
        done = True
    except _Stopped:
        pass
    return {
        "sent": sent,
        "bytes_sent": sent * payload_bytes,
        "failed": failed,
        "error": None,
        "done": done,
        "end_ns": at_ns,
    }


def _receive(endpoint: socket.socket, address: str, port: int) -> dict[str, Any]:
    from longhaul.analysis.distributions import distribution

    endpoint.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    endpoint.bind((address, port))
    seen: set[int] = set()
    delays: Counter[int] = Counter()
    received = copies = reordered = size = 0
    highest = -1
    try:
        while True:
            data = endpoint.recv(65_536)
            now_ns = time.monotonic_ns()
            received += 1
            number = received
            if len(data) >= _HEADER.size:
                number, sent_ns = _HEADER.unpack_from(data)
                delays[now_ns - sent_ns] += 1
            elif len(data) >= _NUMBER.size:
                (number,) = _NUMBER.unpack_from(data)
            if number in seen:
                copies += 1
                continue
            seen.add(number)
            size += len(data)
            reordered += number < highest
            highest = max(highest, number)
    except _Stopped:
        pass
    return {
        "received": received,
        "bytes": size,
        "copies": copies,
        "reordered": reordered,
        "delay": distribution(delays),
        "intervals": [],
    }


if __name__ == "__main__":
    sys.exit(main())
