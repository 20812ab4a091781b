"""The conversation with an agent: JSON objects, one a line, in both directions."""

import base64
import json
import os
import platform
import socket
import sys
import threading
import zlib
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, BinaryIO

from longhaul import processes

Message = dict[str, Any]

PROTOCOL = 6
"""Changes with every change of the messages or of the datagrams between machines."""
ALIVE_S = 1.0
"""Interval at which either side says that it is alive."""
SILENT_S = 5.0
"""A side that says nothing for so long is gone."""
PART_BYTES = 1 << 19
"""Of a file that is sent, in one message."""
MOST_BYTES = 1 << 26
"""Of a message, and of what is packed in one: a machine that sends more does not run our agent."""


def hello() -> Message:
    """The first message of an agent: its versions, and its machine."""
    return {
        "is": "hello",
        "protocol": PROTOCOL,
        "longhaul": version("longhaul"),
        "host": socket.gethostname(),
        "kernel": platform.release(),
        "boot_id": (processes.identify() or {}).get("boot_id"),
        "cores": len(os.sched_getaffinity(0)),
    }


def standard_output() -> BinaryIO:
    """Standard output for messages alone: what anything prints from now on goes to standard error."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return out


class Writer:
    """Sends messages, also from several threads."""

    def __init__(self, stream: BinaryIO) -> None:
        """Over ``stream``."""
        self._stream = stream
        self._lock = threading.Lock()
        self.is_broken = False
        """Whether nobody reads any more."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one; the end of the other side shows when it is read."""
        with self._lock:
            try:
                self._stream.write(json.dumps(message).encode() + b"\n")
                self._stream.flush()
            except (OSError, ValueError):
                self.is_broken = True


def read(stream: BinaryIO) -> Message | None:
    """The next message; ``None`` at the end. Raises ValueError for anything else."""
    line = stream.readline(MOST_BYTES + 1)
    if len(line) > MOST_BYTES:
        raise ValueError("a message without end")
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message


def unpacked(packed: str, unpacker: "zlib._Decompress", *, what: str) -> bytes:
    """The ``what`` that is packed in a message by zlib. Raises ValueError for what is damaged or too much."""
    try:
        content = unpacker.decompress(base64.b64decode(packed, validate=True), MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"damaged {what}: {error}") from error
    if unpacker.unconsumed_tail:
        raise ValueError(f"damaged {what}: more than agents send at once")
    return content
