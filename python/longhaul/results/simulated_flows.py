"""Records of simulated ends, in the form of live programs' logs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.distributions import merged, thinned
from longhaul.analysis.outcome import ending_text
from longhaul.results import request_flows
from longhaul.results.iterations import simulated_iterations
from longhaul.results.logs import Pings
from longhaul.results.raw_tables import Records
from longhaul.scenario.model.traffic import TRANSFER_KINDS, transport

Json = dict[str, Any]

_SERIES = ("t_ns", "flow", "stream", "received_bytes", "window_segments", "rtt_ns", "retransmits")


def flows(
    records: Records, traffic: Sequence[Mapping[str, Any]], engine: Mapping[str, Any]
) -> tuple[list[Json], list[Json]]:
    """Totals of every flow, and a row for each of its streams and sampling intervals."""
    series = _series(records)
    of_program = by_program(engine["flows"])
    totals, rows = [], []
    for item in traffic:
        if item["kind"] == "ping" or item["kind"] in TRANSFER_KINDS:
            continue
        streams = of_program.get(item["program"], [])
        total = flow_total(item, streams)
        for measure in ("rtt", "delay"):
            total[measure] = thinned(total[measure]) if total[measure] else None
        if item["kind"] == "pcap":
            total |= _packets(streams, engine.get("replays", {}).get(item["program"]))
        total["streams"] = [
            {key: value for key, value in each.items() if key not in ("rtt", "delay")} for each in streams
        ]
        totals.append(total)
        head = {key: total[key] for key in ("name", "flow", "from", "to", "simulated")}
        for stream in range(len(streams)):
            # What is taken needs no memory twice.
            taken = series.pop((item["program"], stream), ())
            rows += [{**head, "start_ns": 0, **row} for row in taken]
    by_name = {each["name"]: each for each in engine["flows"] if "took" in each}
    for group in request_flows.gathered(traffic):
        results = [by_name[item["program"]] for item in group if item["program"] in by_name]
        totals.append(request_flows.total(group, results))
    return totals, rows


def _packets(streams: Sequence[Mapping[str, Any]], replayed: Mapping[str, Any] | None) -> Json:
    """Packets of a capture by their fate, and, in a live run, how late they left."""
    sent, copies = _sum(streams, "sent"), _sum(streams, "copies")
    delivered = _sum(streams, "received") - copies
    lateness = replayed["departure_error"] if replayed else None
    return {
        "sent_packets": sent,
        "sent_bytes": _sum(streams, "bytes_sent"),
        "delivered_packets": delivered,
        "lost_packets": sent - delivered,
        "copied_packets": copies,
        "send_lateness": thinned(lateness) if lateness and lateness["count"] else None,
    }


def by_program(streams: Iterable[Mapping[str, Any] | None]) -> dict[str, list[Mapping[str, Any]]]:
    """What the engine says of streams, by the flow of the plan that they belong to."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for stream in streams:
        if stream is not None:
            found.setdefault(stream["name"], []).append(stream)
    return found


def flow_total(item: Mapping[str, Any], streams: Sequence[Mapping[str, Any]]) -> Json:
    """The totals of a flow, from what the engine says of its ``streams``; with whole distributions."""
    rates = [each["goodput_bits_per_s"] for each in streams]
    tcp = transport(item["kind"]) == "tcp"
    sent, distinct = _sum(streams, "sent"), _sum(streams, "received") - _sum(streams, "copies")
    delay = streams[0]["delay"] if not tcp and streams else None
    rtt = merged(each["rtt"] for each in streams) if item["kind"] == "tcp" else None
    sent_bytes, segments = (_sum(streams, key) for key in ("bytes_sent", "segments_sent"))
    span_s = max((each["span_s"] for each in streams), default=0.0)
    retransmits = _sum(streams, "retransmits") if tcp else None
    ends: list[int | None] = [each.get("done_ns") for each in streams]
    known = [each for each in ends if each is not None]
    moved = sum(each["bytes"] for each in streams)
    # A transfer that was stopped before all of it had arrived has not ended.
    ended = len(known) == len(ends) > 0 and moved >= (item.get("volume_bytes") or 0)
    return {
        "name": item["name"],
        "flow": item["program"],
        "from": item["from"],
        "to": item["to"],
        "simulated": bool(item.get("simulated", True)),
        "kind": item["kind"],
        "cc": item["cc"],
        "goodput_bits_per_s": sum(rate for rate in rates if rate is not None) if rates else None,
        "throughput_bits_per_s": sent_bytes * 8 / span_s if span_s else None,
        "retransmits": retransmits,
        "retransmission_rate": retransmits / segments if retransmits is not None and segments else None,
        "loss": (sent - distinct) / sent if not tcp and sent else None,
        "reordered": None if tcp else _sum(streams, "reordered"),
        "delay": delay if delay and delay["count"] else None,
        "rtt": rtt if rtt and rtt["count"] else None,
        "bytes": moved,
        "volume_bytes": item.get("volume_bytes"),
        "start_ns": item.get("start_ns", 0),
        "end_ns": max(known) if ended else None,
        "error": _error(streams),
        **stream_rates(rates, mptcp=item.get("mptcp", False)),
    }


