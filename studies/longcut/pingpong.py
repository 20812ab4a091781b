"""Messages that are answered, over plain TCP: a server, ping-pong by size, and EventSpace's micro-benchmark.

A message begins with its own size and that of its answer, 4 bytes each, so that 8 bytes are the least.
"""

import argparse
import json
import socket
import socketserver
import struct
import time
from collections.abc import Iterator, Sequence

LEAST = 8
EVENTSPACE_BYTES = 32 * 1024
SIZES = (8, 64, 512, 4096, 16_384, 65_536, 262_144, 1_048_576)
SMALL, MORE = 16_384, 5
"""Messages up to so many bytes are sent so often in each turn."""

Sample = tuple[float, int, float]
"""When it began, in seconds since the origin; bytes; seconds of the whole round trip."""


def receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes. Raises ConnectionError if the other end closes before."""
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other end closed")
        parts += part
    return bytes(parts)


class Answer(socketserver.BaseRequestHandler):
    """Takes messages whole and answers each."""

    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                head = receive(self.request, LEAST)
                size, answer = struct.unpack("!II", head)
                receive(self.request, size - LEAST)
                self.request.sendall(bytes(answer))
        except ConnectionError:
            return


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024


def connect(host: str, port: int) -> socket.socket:
    """Waits up to ten seconds for the server."""
    until = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=60)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection


def exchange(connection: socket.socket, size: int, answer: int) -> float:
    """Seconds of a message and its answer."""
    message = struct.pack("!II", size, answer) + bytes(size - LEAST)
    began = time.monotonic()
    connection.sendall(message)
    receive(connection, answer)
    return time.monotonic() - began


def rounds(
    connection: socket.socket, sizes: Sequence[int], origin: float, spans: Sequence[tuple[float, float]]
) -> Iterator[Sample]:
    """Every size in turn, small ones several times, within spans of time since the origin."""
    turn = [size for size in sizes for _ in range(MORE if size <= SMALL else 1)]
    for begin, end in spans:
        time.sleep(max(0.0, origin + begin - time.monotonic()))
        while time.monotonic() < origin + end:
            for size in turn:
                at = time.monotonic() - origin
                yield at, size, exchange(connection, size, size)


Probe = tuple[float, float, float, float]
"""When; two-way latency in ms; rates there and back in Mbit/s."""


def probes(connection: socket.socket, origin: float, seconds: float) -> Iterator[Probe]:
    """EventSpace's: 8 bytes, then twice 32 KB, each way in turn.

    A rate comes from the time less the latency, the end of a message being awaited before the next.
    """
    while (at := time.monotonic() - origin) < seconds:
        latency = exchange(connection, LEAST, LEAST)
        there = [exchange(connection, EVENTSPACE_BYTES, LEAST) - latency for _ in range(2)]
        back = [exchange(connection, LEAST, EVENTSPACE_BYTES) - latency for _ in range(2)]
        if min(*there, *back) > 0:
            bits = EVENTSPACE_BYTES * 8e-6
            yield at, latency * 1e3, 2 * bits / sum(there), 2 * bits / sum(back)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("serve", "pingpong", "probe"))
    parser.add_argument("host", help="whose server, or the address to serve at")
    parser.add_argument("port", type=int)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--spans", default="0:5", help="seconds since the origin, such as 1:5,7:11")
    parser.add_argument(
        "--origin", type=float, help="of the monotonic clock; when it is connected if left out"
    )
    given = parser.parse_args()
    if given.what == "serve":
        with Server((given.host, given.port), Answer) as server:
            print(server.server_address[1], flush=True)
            server.serve_forever()
    spans = [
        (float(begin), float(end)) for begin, end in (each.split(":") for each in given.spans.split(","))
    ]
    with connect(given.host, given.port) as connection:
        exchange(connection, LEAST, LEAST)
        origin = time.monotonic() if given.origin is None else given.origin
        if given.what == "probe":
            print(json.dumps(list(probes(connection, origin, spans[-1][1]))))
        else:
            print(
                json.dumps(
                    list(rounds(connection, [int(size) for size in given.sizes.split(",")], origin, spans))
                )
            )


if __name__ == "__main__":
    main()
