"""Flows of many transfers, each over a connection of its own: requests and flow lists."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from longhaul.analysis.distributions import merged, thinned
from longhaul.results.arrow_functions import dictionary_encode, take
from longhaul.results.raw_tables import Records
from longhaul.results.run_files import read_object
from longhaul.scenario.model.traffic import TRANSFER_KINDS

Json = dict[str, Any]
Row = Mapping[str, Any]

_NUMBERS = ("number", "start_ns", "late_ns", "bytes", "took_ns")
"""Columns beside those that tell whose a transfer is."""


def gathered(traffic: Sequence[Row]) -> list[list[Row]]:
    """The rows of ``traffic`` that are transfers; those of one flow list together."""
    found: dict[str, list[Row]] = {}
    for row in traffic:
        if row["kind"] in TRANSFER_KINDS:
            found.setdefault(row["name"] if row["kind"] == "replay" else row["program"], []).append(row)
    return list(found.values())


def total(rows: Sequence[Row], results: Sequence[Row], *, duration_ns: int | None = None) -> Json:
    """All transfers of a flow or of a list, whose ends say ``results`` of themselves."""
    first = rows[0]
    senders = len({row.get("generator", row["program"]) for row in rows})
    start_ns, is_list = first.get("start_ns", 0), first["kind"] == "replay"
    done = [each["done_ns"] for each in results if each.get("done_ns") is not None]
    done_ns = max(done) if done and len(done) == senders else None
    end_ns = done_ns if is_list and done_ns else _end_ns(first, results, duration_ns)
    span_s = (end_ns - start_ns) / 1e9 if end_ns is not None and end_ns > start_ns else None
    counted = {
        name: sum(each.get(name) or 0 for each in results)
        for name in ("bytes", "bytes_sent", "segments_sent", "retransmits", "done")
    }
    took = merged(each["took"] for each in results)
    lateness = merged(each["lateness"] for each in results if "lateness" in each)
    goodput = counted["bytes"] * 8 / span_s if span_s else None
    return {
        "name": first["name"],
        "flow": first["name"] if is_list else first["program"],
        "from": _ends(rows, "from"),
        "to": _ends(rows, "to"),
        "simulated": bool(first.get("simulated")),
        "kind": first["kind"],
        "cc": first["cc"],
        "goodput_bits_per_s": goodput,
        "throughput_bits_per_s": counted["bytes_sent"] * 8 / span_s if span_s else None,
        "retransmits": counted["retransmits"],
        "retransmission_rate": counted["retransmits"] / counted["segments_sent"]
        if counted["segments_sent"]
        else None,
        "loss": None,
        "reordered": None,
        "delay": None,
        "send_lateness": thinned(lateness) if lateness["count"] else None,
        "rtt": None,
        "bytes": counted["bytes"],
        "volume_bytes": sum(row["volume_bytes"] for row in rows) if is_list else None,
        "start_ns": start_ns,
        "end_ns": done_ns,
        "error": _error(results, senders),
        "done": counted["done"],
        **{f"took_{q}_ns": took[f"{q}_ns"] if took["count"] else None for q in ("p50", "p99", "max")},
        "stream_rates": [],
        "streams": [
            {key: value for key, value in each.items() if key not in ("took", "lateness", "requests")}
            for each in (() if is_list else results)
        ],
    }


def played(rows: Sequence[Row], logs: Path) -> list[Json]:
    """What the clients of ``rows`` wrote; each may be that of several."""
    found = (read_object(logs / f"{name}.out") for name in dict.fromkeys(row["generator"] for row in rows))
    return [each for each in found if "took" in each]


def table(records: Records, traffic: Sequence[Row], flows: Sequence[Row]) -> pa.Table | None:
    """A row for each transfer, real or simulated; ``flows`` are the plan's. ``None`` without any."""
    rows = [row for group in gathered(traffic) for row in group]
    if not rows:
        return None
    place = {str(row["program"]): position for position, row in enumerate(rows)}
    parts = [_simulated(records, place)]
    for each in played([row for row in rows if "generator" in row], records.directory / "logs"):
        columns = list(zip(*each["requests"], strict=True)) or [()] * (1 + len(_NUMBERS))
        owners = [place[flows[flow]["name"]] for flow in columns[0]]
        values = [pa.array(column, pa.int64()) for column in (owners, *columns[1:])]
        parts.append(pa.table(values, names=["owner", *_NUMBERS]))
    joined = pa.concat_tables(parts)
    known = pa.table(
        {
            **{key: pa.array([row[key] for row in rows], pa.string()) for key in ("name", "from", "to")},
            "simulated": pa.array([bool(row.get("simulated")) for row in rows]),
        }
    )
    columns_of = {name: take(known.column(name), joined.column("owner")) for name in known.column_names}
    return pa.table(columns_of | {name: joined.column(name) for name in _NUMBERS})


def _simulated(records: Records, place: Mapping[str, int]) -> pa.Table:
    """The transfers that ``raw/requests.csv`` has, each with the position of its row as owner."""
    recorded = [name for name in _NUMBERS if name != "late_ns"]
    read = records.table("requests", ("flow", *recorded))
    if read is None:
        return pa.table({name: pa.array([], pa.int64()) for name in ("owner", *_NUMBERS)})
    flows = dictionary_encode(read.column("flow").combine_chunks())
    owners = pa.array([place[str(flow)] for flow in flows.dictionary.to_pylist()], pa.int64())
    columns: Json = {name: read.column(name) for name in recorded}
    columns |= {"owner": take(owners, flows.indices), "late_ns": pa.nulls(len(read), pa.int64())}
    return pa.table({name: columns[name] for name in ("owner", *_NUMBERS)})


def _end_ns(row: Row, results: Sequence[Row], duration_ns: int | None) -> int | None:
    """When the time is over that rates count: with the traffic, or with the run."""
    simulated: list[int] = [round(each["span_s"] * 1e9) for each in results if "span_s" in each]
    if simulated:
        start_ns: int = row["start_ns"]
        return start_ns + max(simulated)
    asked: list[int] = [each for each in (row.get("stop_ns"), duration_ns) if each is not None]
    # A client that was told to stop has done so before.
    stopped: list[int] = [
        each["end_ns"] for each in results if each.get("end_ns") and each.get("done_ns") is None
    ]
    return min([*asked, *stopped]) if asked or stopped else None


def _ends(rows: Sequence[Row], key: str) -> str:
    hosts = {row[key] for row in rows}
    return str(rows[0][key]) if len(hosts) == 1 else f"{len(hosts)} hosts"


def _error(results: Sequence[Row], senders: int) -> str | None:
    """What kept transfers from being made, or from being known."""
    found = []
    if silent := senders - len(results):
        found.append("left no report" if senders == 1 else f"{silent} of {senders} senders left no report")
    if failed := sum(each.get("failed") or 0 for each in results):
        reason = next((each["error"] for each in results if each.get("error")), None)
        found.append(f"{failed} connections gave up" + (f": {reason}" if reason else ""))
    return "; ".join(found) or None
