"""The records of a run on several machines, or of several engine threads, merged into those of one.

Times become those of the first machine's clock, as far as the relation of the clocks is known; counters
of a link come from the machine that its sender is on.
"""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul import _longhaul, storage
from longhaul.analysis.fidelity import LOST_BETWEEN
from longhaul.analysis.merged_distributions import merged
from longhaul.plan import WAYS, Plan
from longhaul.results import pcapng
from longhaul.results.divided_flows import TIMES, DividedFlows, joined_results
from longhaul.results.ending import Ending
from longhaul.results.growing_text import OWN_LOGS

Json = dict[str, Any]

MACHINES = "machines"
_JOURNAL = "journal.bin"
_JOURNALS = "journals"
"""In ``raw/`` of a divided run: ``NAME.bin`` of each part, and ``shards.json``."""
_TIMES = (
    "t_ns",
    "offered_ns",
    "due_ns",
    "sent_ns",
    "first_ns",
    "last_ns",
    "last_new_ns",
    "last_acknowledged_ns",
)
_TABLES = ("samples", "lateness", "packets", "monitor", "monitor_flows", "pings", "requests")
"""Whose rows each machine has its own of."""
_FLOWS = "flows.csv"
_BY_HOST = ("hosts", "accounts", "algorithms")
_SUMS = ("pools_grown", "lost_records", "step_downs")
_OF_MACHINE = (
    "gaps",
    "scheduling",
    "steal_ns",
    "step_downs",
    "work",
    "duration_ns",
    "tunnel",
    "t0_unix_ns",
    "error",
)
"""What the engine of each machine says of itself."""
_ENDS = ("protocol", "source", "source_port", "destination", "destination_port")
_NOT_SUMMED = ("flow", *_ENDS, "first_ns", "last_ns", "last_new_ns", "last_acknowledged_ns")


@dataclass(frozen=True)
class _Part:
    """What one machine recorded."""

    number: int
    name: str
    directory: Path
    engine: Json | None
    offset_ns: float
    """The first machine's clock minus this one's, at the end of the run."""
    drift: float
    """How much faster the first machine's is."""

    @property
    def raw(self) -> Path:
        return self.directory / "raw"

    def first_machines(self, ns: int) -> int:
        """A time of this machine by the first machine's clock."""
        if self.engine is None or self.number == 0:
            return ns
        ended_ns: int = self.engine["duration_ns"]
        return ns + round(self.offset_ns - self.drift * (ended_ns - ns))


def merge(
    directory: Path, plan: Plan, partition: Sequence[int], names: Sequence[str], ending: Ending
) -> None:
    """Write ``raw/``, ``logs/`` and ``captures/`` of a run from those of its machines, which stay."""
    parts = [_part(directory / MACHINES / name, number, names) for number, name in enumerate(names)]
    raw = directory / "raw"
    _concatenate(raw / "sockets.csv", parts)
    for name in _BY_HOST:
        every: Json = {}
        for part in parts:
            every |= _read(part.raw / f"{name}.json") or {}
        storage.replace_json(raw / f"{name}.json", every)
    storage.replace_json(raw / "programs.json", _programs(parts, plan))
    _copy_logs(directory / "logs", parts)
    started = next((found for part in parts if (found := _read(part.raw / "started.json"))), None)
    if started is not None:
        storage.replace_json(raw / "started.json", started)
    storage.replace_json(raw / "ended.json", {"ended": ending.status, "reason": ending.reason})
    _merge_divided_flows(raw / _FLOWS, parts, DividedFlows(plan, partition, plan["measure"]["every_ns"]))
    _merge_engines(directory, parts, plan, partition)


def shards_of(partition: Sequence[int]) -> list[Json]:
    """The shards of a run on one machine as ``run.json`` has machines: their names and numbers of nodes."""
    return [
        {"name": f"shard-{number}", "nodes": partition.count(number)} for number in range(max(partition) + 1)
    ]


