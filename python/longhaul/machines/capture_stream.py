"""Packets that a machine has captured, sent during the run for those who watch a link.

They are read from the machine's files as fast as the connection takes them; the complete files follow when
the run has ended.
"""

import base64
import zlib
from collections.abc import Sequence
from pathlib import Path

from longhaul.machines.messages import PART_BYTES, Message, unpacked
from longhaul.results.growing_captures import StartedClock

BEHIND_EVERY_S = 0.1
"""Between two messages as long as there is more: at most 5 MB/s are sent, beside packets of the network."""


class CaptureSender:
    """The captures of links that somebody watches; one thread at a time."""

    def __init__(self, directory: Path, clock: StartedClock) -> None:
        """For the part that writes into ``directory``."""
        self._directory = directory / "captures"
        self._clock = clock
        self._sent: dict[str, int] = {}
        """How far each file was sent."""

    def add(self, names: Sequence[str]) -> None:
        """Send the files of these names, too, from their beginning; any thread may ask."""
        self._sent = {**dict.fromkeys(names, 0), **self._sent}

    def message(self) -> tuple[Message, bool]:
        """What was captured since the last time, and whether there is more."""
        settled_ns = self._clock.settled_ns()
        left = PART_BYTES
        files: dict[str, str] = {}
        for name, start in self._sent.items():
            content = self._read(name, start, left)
            left -= len(content)
            if content:
                self._sent[name] = start + len(content)
                files[name] = base64.b64encode(zlib.compress(content, 1)).decode()
        # Where something is left, later packets may be in one file and earlier ones not.
        return {"is": "captures", "files": files, "settled_ns": settled_ns if left else None}, not left

    def _read(self, name: str, start: int, most_bytes: int) -> bytes:
        try:
            with (self._directory / name).open("rb") as file:
                file.seek(start)
                return file.read(most_bytes)
        except OSError:
            # It is created a moment after the request.
            return b""


class CaptureReceiver:
    """The captures of a machine as far as it has sent them, on the coordinator's machine."""

    def __init__(self, directory: Path) -> None:
        """In ``directory``, which is made when there are some."""
        self._directory = directory

    def take(self, message: Message) -> int | None:
        """Append what :meth:`CaptureSender.message` gave. Raises ValueError and OSError.

        Returns the time of the run until which all packets of these files are there, if that is known.
        """
        for name, packed in message["files"].items():
            if "/" in name or name in ("", ".", ".."):
                raise ValueError(f"damaged captures: {name} is not one of them")
            content = unpacked(packed, zlib.decompressobj(), what="captures")
            self._directory.mkdir(exist_ok=True)
            with (self._directory / name).open("ab") as file:
                file.write(content)
        settled_ns: int | None = message["settled_ns"]
        return settled_ns
