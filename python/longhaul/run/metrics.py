"""Metrics of a live run, from its records and its supervisor.

The packet loop is never asked: it hands its counters to the recorder at every sampling interval anyway.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

from longhaul.analysis.drops import ON_LINKS
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results.growing_files import Tail
from longhaul.results.monitors import LinkMonitor
from longhaul.run import groups, session

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """All samples of one metric."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)
    """What follows the name, labels, value."""

    def add(self, value: float, *, suffix: str = "", **labels: str) -> None:
        """Add a sample."""
        self.samples.append((suffix, labels, value))


def render(families: Iterable[Family]) -> str:
    """The families as text; those without samples are left out."""
    lines = []
    for family in families:
        if not family.samples:
            continue
        lines.append(f"# HELP {family.name} {_escaped(family.about)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        for suffix, labels, value in family.samples:
            inside = ",".join(f'{name}="{_quoted(label)}"' for name, label in labels.items())
            braces = f"{{{inside}}}" if inside else ""
            lines.append(f"{family.name}{suffix}{braces} {_number(value)}")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


Json = Mapping[str, Any]

_COUNTERS = {
    "offered_packets": "Packets that came to the link.",
    "offered_bytes": "IP bytes that came to the link.",
    "copied_packets": "Duplicates that the link made.",
    "delivered_packets": "Packets that left at the far end.",
    "delivered_bytes": "IP bytes that left at the far end.",
    "wire_bytes": "Bytes with framing of packets that have begun to leave.",
}
_GAUGES = {
    "queue_packets": ("waiting_packets", "Packets that wait for the link."),
    "queue_bytes": ("waiting_bytes", "IP bytes that wait for the link."),
    "flying_packets": ("flying_packets", "Packets being sent or on the wire."),
}
_STALE_NS = 3 * 10**9
"""A connection that was not seen for so long is gone."""


class Metrics:
    """What one run says of itself whenever it is asked; several threads may ask."""

    def __init__(self, directory: Path, socket: Path) -> None:
        """For the live run in ``directory``, whose supervisor listens at ``socket``."""
        self._run = directories.read_run(directory)
        self._plan = directories.read_plan(directory)
        self._socket = socket
        raw = directory / "raw"
        self._links = LinkMonitor(directory, self._plan)
        self._lateness = Tail(raw / "lateness.csv", "link", "way")
        self._sockets = Tail(raw / "sockets.csv", "host", "socket")
        self._lock = Lock()

    def text(self) -> str:
        """All metrics, now."""
        with self._lock:
            for records in (self._links, self._lateness, self._sockets):
                records.read()
            families = [
                *_about(self._run, self._plan, self._links),
                *link_families(self._links),
                *_late(self._lateness.rows),
                *connections(self._sockets),
                *_supervised(self._socket, self._plan),
            ]
        return render(families)


def _about(run: Json, plan: Plan, links: LinkMonitor) -> list[Family]:
    info = Family("longhaul_run_info", "gauge", "The run, by its labels.")
    info.add(
        1,
        run=str(run["name"]),
        mode=str(run["mode"]),
        seed=str(run["seed"]),
        version=str(run["versions"]["longhaul"]),
    )
    time = Family("longhaul_run_sample_seconds", "gauge", "When links were last sampled, on the run's clock.")
    if links.latest is not None:
        time.add(links.t_ns / 1e9)
    hosts = Family("longhaul_hosts", "gauge", "Hosts of the run.")
    hosts.add(sum(node["kind"] == "host" for node in plan["nodes"]))
    return [info, time, hosts]


def link_families(links: LinkMonitor) -> list[Family]:
    """Counters of links, and what they do now: the figures that the page and ``run --watch`` show, too."""
    counters = {
        name: Family(f"longhaul_link_{name}_total", "counter", about) for name, about in _COUNTERS.items()
    }
    gauges = {name: Family(f"longhaul_link_{name}", "gauge", about) for name, (_, about) in _GAUGES.items()}
    ended = Family(
        "longhaul_link_ended_packets_total", "counter", "Packets that ended otherwise, by their fate."
    )
    rate = Family(
        "longhaul_link_rate_bits_per_second",
        "gauge",
        "The configured rate now; events and interventions change it.",
    )
    throughput = Family(
        "longhaul_link_throughput_bits_per_second",
        "gauge",
        "Bits whose transmission began, with the framing that the rate counts; "
        "average over the latest second.",
    )
    used = Family(
        "longhaul_link_utilisation_ratio",
        "gauge",
        "Throughput as a share of the rate: average over the latest second.",
    )
    averages = ((rate, links.rate_bits_per_s()), *zip((throughput, used), links.usage(), strict=True))
    for place, direction in enumerate(links.directions if links.counters else ()):
        labels = {"link": direction.link, "direction": direction.way}
        for name, family in counters.items():
            family.add(int(links.counters[name][place]), **labels)
        for name, family in gauges.items():
            family.add(int(links.counters[_GAUGES[name][0]][place]), **labels)
        for fate in ON_LINKS:
            ended.add(int(links.counters[f"{fate}_packets"][place]), **labels, fate=fate)
        for family, values in averages:
            if np.isfinite(values[place]):
                family.add(float(values[place]), **labels)
    return [*counters.values(), ended, *gauges.values(), rate, throughput, used]


def _late(rows: list[dict[str, str]]) -> list[Family]:
    late = Family(
        "longhaul_link_lateness_seconds",
        "histogram",
        "How late packets were written to hosts, by their last link.",
    )
    for row in rows:
        labels = {"link": row["link"], "direction": row["way"]}
        for name, count in row.items():
            if name.startswith("le_"):
                bound = int(name.removeprefix("le_").removesuffix("_ns")) / 1e9
                late.add(int(count), suffix="_bucket", **labels, le=f"{bound:g}")
        late.add(int(row["packets"]), suffix="_bucket", **labels, le="+Inf")
        late.add(int(row["sum_ns"]) / 1e9, suffix="_sum", **labels)
        late.add(int(row["packets"]), suffix="_count", **labels)
    return [late]


def connections(sockets: Tail) -> list[Family]:
    """Windows and round trips of the connections that ``sockets`` has, oldest forgotten."""
    window = Family(
        "longhaul_tcp_congestion_window_segments", "gauge", "Congestion window of a sending connection."
    )
    rtt = Family("longhaul_tcp_rtt_seconds", "gauge", "Smoothed round trip of a sending connection.")
    again = Family("longhaul_tcp_retransmits_total", "counter", "Segments that a connection retransmitted.")
    latest_ns = max((int(row["t_ns"]) for row in sockets.rows), default=0)
    sockets.forget(latest_ns - _STALE_NS)
    # Ports come again, and two samples of equal labels are an error: of those connections the latest counts.
    rows = sorted(sockets.rows, key=lambda row: int(row["t_ns"]))
    named = ("host", "local", "remote", "cc")
    for row in {tuple(row[name] for name in named): row for row in rows}.values():
        if int(row["sent_bytes"]):
            labels = {name: row[name] for name in named}
            window.add(int(row["cwnd_segments"]), **labels)
            if int(row["rtt_us"]):
                # 0 is what the kernel says before it has measured one.
                rtt.add(int(row["rtt_us"]) / 1e6, **labels)
            again.add(int(row["retransmits"]), **labels)
    return [window, rtt, again]


def _supervised(socket: Path, plan: Plan) -> list[Family]:
    """Programs, and processor time of hosts, where there are control groups."""
    up = Family("longhaul_program_up", "gauge", "1 while the program runs.")
    codes = Family("longhaul_program_exit_code", "gauge", "The exit code of a program that has ended.")
    cpu = Family("longhaul_host_cpu_seconds_total", "counter", "Processor time of all programs of a host.")
    try:
        answer = session.ask(socket, {"do": "programs"}, timeout_s=2.0)
    except LonghaulError:
        return []
    for program in answer["programs"]:
        labels = {"program": program["name"], "host": program["host"]}
        up.add(program["start_ns"] is not None and program["end_ns"] is None, **labels)
        if program["exit"] is not None:
            codes.add(program["exit"], **labels)
    root = answer["cgroups"]
    # On several machines each reads those of its hosts.
    used = answer.get("cpu") or {
        node["name"]: groups.cpu_seconds(Path(root) / node["name"]) for node in plan["nodes"] if root
    }
    for host, seconds_by_mode in used.items():
        for mode, seconds in seconds_by_mode.items():
            cpu.add(seconds, host=host, mode=mode)
    return [up, codes, cpu]
