"""Latency and bandwidth of small messages over a TCP socket: what nttcp measures, in two ends.

The client says what it wants in a line: ``latency SIZE COUNT`` and the server sends each message back; or
``bandwidth SIZE COUNT`` and the server answers with one byte when it has everything.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

PORT = 5_038

PATIENCE_S = 10.0
"""A client tries so long to reach a server that is not up yet."""

WARM_UP = 3


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Half round trips."""

    size: int
    count: int
    least_us: float
    median_us: float
    mean_us: float
    most_us: float


@dataclass(frozen=True, kw_only=True)
class Bandwidth:
    """Messages one way, until the last has arrived; the time holds one way back."""

    size: int
    count: int
    seconds: float
    megabits_per_s: float


def serve(port: int, *, clients: int) -> None:
    """Answer so many clients, one after another; 0: any number. One that goes or says nothing ends alone."""
    with socket.create_server(("", port), family=socket.AF_INET) as listening:
        served = 0
        while clients == 0 or served < clients:
            connection, _ = listening.accept()
            with connection, suppress(ConnectionError):
                wanted = _wanted(connection)
                if wanted:
                    served += 1
                    _answer(connection, *wanted)


def _wanted(connection: socket.socket) -> tuple[str, int, int] | None:
    """What to measure, with size and count; ``None`` if that is not said."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > 64:
            return None
        line += byte
    words = line.decode("ascii", "replace").split()
    if len(words) != 3 or words[0] not in ("latency", "bandwidth"):
        return None
    return (words[0], int(words[1]), int(words[2])) if words[1].isdigit() and words[2].isdigit() else None


def _answer(connection: socket.socket, what: str, size: int, count: int) -> None:
    if what == "latency":
        message = bytearray(size)
        for _ in range(count):
            _fill(connection, memoryview(message))
            connection.sendall(message)
        return
    left, part = size * count, memoryview(bytearray(1 << 18))
    while left:
        _fill(connection, part[: min(left, len(part))])
        left -= min(left, len(part))
    connection.sendall(b".")


def measure_latency(host: str, port: int, *, size: int, count: int) -> Latency:
    """Messages to and fro, one at a time."""
    message = bytearray(size)
    halves = []
    with _measuring(host, port) as connection:
        connection.sendall(f"latency {size} {count + WARM_UP}\n".encode())
        for number in range(-WARM_UP, count):
            begin = time.perf_counter()
            connection.sendall(message)
            _fill(connection, memoryview(message))
            if number >= 0:
                halves.append((time.perf_counter() - begin) / 2)
    halves.sort()
    return Latency(
        size=size,
        count=count,
        least_us=1e6 * halves[0],
        median_us=1e6 * halves[len(halves) // 2],
        mean_us=1e6 * sum(halves) / len(halves),
        most_us=1e6 * halves[-1],
    )


def measure_bandwidth(
    host: str, port: int, *, size: int, count: int, coalesce: bool, buffer: int | None
) -> Bandwidth:
    """Messages as fast as they go; each is a segment of its own unless they are to ``coalesce``."""
    message = bytes(size)
    with _measuring(host, port, buffer=buffer) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0 if coalesce else 1)
        connection.sendall(f"bandwidth {size} {count}\n".encode())
        begin = time.perf_counter()
        for _ in range(count):
            connection.sendall(message)
        _fill(connection, memoryview(bytearray(1)))
        seconds = time.perf_counter() - begin
    return Bandwidth(size=size, count=count, seconds=seconds, megabits_per_s=8e-6 * size * count / seconds)


@contextmanager
def _measuring(host: str, port: int, *, buffer: int | None = None) -> Iterator[socket.socket]:
    """A connection whose end before its time is the user's to know."""
    with _connect(host, port, buffer=buffer) as connection:
        try:
            yield connection
        except ConnectionError as error:
            raise LonghaulError(
                Code.PEER_UNREACHABLE, "the other end has closed the connection", remedy="see what it said"
            ) from error


def _connect(host: str, port: int, *, buffer: int | None = None) -> socket.socket:
    """A connection, as soon as there is a server."""
    until = time.monotonic() + PATIENCE_S
    while True:
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if buffer is not None:
            # Before the connection is made: it decides about the scale of the window.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        try:
            connection.connect((host, port))
        except OSError as error:
            connection.close()
            if isinstance(error, ConnectionRefusedError) and time.monotonic() < until:
                time.sleep(0.02)
                continue
            raise LonghaulError(
                Code.PEER_UNREACHABLE,
                f"{host}:{port}: {error.strerror or error}",
                remedy=f"is there a longhaul-workload sockets --serve --port {port} on that host?",
            ) from error
        return connection


def _fill(connection: socket.socket, space: memoryview) -> None:
    while space:
        got = connection.recv_into(space)
        if not got:
            raise ConnectionResetError("the other end has closed the connection")
        space = space[got:]
