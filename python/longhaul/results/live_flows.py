"""Real flows and pings of a live run: the network's counts, and the programs' reports."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, assert_never

from longhaul.analysis.contradictions import checked
from longhaul.analysis.distributions import distribution, thinned
from longhaul.analysis.network_flows import Connection, end_text, total
from longhaul.plan import Plan
from longhaul.results import datagram_flows, logs, request_flows
from longhaul.results.logs import Pings
from longhaul.results.network_counts import NetworkCounts
from longhaul.results.run_files import read_object
from longhaul.results.simulated_flows import stream_rates
from longhaul.scenario.lower.main_tables import every_address
from longhaul.scenario.model.traffic import Kind

Json = dict[str, Any]

_MOST_CONTROL_BYTES = 16 * 1024
"""Parameters and results of iperf3, at most."""


def flows(
    directory: Path,
    traffic: Sequence[Json],
    plan: Plan,
    *,
    programs: Mapping[str, Json],
    counts: NetworkCounts | None,
) -> tuple[list[Json], list[Json]]:
    """Totals and intervals. ``programs`` are those of the summary, by name.

    A flow that was told to end has no error. ``checked`` of a total has what a program reports and what
    the network counted. Without counts, as of older versions, a program's report is all there is.
    """
    totals, rows = [], []
    for item in traffic:
        kind: Kind = item["kind"]
        make: Callable[[Path, Json, Plan, Json, NetworkCounts | None], tuple[Json, list[Json]]]
        match kind:
            case "tcp":
                make = _tcp
            case "udp":
                make = _datagrams
            case "ping" | "requests" | "replay" | "pcap":
                # Packets of captures are counted where they leave: in the engine.
                continue
            case _:
                assert_never(kind)
        head = {
            "name": item["name"],
            "flow": item["program"],
            "from": item["from"],
            "to": item["to"],
            "simulated": False,
            "kind": item["kind"],
            "cc": item["cc"],
        }
        found, intervals = make(directory, item, plan, programs.get(item["program"], {}), counts)
        if programs.get(item["program"], {}).get("stopped_by_run"):
            found["error"] = None
        totals.append({**head, **found})
        keys = ("name", "flow", "from", "to", "simulated")
        rows += [{**{key: head[key] for key in keys}, "start_ns": 0, **row} for row in intervals]
    for group in request_flows.gathered(traffic):
        results = request_flows.played(group, directory / "logs")
        found = request_flows.total(group, results, duration_ns=plan["duration_ns"])
        totals.append({**found, **_checked_transfers(group, found, plan, counts)})
    return totals, rows


def pings(
    directory: Path, traffic: Sequence[Json], *, t0_unix_ns: int, counts: NetworkCounts | None
) -> Mapping[str, Pings]:
    """Echo requests by program."""
    return {
        item["program"]: logs.read_ping(
            directory / "logs" / f"{item['program']}.out",
            t0_unix_ns,
            every_ns=item["every_ns"],
            counted=counts.ping_counts(item["from"], item["to"], item["identifier"])
            if counts and item.get("identifier")
            else None,
        )
        for item in traffic
        if item["kind"] == "ping"
    }


def moved(planned: Json | None, counts: NetworkCounts | None) -> list[Json]:
    """For each pair of hosts, the bytes that a transfer program reports and those of the network."""
    if planned is None or counts is None:
        return []
    claimed: dict[tuple[str, str], float] = {}
    for request in planned["requests"]:
        for piece in (request["achieved"] or {}).get("pieces", ()):
            ends = (request["from"], request["to"])
            moved = (piece["finish_s"] - piece["start_s"]) * piece["bits_per_s"] / 8
            claimed[ends] = claimed.get(ends, 0.0) + moved
    found = []
    for (source, destination), moved in claimed.items():
        carried = counts.payload_bytes(source, destination)
        found.append(
            {
                "name": f"transfers from {source} to {destination}",
                # Other traffic between them may have carried more.
                "checked": [checked("moved", "bytes", reported=round(max(moved, carried)), counted=carried)],
            }
        )
    return found


def own_ends(plan: Plan, traffic: Sequence[Mapping[str, Any]]) -> Set[str]:
    """Addresses and ports at which the run's own traffic arrives."""
    addresses = every_address(plan["nodes"])
    found = {(row["to"], _port(plan, row["server"])) for row in traffic if row.get("server")}
    return {
        end_text(address, port) for host, port in found if port is not None for address in addresses[host]
    }


