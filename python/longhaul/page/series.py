"""The records of a run as columns for charts, thinned to the number of points that fit."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longhaul.analysis.drops import ON_LINKS, undelivered
from longhaul.analysis.lateness import worst_p99
from longhaul.analysis.links import intervals
from longhaul.analysis.rates import queueing_delay_ns, rate_at
from longhaul.diagnostics import Code
from longhaul.page import run_list
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.runs import OverTime, Packet, Packets, Recording, WayName
from longhaul.page.sampling import MOST_CONNECTIONS, together
from longhaul.plan import Plan
from longhaul.results import manifest
from longhaul.results.changes import read_configuration
from longhaul.results.connections import COLUMNS as CONNECTION_COLUMNS
from longhaul.results.connections import ConnectionMonitor, Point
from longhaul.results.growing_files import last_rows
from longhaul.results.logs import read_ping
from longhaul.results.raw_tables import read_recorded
from longhaul.results.run_files import kept_table, read_json
from longhaul.results.summary import read_samples

Json = dict[str, Any]
Array = np.ndarray[Any, Any]

TABLES = ("links", "lateness", "probes", "flows", "sockets", "connections")
MOST_POINTS = 20_000
MOST_PACKETS = 5_000
LONGEST_NS = 10 * 10**9
"""Of a packet diagram."""
_EVERY_NS = 10**9
"""A window of packets begins so often."""

_CONNECTIONS_NS = 500_000_000
_SUMMED = (*(f"{cause}_packets" for cause in ON_LINKS), "undelivered_packets")
_HIGHEST = ("queue_packets", "queue_bytes", "rtt_ns", "queueing_delay_ns", "lateness_p99_ns")
_LINK_COLUMNS = (
    "throughput_bits_per_s",
    "utilisation",
    "offered_bits_per_s",
    "delivered_bits_per_s",
    *_SUMMED,
    *_HIGHEST[:2],
)
_PACKETS = {
    "link": "link",
    "way": "way",
    "offered_ns": "arrival_ns",
    "due_ns": "departure_ns",
    "bytes": "bytes",
    "fate": "fate",
    "flow": "flow",
}
"""Columns of the record that is being written, and of the table made of it."""


def series(directory: Path, asked: Asked) -> OverTime:
    """``series``: each with what tells it from others, ``t_ns`` and its columns."""
    table = asked.query.get("table", "links")
    if table not in TABLES:
        raise RefusedError(Code.PAGE_REQUEST, 400, f"there is no table of this name: {', '.join(TABLES)}")
    most = asked.number("max_points", least=2, most=MOST_POINTS, default=600)
    read: Mapping[str, Callable[[Path, Mapping[str, str]], list[Json]]] = {
        "links": _links,
        "lateness": _lateness,
        "probes": _probes,
        "flows": _flows,
        "sockets": _sockets,
        "connections": _connections,
    }
    found = read[table](directory, asked.query)
    if asked.query.get("columns"):
        columns = asked.query["columns"].split(",")
        for each in found:
            each["columns"] = {name: value for name, value in each["columns"].items() if name in columns}
    return cast("OverTime", {"table": table, "series": [_thinned(each, most) for each in found]})


def packets(directory: Path, asked: Asked) -> Packets:
    """The recorded packets of a link between two times, and what else was recorded.

    A packet counts if it was on the link at all between the times. ``truncated`` says that there are more.
    """
    start = asked.number("from_ns", least=0, most=1 << 62, default=0)
    end = asked.number("to_ns", least=0, most=1 << 62, default=start + 2 * 10**6)
    if not start < end <= start + LONGEST_NS:
        raise RefusedError(
            Code.PAGE_REQUEST, 400, "a packet diagram shows at most 10 s", remedy="ask for less"
        )
    columns = _packet_columns(directory)
    link, way = asked.query.get("link"), asked.query.get("way")
    plan = run_list.read_plan(directory)
    window_ns = plan["measure"].get("packet_window_ns")
    missing = _missing(plan, link, start, end)
    if not columns:
        return {
            "packets": [],
            "recorded": [],
            "missing": missing,
            "truncated": False,
            "window_ns": window_ns,
            "every_ns": _EVERY_NS,
        }
    left = np.where(np.isnan(columns["due_ns"]), columns["offered_ns"], columns["due_ns"])
    mask = (columns["link"] == link) & (columns["offered_ns"] < end) & (left >= start)
    if way:
        mask &= columns["way"] == way
    places = np.flatnonzero(mask)
    places = places[np.argsort(columns["offered_ns"][places], kind="stable")]
    return {
        "packets": [_packet(columns, place) for place in places[:MOST_PACKETS]],
        "recorded": _recorded(columns),
        "missing": missing,
        "truncated": len(places) > MOST_PACKETS,
        "window_ns": window_ns,
        "every_ns": _EVERY_NS,
    }


def _missing(
    plan: Plan, link: str | None, start_ns: int, end_ns: int
) -> Literal["link", "time", "part"] | None:
    """What of a link's packets between two times nobody recorded."""
    names = [each["name"] for each in plan["links"]]
    if link not in names or names.index(link) not in plan["measure"].get("packet_links", ()):
        return "link"
    window_ns = plan["measure"]["packet_window_ns"]
    if window_ns >= _EVERY_NS:
        return None
    into_ns = start_ns % _EVERY_NS
    if into_ns >= window_ns and into_ns + (end_ns - start_ns) <= _EVERY_NS:
        return "time"
    return None if into_ns + (end_ns - start_ns) <= window_ns else "part"


