"""The conversation with an agent: JSON objects, one a line, in both directions."""

import json
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

Message = dict[str, Any]

PROTOCOL = 3
"""Changes with every change of the messages or of the datagrams between machines."""
ALIVE_S = 1.0
"""Interval at which either side says that it is alive."""
SILENT_S = 5.0
"""A side that says nothing for so long is gone."""
PART_BYTES = 1 << 19
"""Of a file that is sent, in one message."""


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
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message