def merge_shards(directory: Path, plan: Plan, partition: Sequence[int]) -> None:
    """The same for a run on one machine whose network was divided among engine threads.

    What the supervisor wrote is complete already.
    """
    names = [each["name"] for each in shards_of(partition)]
    parts = [_part(directory / MACHINES / name, number, names) for number, name in enumerate(names)]
    # The first one has written both ends of each flow.
    _concatenate(directory / "raw" / _FLOWS, parts)
    _merge_engines(directory, parts, plan, partition)
    if (directory / "raw" / "engine.json").is_file():
        shutil.rmtree(directory / MACHINES)


def _merge_engines(directory: Path, parts: Sequence[_Part], plan: Plan, partition: Sequence[int]) -> None:
    """What the engines recorded."""
    raw = directory / "raw"
    for name in _TABLES:
        _concatenate(raw / f"{name}.csv", parts)
    numbers = _merge_flows(raw, parts)
    _merge_flow_samples(raw, parts, numbers)
    _merge_changes(raw / "changes.jsonl", parts, plan, partition)
    _merge_captures(directory, parts)
    _keep_journals(raw, parts, partition)
    if all(part.engine for part in parts):
        storage.replace_json(raw / "engine.json", _engine(parts, plan, partition))


def _part(directory: Path, number: int, names: Sequence[str]) -> _Part:
    engine = _read(directory / "raw" / "engine.json")
    peers = ((engine or {}).get("tunnel") or {}).get("peers", ())
    clock = next((peer["clock"] for peer in peers if peer["machine"] == names[0]), None) or {}
    return _Part(
        number, names[number], directory, engine, clock.get("offset_ns", 0.0), clock.get("drift", 0.0)
    )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _rows(path: Path) -> Iterator[list[str]]:
    """The complete lines of a table, the names of its columns first."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            yield from csv.reader(line for line in file if line.endswith("\n"))
    except (OSError, UnicodeDecodeError, csv.Error):
        return


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with storage.replacing(path) as out:
        lines = csv.writer(_Text(out.write), lineterminator="\n")
        lines.writerow(header)
        lines.writerows(rows)


@dataclass
class _Text:
    """Text that is written as bytes."""

    put: Callable[[bytes], Any]

    def write(self, text: str) -> None:
        self.put(text.encode())


def _concatenate(path: Path, parts: Sequence[_Part]) -> None:
    """The rows of all machines, one machine's after the other's."""
    header: list[str] = []

    def rows() -> Iterator[list[str]]:
        for part in parts:
            table = _rows(part.raw / path.name)
            if next(table, None) != header:
                continue
            places = [place for place, name in enumerate(header) if name in _TIMES]
            for row in table:
                yield _shifted(row, places, part) if part.number and len(row) == len(header) else row

    for part in parts:
        header = header or next(_rows(part.raw / path.name), [])
    if header:
        _write(path, header, rows())


def _merge_divided_flows(path: Path, parts: Sequence[_Part], flows: DividedFlows) -> None:
    """Samples of simulated flows, each with what the machines of both of its ends know."""
    header = next((found for part in parts if (found := next(_rows(part.raw / path.name), None))), None)
    if header is None:
        return
    times = [place for place, name in enumerate(header) if name in _TIMES]

    def rows(part: _Part) -> Iterator[list[str]]:
        table = _rows(part.raw / path.name)
        next(table, None)
        return (_shifted(row, times, part) for row in table if len(row) == len(header))

    for part in parts:
        for row in rows(part):
            if flows.is_receivers(row, part.number):
                flows.note(row)
    senders = (row for part in parts for row in rows(part) if not flows.is_receivers(row, part.number))
    _write(path, header, (flows.joined(row) for row in senders))


def _shifted(row: list[str], places: Sequence[int], part: _Part) -> list[str]:
    for place in places:
        if row[place]:
            row[place] = str(part.first_machines(int(row[place])))
    return row


def _merge_flows(raw: Path, parts: Sequence[_Part]) -> list[dict[str, int]]:
    """Each flow once: sent on one machine, and perhaps delivered on another.

    Returns for each machine the number that a flow's number there becomes.
    """
    header: list[str] = []
    flows: dict[tuple[str, ...], Json] = {}
    numbers: list[dict[str, int]] = []
    for part in parts:
        table = _rows(part.raw / "flow_counts.csv")
        header = next(table, header)
        known: dict[str, int] = {}
        for row in table:
            if len(row) != len(header):
                continue
            found = dict(zip(header, row, strict=True))
            key = tuple(found[name] for name in _ENDS)
            is_rest = found["flow"] == "0"
            for name in ("first_ns", "last_ns", "last_new_ns", "last_acknowledged_ns"):
                found[name] = str(part.first_machines(int(found[name]))) if found[name] else ""
            merged_row = flows.get(key)
            if merged_row is None:
                flows[key] = {**found, "flow": 0 if is_rest else len(flows) + 1}
            else:
                if int(found["sent_packets"]) > 0:
                    merged_row |= {name: found[name] for name in _NOT_SUMMED if name.endswith("_ns")}
                for name in header:
                    if name not in _NOT_SUMMED:
                        merged_row[name] = int(merged_row[name]) + int(found[name])
            known[found["flow"]] = int(flows[key]["flow"])
        numbers.append(known)
    if header:
        order = sorted(flows.values(), key=lambda flow: int(flow["flow"]))
        sent = [flow for flow in order if int(flow["sent_packets"]) > 0]
        _write(raw / "flow_counts.csv", header, ([flow[name] for name in header] for flow in sent))
    return numbers


def _merge_flow_samples(raw: Path, parts: Sequence[_Part], numbers: Sequence[Mapping[str, int]]) -> None:
    """Counts over time: at each sample of a flow, the sum of what every machine has counted so far."""
    header: list[str] = []
    samples: dict[int, list[tuple[int, int, list[int]]]] = {}
    for part, known in zip(parts, numbers, strict=True):
        table = _rows(part.raw / "flow_samples.csv")
        header = next(table, header)
        for row in table:
            if len(row) == len(header) and row[1] in known:
                at_ns = part.first_machines(int(row[0]))
                counts = [int(value) for value in row[2:]]
                samples.setdefault(known[row[1]], []).append((at_ns, part.number, counts))
    rows: list[list[int]] = []
    for flow, each in samples.items():
        latest: dict[int, list[int]] = {}
        for at_ns, machine, counts in sorted(each):
            latest[machine] = counts
            rows.append([at_ns, flow, *(sum(values) for values in zip(*latest.values(), strict=True))])
    if header:
        _write(raw / "flow_samples.csv", header, sorted(rows))


def _programs(parts: Sequence[_Part], plan: Plan) -> list[Json]:
    found: dict[str, Json] = {}
    for part in parts:
        for program in _read(part.raw / "programs.json") or ():
            for name in ("start_ns", "end_ns"):
                if program.get(name) is not None:
                    program[name] = part.first_machines(program[name])
            found[program["name"]] = program
    return [found[program["name"]] for program in plan["programs"] if program["name"] in found]


def _merge_changes(path: Path, parts: Sequence[_Part], plan: Plan, partition: Sequence[int]) -> None:
    lists = [_lines(part.raw / "changes.jsonl") for part in parts]
    # Of a machine that is gone, or has ended before the others, what the first one says stands in.
    every = [
        [each[place] if place < len(each) else line for each in lists] for place, line in enumerate(lists[0])
    ]
    storage.replace_text(path, "".join(joined_change(each, plan, partition) + "\n" for each in every))


def joined_change(lines: Sequence[str | bytes], plan: Plan, partition: Sequence[int]) -> str:
    """A change as one engine records it, of the line that each machine wrote for it.

    Every machine makes every change; what a direction had counted before is known where it begins.
    """
    changes = [json.loads(line) for line in lines]
    change: Json = changes[0]
    ways = change.get("before", {})
    owners = {way: owner_of(plan, partition, change["link"], way) for way in ways}
    return json.dumps(
        {**change, "before": {way: changes[owner]["before"][way] for way, owner in owners.items()}}
    )


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def owner_of(plan: Plan, partition: Sequence[int], link: int, way: str) -> int:
    """The machine that decides what happens on one direction of a link."""
    return partition[plan["links"][link]["endpoints"][0 if way == "forward" else 1]]


def _merge_captures(directory: Path, parts: Sequence[_Part]) -> None:
    """Both machines of a link that is cut see packets at each of its ends."""
    names = sorted({path.name for part in parts for path in (part.directory / "captures").glob("*.pcapng")})
    if not names:
        return
    if not (directory / "captures").is_dir():
        storage.make_directory(directory / "captures")
    began_ns = [(part.engine or {}).get("t0_unix_ns") for part in parts]
    for name in names:
        files = []
        for part, began in zip(parts, began_ns, strict=True):
            path = part.directory / "captures" / name
            if path.is_file() and began is not None and began_ns[0] is not None:
                # Wall clocks may differ by more than those of the runs.
                files.append((path, _capture_time(part, began, began_ns[0])))
        if not files:
            # Nobody knows when their packets were there; what was joined during the run remains.
            continue
        with storage.replacing(directory / "captures" / name) as out:
            pcapng.merge(files, out)


def _keep_journals(raw: Path, parts: Sequence[_Part], partition: Sequence[int]) -> None:
    """Each engine has the journal of its shard, by its own clock."""
    kept = [part for part in parts if (part.raw / _JOURNAL).is_file()]
    if kept:
        storage.make_directory(raw / _JOURNALS)
        for part in kept:
            (part.raw / _JOURNAL).replace(raw / _JOURNALS / f"{part.name}.bin")
        shards = {"partition": list(partition), "names": [part.name for part in parts]}
        storage.replace_json(raw / _JOURNALS / "shards.json", shards)


def journals(directory: Path) -> list[tuple[Path, tuple[list[int], int] | None]]:
    """The journals that the run in ``directory`` has recorded, each with its shard if the run was divided.

    A shard is that of each node, and its own number. One whose journal is missing is in the list, too.
    """
    whole, divided = directory / "raw" / _JOURNAL, directory / "raw" / _JOURNALS
    shards = _read(divided / "shards.json")
    if shards is None:
        return [(whole, None)] if whole.is_file() else []
    return [
        (divided / f"{name}.bin", (shards["partition"], number))
        for number, name in enumerate(shards["names"])
    ]


def _capture_time(part: _Part, began_ns: int, first_ns: int) -> Callable[[int], int]:
    return lambda unix_ns: first_ns + part.first_machines(unix_ns - began_ns)


def _copy_logs(logs: Path, parts: Sequence[_Part]) -> None:
    for part in parts:
        for path in sorted((part.directory / "logs").glob("*")):
            if path.is_file():
                name = f"{part.name}.{path.name}" if path.name in OWN_LOGS else path.name
                storage.replace_bytes(logs / name, path.read_bytes())


def _engine(parts: Sequence[_Part], plan: Plan, partition: Sequence[int]) -> Json:
    """What one engine would have written; ``machines`` has what each says of itself."""
    engines = [part.engine or {} for part in parts]
    first = engines[0]
    worst = max(engines, key=lambda engine: engine["gaps"]["total_ns"] / max(engine["duration_ns"], 1))
    errors = [
        f"machine {part.name}: {part.engine['error']}"
        for part in parts
        if part.engine and part.engine["error"]
    ]
    hosts = {node["name"]: partition[place] for place, node in enumerate(plan["nodes"])}
    pacing = zip(*(engine["pacing"] for engine in engines), strict=True)
    return {
        **{name: first[name] for name in ("t0_unix_ns", "duration_ns", "coalesce_ns")},
        **{name: sum(engine[name] for engine in engines) for name in _SUMS},
        "error": errors[0] if errors else None,
        "links": [
            {
                "name": link["name"],
                **{way: engines[owner_of(plan, partition, place, way)]["links"][place][way] for way in WAYS},
            }
            for place, link in enumerate(plan["links"])
        ],
        "packets": packets(engines),
        "pacing": [rows[hosts[rows[0]["host"]]] for rows in pacing],
        "lateness": _distributions(engines, "lateness"),
        "spacing": _distributions(engines, "spacing"),
        "ports": {
            host: port
            for number, engine in enumerate(engines)
            for host, port in engine["ports"].items()
            if hosts[host] == number
        },
        "flow_names": [
            list(each) for each in dict.fromkeys(tuple(n) for e in engines for n in e["flow_names"])
        ],
        **{name: worst[name] for name in ("gaps", "scheduling", "steal_ns", "work")},
        **_simulated(engines),
        **_job_results(parts),
        **_flow_results(parts, plan),
        "machines": {
            part.name: {
                **{name: engine.get(name) for name in _OF_MACHINE},
                "lateness": {"all": engine["lateness"]["all"]},
            }
            for part, engine in zip(parts, engines, strict=True)
        },
    }


def _simulated(engines: Sequence[Json]) -> Json:
    """What the engines say of the traffic that they have themselves, but for the results of its flows."""
    parts = [engine["simulated"] for engine in engines if "simulated" in engine]
    if not parts:
        return {}
    fates: Counter[tuple[int, str]] = Counter()
    for engine in engines:
        fates.update({(flow, fate): count for flow, fate, count in engine.get("echo_fates", ())})
    return {
        "simulated": {
            "lateness": merged([part["lateness"] for part in parts]),
            "reached_ns": min(part["reached_ns"] for part in parts),
            "damaged": sum(part["damaged"] for part in parts),
        },
        "echo_fates": [[flow, fate, count] for (flow, fate), count in sorted(fates.items())],
        "replays": {name: each for engine in engines for name, each in engine.get("replays", {}).items()},
    }


def _job_results(parts: Sequence[_Part]) -> Json:
    """Of simulated programs, of which each part knows when its own ranks had finished each iteration."""
    shards = []
    for part in parts:
        jobs = (part.engine or {}).get("jobs")
        if jobs is None:
            return {}
        for job in jobs:
            job["ends_ns"] = [max(part.first_machines(ns), 0) for ns in job["ends_ns"]]
        shards.append(json.dumps(jobs))
    return {"jobs": json.loads(_longhaul.joined_jobs(shards))}


def _flow_results(parts: Sequence[_Part], plan: Plan) -> Json:
    """Of simulated flows: the first of several threads has both ends of each, and each machine its own."""
    every = [(part, result) for part in parts for result in (part.engine or {}).get("flows", ())]
    for part, result in every:
        for name in TIMES:
            if result.get(name) is not None:
                result[name] = part.first_machines(result[name])
    simulates = any("flows" in (part.engine or {}) for part in parts)
    return {"flows": joined_results(plan, (result for _, result in every))} if simulates else {}


def packets(engines: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The fates of the packets of all machines.

    A packet that crosses has left one machine and come to another: it is held where it came, and lost between
    the machines if it was sent and never came.
    """
    totals = {name: sum(engine["packets"][name] for engine in engines) for name in engines[0]["packets"]}
    peers = [peer for engine in engines for peer in engine["tunnel"]["peers"]]
    sent = sum(peer["sent_packets"] for peer in peers)
    received = sum(peer["received_packets"] for peer in peers)
    leaving = sum(engine["leaving_packets"] for engine in engines)
    arriving = sum(engine["arriving_packets"] for engine in engines)
    totals["held"] += arriving - leaving
    return {**totals, LOST_BETWEEN: sent - received}


def _distributions(engines: Sequence[Json], name: str) -> Json:
    links: dict[str, list[Json]] = {}
    for engine in engines:
        for link, found in engine[name]["links"].items():
            links.setdefault(link, []).append(found)
    return {
        "all": merged([engine[name]["all"] for engine in engines]),
        "links": {link: merged(found) for link, found in links.items()},
    }
