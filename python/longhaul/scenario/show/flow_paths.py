"""The path of each flow of a scenario's traffic, as ``longhaul show --paths`` prints it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from longhaul.scenario.lower.flow_names import flow_name
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.paths import Routes, Step, simulated_flow_hash
from longhaul.scenario.lower.resolve import Resolved

MOST_FLOWS = 200
"""Connections of one traffic whose paths are shown."""


def flow_paths(
    resolved: Resolved, *, source: str | None = None, destination: str | None = None
) -> list[Plain]:
    """Flow, its ends, the number of equal paths, and the nodes on its path there in a simulation.

    ``nodes`` is ``None`` where no path leads at the start. In a live run, the ports that the kernel chooses
    decide between equal paths, so that only their number is known in advance.
    """
    plan, routes = resolved.plan, Routes(resolved.plan)
    names = [node["name"] for node in plan["nodes"]]
    rows: list[Plain] = []
    for flow, item, to in _planned(resolved.traffic):
        start = item["source"]
        if source not in (None, names[start]) or destination not in (None, names[to]):
            continue
        equal = routes.equal_paths(start, to)
        for stream in range(min(_streams(item), MOST_FLOWS) if equal > 1 else 1):
            steps = routes.flow_steps(start, to, simulated_flow_hash(flow, stream))
            name = flow_name(item, names[start], names[to])
            rows.append(
                {
                    "flow": f"{name}.{stream}" if _streams(item) > 1 and equal > 1 else name,
                    "from": names[start],
                    "to": names[to],
                    "equal_paths": equal,
                    "nodes": None if steps is None else _nodes(routes, names, start, steps),
                    "links": None if steps is None else [plan["links"][link]["name"] for link, _way in steps],
                }
            )
    return rows


def _planned(traffic: Sequence[Plain]) -> Iterator[tuple[int, Plain, int]]:
    """Each flow of the plan by its position, its traffic and its destination."""
    position = 0
    for item in traffic:
        for destination in item["destinations"]:
            yield position, item, destination
            position += 1


def _streams(item: Mapping[str, Any]) -> int:
    """The connections of a flow that are known in advance."""
    return int(item.get("flows") or 1)


def _nodes(routes: Routes, names: Sequence[str], source: int, steps: Sequence[Step]) -> list[str]:
    return [names[node] for node in routes.nodes_of(source, steps)]


def path_table(rows: Sequence[Plain]) -> Table:
    """The same for a terminal."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for title in ("flow", "equal paths", "path"):
        table.add_column(title, justify="right" if title == "equal paths" else "left", overflow="fold")
    for row in rows:
        path = "none" if row["nodes"] is None else " > ".join(row["nodes"])
        table.add_row(row["flow"], str(row["equal_paths"]), path)
    return table