def _tcp(
    directory: Path, item: Json, plan: Plan, program: Json, counts: NetworkCounts | None
) -> tuple[Json, list[Json]]:
    found, reported_rows, reported_algorithms = _reported(directory / "logs", item)
    start_ns, took_ns = item.get("start_ns", 0), found.pop("took_ns")
    volume = item.get("volume_bytes")
    found |= {"volume_bytes": volume, "start_ns": start_ns}
    found["end_ns"] = start_ns + took_ns if volume and took_ns else None
    streams = _streams(item, plan, counts)
    if counts is None or not streams:
        offset_ns = item.get("start_ns", 0)
        rows = [{**row, "start_ns": offset_ns} for row in reported_rows]
        return {**found, "measured_by": "program"}, rows
    every_ns = plan["measure"]["every_ns"]
    rows = [
        row
        for stream, each in enumerate(streams)
        for row in counts.intervals(each, stream=stream, every_ns=every_ns)
    ]
    rtts = Counter(round(row["rtt_ns"]) for row in rows if row["rtt_ns"])
    measured = _measured(streams, item, plan, program)
    algorithms = counts.algorithms(streams) or reported_algorithms
    return {
        **found,
        **measured,
        "rtt": distribution(rtts) if rtts else found["rtt"],
        "algorithms": _known(algorithms, plan),
        "measured_by": "network",
        "checked": [
            checked(
                "received in order",
                "bytes",
                reported=found["bytes"] if found["reported"] else None,
                counted=measured["bytes"],
            )
        ],
    }, rows


def _reported(directory: Path, item: Json) -> tuple[Json, list[Json], list[str]]:
    """Totals, intervals and algorithms, as the run's own sender or iperf3 reports them."""
    if "generator" in item:
        report = read_object(directory / f"{item['program']}.out")
        return _transfer_totals(report, item), [], [report["algorithm"]] if report.get("algorithm") else []
    client, server = (logs.read_iperf(directory / f"{item[end]}.out") for end in ("program", "server"))
    intervals = list(logs.flow_intervals(client))
    return logs.flow_totals(client, server), intervals, logs.iperf_algorithms(client)


def _transfer_totals(report: Json, item: Json) -> Json:
    """The report of the sender of a bulk transfer, with the keys of iperf3's totals."""
    done_ns = report.get("done_ns")
    took_ns = None if done_ns is None else done_ns - item["start_ns"]
    moved, segments = report.get("bytes"), report.get("segments_sent")
    return {
        "goodput_bits_per_s": moved * 8e9 / took_ns if moved and took_ns else None,
        "throughput_bits_per_s": report["bytes_sent"] * 8e9 / took_ns if moved and took_ns else None,
        "retransmits": report.get("retransmits"),
        "retransmission_rate": report["retransmits"] / segments if segments else None,
        "loss": None,
        "rtt": thinned(report["rtt"]) if moved and report["rtt"]["count"] else None,
        "bytes": moved,
        "took_ns": took_ns,
        "stream_rates": [],
        "error": report.get("error") if report else "left no report",
        "reported": bool(moved),
    }


def _streams(item: Json, plan: Plan, counts: NetworkCounts | None) -> list[Connection]:
    """The connections of a flow that carry its data: of iperf3, all but the first, which is for control.

    Of Multipath TCP, those with no more payload than a control connection are further subflows of it.
    """
    port = _port(plan, item["server"])
    if counts is None or port is None:
        return []
    found = counts.connections(item["from"], item["to"], port)[0 if "generator" in item else 1 :]
    return [each for each in found if not item.get("mptcp") or each.in_order_bytes > _MOST_CONTROL_BYTES]


