"""``longhaul show`` as tables of at most 80 columns."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from longhaul.scenario.show.model_summaries import delays, losses, queues, rates
from longhaul.units.configured import rate, size, span

MOST_ROWS = 40


def tables(told: Mapping[str, Any]) -> RenderableType:
    """``told`` by :func:`longhaul.scenario.show.describe.describe`, for a terminal."""
    duration = "until the last program ends" if told["duration_ns"] is None else span(told["duration_ns"])
    parts: list[RenderableType] = [Text(f"{told['name']}: {duration}, seed {told['seed']}", style="bold")]
    parts += [_section("nodes", _nodes(told)), _section("links (one way)", _links(told))]
    if told["pacing"]:
        parts.append(_section("pacing", _pacing(told)))
    if told["paths"]:
        parts.append(_section("paths (mean, without queues)", _paths(told)))
    if told["programs"]:
        parts.append(_section("programs", _programs(told)))
    return Group(*parts)


def _section(title: str, table: Table) -> RenderableType:
    return Group(Text(""), Text(title, style="bold"), Padding(table, (0, 0, 0, 2)))


def _table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def _nodes(told: Mapping[str, Any]) -> Table:
    table = _table("node", "IPv4", "IPv6", "on", "MTU", "TCP buffer", right=("MTU", "TCP buffer"))
    nodes = told["nodes"]
    for node in nodes[:MOST_ROWS]:
        algorithm = node["congestion_control"]
        table.add_row(
            node["name"],
            node["ipv4"] or "-",
            node["ipv6"] or "-",
            _on(node),
            str(node["mtu"] or "-"),
            " ".join(filter(None, (size(node["tcp_buffer_bytes"]), algorithm))),
        )
    _more(table, nodes)
    return table


def _on(node: Mapping[str, Any]) -> str:
    """The router or switch that a host is on, and what it is there for; of these what they are."""
    if node["kind"] in ("router", "switch"):
        return str(node["function"])
    on = node["attached_to"] or "-"
    return on if node["function"] == "client" else f"{on} {node['function']}"


def _links(told: Mapping[str, Any]) -> Table:
    table = _table("link", "from > to", "delay", "rate", "queue", "loss")
    rows: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for link in told["links"]:
        a, b = link["endpoints"]
        ways = {"forward": f"{a} > {b}", "reverse": f"{b} > {a}"}
        if _models(link["forward"], link) == _models(link["reverse"], link):
            rows.setdefault(_models(link["forward"], link), []).append((link["name"], f"{a} = {b}"))
        else:
            for way, ends in ways.items():
                rows.setdefault(_models(link[way], link), []).append((link["name"], ends))
    for models, links in list(rows.items())[:MOST_ROWS]:
        name, ends = links[0]
        if len(links) > 2:
            name, ends = f"{name} and {len(links) - 1} alike", f"{ends} .."
            table.add_row(name, ends, *models)
            continue
        for name, ends in links:
            table.add_row(name, ends, *models)
    _more(table, list(rows))
    return table


def _models(direction: Mapping[str, Any], link: Mapping[str, Any]) -> tuple[str, ...]:
    """Delay, rate, queue and loss of a direction; what is unusual goes into the same cells."""
    routes = direction["routes"]
    cells = [_cells(each, link["mtu"]) for each in (routes or [direction])]
    if not routes:
        return cells[0]
    alike = [len(set(column)) == 1 for column in zip(*cells, strict=True)]
    bundle = direction["bundle"]
    heads: tuple[list[str], ...] = (
        [
            f"{len(routes)} routes",
            bundle["policy"]["kind"],
            *(["resequenced"] if bundle["resequence"] else []),
        ],
        [rate(direction["bits_per_s"]), "together"],
        [],
        [],
    )
    ranges: tuple[Callable[[], list[str]], ...] = (
        lambda: _range([route["mean_delay_ns"] for route in routes], span),
        lambda: _range([route["bits_per_s"] for route in routes], rate),
        lambda: ["several"],
        lambda: ["several"],
    )
    whole = ["down"] if not direction["up"] else []
    texts = []
    for column in range(4):
        lines = [cells[0][column]] if alike[column] else ranges[column]()
        texts.append("\n".join([*heads[column], *lines, *(whole if column == 1 else [])]))
    return tuple(texts)


def _cells(direction: Mapping[str, Any], mtu: int) -> tuple[str, ...]:
    parts = (delays(direction), rates(direction, mtu), queues(direction), losses(direction))
    return tuple("\n".join(part) for part in parts)


def _range(values: list[Any], words: Callable[[Any], str]) -> list[str]:
    """The least and the greatest of ``values``; what differs beside them is in ``--json``."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or min(known) == max(known):
        return ["several"]
    return [f"{words(min(known))} to", words(max(known))]


def _paths(told: Mapping[str, Any]) -> Table:
    table = _table(
        "path", "hops", "one way", "RTT", "bottleneck", "BDP", right=("hops", "one way", "RTT", "BDP")
    )
    for path in told["paths"][:MOST_ROWS]:
        route = " > ".join(path["nodes"])
        if path["back"] != path["nodes"][::-1]:
            route += f"\nback: {' > '.join(path['back'])}"
        bottleneck = rate(path["bits_per_s"])
        if path["bottleneck"]:
            bottleneck += f"\n{path['bottleneck']}"
        table.add_row(
            route,
            str(path["hops"]),
            span(path["one_way_ns"]),
            span(path["round_trip_ns"]),
            bottleneck,
            size(path["bdp_bytes"]),
        )
    _more(table, told["paths"])
    return table


def _pacing(told: Mapping[str, Any]) -> Table:
    table = _table("host", "class", "rate", "queue", "takes")
    classes = told["pacing"]
    for each in classes[:MOST_ROWS]:
        model = each["model"]
        pace = [rate(model["bits_per_s"])] if "bits_per_s" in model else ["what is left"]
        pace += [f"bucket {size(model['burst_bytes'])}"] if model["kind"] == "token-bucket" else []
        limit = each["limit_packets"]
        flows = each["takes"]["flows"] if each["takes"] else 0
        table.add_row(
            each["host"],
            "\n".join([each["class"], *([f"{flows} flows"] if flows else [])]),
            "\n".join([*pace, *(["each"] if flows else [])]),
            size(each["limit_bytes"]) if limit is None else f"{limit} packets",
            _taken(each),
        )
    _more(table, classes)
    return table


def _taken(row: Mapping[str, Any]) -> str:
    """Whose packets a class takes: all that is said must hold."""
    takes = row["takes"] or {}
    parts = [
        f"{word} {', '.join(takes[key])}"
        for key, word in (("traffic", "traffic"), ("programs", "program"), ("to", "to"))
        if takes.get(key)
    ]
    ports = [str(low) if low == high else f"{low}..{high}" for low, high in takes.get("ports", ())]
    parts += [f"port {', '.join(ports)}"] if ports else []
    parts += [f"{key} {takes[key]}" for key in ("protocol", "dscp") if takes.get(key) is not None]
    said = [", ".join(parts)] if parts else []
    return "; ".join([*said, *(["all else"] if row["is_default"] else [])])


def _programs(told: Mapping[str, Any]) -> Table:
    table = _table("program", "host", "command")
    for program in told["programs"][:MOST_ROWS]:
        table.add_row(program["name"], program["host"], Text(" ".join(program["argv"]), overflow="ellipsis"))
    _more(table, told["programs"])
    return table


def _more(table: Table, rows: list[Any]) -> None:
    if len(rows) > MOST_ROWS:
        table.add_row(f"... and {len(rows) - MOST_ROWS} more (--json prints all)")
