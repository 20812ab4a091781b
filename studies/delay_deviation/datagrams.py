"""The sender and the receiver of datagrams with time stamps, which run in the two hosts that are compared.

``sink ADDRESS PORT`` receives until SIGTERM; ``source ADDRESS PORT PACKETS PACKETS_PER_S`` sends evenly. Each
prints a row of three 64-bit integers for every datagram, in the machine's byte order: its number, the time of
the kernel and the time of the program, both in ns of ``CLOCK_REALTIME``. The kernel's time is when it handed
the datagram to its network device (``SOF_TIMESTAMPING_TX_SCHED``), or took it from there
(``SO_TIMESTAMPNS``); the program's is just before it sent, or just after it received. Source: Linux,
Documentation/networking/timestamping.rst.
"""

import signal
import socket
import struct
import sys
import time
from array import array
from contextlib import suppress
from types import FrameType

PAYLOAD_BYTES = 512
LINGER_S = 1.0
"""How long the sender stays, so that a run that ends with it does not lose the last datagrams."""
_DRAINED_EVERY = 32
"""Datagrams after which the sender reads the time stamps of those before."""
_SO_TIMESTAMPNS = 35
_SO_TIMESTAMPING = 37
_SO_RCVBUFFORCE = 33
_IP_RECVERR = 11
_TX_SCHED, _SOFTWARE, _OPT_ID, _OPT_TSONLY = 1 << 8, 1 << 4, 1 << 7, 1 << 11
_BUFFER_BYTES = 16 << 20
_NUMBER = struct.Struct("=Q")
_TIME = struct.Struct("@qq")
_ERROR = struct.Struct("=IBBBBII")
"""``sock_extended_err``; its last field is the number of the datagram."""
ROW = 3
"""Integers for each datagram: its number, the kernel's time, the program's time."""


class _Stopped(BaseException):
    """SIGTERM."""


def main() -> int:
    """Be the one end or the other."""
    end, address, port, *numbers = sys.argv[1:]
    signal.signal(signal.SIGTERM, _stop)
    # Timers may otherwise be 50 us late.
    with suppress(OSError), open("/proc/self/timerslack_ns", "w", encoding="ascii") as file:
        file.write("1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
        # Beyond the limit for ordinary users, where this is allowed.
        for option in (socket.SO_RCVBUF, _SO_RCVBUFFORCE):
            with suppress(OSError):
                endpoint.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
        if end == "sink":
            endpoint.bind((address, int(port)))
            rows = receive(endpoint)
        else:
            endpoint.connect((address, int(port)))
            rows = send(endpoint, *map(int, numbers))
    rows.tofile(sys.stdout.buffer)
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def send(endpoint: socket.socket, packets: int, packets_per_s: int) -> "array[int]":
    """Send so many datagrams, evenly spaced; a row for each."""
    endpoint.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _TX_SCHED | _SOFTWARE | _OPT_ID | _OPT_TSONLY)
    filler = bytes(PAYLOAD_BYTES - _NUMBER.size)
    rows = array("q", bytes(8 * ROW * packets))
    begin_ns = time.monotonic_ns()
    for number in range(packets):
        due_ns = begin_ns + number * 10**9 // packets_per_s
        while (wait_ns := due_ns - time.monotonic_ns()) > 0:
            time.sleep(wait_ns / 1e9)
        data = _NUMBER.pack(number) + filler
        rows[ROW * number] = number
        rows[ROW * number + 2] = time.time_ns()
        endpoint.send(data)
        if number % _DRAINED_EVERY == _DRAINED_EVERY - 1:
            _drain(endpoint, rows)
    time.sleep(LINGER_S)
    _drain(endpoint, rows)
    return rows


def _drain(endpoint: socket.socket, rows: "array[int]") -> None:
    """Enter the kernel's times of the datagrams that it has reported since."""
    while True:
        try:
            _, ancillary, _, _ = endpoint.recvmsg(0, 256, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except ConnectionRefusedError:
            continue
        found = {(level, kind): content for level, kind, content in ancillary}
        stamp = found.get((socket.SOL_SOCKET, _SO_TIMESTAMPING))
        error = found.get((socket.SOL_IP, _IP_RECVERR))
        if stamp and error:
            number = _ERROR.unpack_from(error)[-1]
            rows[ROW * number + 1] = _nanoseconds(stamp)


def receive(endpoint: socket.socket) -> "array[int]":
    """Receive until SIGTERM; a row for each datagram."""
    endpoint.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    rows = array("q")
    with suppress(_Stopped):
        while True:
            data, ancillary, _, _ = endpoint.recvmsg(PAYLOAD_BYTES, 256)
            now_ns = time.time_ns()
            (number,) = _NUMBER.unpack_from(data)
            (stamp,) = (content for _, kind, content in ancillary if kind == _SO_TIMESTAMPNS)
            rows.extend((number, _nanoseconds(stamp), now_ns))
    return rows


def _nanoseconds(stamp: bytes) -> int:
    seconds, nanoseconds = _TIME.unpack_from(stamp)
    return int(seconds * 10**9 + nanoseconds)


if __name__ == "__main__":
    sys.exit(main())