def _links(directory: Path, query: Mapping[str, str]) -> list[Json]:
    plan = run_list.read_plan(directory)
    if not plan["links"]:
        return []
    configuration = read_configuration(directory, plan)
    path = directory / "links.parquet"
    wanted = {name: query[name].split(",") for name in ("link", "way") if query.get(name)}
    columns = _chosen(kept_table(directory, "links"), wanted) if path.is_file() else {}
    if not columns or np.isnan(columns["throughput_bits_per_s"]).all():
        samples = _chosen(read_samples(directory / "raw" / "samples.csv"), wanted)
        columns = intervals(samples, plan, configuration) if samples else columns
    if not columns:
        return []
    columns["undelivered_packets"] = undelivered(columns, "_packets")
    found = _split(columns, ("link", "way"), _LINK_COLUMNS, columns["t_s"] * 1e9)
    places = {link["name"]: place for place, link in enumerate(plan["links"])}
    for one in found:
        rate = rate_at(configuration.rates(places[one["link"]], one["way"]), one["t_ns"])
        one["columns"]["queueing_delay_ns"] = queueing_delay_ns(one["columns"]["queue_bytes"], rate)
    return found


def _lateness(directory: Path, _query: Mapping[str, str]) -> list[Json]:
    """Of the direction whose packets were latest; empty for a simulation."""
    table = read_recorded(directory / "raw" / "lateness.csv")
    if table is None or not len(table):
        return []
    t_ns, worst = worst_p99(_columns(table))
    return [{"t_ns": t_ns, "columns": {"lateness_p99_ns": worst}}]


def _probes(directory: Path, query: Mapping[str, str]) -> list[Json]:
    columns = _table(directory, "probes", {"name": query.get("probe")}) or _probes_so_far(directory)
    return _split(columns, ("name", "from", "to"), ("rtt_ns",), columns["t_s"] * 1e9) if columns else []


def _probes_so_far(directory: Path) -> dict[str, Array]:
    """Answers to the pings of a run that is running."""
    started = read_json(directory / "raw" / "started.json") or {}
    answers = last_rows(directory / "raw" / "pings.csv", {"flow": pa.string(), "rtt_ns": pa.float64()})
    simulated = _columns(answers) if answers is not None else {}
    rows: list[tuple[str, str, str, float, float]] = []
    for ping in run_list.probes(directory):
        head = (ping["name"], ping["from"], ping["to"])
        if "t0_unix_ns" in started:
            found = read_ping(directory / "logs" / f"{ping['program']}.out", started["t0_unix_ns"])
            rows += [(*head, found.sent_ns[seq] / 1e9, float(rtt)) for seq, rtt in found.rtt_ns.items()]
        if simulated:
            mine = simulated["flow"] == ping["program"]
            pairs = zip(simulated["sent_ns"][mine], simulated["rtt_ns"][mine], strict=True)
            rows += [(*head, float(sent_ns) / 1e9, float(rtt_ns)) for sent_ns, rtt_ns in pairs]
    if not rows:
        return {}
    names = ("name", "from", "to", "t_s", "rtt_ns")
    return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _flows(directory: Path, query: Mapping[str, str]) -> list[Json]:
    columns = _table(directory, "flows", {"name": query.get("flow")})
    if not columns:
        return _flows_so_far(directory)
    for name in ("window_segments", "cwnd_bytes"):
        columns.setdefault(name, np.full(len(columns["name"]), np.nan))
    wanted = ("bits_per_s", "retransmits", "rtt_ns", "window_segments", "cwnd_bytes")
    t_ns = columns["start_ns"].astype(float) + columns["end_s"].astype(float) * 1e9
    return _split(columns, ("name", "flow", "from", "to", "stream"), wanted, t_ns)


