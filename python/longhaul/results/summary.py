"""Tables and summary of a run, from ``raw/`` and ``logs/``."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from longhaul.analysis.algorithms import algorithm_warnings, summarise_algorithms
from longhaul.analysis.changes import describe_changes
from longhaul.analysis.configuration import Configuration
from longhaul.analysis.contradictions import checked, contradictions
from longhaul.analysis.drops import summarise_drops
from longhaul.analysis.expectations import evaluate
from longhaul.analysis.fairness import fairness
from longhaul.analysis.fidelity import judge, with_damage
from longhaul.analysis.limits import summarise_limits
from longhaul.analysis.links import interval_pieces, peak_rates, summarise_links
from longhaul.analysis.machines import summarise_machines
from longhaul.analysis.metrics import metrics
from longhaul.analysis.outcome import ending_text, expectation_state, program_failure
from longhaul.analysis.pacing import summarise_pacing
from longhaul.analysis.sharing import bottleneck
from longhaul.analysis.totals import totals
from longhaul.analysis.transfers import summarise_transfers
from longhaul.analysis.unfinished import engine_of_samples
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results import (
    host_files,
    live_flows,
    manifest,
    network_counts,
    outcomes,
    program_output,
    request_flows,
    simulated_flows,
)
from longhaul.results.arrow_functions import column_of
from longhaul.results.changes import read_configuration
from longhaul.results.iterations import printed_iterations
from longhaul.results.logs import Pings
from longhaul.results.monitor_tables import write_tables
from longhaul.results.network_counts import NetworkCounts, read_counts
from longhaul.results.raw_tables import Records, known_names, read_recorded
from longhaul.results.run_files import (
    kept_json,
    probe_name,
    read_json,
    read_table,
    reading,
    write_pieces,
    write_table,
)
from longhaul.results.segments import capture_files, read_segments
from longhaul.scenario.lower.link_models import plan_bits_per_s
from longhaul.scenario.lower.paths import Routes, Step
from longhaul.storage import replace_json

Json = dict[str, Any]
Paths = Callable[[str, str], Sequence[Step] | None]
"""The links and ways from one node to another, by their names; ``None`` without a path."""

_TABLES = ("links", "flows", "jobs", "flow_names")
"""What the engine says that has a place elsewhere."""
_SAMPLE_COLUMNS = (
    "t_ns",
    "link",
    "way",
    "offered_bytes",
    "delivered_bytes",
    "wire_bytes",
    "waiting_packets",
    "waiting_bytes",
    "flying_packets",
)
_PROGRAMS = ("program", "server", "generator")
"""Where a row of traffic names programs that the run itself made."""
_QUANTILES = (("min", 0.0), ("p50", 0.5), ("p99", 0.99), ("max", 1.0))


def programs_of_traffic(traffic: Sequence[Json]) -> set[str]:
    """The names of the programs that the run itself made for rows of ``raw/traffic.json``."""
    return {row[key] for row in traffic for key in _PROGRAMS if key in row}


def write_results(directory: Path) -> Json:
    """Write tables, ``fidelity.json`` and ``summary.json``; returns the summary.

    What is missing or broken shows in the verdict; it never stops the rest. Raises LonghaulError if files
    that nothing else tells are damaged.
    """
    with reading(directory):
        return _write_results(directory)


def _write_results(directory: Path) -> Json:
    raw = directory / "raw"
    host_files.unpack_all(directory)
    plan = _plan(directory)
    damaged = manifest.check_sources(directory)
    records = Records(directory, known_names(plan))
    samples = records.columns("samples", _SAMPLE_COLUMNS)
    engine = read_engine(directory) or _unfinished(directory, plan, samples)
    hosts: Json = read_json(raw / "hosts.json") or {}
    traffic: list[Json] = read_json(raw / "traffic.json") or []
    configuration = read_configuration(directory, plan)
    simulated = engine is not None and engine.get("mode") == "sim"
    peaks = _write_links(directory, samples, plan, configuration)
    # The largest table of a long run.
    del samples
    tables = write_tables(records, engine)
    counts = None if simulated else read_counts(records, plan, read_table(directory, "sockets"))
    may_end = {each["name"] for each in plan.get("programs", ()) if each.get("may_end")}
    printed = read_json(raw / "program_metrics.json") or {}
    programs = [
        _program(each, may_end) | _printed(directory, each, printed)
        for each in read_json(raw / "programs.json") or []
    ]
    flows, flow_rows, pings = _traffic(records, plan, engine, programs, counts)
    if engine is not None and "jobs" in engine:
        programs += simulated_flows.programs(directory, engine)
    paths = _paths(plan)
    probes, probe_rows = _probes(traffic, paths, pings, configuration)
    _write_table(_columns(flow_rows), directory / "flows.parquet")
    _write_table(_columns(probe_rows), directory / "probes.parquet")
    segments = read_segments(records, plan, engine)
    if segments.num_rows:
        write_table(segments, directory / "segments.parquet")
    requests = request_flows.table(records, traffic, plan.get("flows", ()))
    if requests is not None:
        write_table(requests, directory / "requests.parquet")
    links = summarise_links(plan, engine, peaks, configuration) if engine else []
    accounts = read_json(raw / "accounts.json")
    judged = judge(engine, hosts, accounts)
    fidelity = with_damage(judged, files=map(str, damaged), lines=records.damaged_lines).as_dict()
    algorithms = [] if simulated else _algorithms(directory, plan, traffic)
    summary: Json = {
        "name": plan.get("name"),
        "duration_ns": engine["duration_ns"] if engine else None,
        "ended": (read_json(raw / "ended.json") or {}).get("ended"),
        "changes": [each.as_dict() for each in describe_changes(plan, configuration.changes)],
        "links": links,
        "pacing": summarise_pacing(plan, engine),
        "programs": programs,
        "flows": [{**flow, **_bottleneck(flow, paths, links)} for flow in flows],
        "probes": probes,
        "total": totals(flows),
        "fairness": fairness(flows),
        "transfers": summarise_transfers(flows, shared_bits_per_s(plan, traffic)),
        "packets": engine["packets"] if engine else {},
        "drops": summarise_drops(engine["packets"], links) if engine else None,
        "algorithms": algorithms,
        "limits": [] if simulated else summarise_limits(plan, accounts),
        "captures": capture_files(directory, plan),
        "fidelity": fidelity,
        "virtual_clock": _virtual_clock(engine, directory),
        "machines": summarise_machines(engine, _recorded(directory, "machines")),
        **tables,
    }
    planned = read_json(directory / "transfers.json")
    if planned is not None:
        # A plan has these measures of its own, of the same transfers.
        summary |= {"planned_transfers": planned, "transfers": None}
    summary["warnings"] = [
        *contradictions([*flows, *live_flows.moved(planned, counts)], probes),
        *_algorithm_warnings(directory, plan, algorithms, flows),
    ]
    if counts is not None:
        write_table(network_counts.table(counts), directory / "connections.parquet")
    if engine is not None and simulated:
        summary["simulation"] = simulated_flows.account(engine)
    summary |= _evaluated(summary, read_json(raw / "expectations.json") or [])
    summary["outcome"] = outcomes.evaluate(directory, summary).as_dict()
    replace_json(
        directory / "fidelity.json", {**fidelity, "engine": _without_traffic(engine), "host_counters": hosts}
    )
    replace_json(directory / "summary.json", summary)
    manifest.update(directory)
    return summary


def _recorded(directory: Path, name: str) -> Sequence[Json]:
    """What the run's record has of its parts; nothing if it has none."""
    found: Sequence[Json] = (read_json(directory / "run.json") or {}).get(name) or ()
    return found


