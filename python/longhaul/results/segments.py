"""``segments.parquet``: the TCP flows with most data over a recorded link, segment by segment."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from longhaul.plan import Plan
from longhaul.results.arrow_functions import column_of
from longhaul.results.raw_tables import Records

Json = dict[str, Any]
Array = np.ndarray[Any, Any]

MOST_FLOWS = 3
_WHOLE_NS = 10**9
"""The window of a record without gaps."""
_STEP = 1 << 16
_END = {"first": "forward", "second": "reverse"}
"""Which way a flow takes whose sender is beyond an end of a link."""
_WAYS = (("forward in", "reverse out"), ("reverse in", "forward out"))
"""What the interfaces of a link's two ends carry: what goes onto the link there, and what leaves it."""
_COLUMNS = (
    "due_ns",
    "acknowledged",
    "window_bytes",
    "offered_ns",
    "flow",
    "sequence",
    "bytes",
    "retransmitted",
)


def read_segments(records: Records, plan: Plan, engine: Mapping[str, Any] | None) -> pa.Table:
    """The flows with most bytes, each where it was seen first; no rows without such a record.

    Rows are data (``new``, ``retransmitted``, or ``late`` if they fill a hole of the record),
    acknowledgements (``ack``: what has arrived, and where the window ends) and blocks of selective ones
    (``sack``).
    """
    parts: list[pa.Table] = []
    if engine is not None and plan["measure"]["packet_window_ns"] >= _WHOLE_NS:
        if engine.get("mode") == "sim":
            parts = list(_simulated(records, engine))
        else:
            # Others began while the run was running, and have a part of the packets.
            planned = {plan["links"][link]["name"] for link in plan["measure"]["captures"]}
            captures = [
                (each["link"], records.directory / each["file"])
                for each in capture_files(records.directory, plan)
                if each["link"] in planned
            ]
            hosts = {
                address: node["name"]
                for node in plan["nodes"]
                for address in (node["ipv4"], node["ipv6"])
                if address
            }
            parts = list(_captured(captures, hosts, engine["t0_unix_ns"]))
    return pa.concat_tables([_rows("", "", "", {}), *parts])


def capture_files(directory: Path, plan: Plan) -> list[Json]:
    """The captures that a run has, one for each end of a link: ``file``, and where it observes.

    ``filter`` is what Wireshark needs to show that observation point alone, if files were merged.
    """
    found: list[Json] = []
    if not (directory / "captures").is_dir():
        return found
    for link in plan["links"]:
        name = link["name"]
        for end, ways in zip(link["endpoints"], _WAYS, strict=True):
            node = plan["nodes"][end]["name"]
            path = capture_path(directory, name, node)
            if path.is_file():
                file = str(path.relative_to(directory))
                shown = " || ".join(f'frame.interface_name == "{name} {way}"' for way in ways)
                found.append({"link": name, "node": node, "file": file, "filter": shown})
    return found


def capture_path(directory: Path, link: str, node: str) -> Path:
    """The capture of what passes a link at its end at ``node``."""
    return directory / "captures" / f"{link}@{node}.pcapng"


def _captured(
    captures: Sequence[tuple[str, Path]], hosts: Mapping[str, str], t0_unix_ns: int
) -> Iterator[pa.Table]:
    from longhaul import _longhaul

    flows = [{**flow, "link": link, "path": path} for link, path in captures for flow in _flows_of(path)]
    first: dict[tuple[str, str], Json] = {}
    for flow in sorted(flows, key=lambda each: each["first_ns"]):
        first.setdefault((flow["sender"], flow["receiver"]), flow)
    for flow in sorted(first.values(), key=lambda each: -each["bytes"])[:MOST_FLOWS]:
        interface, sender, receiver = flow["interface"], flow["sender"], flow["receiver"]
        data, answers, blocks = _longhaul.exchange(str(flow["path"]), interface, sender, receiver)
        kinds = np.array(data[3], dtype=object)
        columns = [np.array(column, dtype=np.int64) for column in data[:3]]
        found = {
            kind: [column[kinds == kind] for column in columns] for kind in ("new", "retransmitted", "late")
        }
        way = _END[interface.rpartition("(")[2].split()[0]]
        rows = {**found, "ack": list(answers), "sack": list(blocks)}
        name = f"{_named(sender, hosts)} > {_named(receiver, hosts)}"
        yield _rows(flow["link"], way, name, rows, since_ns=t0_unix_ns)


