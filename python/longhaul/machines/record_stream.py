"""What a machine has recorded since the last time, sent during the run for the figures of a running network.

The network between the machines is needed for packets: samples are thinned to two a second, logs to their
ends, and everything is compressed. The complete records follow when the run has ended.
"""

import base64
import json
import zlib
from pathlib import Path

from longhaul.machines.messages import unpacked
from longhaul.results.growing_text import CHANGES, OWN_LOGS, GrowingFile

EVERY_S = 0.5
"""Between two messages."""
INTERVAL_NS = 500_000_000
"""Of the run's clock: one sample of each is sent."""
_TABLES = {
    "samples.csv": ("link", "way"),
    "lateness.csv": ("link", "way"),
    "sockets.csv": ("host", "socket"),
    "flows.csv": ("flow", "stream"),
}
"""Whose rows are samples, by the columns that say of what."""
_PINGS = "pings.csv"
"""Whose rows are sent as they are, as logs of real pings are."""
_MOST_LOG_BYTES = 1 << 16
"""Of one log in one message; of what is more, the end is sent."""


class RecordSender:
    """What is new in the directory of a machine's part; one thread at a time."""

    def __init__(self, directory: Path) -> None:
        """For the part that writes into ``directory``."""
        self._directory = directory
        self._tables = {name: _ThinnedTable(directory / "raw" / name, keys) for name, keys in _TABLES.items()}
        self._changes = GrowingFile(directory / "raw" / CHANGES, most_bytes=None)
        self._pings = GrowingFile(directory / "raw" / _PINGS, most_bytes=_MOST_LOG_BYTES)
        self._logs: dict[str, int] = {}
        """How far each log was sent."""
        self._packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)

    def packed(self) -> str | None:
        """What has been recorded since the last time; ``None`` if that is nothing."""
        # A change before the samples that show it.
        found = {f"raw/{CHANGES}": self._changes.read()}
        found |= {f"raw/{name}": table.read() for name, table in self._tables.items()}
        found[f"raw/{_PINGS}"] = self._pings.read()
        for path in sorted((self._directory / "logs").glob("*")):
            if path.name not in OWN_LOGS and path.is_file():
                found[f"logs/{path.name}"] = self._new_of_log(path)
        texts = {name: content.decode(errors="replace") for name, content in found.items() if content}
        if not texts:
            return None
        content = self._packer.compress(json.dumps(texts).encode() + b"\n")
        return base64.b64encode(content + self._packer.flush(zlib.Z_SYNC_FLUSH)).decode()

    def _new_of_log(self, path: Path) -> bytes:
        sent = self._logs.get(path.name, 0)
        try:
            with path.open("rb") as file:
                start = max(sent, file.seek(0, 2) - _MOST_LOG_BYTES)
                file.seek(start)
                content = file.read(_MOST_LOG_BYTES)
        except OSError:
            return b""
        whole = content[: content.rfind(b"\n") + 1]
        self._logs[path.name] = start + len(whole)
        return whole if start == sent else whole[whole.find(b"\n") + 1 :]


class _ThinnedTable:
    """A table of samples that grows, of which one in each interval is passed on."""

    def __init__(self, path: Path, keys: tuple[str, ...]) -> None:
        self._file = GrowingFile(path)
        self._keys = keys
        self._places: list[int] = []
        self._latest: dict[bytes, int] = {}
        """The interval of the sample that was passed on last, of each."""

    def read(self) -> bytes:
        """The lines to pass on, the header first."""
        kept = []
        while lines := self._file.read().splitlines(keepends=True):
            if not self._places:
                header = lines.pop(0)
                names = header.decode().strip().split(",")
                self._places = [names.index(name) for name in self._keys]
                kept.append(header)
            kept += [line for line in lines if self._is_next(line)]
        return b"".join(kept)

    def _is_next(self, line: bytes) -> bool:
        fields = line.split(b",", self._places[-1] + 1)
        key, interval = b",".join(fields[place] for place in self._places), int(fields[0]) // INTERVAL_NS
        if self._latest.get(key) == interval:
            return False
        self._latest[key] = interval
        return True


class RecordReceiver:
    """The records of a machine as far as it has sent them, on the coordinator's machine."""

    def __init__(self, raw: Path, logs: Path) -> None:
        """Tables in ``raw``, and what programs wrote in ``logs``; both are made."""
        self._places = {"raw": raw, "logs": logs}
        for place in (raw, logs):
            place.mkdir(parents=True, exist_ok=True)
        self._unpacker = zlib.decompressobj(wbits=-zlib.MAX_WBITS)

    def take(self, packed: str) -> None:
        """Append what :meth:`RecordSender.packed` gave. Raises ValueError and OSError."""
        found = json.loads(unpacked(packed, self._unpacker, what="records"))
        for name, text in found.items():
            kind, _slash, file_name = name.partition("/")
            if kind not in self._places or "/" in file_name or file_name in ("", ".", ".."):
                raise ValueError(f"damaged records: {name} is not one of them")
            with (self._places[kind] / file_name).open("ab") as file:
                file.write(text.encode())