def _virtual_clock(engine: Json | None, directory: Path) -> Json | None:
    """What the hosts' clock tells of itself, if it was virtual, and on which machines they were."""
    if engine is None or engine.get("clock") != "virtual":
        return None
    account = engine["virtual"]
    scale = account.get("cpu_scale", 0)
    seconds = engine["duration_ns"] / 1e9
    return {
        "digest": account["digest"],
        "cpu_speed": 1000 / scale if scale else None,
        "wall_s": account["wall_s"],
        "wall_s_per_s": account["wall_s"] / seconds if seconds > 0 else None,
        "hosts": account["hosts"],
        "machines": list(_recorded(directory, "host_machines")),
    }


def _write_links(
    directory: Path, samples: Mapping[str, np.ndarray[Any, Any]], plan: Plan, configuration: Configuration
) -> Mapping[tuple[str, str], float]:
    """Write ``links.parquet``; returns the peak rate of each direction."""
    peaks: dict[tuple[str, str], float] = {}

    def tables() -> Iterator[pa.Table]:
        for piece in interval_pieces(samples, plan, configuration):
            for direction, rate in peak_rates(piece).items():
                peaks[direction] = max(rate, peaks.get(direction, 0.0))
            yield pa.table({name: column_of(values) for name, values in piece.items()})

    write_pieces(tables(), directory / "links.parquet", otherwise=pa.table({}))
    return peaks