def _named(end: str, hosts: Mapping[str, str]) -> str:
    """The host and port of an address and port."""
    address, _, port = end.rpartition(":")
    return f"{hosts.get(address.strip('[]'), address)}:{port}"


def _flows_of(path: Path) -> list[Json]:
    """The flows in a capture; none if there is no capture, or it is damaged."""
    from longhaul import _longhaul

    try:
        reader = _longhaul.CaptureReader(str(path))
        while reader.advance(_STEP):
            pass
    except (OSError, ValueError):
        return []
    found: list[Json] = json.loads(reader.finish())["flows"]
    return found


def _simulated(records: Records, engine: Mapping[str, Any]) -> Iterator[pa.Table]:
    names = {name: int(flow) for flow, name in engine.get("flow_names", [])}
    table = records.table("segments", (*_COLUMNS, "link", "way", "blocks"))
    if table is None or not table.num_rows:
        return
    data = table.filter(_field("bytes") > 0)
    seen = data.group_by(["flow", "link", "way"]).aggregate([("offered_ns", "min"), ("bytes", "sum")])
    first: dict[int, Json] = {}
    for row in sorted(seen.to_pylist(), key=lambda each: each["offered_ns_min"]):
        first.setdefault(row["flow"], row)
    there = {names[name]: (name, names[f"{name} back"]) for name in names if f"{name} back" in names}
    chosen = [row for row in first.values() if row["flow"] in there]
    for row in sorted(chosen, key=lambda each: -each["bytes_sum"])[:MOST_FLOWS]:
        name, back = there[row["flow"]]
        at_link = table.filter(_field("link") == row["link"])
        sent = _numbers(at_link, row["flow"], row["way"])
        answered = _numbers(at_link, back, "reverse" if row["way"] == "forward" else "forward")
        yield _rows(row["link"], row["way"], name, _counted(sent, answered))


def _field(name: str) -> Any:
    # Only runs with records of segments pay for this import.
    from pyarrow.compute import field

    return field(name)


def _numbers(table: pa.Table, flow: int, way: str) -> dict[str, Array]:
    mine = table.filter((_field("flow") == flow) & (_field("way") == way))
    return {name: mine.column(name).to_numpy() for name in [*_COLUMNS, "blocks"]}


def _counted(sent: Mapping[str, Array], answered: Mapping[str, Array]) -> dict[str, list[Any]]:
    """Segments as bytes, each but the last as many as the longest; answers as they leave the link."""
    full, holds = int(sent["bytes"].max()), sent["bytes"] > 0
    base = int(sent["sequence"][holds].min())
    start = (sent["sequence"] - base) * full
    data = [sent["offered_ns"], start, start + sent["bytes"]]
    retransmitted = sent["retransmitted"] > 0
    left = np.flatnonzero(~np.isnan(answered["due_ns"]) & ~np.isnan(answered["acknowledged"]))
    order = left[np.argsort(answered["due_ns"][left], kind="stable")]
    at_ns = answered["due_ns"][order].astype(np.int64)
    arrived = (answered["acknowledged"][order].astype(np.int64) - base) * full
    limit = arrived + answered["window_bytes"][order]
    blocks = [
        (at, *((int(number) - base) * full for number in block.split("-")))
        for at, text in zip(at_ns.tolist(), answered["blocks"][order], strict=True)
        for block in (text or "").split()
    ]
    return {
        "new": [column[holds & ~retransmitted] for column in data],
        "retransmitted": [column[holds & retransmitted] for column in data],
        "ack": [at_ns, arrived, limit],
        "sack": [list(column) for column in zip(*blocks, strict=True)] or [[], [], []],
    }


def _rows(link: str, way: str, flow: str, found: Mapping[str, list[Any]], *, since_ns: int = 0) -> pa.Table:
    """One flow in the order of time; ``found`` has instants, first and last bytes by kind."""
    kinds = [kind for kind, columns in found.items() for _ in columns[0]]
    at_ns, first, last = (
        np.concatenate(
            [np.empty(0, np.int64), *(np.asarray(each[place], np.int64) for each in found.values())]
        )
        for place in range(3)
    )
    order = np.lexsort((first, at_ns))
    rows = len(order)
    return pa.table(
        {
            "link": pa.array([link] * rows, pa.string()),
            "way": pa.array([way] * rows, pa.string()),
            "flow": pa.array([flow] * rows, pa.string()),
            "t_ns": column_of(at_ns[order] - since_ns),
            "kind": pa.array([kinds[place] for place in order], pa.string()),
            "from_bytes": column_of(first[order]),
            "to_bytes": column_of(last[order]),
        }
    )
