"""The links of a live run while it goes on: read along from its records, shown as a table."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from longhaul.analysis.configuration import Steps
from longhaul.analysis.rates import steps
from longhaul.analysis.text import rate_text, share_text, time_text
from longhaul.run import directory as directories
from longhaul.run.following import Tail
from longhaul.run.metrics import FATES, share

Row = Mapping[str, str]

REFRESH_S = 0.25
_BAR = 8
"""Characters of a full bar."""


@dataclass(frozen=True)
class LinkNow:
    """A direction of a link over the latest sampling interval."""

    name: str
    way: str
    access: bool
    """Whether it is a host's way into the network."""
    bits_per_s: float
    """Of IP packets that left at the far end."""
    used: float | None
    """Share of the rate; ``None`` without a rate."""
    wait_ns: float | None
    """What a packet that comes now waits; ``None`` without a rate."""
    ended_packets: int
    """Lost, dropped, overflowed and so on since the run began."""
    late_p99_ns: float | None
    """A bound of the histogram that 99 % of the interval's packets kept below; ``None`` without packets."""


class Watch:
    """The links of the live run in a directory; what is new is read when it is asked."""

    def __init__(self, directory: Path) -> None:
        """Follow the records in ``directory``, which need not be there yet."""
        plan = directories.read_plan(directory)
        raw = directory / "raw"
        hosts = [node["kind"] == "host" for node in plan["nodes"]]
        self._access = {link["name"]: any(hosts[end] for end in link["endpoints"]) for link in plan["links"]}
        self._rates: dict[tuple[str, str], Steps] = {
            (link["name"], way): steps(plan, place, way)
            for place, link in enumerate(plan["links"])
            for way in ("forward", "reverse")
        }
        self._samples = Tail(raw / "samples.csv", "link", "way")
        self._lateness = Tail(raw / "lateness.csv", "link", "way")

    def links(self) -> list[LinkNow]:
        """Every direction that has been sampled twice, wide-area links first, busy ones before idle ones."""
        self._samples.read()
        self._lateness.read()
        late = {(row["link"], row["way"]): _late_p99(self._lateness, row) for row in self._lateness.rows}
        found = [now for row in self._samples.rows for now in self._now(row, late)]
        return sorted(found, key=lambda now: (now.access, -now.bits_per_s, now.name, now.way))

    def _now(self, row: Row, late: Mapping[tuple[str, str], float | None]) -> Iterator[LinkNow]:
        before = self._samples.before(dict(row))
        if before is None or before["t_ns"] == row["t_ns"]:
            return
        key = row["link"], row["way"]
        seconds = (int(row["t_ns"]) - int(before["t_ns"])) / 1e9
        rate = [each for at_ns, each in self._rates[key] if at_ns <= int(row["t_ns"])][-1]
        yield LinkNow(
            name=row["link"],
            way=row["way"],
            access=self._access[row["link"]],
            bits_per_s=(int(row["delivered_bytes"]) - int(before["delivered_bytes"])) * 8 / seconds,
            used=share(self._rates[key], before, row),
            wait_ns=int(row["waiting_bytes"]) * 8e9 / rate if rate else None,
            ended_packets=sum(int(row[f"{fate}_packets"]) for fate in FATES),
            late_p99_ns=late.get(key),
        )


class Screen:
    """A :class:`Watch` as a table of at most so many rows, made anew a few times a second."""

    def __init__(self, watch: Watch) -> None:
        """Show ``watch``."""
        self._watch = watch
        self._made_s = 0.0
        self._table = Table()

    def table(self, rows: int) -> Table:
        """The table, cut to ``rows`` lines below its header."""
        now_s = time.monotonic()
        if now_s - self._made_s >= REFRESH_S:
            self._made_s = now_s
            self._table = link_table(self._watch.links(), rows)
        return self._table


def link_table(links: list[LinkNow], rows: int) -> Table:
    """One line for each direction of a link, in 80 columns; those beyond ``rows`` are counted in the last."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("link", "", ">now", "used", "", ">wait", ">ended", ">late p99"):
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=True)
    shown = links if len(links) <= rows else links[: max(rows - 1, 0)]
    for now in shown:
        table.add_row(
            now.name,
            "->" if now.way == "forward" else "<-",
            rate_text(round(now.bits_per_s, -3)),
            _bar(now.used),
            "" if now.used is None else share_text(round(now.used, 2)),
            time_text(now.wait_ns),
            str(now.ended_packets),
            "-" if now.late_p99_ns is None else f"< {time_text(now.late_p99_ns)}",
        )
    if len(shown) < len(links):
        table.add_row(f"and {len(links) - len(shown)} more")
    return table


def _bar(used: float | None) -> str:
    """A share as eighths of a bar."""
    if used is None:
        return ""
    eighths = round(min(used, 1.0) * _BAR * 8)
    part = " ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else ""
    return ("█" * (eighths // 8) + part).ljust(_BAR)


def _late_p99(tail: Tail, row: Mapping[str, Any]) -> float | None:
    """The bound of the histogram below which 99 % of the latest interval's packets were late."""
    before = tail.before(dict(row)) or {}

    def new(column: str) -> int:
        return int(row[column]) - int(before.get(column, 0))

    packets = new("packets")
    if packets <= 0:
        return None
    for column in row:
        if column.startswith("le_") and new(column) >= 0.99 * packets:
            return float(column.removeprefix("le_").removesuffix("_ns"))
    return float("inf")