def _unfinished(directory: Path, plan: Plan, samples: Mapping[str, np.ndarray[Any, Any]]) -> Json | None:
    """What a live run had counted that was killed; ``None`` if it recorded nothing, or was none."""
    started = read_json(directory / "raw" / "started.json")
    return engine_of_samples(plan, samples, t0_unix_ns=started["t0_unix_ns"]) if started else None


def _evaluated(summary: Json, expectations: list[Json]) -> Json:
    """The expectations with their values; those that only a live run can evaluate are named apart."""
    found: Json = {}
    if "simulation" in summary:
        live = [each for each in expectations if simulated_flows.is_live(each["metric"], summary["programs"])]
        found["not_simulated"] = [each["metric"] for each in live]
        expectations = [each for each in expectations if each not in live]
    rows = evaluate(expectations, metrics(summary)) if expectations else []
    return found | {
        "expectations": [{**each, "state": expectation_state(each, summary["ended"])} for each in rows]
    }


def _plan(directory: Path) -> Plan:
    """The plan of a run whose results can be made. Raises LonghaulError for what is no such run."""
    if not (directory / "plan.json").is_file():
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{directory} is not a run directory: it has no plan.json",
            remedy="name one, such as runs/NAME/latest-live or latest-sim",
            exit_code=2,
        )
    plan: Plan = kept_json(directory, "plan.json")
    if "clusters" in plan:
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{directory} is that of a relay, without the run.json that its report is made from",
            remedy="its results are in summary.json, messages.parquet and connections.parquet",
            exit_code=2,
        )
    if not (directory / "raw").is_dir():
        raise LonghaulError(
            Code.RESULTS_INCOMPLETE,
            f"{directory} has no raw/ that results could be made from",
            remedy="those that it has stay as they are",
            exit_code=2,
        )
    return plan


def read_engine(directory: Path) -> Json | None:
    """What the engine of a run counted; ``None`` if it left nothing."""
    found: Json | None = read_json(directory / "raw" / "engine.json")
    return found


