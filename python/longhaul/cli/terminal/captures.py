"""Flows of a capture, in 80 columns or as plain data."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from longhaul.analysis.captures import Capture, Flow
from longhaul.report.console import Console
from longhaul.units.configured import span

_VIEWS = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "between": "between the ends",
    "unknown": "at an unknown place",
}


def print_flows(capture: Capture) -> None:
    """All flows, with the numbers that name them."""
    console = Console()
    console.width = max(console.width, 160)
    several = len({flow.interface for flow in capture.flows}) > 1
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("#", "flow", *(("interface",) if several else ())):
        table.add_column(column, no_wrap=True)
    for column in ("packets", "retransmitted", "lost", "min RTT"):
        table.add_column(column, justify="right", no_wrap=True)
    for flow in capture.flows:
        table.add_row(
            str(flow.number),
            flow.name,
            *((flow.interface,) if several else ()),
            f"{flow.packets:,}",
            f"{flow.retransmissions:,}",
            f"{len(flow.losses.at_ns):,}",
            _time(flow.rtt_min_s),
        )
    console.print(table, highlight=False)


def print_flow(capture: Capture, flow: Flow) -> None:
    """What is known of one flow, and what was left out of the capture."""
    console = Console()
    for line in flow_lines(flow):
        console.print(line, highlight=False, soft_wrap=True)
    for note in capture.notes:
        console.print(f"note: {note}", style="yellow", highlight=False, soft_wrap=True)


def flow_lines(flow: Flow) -> Sequence[str]:
    """One flow in three lines."""
    lost = len(flow.losses.at_ns)
    seconds = (flow.last_ns - flow.first_ns) / 1e9
    share = f" ({lost / flow.packets:.2g} of its packets)" if lost else ""
    lines = [
        f"{flow.name}: {flow.packets:,} packets in {seconds:.4g} s, captured {_VIEWS[flow.view]}",
        f"{lost:,} lost{share}, {flow.retransmissions:,} retransmitted, {flow.spurious:,} of these spurious,"
        f" {flow.reordered:,} reordered by up to {flow.reordering_extent}",
    ]
    if flow.rtts:
        lines.append(
            f"RTT from the capture to the receiver: min {_time(flow.rtt_min_s)}, median"
            f" {_time(flow.rtt_median_s)}, max {_time(flow.rtt_max_s)}"
        )
    return lines


def as_plain(capture: Capture, flow: Flow) -> dict[str, Any]:
    """For JSON; without the losses themselves."""
    return {
        "name": capture.name,
        "packets": capture.packets,
        "notes": list(capture.notes),
        "flow": {
            "name": flow.name,
            "number": flow.number,
            "losses": len(flow.losses.at_ns),
            **{field: getattr(flow, field) for field in Flow.__dataclass_fields__ if field not in _NOT_PLAIN},
        },
    }


_NOT_PLAIN = ("losses", "number")


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else span(seconds * 1e9)
