"""Outputs of mtr: --report, --json and --raw."""

import json
import re
from collections import defaultdict
from typing import Any

from longhaul.analysis.traces import Answers, Hop, Pings, Trace
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.paths.lines import Output, answers, is_address, named, nanoseconds, plain

HEAD = re.compile(r"HOST:\s+(\S+).*\bLoss%")
RAW = re.compile(r"(x [0-9]+ [0-9]+|h [0-9]+ \S+)$")
_LINE = re.compile(
    r"\s*([0-9]+)\.\s*(?:\|--)?\s*(?:AS\S+\s+)?(\S+)(?:\s+\((\S+)\))?\s+([0-9]+(?:\.[0-9]+)?)%?\s+([0-9]+)\s+(.+)"
)
_ALSO = re.compile(r"\s*\|\s+[`|]\|?--|\s*\|\s+`")


def read_report(output: Output) -> list[Trace]:
    """The trace of ``--report``; its last hop is the end."""
    source, columns, hubs = output.source, ["Last", "Avg", "Best", "Wrst", "StDev"], []
    for number, line in enumerate(output.lines, 1):
        if head := HEAD.search(line):
            if source == "":
                source = head[1]
            columns = line.split("Snt", 1)[1].split() if "Snt" in line else columns
        elif found := _LINE.match(line):
            figures = found[6].split()
            if len(figures) != len(columns):
                message = f"{len(figures)} figures where the head has {len(columns)}"
                raise output.wrong(number, message, "write it as mtr did")
            by = dict(zip(columns, figures, strict=True))
            if "Avg" not in by or "Best" not in by:
                raise output.wrong(number, "has no Avg and Best", "leave mtr's fields as they are")
            hubs.append((int(found[1]), found[2], found[3], float(found[4]), int(found[5]), by, number))
        elif line.strip() and not line.startswith("Start:") and not _ALSO.match(line):
            raise output.wrong(number, f'"{line.strip()}" is not a hop of mtr', "cut the file there")
    parsed = [
        (
            at,
            _answer(
                host,
                address,
                loss,
                sent,
                nanoseconds(by["Best"], output, line),
                nanoseconds(by["Avg"], output, line),
            ),
            sent,
        )
        for at, host, address, loss, sent, by, line in hubs
    ]
    return [_ended(output, source, output.target, None, parsed)]


def read_json(output: Output) -> list[Trace]:
    """The trace of ``--json``."""
    try:
        report = json.loads("\n".join(output.lines))["report"]
        about, hubs = report["mtr"], report["hubs"]
        parsed = [
            (
                int(hub["count"]),
                _answer(
                    *_host(str(hub["host"])),
                    float(hub["Loss%"]),
                    int(hub["Snt"]),
                    _milliseconds(hub["Best"]),
                    _milliseconds(hub["Avg"]),
                ),
                int(hub["Snt"]),
            )
            for hub in hubs
        ]
        source = output.source or str(about["src"])
        target = str(about["dst"])
    except json.JSONDecodeError as error:
        raise output.wrong(
            error.lineno, f"not JSON: {error.msg}", "the output may be cut off; run the program again"
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        reason = f"not a report of mtr: {type(error).__name__} at {error}"
        raise output.wrong(1, reason, "take it by mtr --json") from None
    return [_ended(output, source, target, plain(target) if is_address(target) else None, parsed)]


def read_raw(output: Output) -> list[Trace]:
    """The trace of ``--raw``: what was sent (x), who answered (h), what it is called (d), how soon (p)."""
    hosts: dict[int, str] = {}
    names: dict[int, str] = {}
    sent: dict[int, int] = defaultdict(int)
    trips: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, line in enumerate(output.lines, 1):
        words = line.split()
        if len(words) < 3 or not words[1].isdigit():
            if line.strip():
                raise output.wrong(
                    number, f'"{line.strip()}" is not a line of mtr --raw', "cut the file there"
                )
            continue
        kind, at, value = words[0], int(words[1]) + 1, words[2]
        if kind == "h" and is_address(value):
            hosts[at] = plain(value)
        elif kind == "d":
            names[at] = value
        elif kind == "x":
            sent[at] += 1
        elif kind == "p" and at in hosts and value.isdigit():
            trips[at][hosts[at]].append(int(value) * 1000)
    last = max(trips, default=0)
    parsed = [
        (
            at,
            answers(hosts[at], trips[at][hosts[at]], name=named(names.get(at, "")))
            if trips.get(at)
            else None,
            sent[at] or sum(map(len, trips[at].values())),
        )
        for at in range(1, last + 1)
    ]
    return [_ended(output, output.source, output.target, None, parsed)]


def _host(text: str) -> tuple[str, str | None]:
    both = re.fullmatch(r"(\S+) \((\S+)\)", text)
    return (both[1], both[2]) if both else (text, None)


def _milliseconds(value: Any) -> int:
    return round(float(value) * 1e6)


def _answer(
    host: str, address: str | None, loss: float, sent: int, shortest_ns: int, mean_ns: int
) -> Answers | None:
    received = round(sent * (1 - loss / 100))
    if host == "???" or received <= 0:
        return None
    key = address or host
    key = plain(key) if is_address(key) else key
    return Answers(key, received, shortest_ns, max(mean_ns, shortest_ns), named(host))


def _ended(
    output: Output,
    source: str,
    target: str | None,
    address: str | None,
    hubs: list[tuple[int, Answers | None, int]],
) -> Trace:
    """The trace of ``hubs``: a distance, who answered, and how many probes went there."""
    if not hubs:
        raise output.wrong(1, "no hop is in it", "the output may be cut off; run the program again")
    answered = [(at, found, sent) for at, found, sent in hubs if found]
    if not answered:
        raise LonghaulError(
            Code.MEASUREMENT_FAILED,
            f"{output.name}: nothing answered",
            remedy="run the program again",
            exit_code=2,
        )
    at, last, sent = answered[-1]
    # Trailing silence: the end was not reached; it answers under another address only if it is a name.
    silent = hubs[-1][1] is None
    reached = not silent if address is None else last.address == address
    if target is None:
        target = last.name or last.address
        address = None if silent else last.address
    elif reached and address is None:
        address = last.address
    pings = Pings(sent, last.count, None) if reached else None
    notes = () if reached else ("mtr did not reach its end",)
    hops = tuple(
        Hop(distance, (found,) if found else ()) for distance, found, _sent in hubs if distance <= at
    )
    return Trace(source, target, address, hops, reached, pings, notes)