def read_samples(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The samples of all directions by column; empty when there are none."""
    return as_samples(read_recorded(path, _SAMPLE_COLUMNS))


def as_samples(table: pa.Table | None) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of a table of samples; empty when there is none."""
    if table is None:
        return {}
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def _program(raw: Mapping[str, Any], may_end: Set[str]) -> Json:
    start, end = raw["start_ns"], raw["end_ns"]
    row = {
        "name": raw["name"],
        "host": raw["host"],
        "argv": raw["argv"],
        "service": raw["service"],
        "may_end": raw["name"] in may_end,
        "start_ns": start,
        "end_ns": end,
        "wall_ns": end - start if start is not None and end is not None else None,
        "exit": raw["exit"],
        "signal": raw["signal"],
        "stopped_by_run": raw["stopped_by_run"],
        "expect_exit": raw["expect_exit"],
        "cpu_ns": round((raw["cpu_user_s"] + raw["cpu_system_s"]) * 1e9),
        "error": raw["error"],
    }
    failure = program_failure(row)
    return {**row, "ending": ending_text(row), "failure": failure, "good": failure is None}


def _printed(directory: Path, program: Mapping[str, Any], wanted: Json) -> Json:
    """The times of iterations and the metrics that a program printed, if it has any."""
    log = directory / "logs" / f"{program['name']}.out"
    iteration = None if program["service"] else printed_iterations(log)
    found = {"iterations": iteration["count"], "iteration": iteration} if iteration else {}
    if program["name"] in wanted:
        found["metrics"] = program_output.measure(log, wanted[program["name"]])
    return found


def _traffic(
    records: Records, plan: Plan, engine: Json | None, programs: list[Json], counts: NetworkCounts | None
) -> tuple[list[Json], list[Json], Mapping[str, Pings]]:
    """Totals of flows, their intervals, and pings by program; real and simulated ones."""
    directory = records.directory
    traffic: list[Json] = read_json(directory / "raw" / "traffic.json") or []
    simulated = engine is not None and engine.get("mode") == "sim"
    real = [] if simulated else [each for each in traffic if not each.get("simulated")]
    by_name = {each["name"]: each for each in programs}
    flows, rows = live_flows.flows(directory, real, plan, programs=by_name, counts=counts)
    t0_unix_ns = engine["t0_unix_ns"] if engine and real else 0
    pings = live_flows.pings(directory, real, t0_unix_ns=t0_unix_ns, counts=counts)
    if engine is not None and "jobs" in engine:
        background = [
            each for each in traffic if simulated or each.get("simulated") or each["kind"] == "pcap"
        ]
        totals, more = simulated_flows.flows(records, background, engine)
        order = {each[key]: -place for place, each in enumerate(traffic[::-1]) for key in ("name", "program")}
        flows = sorted(flows + totals, key=lambda flow: order[flow["flow"]])
        rows += more
        pings = {**pings, **simulated_flows.pings(records, engine)}
    return flows, rows, pings


def _probes(
    traffic: list[Json], paths: Paths, found: Mapping[str, Pings], configuration: Configuration
) -> tuple[list[Json], list[Json]]:
    totals, rows = [], []
    for item in traffic:
        if item["kind"] != "ping":
            continue
        pings = found.get(item["program"], Pings(0, {}, {}))
        simulated = bool(item.get("simulated"))
        head = {"name": probe_name(item), "from": item["from"], "to": item["to"], "simulated": simulated}
        rows += [
            {**head, "seq": seq, "t_s": sent_ns / 1e9, "rtt_ns": pings.rtt_ns.get(seq)}
            for seq, sent_ns in pings.sent_ns.items()
        ]
        values = np.array(sorted(pings.rtt_ns.values()), dtype=np.int64)
        lost = pings.sent - len(values) if pings.lost is None else pings.lost
        quantile = {
            name: int(np.quantile(values, q, method="inverted_cdf")) if len(values) else None
            for name, q in _QUANTILES
        }
        totals.append(
            {
                **head,
                "sent": pings.sent,
                "received": len(values),
                "lost": lost,
                "lost_down": pings.lost_down,
                "loss": lost / pings.sent if pings.sent else None,
                "checked": _checked(pings),
                **{f"rtt_{name}_ns": value for name, value in quantile.items()},
                **_path_rtt(pings, _path_rtt_steps(paths, configuration, item["from"], item["to"])),
            }
        )
    return totals, rows


def _algorithms(directory: Path, plan: Plan, traffic: Sequence[Json]) -> list[Json]:
    """The congestion-control algorithms that hosts used, but for those of the run's own traffic."""
    defaults: dict[str, str] = read_json(directory / "raw" / "algorithms.json") or {}
    sockets = read_table(directory, "sockets")
    columns = {} if sockets is None else sockets.to_pydict()
    return summarise_algorithms(plan, defaults, columns, own_ends=live_flows.own_ends(plan, traffic))


def _algorithm_warnings(
    directory: Path, plan: Plan, algorithms: list[Json], flows: list[Json]
) -> Iterator[Mapping[str, Any]]:
    traffic = read_json(directory / "raw" / "traffic.json") or []
    own = programs_of_traffic(traffic)
    nodes = plan["nodes"]
    hosts = {
        nodes[host]["name"]
        for program in plan["programs"]
        if program["name"] not in own
        for host in (program.get("span") or {"hosts": [program["host"]]})["hosts"]
    }
    is_watched = (directory / "sockets.parquet").is_file()
    yield from algorithm_warnings(algorithms, flows, with_programs=hosts, is_watched=is_watched)


def _checked(pings: Pings) -> list[Mapping[str, Any]]:
    """What a program printed beside what the network counted."""
    if pings.reported is None:
        return []
    return [checked("answered", "packets", reported=pings.reported, counted=pings.received)]


def _bottleneck(flow: Json, paths: Paths, links: list[Json]) -> Json:
    """Where a flow of one path, from one host to one other, met what held it back."""
    if flow["kind"] not in ("tcp", "udp", "pcap") or not links:
        return {}
    return {"bottleneck": bottleneck(paths(flow["from"], flow["to"]) or (), links)}


def _path_rtt(pings: Pings, steps: list[tuple[int, int]] | None) -> Json:
    """The configured round trip: at the beginning, over time, and that of the pings that were answered.

    The latter, ``path_rtt_p50_ns`` and so on, are what the measured quantiles are to be compared with.
    """
    if steps is None:
        return {"path_rtt_ns": None, "path_rtt_steps": []}
    starts, values = np.array(steps, dtype=np.int64).T
    sent = np.array([pings.sent_ns[seq] for seq in pings.rtt_ns if seq in pings.sent_ns], dtype=np.int64)
    met = np.sort(values[np.maximum(np.searchsorted(starts, sent, side="right") - 1, 0)])
    quantiles = {
        f"path_rtt_{name}_ns": int(np.quantile(met, q, method="inverted_cdf")) if len(met) else None
        for name, q in _QUANTILES
    }
    return {"path_rtt_ns": steps[0][1], "path_rtt_steps": [list(step) for step in steps], **quantiles}


def _path_rtt_steps(
    paths: Paths, configuration: Configuration, source: str, target: str
) -> list[tuple[int, int]] | None:
    """From which ns on the configured delays there and back added up to which ns; queues come on top."""
    there, back = paths(source, target), paths(target, source)
    return None if there is None or back is None else configuration.delays([*there, *back])


def _paths(plan: Plan) -> Paths:
    """The paths of ``plan`` when the run begins; ``None`` for names that it does not have, too."""
    position = {node["name"]: index for index, node in enumerate(plan.get("nodes", ()))}
    routes = Routes(plan) if position else None

    def between(source: str, target: str) -> Sequence[Step] | None:
        if routes is None or source not in position or target not in position:
            return None
        return routes.steps(position[source], position[target])

    return between


def shared_bits_per_s(plan: Plan, traffic: Sequence[Mapping[str, Any]]) -> int | None:
    """The least rate that all TCP flows share; ``None`` if there is none."""
    paths = _paths(plan)
    each = [paths(item["from"], item["to"]) for item in traffic if item["kind"] == "tcp"]
    shared = set.intersection(*(set(path or ()) for path in each)) if each else set()
    rates = [plan_bits_per_s(plan["links"][link][way]) for link, way in shared]
    return min((rate for rate in rates if rate is not None), default=None)


def _columns(rows: list[Json]) -> dict[str, Any]:
    """Real and simulated rows may have different fields: what one has not is null."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _write_table(columns: Mapping[str, Any], path: Path) -> None:
    write_table(pa.table(dict(columns)), path)


def _without_traffic(engine: Json | None) -> Json | None:
    if engine is None:
        return None
    return {name: value for name, value in engine.items() if name not in _TABLES}
