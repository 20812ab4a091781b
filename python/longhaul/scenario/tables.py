"""What ``longhaul show`` tells, in tables of at most 80 columns."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

MOST_ROWS = 40


def tables(told: Mapping[str, Any]) -> RenderableType:
    """``told`` by :func:`longhaul.scenario.describe.describe`, for a terminal."""
    duration = "until the last program ends" if told["duration_ns"] is None else span(told["duration_ns"])
    parts: list[RenderableType] = [Text(f"{told['name']}: {duration}, seed {told['seed']}", style="bold")]
    parts += [_section("nodes", _nodes(told)), _section("links (one way)", _links(told))]
    if told["paths"]:
        parts.append(_section("paths (mean, without queues)", _paths(told)))
    if told["programs"]:
        parts.append(_section("programs", _programs(told)))
    return Group(*parts)


def span(ns: float) -> str:
    """A time with three or four digits: ``38 ms``, ``0.015 ms`` as ``15 us``."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.4g} ns" if ns else "0"


def rate(bits_per_s: int | None) -> str:
    """A rate with three or four digits."""
    if bits_per_s is None:
        return "unlimited"
    for unit, size in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bits_per_s >= size:
            return f"{bits_per_s / size:.4g} {unit}"
    return f"{bits_per_s} bit/s"


def size(count: int | None) -> str:
    """Bytes with three or four digits, in decimal units as rates are."""
    if count is None:
        return "-"
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count} B"


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
        law = node["congestion_control"]
        table.add_row(
            node["name"],
            node["ipv4"] or "-",
            node["ipv6"] or "-",
            node["attached_to"] or ("router" if node["kind"] == "router" else "-"),
            str(node["mtu"] or "-"),
            " ".join(filter(None, (size(node["tcp_buffer_bytes"]), law))),
        )
    _more(table, nodes)
    return table


def _links(told: Mapping[str, Any]) -> Table:
    table = _table("link", "from > to", "delay", "rate", "queue", "loss")
    rows: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for link in told["links"]:
        a, b = link["endpoints"]
        ways = {"forward": f"{a} > {b}", "reverse": f"{b} > {a}"}
        if _laws(link["forward"], link) == _laws(link["reverse"], link):
            rows.setdefault(_laws(link["forward"], link), []).append((link["name"], f"{a} = {b}"))
        else:
            for way, ends in ways.items():
                rows.setdefault(_laws(link[way], link), []).append((link["name"], ends))
    for laws, links in list(rows.items())[:MOST_ROWS]:
        name, ends = links[0]
        if len(links) > 2:
            name, ends = f"{name} and {len(links) - 1} alike", f"{ends} .."
            table.add_row(name, ends, *laws)
            continue
        for name, ends in links:
            table.add_row(name, ends, *laws)
    _more(table, list(rows))
    return table


def _laws(direction: Mapping[str, Any], link: Mapping[str, Any]) -> tuple[str, ...]:
    """Delay, rate, queue and loss of a direction; what is unusual goes into the same cells."""
    delay = direction["delay"]
    times = [span(direction["mean_delay_ns"])]
    if delay["law"] == "uniform":
        times.append(f"±{span(delay['half_width_ns'])}")
    elif delay["law"] == "normal":
        times.append(f"sd {span(delay['sd_ns'])}")
    if direction["reorder"]:
        times.append("reorders")
    if direction["out_of_order"]:
        late = direction["out_of_order"]
        times.append(f"1 in {late['block']} after {span(late['delay_ns'])}")
    rates = [rate(direction["bits_per_s"])]
    if direction["framing_bytes"]:
        rates.append(f"+{direction['framing_bytes']} B/packet")
    if link["mtu"] != 1500:
        rates.append(f"MTU {link['mtu']}")
    if not direction["up"]:
        rates.append("down")
    return "\n".join(times), "\n".join(rates), "\n".join(_queue(direction)), "\n".join(_losses(direction))


def _queue(direction: Mapping[str, Any]) -> Iterator[str]:
    if direction["queue_bytes"] is None:
        yield "never waits" if direction["bits_per_s"] is None else "unlimited"
        return
    if direction["queue"]["limit_packets"] is not None:
        yield f"{direction['queue']['limit_packets']} packets"
        yield f"up to {size(direction['queue_bytes'])}"
    else:
        yield size(direction["queue_bytes"])
        yield f"{direction['queue_full_packets']} packets"
    if direction["queue_ns"] is not None:
        yield span(direction["queue_ns"])
        if direction["bdp_bytes"]:
            yield f"{direction['queue_bytes'] / direction['bdp_bytes']:.3g} BDP"


def _losses(direction: Mapping[str, Any]) -> Iterator[str]:
    loss = direction["loss"]
    if loss["law"] == "independent":
        yield f"{loss['probability'] * 100:.4g} %"
    elif loss["law"] == "one-per-block":
        yield f"1 in {loss['block']}"
    elif loss["law"] == "gilbert-elliott":
        yield f"{loss['mean'] * 100:.4g} %"
        yield f"runs of {loss['burst']:.3g}"
    else:
        yield "-"
    if direction["duplicate"]:
        yield f"{direction['duplicate'] * 100:.4g} % twice"


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


def _programs(told: Mapping[str, Any]) -> Table:
    table = _table("program", "host", "command")
    for program in told["programs"][:MOST_ROWS]:
        table.add_row(program["name"], program["host"], Text(" ".join(program["argv"]), overflow="ellipsis"))
    _more(table, told["programs"])
    return table


def _more(table: Table, rows: list[Any]) -> None:
    if len(rows) > MOST_ROWS:
        table.add_row(f"... and {len(rows) - MOST_ROWS} more (--json prints all)")