def stream_rates(rates: Sequence[float | None], *, mptcp: bool) -> Json:
    """The goodputs of a flow's streams; the subflows of Multipath TCP are one, and are also listed."""
    known = [rate for rate in rates if rate is not None]
    if not mptcp:
        return {"stream_rates": known}
    return {"stream_rates": [sum(known)] if known else [], "subflow_rates": known}


def _sum(streams: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(each.get(key, 0) for each in streams)


def _error(streams: Sequence[Mapping[str, Any]]) -> str | None:
    failed = sum(each.get("failed", each.get("state") == "failed") for each in streams)
    return f"{failed} connections gave up" if failed else None


def programs(directory: Path, engine: Mapping[str, Any]) -> list[Json]:
    """Simulated parallel programs, in the shape of real ones."""
    from longhaul.results.directory import read_plan

    jobs = read_plan(directory).get("jobs", [])
    found = []
    for job, planned in zip(engine["jobs"], jobs, strict=True):
        done = job["wall_ns"] is not None
        # Runs of before a job could start after another have no start of their own.
        start_ns = job.get("start_ns", planned["start_ns"])
        row = {
            "name": job["name"],
            "host": f"{job['ranks']} ranks",
            "argv": ["simulated"],
            "service": False,
            "start_ns": start_ns,
            "wall_ns": job["wall_ns"],
            "exit": 0 if done else None,
            "signal": None,
            "stopped_by_run": not done and start_ns is not None,
            "expect_exit": 0,
            "cpu_ns": None,
            "error": None,
            "failure": None,
            "good": True,
            "iterations": job["iterations"],
            "iteration": simulated_iterations(job),
        }
        found.append({**row, "ending": ending_text(row)})
    return found


def echoes_down(engine: Mapping[str, Any]) -> dict[str, int]:
    """By flow, how many of its echo requests and replies ended at a link that was down."""
    names = dict(engine.get("flow_names", ()))
    down: dict[str, int] = {}
    for flow, fate, count in engine.get("echo_fates", ()):
        if fate == "down" and flow in names:
            # Requests are of the stream NAME.0, replies of "NAME.0 back".
            name = names[flow].removesuffix(" back").rpartition(".")[0]
            down[name] = down.get(name, 0) + count
    return down


def pings(records: Records, engine: Mapping[str, Any]) -> Mapping[str, Pings]:
    """Echo requests by flow."""
    down = echoes_down(engine)
    columns = _columns(records, "pings", ("flow", "seq", "sent_ns", "rtt_ns"))
    found: dict[str, Pings] = {}
    for flow, seq, sent_ns, rtt_ns in zip(*columns.values(), strict=True):
        pings = found.setdefault(flow, Pings(0, {}, {}))
        pings.sent_ns[seq] = sent_ns
        if rtt_ns is not None:
            pings.rtt_ns[seq] = rtt_ns
    return {
        flow: Pings(
            len(each.sent_ns),
            each.rtt_ns,
            dict(sorted(each.sent_ns.items())),
            lost_down=min(down.get(flow, 0), len(each.sent_ns) - len(each.rtt_ns))
            if "echo_fates" in engine
            else None,
        )
        for flow, each in found.items()
    }


def is_live(metric: str, programs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether only a live run has this: real programs, and how late packets and senders were."""
    kind, _, rest = metric.partition(".")
    if kind == "programs":
        return not any(rest.startswith(f"{each['name']}.") for each in programs)
    if kind == "flows" and ".send_lateness." in rest:
        return True
    return kind == "fidelity" and metric != "fidelity.verdict"


def account(engine: Mapping[str, Any]) -> Json:
    """How the simulation went: speed, size, and the fingerprint that equal runs share."""
    simulated_s = engine["duration_ns"] / 1e9
    return {
        "wall_s": engine["wall_s"],
        "cpu_s": engine["cpu_s"],
        "speed": simulated_s / engine["wall_s"] if engine["wall_s"] else None,
        "shards": engine.get("shards", 1),
        "hops": engine["hops"],
        "hops_per_cpu_s": engine["hops"] / engine["cpu_s"] if engine["cpu_s"] else None,
        "damaged": engine["damaged"],
        "digest": engine["digest"],
    }


def _series(records: Records) -> dict[tuple[str, int], list[Json]]:
    """Rows of one sampling interval each, as iperf3's intervals have them, by flow and stream."""
    columns = _columns(records, "flows", _SERIES)
    names = list(columns)
    before: dict[tuple[str, int], Json] = {}
    found: dict[tuple[str, int], list[Json]] = {}
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(names, values, strict=True))
        key = (row["flow"], row["stream"])
        last = before.get(key)
        before[key] = row
        if last is None or row["t_ns"] <= last["t_ns"]:
            continue
        span_s = (row["t_ns"] - last["t_ns"]) / 1e9
        found.setdefault(key, []).append(
            {
                "stream": row["stream"],
                "start_s": last["t_ns"] / 1e9,
                "end_s": row["t_ns"] / 1e9,
                "bits_per_s": (row["received_bytes"] - last["received_bytes"]) * 8 / span_s,
                "retransmits": row["retransmits"] - last["retransmits"],
                "window_segments": row["window_segments"],
                "rtt_ns": row["rtt_ns"],
            }
        )
    return found


def _columns(records: Records, file: str, names: tuple[str, ...]) -> dict[str, list[Any]]:
    """Some columns of a table; empty ones if it is missing."""
    table = records.table(file, names)
    return {name: table.column(name).to_pylist() if table else [] for name in names}
