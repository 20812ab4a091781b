"""The links of a live run while it goes on: read along from its records, shown as a table."""

import time
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from rich.table import Table

from longhaul.analysis.text import rate_text, share_text, time_text
from longhaul.run import directory as directories
from longhaul.run.lateness_monitor import LatenessMonitor
from longhaul.run.link_monitor import LinkMonitor

REFRESH_S = 0.25
_BAR = 8
"""Characters of a full bar."""


@dataclass(frozen=True)
class LinkNow:
    """A direction of a link: averages over the latest second of the run."""

    name: str
    way: str
    access: bool
    """Whether it is a host's way into the network."""
    throughput_bits_per_s: float
    """Bytes that began to leave, as the rate counts them."""
    utilisation: float | None
    """Throughput as a share of the rate; ``None`` without a rate."""
    queueing_delay_ns: float | None
    """What a packet that comes now waits; ``None`` without a rate."""
    undelivered_packets: int
    """Lost, dropped, overflowed and so on since the run began."""
    lateness_p99_ns: float | None
    """What 99 % of the packets were not later than; ``None`` without packets."""


class Watch:
    """The links of the live run in a directory; what is new is read when it is asked."""

    def __init__(self, directory: Path) -> None:
        """Follow the records in ``directory``, which need not be there yet."""
        plan = directories.read_plan(directory)
        hosts = [node["kind"] == "host" for node in plan["nodes"]]
        self._access = {link["name"]: any(hosts[end] for end in link["endpoints"]) for link in plan["links"]}
        self._links = LinkMonitor(directory, plan)
        names = [f"{each.link}/{each.way}" for each in self._links.directions]
        self._lateness = LatenessMonitor(directory, names)

    def links(self) -> list[LinkNow]:
        """Every direction once it was sampled twice, wide-area links first, busy ones before idle ones."""
        self._links.read()
        self._lateness.read()
        if self._links.averaged_ns is None:
            return []
        usage = self._links.usage()
        columns = (
            usage.throughput_bits_per_s,
            usage.utilisation,
            self._links.queueing_delay_ns(),
            self._links.undelivered_packets(),
            self._lateness.p99_ns(),
        )
        found = [
            LinkNow(
                name=direction.link,
                way=direction.way,
                access=self._access[direction.link],
                throughput_bits_per_s=float(throughput),
                utilisation=_known(used),
                queueing_delay_ns=_known(wait),
                undelivered_packets=int(undelivered),
                lateness_p99_ns=_known(late),
            )
            for direction, throughput, used, wait, undelivered, late in zip(
                self._links.directions, *columns, strict=True
            )
        ]
        return sorted(found, key=lambda now: (now.access, -now.throughput_bits_per_s, now.name, now.way))


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
    for column in ("link", "", ">throughput", "used", "", ">queueing", ">lost", ">p99 lateness"):
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left", no_wrap=True)
    shown = links if len(links) <= rows else links[: max(rows - 1, 0)]
    for now in shown:
        table.add_row(
            now.name,
            "->" if now.way == "forward" else "<-",
            rate_text(now.throughput_bits_per_s),
            _bar(now.utilisation),
            "" if now.utilisation is None else share_text(now.utilisation),
            time_text(now.queueing_delay_ns),
            str(now.undelivered_packets),
            time_text(now.lateness_p99_ns),
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


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
