"""The partition of a simulation into shards, on the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from longhaul.report.console import Console
from longhaul.units.text import duration_text, few_text, share_text, time_text


def print_division(division: Mapping[str, Any]) -> None:
    """Print a line for each shard, the links that are cut, and the expected speed-up."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in ("shard", "share of CPU time", "nodes"):
        table.add_column(header, justify="left" if header == "nodes" else "right")
    for number, part in enumerate(division["parts"]):
        nodes = f"{len(part['nodes'])}: {few_text(part['nodes'], 8)}"
        table.add_row(str(number), share_text(part["share"], digits=2), nodes)
    console.print(table)
    if division["reason"]:
        console.print(f"one shard: {division['reason']}")
        return
    cut = division["cut"]
    if cut:
        cuts = [f"{each['link']} {time_text(each['lookahead_ns'])}" for each in cut]
        lookahead, links = time_text(division["lookahead_ns"]), "link" if len(cut) == 1 else "links"
        console.print(
            f"cut at {len(cut)} {links} ({few_text(cuts, 5)}); packets take at least {lookahead} there"
        )
        console.print(f"{division['crossing_packets_per_s']:,.0f} packets cross in a simulated second")
    else:
        console.print("no link is cut: the parts are not connected")
    if division["computing_s"] is not None:
        seconds = division["computing_s"]
        text = duration_text(seconds) if seconds >= 1 else time_text(1e9 * seconds, digits=2)
        console.print(f"expected CPU time in one shard: {text}")
    console.print(f"expected speed-up on {division['shards']} free CPU cores: {division['speedup']:.2g}")
