"""The transfer agent in one host of a live run; its arguments are SOCKET HOST.

It hears orders over a socket, JSON objects, one a line, and has a process of its own for each sender,
receiver and command, so that one that dies takes no other with it. Times are those of CLOCK_MONOTONIC, in
seconds.
"""

import json
import os
import select
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

Json = dict[str, Any]

OFFSET = struct.Struct("!Q")
"""What a connection begins with: how much of the volume has arrived before."""
RATE = struct.Struct("=d")
CHUNK_BYTES = 256 * 1024
REPORT_S = 0.05
SO_MAX_PACING_RATE = 47
TCP_NOTSENT_LOWAT = 25
DEPTH_S = 0.01
"""What a sender that paces itself may make up for: so much of its rate."""
BURST_S = 0.001
"""What it writes at once: so much of its rate, a segment at least and :data:`MOST_BURST_BYTES` at most."""
MOST_BURST_BYTES = 64 * 1024
SEGMENT_BYTES = 1448


def main() -> int:
    """Do what is told until the socket closes."""
    path, host = sys.argv[1:3]
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(path)
    Agent(line).serve(host)
    return 0


class Agent:
    """The processes that it has started."""

    def __init__(self, line: socket.socket) -> None:
        """Hears orders over ``line``."""
        self._line = line
        self._selector = selectors.DefaultSelector()
        self._children: dict[str, int] = {}
        self._commands: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: dict[str, str] = {}
        self._rates: dict[str, int] = {}
        self._buffers: dict[int, bytes] = {}

    def serve(self, host: str) -> None:
        """Until the other end is gone, or says that all is over."""
        self._say({"event": "hello", "host": host})
        self._selector.register(self._line, selectors.EVENT_READ, None)
        try:
            while True:
                for key, _events in self._selector.select(0.05):
                    if key.data is None:
                        if not self._hear():
                            return
                    else:
                        self._forward(key.fd, key.data)
                self._reap()
        finally:
            for pid in self._children.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _say(self, message: Json) -> None:
        with suppress(OSError):
            self._line.sendall(json.dumps(message).encode() + b"\n")

    def _hear(self) -> bool:
        data = self._line.recv(65536)
        if not data:
            return False
        *lines, rest = (self._buffers.pop(-1, b"") + data).split(b"\n")
        self._buffers[-1] = rest
        return all(self._obey(json.loads(each)) for each in lines)

    def _obey(self, order: Json) -> bool:
        key = order.get("id", "")
        match order["do"]:
            case "receive":
                self._fork(key, lambda told, _rates: receive(order, told))
            case "send":
                self._fork(key, lambda told, rates: send(order, told, rates))
            case "pace":
                if key in self._rates:
                    with suppress(OSError):
                        os.write(self._rates[key], RATE.pack(order["bits_per_s"]))
            case "run":
                self._run(key, order)
            case "stop":
                if key in self._children:
                    with suppress(ProcessLookupError):
                        os.kill(
                            self._children[key],
                            signal.SIGKILL if key not in self._commands else signal.SIGTERM,
                        )
            case _:
                return False
        return True

    def _fork(self, key: str, work: Callable[[Callable[[Json], None], int], None]) -> None:
        told, tell = os.pipe()
        rates, rate = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(told)
            os.close(rate)
            _work(work, tell, rates)
        os.close(tell)
        os.close(rates)
        self._children[key], self._rates[key] = pid, rate
        self._selector.register(told, selectors.EVENT_READ, key)

    def _run(self, key: str, order: Json) -> None:
        for path in order.get("make", ()):
            os.makedirs(path, exist_ok=True)
        if "file" in order and not os.path.exists(order["file"]):
            with open(order["file"], "wb") as file:
                file.truncate(order["bytes"])
        if "text" in order:
            with open(order["text"][0], "w", encoding="utf-8") as file:
                file.write(order["text"][1])
        try:
            with open(order["log"], "ab") as log:
                made = subprocess.Popen(order["argv"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        except OSError as error:
            self._say({"event": "gone", "id": key, "code": 127, "why": str(error), "t": time.monotonic()})
            return
        self._commands[key], self._children[key], self._logs[key] = made, made.pid, order["log"]
        self._say({"event": "begun", "id": key, "t": time.monotonic()})

    def _forward(self, descriptor: int, key: str) -> None:
        data = os.read(descriptor, 65536)
        if not data:
            self._selector.unregister(descriptor)
            os.close(descriptor)
            return
        *lines, rest = (self._buffers.pop(descriptor, b"") + data).split(b"\n")
        self._buffers[descriptor] = rest
        for each in lines:
            self._say({**json.loads(each), "id": key})

    def _reap(self) -> None:
        for key, pid in list(self._children.items()):
            command = self._commands.get(key)
            if command is not None:
                if command.poll() is None:
                    continue
                code = command.returncode
                del self._commands[key]
            else:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if not ended:
                    continue
                code = os.waitstatus_to_exitcode(status)
            del self._children[key]
            if key in self._rates:
                os.close(self._rates.pop(key))
            why = _ending(code)
            if code > 0 and command is not None:
                why += _last_words(self._logs[key])
            self._say({"event": "gone", "id": key, "code": code, "why": why, "t": time.monotonic()})


def send(order: Json, told: Callable[[Json], None], rates: int) -> None:
    """Send what is left of a volume, at the rates that come over ``rates``; nothing before the first."""
    stream = _connected(order["address"], order["port"], order["congestion_control"])
    stream.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 128 * 1024)
    stream.sendall(OFFSET.pack(order["offset"]))
    told({"event": "connected", "t": time.monotonic()})
    pace = _by_kernel if order["pacing"] == "kernel" else _by_itself
    pace(stream, rates, order["bytes"] - order["offset"])
    stream.setblocking(True)
    stream.shutdown(socket.SHUT_WR)
    # The receiver closes when it has all.
    stream.recv(1)


def receive(order: Json, told: Callable[[Json], None]) -> None:
    """Receive a volume, over several connections if senders die, and say how far it is."""
    family = socket.AF_INET6 if ":" in order["address"] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((order["address"], order["port"]))
    listener.listen(4)
    told({"event": "listening", "t": time.monotonic()})
    volume, buffer = order["bytes"], bytearray(1 << 20)
    stream, count, reported = None, 0, 0.0
    while True:
        watched = [listener] if stream is None else [listener, stream]
        ready, _, _ = select.select(watched, [], [], REPORT_S)
        if listener in ready:
            fresh, _ = listener.accept()
            offset = fresh.recv(OFFSET.size, socket.MSG_WAITALL)
            if len(offset) == OFFSET.size:
                if stream is not None:
                    stream.close()
                stream, (count,) = fresh, OFFSET.unpack(offset)
        elif stream in ready and stream is not None:
            try:
                got = stream.recv_into(buffer)
            except ConnectionError:
                got = 0
            count += got
            now = time.monotonic()
            if count >= volume:
                told({"event": "done", "bytes": count, "t": now})
                stream.close()
                return
            if not got:
                told({"event": "progress", "bytes": count, "t": now})
                stream.close()
                stream = None
        now = time.monotonic()
        if now - reported >= REPORT_S:
            reported = now
            told({"event": "progress", "bytes": count, "t": now})


def _by_kernel(stream: socket.socket, rates: int, left: int) -> None:
    """TCP paces itself (SO_MAX_PACING_RATE), with a timer of its own where there is no fq."""
    stream.setblocking(False)
    zeros, rate = memoryview(bytes(CHUNK_BYTES)), 0.0
    while left:
        readable, writable, _ = select.select([rates], [stream] if rate else [], [])
        if readable:
            rate = _last(rates)
            if rate:
                bytes_per_s = max(round(rate / 8), 1)
                stream.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, struct.pack("=Q", bytes_per_s))
                lowat = max(round(DEPTH_S * rate / 8), 4 * SEGMENT_BYTES)
                stream.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, lowat)
        elif writable:
            left -= _write(stream, zeros[: min(left, CHUNK_BYTES)])