def _sockets(directory: Path, query: Mapping[str, str]) -> list[Json]:
    columns = _table(directory, "sockets", {"host": query.get("host")}) or _sockets_so_far(directory)
    wanted = ("cwnd_segments", "ssthresh_segments", "rtt_ns", "delivery_bits_per_s", "retransmits")
    if not columns:
        return []
    found = _split(columns, ("host", "local", "remote", "cc", "socket"), wanted, columns["t_ns"])
    nodes = run_list.read_plan(directory)["nodes"]
    names = {node[key]: node["name"] for node in nodes for key in ("ipv4", "ipv6") if node.get(key)}
    return [
        {**each, "socket": str(each["socket"]), "to": names.get(_address(each["remote"]))} for each in found
    ]


def _connections(directory: Path, _query: Mapping[str, str]) -> list[Json]:
    """The TCP flows that carried most, from what the run writes, and has written when it is over.

    The points are those of the live charts: each covers half a second.
    """
    plan = run_list.read_plan(directory)
    traffic = read_json(directory / "raw" / "traffic.json") or []
    parts: dict[str, dict[int, list[Point]]] = {}
    for point in ConnectionMonitor(directory, plan, traffic).read():
        parts.setdefault(point.name, {}).setdefault(point.t_ns // _CONNECTIONS_NS, []).append(point)
    flows = {name: [together(each) for each in points.values()] for name, points in parts.items()}
    carried = {name: sum(each["goodput_bits_per_s"] or 0.0 for each in rows) for name, rows in flows.items()}
    found = []
    for name in sorted(flows, key=lambda name: -carried[name])[:MOST_CONNECTIONS]:
        rows: list[Json] = [dict(each) for each in flows[name]]
        columns = {column: _known([row[column] for row in rows]) for column in CONNECTION_COLUMNS}
        found.append({"name": name, "t_ns": np.array([row["t_ns"] for row in rows]), "columns": columns})
    return found


def _known(values: Sequence[float | None]) -> Array:
    return np.array([np.nan if each is None else each for each in values], dtype=float)


def _address(end: str) -> str:
    """Of ``10.0.0.1:80`` or ``[fd00::1]:80`` the address."""
    return end.rpartition(":")[0].strip("[]")


def _flows_so_far(directory: Path) -> list[Json]:
    """Windows and round trips of the flows of a simulation that goes on."""
    numbers = ("window_segments", "rtt_ns", "retransmits")
    types = {"flow": pa.string(), "stream": pa.string()} | dict.fromkeys(numbers, pa.float64())
    table = last_rows(directory / "raw" / "flows.csv", types)
    if table is None or not {"flow", "stream", *numbers} <= set(table.column_names):
        return []
    columns = _columns(table)
    columns["name"] = columns["flow"]
    return _split(columns, ("name", "stream"), numbers, columns["t_ns"])


def _sockets_so_far(directory: Path) -> dict[str, Array]:
    """The latest rows of a live run that goes on."""
    numbers = ("cwnd_segments", "ssthresh_segments", "delivery_bits_per_s", "retransmits", "rtt_us")
    texts = ("host", "local", "remote", "state", "cc")
    types = {"socket": pa.uint64()} | dict.fromkeys(texts, pa.string()) | dict.fromkeys(numbers, pa.float64())
    table = last_rows(directory / "raw" / "sockets.csv", types)
    if table is None:
        return {}
    columns = _columns(table)
    # 0 is what the kernel says before it has measured one.
    columns["rtt_ns"] = np.where(columns["rtt_us"] > 0, columns["rtt_us"] * 1e3, np.nan)
    return columns


def _table(directory: Path, name: str, wanted: Mapping[str, str | None]) -> dict[str, Array]:
    """A table's columns; empty if there is none yet, or no row."""
    path = directory / f"{name}.parquet"
    if not path.is_file():
        return {}
    manifest.check(directory, path.name)
    return _chosen(_columns(pq.read_table(path)), {each: [value] for each, value in wanted.items() if value})


def _chosen(columns: dict[str, Array], wanted: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """The rows that have the wanted values; empty if there is none."""
    if not columns:
        return {}
    mask = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name, values in wanted.items():
        mask &= np.isin(columns[name].astype(str), values)
    return {name: column[mask] for name, column in columns.items()} if mask.any() else {}


def _split(
    columns: Mapping[str, Array], keys: tuple[str, ...], wanted: tuple[str, ...], t_ns: Array
) -> list[Json]:
    """A series for each set of ``keys``, in order of time."""
    names = [columns[key] for key in keys]
    rows: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(zip(*names, strict=True)):
        rows.setdefault(key, []).append(place)
    found = []
    for key, places in rows.items():
        order = np.array(places)[np.argsort(t_ns[places], kind="stable")]
        found.append(
            {
                **{name: _plain(value) for name, value in zip(keys, key, strict=True)},
                "t_ns": t_ns[order].astype(np.int64),
                "columns": {name: columns[name][order].astype(float) for name in wanted if name in columns},
            }
        )
    return found


def _thinned(one: Json, most: int) -> Json:
    """At most ``most`` points: counts add up, queues and round trips show their highest, rates their mean."""
    count = len(one["t_ns"])
    group = -(-count // most)
    starts = np.arange(0, count, group) if count else np.array([], dtype=int)
    columns = {}
    for name, values in one["columns"].items():
        shown = _reduced(name, values, starts) if group > 1 else values
        columns[name] = [None if np.isnan(each) else round(float(each), 6) for each in shown]
    last = np.minimum(starts + group - 1, count - 1)
    return {**one, "t_ns": one["t_ns"][last].tolist(), "columns": columns}


def _reduced(name: str, values: Array, starts: Array) -> Array:
    known = ~np.isnan(values)
    counts = np.add.reduceat(known.astype(int), starts)
    if name in _SUMMED or name == "retransmits":
        found = np.add.reduceat(np.where(known, values, 0.0), starts)
    elif name in _HIGHEST:
        found = np.maximum.reduceat(np.where(known, values, -np.inf), starts)
    else:
        found = np.add.reduceat(np.where(known, values, 0.0), starts) / np.maximum(counts, 1)
    return np.where(counts > 0, found, np.nan)


def _packet_columns(directory: Path) -> dict[str, Array]:
    """What was recorded of packets; empty if nothing was. Times that there are not are NaN."""
    path = directory / "packets.parquet"
    if path.is_file():
        table = pq.read_table(path)
        found = {name: _column(table, column) for name, column in _PACKETS.items()}
    else:
        written = read_recorded(directory / "raw" / "packets.csv", tuple(_PACKETS))
        found = {} if written is None else {name: _column(written, name) for name in _PACKETS}
    if found:
        found["due_ns"] = found["due_ns"].astype(float)
        found["flow"] = found["flow"].astype(str).astype(object)
    return found if found and len(found["link"]) else {}


def _packet(columns: Mapping[str, Array], place: Any) -> Packet:
    due = columns["due_ns"][place]
    return {
        "way": columns["way"][place],
        "offered_ns": int(columns["offered_ns"][place]),
        "due_ns": None if np.isnan(due) else int(due),
        "bytes": int(columns["bytes"][place]),
        "fate": columns["fate"][place],
        "flow": columns["flow"][place],
    }


def _recorded(columns: Mapping[str, Array]) -> list[Recording]:
    """Which links and ways have packets, how many, from when to when."""
    rows: dict[tuple[str, WayName], list[int]] = {}
    for link, way, at_ns in zip(columns["link"], columns["way"], columns["offered_ns"], strict=True):
        rows.setdefault((link, way), []).append(int(at_ns))
    return [
        {"link": link, "way": way, "packets": len(times), "first_ns": min(times), "last_ns": max(times)}
        for (link, way), times in rows.items()
    ]


def _columns(table: pa.Table) -> dict[str, Array]:
    return {name: _column(table, name) for name in table.column_names}


def _column(table: pa.Table, name: str) -> Array:
    return table.column(name).to_numpy(zero_copy_only=False)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
