"""Round trips of the pings of a run that goes on: from logs, or from its records if they are simulated."""

import re
from collections.abc import Sequence
from pathlib import Path

from longhaul.run.following import GrowingFile, GrowingTable

_REPLY = re.compile(rb"icmp_seq=\d+.* time=([\d.]+) ms")


class PingMonitor:
    """The latest answer to each of several pings."""

    def __init__(self, directory: Path, pings: Sequence[str]) -> None:
        """For the run in ``directory``; ``pings`` are programs, or flows if they are simulated."""
        self._pings = pings
        self._logs = [GrowingFile(directory / "logs" / f"{ping}.out") for ping in pings]
        self._echoes = GrowingTable(directory / "raw" / "echoes.csv", texts=("flow",))

    def read(self) -> list[int | None]:
        """The round trip in ns of the latest answer to each since the last time; ``None`` if none came."""
        simulated = self._simulated()
        found: list[int | None] = []
        for ping, log in zip(self._pings, self._logs, strict=True):
            replies = _REPLY.findall(log.read())
            found.append(round(float(replies[-1]) * 1e6) if replies else simulated.get(ping))
        return found

    def _simulated(self) -> dict[str, int]:
        table = self._echoes.read()
        if table is None:
            return {}
        flows, rtts_ns = table.column("flow").to_pylist(), table.column("rtt_ns").to_pylist()
        return {flow: rtt for flow, rtt in zip(flows, rtts_ns, strict=True) if flow and rtt is not None}
