"""Tables of detailed measurements: bins of links, packets, sockets and hosts' counters."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from longhaul.analysis.sockets import summarise_sockets
from longhaul.results.arrow_functions import dictionary_encode, multiply, subtract, take
from longhaul.results.raw_tables import Records
from longhaul.results.run_files import write_pieces, write_table

Json = dict[str, Any]

_PACKET_COLUMNS = ("link", "way", "offered_ns", "due_ns", "bytes", "fate", "flow")
_SOCKET_COLUMNS = ("t_ns", "host", "local", "remote", "cc", "rtt_us", "rttvar_us", "min_rtt_us", "rto_us")


def write_tables(records: Records, engine: Mapping[str, Any] | None) -> Json:
    """Write the tables that there are records for; returns what the summary says of them."""
    names = {int(flow): name for flow, name in (engine or {}).get("flow_names", [])}
    directory = records.directory
    makers: Mapping[str, tuple[tuple[str, ...], Callable[[pa.Table], pa.Table]]] = {
        "packets": (_PACKET_COLUMNS, lambda table: _passages(table, names)),
        "monitor": (("start_ns", "link", "way"), lambda table: table),
        "monitor_flows": (("start_ns", "link", "way", "flow"), lambda table: _named(table, names)),
        "sockets": (_SOCKET_COLUMNS, _sockets),
    }
    told: Json = {}
    for name, (needs, make) in makers.items():
        if name == "sockets":
            recorded = records.table(name, needs)
            if recorded is not None:
                table = make(recorded)
                write_table(table, directory / f"{name}.parquet")
                told["sockets"] = summarise_sockets(table.to_pydict())
        else:
            pieces = (make(pa.Table.from_batches([batch])) for batch in records.batches(name, needs))
            write_pieces(pieces, directory / f"{name}.parquet")
    hosts = _hosts(directory / "raw" / "accounts.json")
    if hosts is not None:
        write_table(hosts, directory / "hosts.parquet")
    return told


def _passages(table: pa.Table, names: Mapping[int, str]) -> pa.Table:
    """Arrival, departure and delay of each packet; null for what did not leave."""
    arrival, departure = table.column("offered_ns"), table.column("due_ns")
    return pa.table(
        {
            "link": table.column("link"),
            "way": table.column("way"),
            "arrival_ns": arrival,
            "departure_ns": departure,
            "delay_ns": subtract(departure, arrival),
            "bytes": table.column("bytes"),
            "fate": table.column("fate"),
            "flow": _flows(table, names),
        }
    )


def _named(table: pa.Table, names: Mapping[int, str]) -> pa.Table:
    return table.set_column(table.column_names.index("flow"), "flow", _flows(table, names))


def _flows(table: pa.Table, names: Mapping[int, str]) -> Any:
    """The names of packets' flows; a flow without a name is known by its number."""
    numbers = dictionary_encode(table.column("flow").combine_chunks())
    labels = [names.get(flow or 0, f"flow {flow}") for flow in numbers.dictionary.to_pylist()]
    return take(pa.array(labels, pa.string()), numbers.indices)


_NO_RTT_NS = (0, (2**32 - 1) * 1000)
"""What the kernel says of a connection that has measured none; the second of the least (Linux's tcp.h)."""


def _sockets(table: pa.Table) -> pa.Table:
    """The same with times in ns; a round trip is null until the kernel has measured one."""
    for column in ("rtt", "rttvar", "min_rtt", "rto"):
        place = table.column_names.index(f"{column}_us")
        spans = multiply(table.column(place), 1000)
        if column != "rto":
            known = [None if each in _NO_RTT_NS else each for each in spans.to_pylist()]
            spans = pa.chunked_array([known], pa.int64())
        table = table.set_column(place, f"{column}_ns", spans)
    return table


def _hosts(path: Path) -> pa.Table | None:
    """A row for each counter of each host that is not zero."""
    try:
        accounts: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    rows = [(host, counter, value) for host, all_ in accounts.items() for counter, value in all_.items()]
    hosts, counters, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "host": pa.array(hosts, pa.string()),
            "counter": pa.array(counters, pa.string()),
            "value": pa.array(values, pa.int64()),
        }
    )