def _by_itself(stream: socket.socket, rates: int, left: int) -> None:
    """Small writes on time: a bucket of tokens that holds :data:`DEPTH_S` of the rate."""
    stream.setblocking(False)
    zeros, rate, due = memoryview(bytes(MOST_BURST_BYTES)), 0.0, 0.0
    while left:
        wait_s = max(due - time.monotonic(), 0.0) if rate else None
        if select.select([rates], [], [], wait_s)[0]:
            rate, due = _last(rates), time.monotonic()
            continue
        burst = min(max(round(rate / 8 * BURST_S), SEGMENT_BYTES), MOST_BURST_BYTES, left)
        sent = _write(stream, zeros[:burst])
        left -= sent
        due = max(due, time.monotonic() - DEPTH_S) + sent * 8 / rate
        if sent < burst:
            select.select([rates], [stream], [])


def _write(stream: socket.socket, data: memoryview) -> int:
    try:
        return stream.send(data)
    except BlockingIOError:
        return 0


def _last(rates: int) -> float:
    """The newest of the rates that have been told. The teller is gone: so should we be."""
    data = os.read(rates, 4096)
    if not data:
        os._exit(0)
    rate: float = RATE.unpack(data[-RATE.size :])[0]
    return rate


def _connected(address: str, port: int, algorithms: Sequence[str]) -> socket.socket:
    """A connection under the first of these congestion controls that the kernel has, or else the host's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    stream = socket.socket(family, socket.SOCK_STREAM)
    for algorithm in algorithms:
        with suppress(OSError):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm.encode())
            break
    stream.connect((address, port))
    return stream


def _work(work: Callable[[Callable[[Json], None], int], None], tell: int, rates: int) -> NoReturn:
    """In a process of its own, and never back."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work(lambda message: _tell(tell, message), rates)
        code = 0
    except OSError as error:
        with suppress(OSError):
            _tell(tell, {"event": "error", "why": error.strerror or str(error)})
    finally:
        os._exit(code)


def _tell(pipe: int, message: Json) -> None:
    os.write(pipe, json.dumps(message).encode() + b"\n")


def _ending(code: int) -> str:
    return f"its process was killed (signal {-code})" if code < 0 else f"its process ended with {code}"


def _last_words(log: str) -> str:
    """What a command said last, in brackets."""
    with open(log, "rb") as file:
        file.seek(max(os.path.getsize(log) - 4096, 0))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return f" ({lines[-1][:200]})" if lines else ""


if __name__ == "__main__":
    sys.exit(main())