def _measured(streams: Sequence[Connection], item: Json, plan: Plan, program: Json) -> Json:
    """Goodput and the rest from the network's counts, by the equations of docs/models/measures.md."""
    begin_ns = min(each.data["first_ns"] for each in streams)
    acknowledged = [each.last_acknowledged_ns or begin_ns for each in streams]
    volume: int | None = item.get("volume_bytes")
    received = sum(each.in_order_bytes for each in streams)
    is_whole = volume is not None and received >= volume
    end_ns = max(acknowledged) if is_whole else _end_ns(begin_ns, item, plan, program)
    span_s = (end_ns - begin_ns) / 1e9
    sent, retransmitted = (total(streams, f"{name}_packets") for name in ("sent", "retransmitted"))
    rates = [each.in_order_bytes * 8 / span_s if span_s > 0 else None for each in streams]
    return {
        "goodput_bits_per_s": received * 8 / span_s if span_s > 0 else None,
        "throughput_bits_per_s": total(streams, "payload_bytes") * 8 / span_s if span_s > 0 else None,
        "retransmits": retransmitted,
        "retransmission_rate": retransmitted / sent if sent else None,
        "bytes": received,
        "begin_ns": begin_ns,
        "end_ns": end_ns if is_whole else None,
        **stream_rates(rates, mptcp=item.get("mptcp", False)),
    }


def _end_ns(begin_ns: int, item: Json, plan: Plan, program: Json) -> int:
    """Until when the sender was to send: as long as iperf3 was told, or until it was stopped."""
    argv: Sequence[str] = next(
        (each["argv"] for each in plan["programs"] if each["name"] == item["program"]), []
    )
    ends: list[int] = []
    if "-t" in argv:
        ends.append(begin_ns + int(argv[argv.index("-t") + 1]) * 10**9)
    if program.get("end_ns"):
        ends.append(program["end_ns"])
    if plan["duration_ns"] is not None:
        ends.append(plan["duration_ns"])
    return min(ends, default=begin_ns)


def _datagrams(
    directory: Path, item: Json, plan: Plan, _program: Json, counts: NetworkCounts | None
) -> tuple[Json, list[Json]]:
    every_ns = plan["measure"]["every_ns"]
    found, intervals = datagram_flows.totals(item, directory / "logs", every_ns=every_ns)
    port = _port(plan, item["server"])
    counted = counts.datagrams(item["from"], item["to"], port) if counts and port else None
    sent, received = found.pop("sent"), found.pop("received")
    if counted is not None:
        found["checked"] = [
            checked("sent", "packets", reported=sent, counted=counted["sent_packets"]),
            checked("received", "packets", reported=received, counted=counted["delivered_packets"]),
        ]
    return found, intervals


def _checked_transfers(
    group: Sequence[Mapping[str, Any]], found: Json, plan: Plan, counts: NetworkCounts | None
) -> Json:
    if counts is None:
        return {}
    ends = {(row["from"], row["to"], _port(plan, row["server"])) for row in group if row.get("server")}
    seen = [
        each
        for source, target, port in ends
        if port is not None
        for each in counts.connections(source, target, port)
    ]
    carried = sum(each.in_order_bytes for each in seen)
    return {
        "algorithms": _known(counts.algorithms(seen), plan),
        "checked": [checked("received in order", "bytes", reported=found["bytes"], counted=carried)]
        if seen
        else [],
    }


def _port(plan: Plan, server: str | None) -> int | None:
    """The port at which a flow's server listens."""
    for program in plan["programs"]:
        if program["name"] == server:
            plays, ready = program.get("plays"), program["ready"]
            return plays["port"] if plays else ready["tcp_port"] if ready else None
    return None


def _known(algorithms: Sequence[str], plan: Plan) -> list[str]:
    """Algorithms by the names that scenarios have for them, not by those of this run's kernel."""
    names = {each["name"]: str(each["cc"]["algorithm"]) for each in plan.get("algorithms", ())}
    return sorted({names.get(each, each) for each in algorithms})
