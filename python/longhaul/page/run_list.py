"""The list of run directories under ``runs/``, with the contents of each."""

import re
from pathlib import Path
from typing import Any, cast

from longhaul.analysis.changes import describe_changes
from longhaul.analysis.clocks import clock_text
from longhaul.analysis.drops import undelivered
from longhaul.diagnostics import Code
from longhaul.page.division import divided
from longhaul.page.drawing import drawn_plan
from longhaul.page.outcomes import failures_of, programs_of
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.files import Axis
from longhaul.page.responses.runs import (
    Annotated,
    Deleted,
    Log,
    NetworkChange,
    Planned,
    Probe,
    RunDetails,
    RunNetwork,
    RunRow,
)
from longhaul.page.responses.studies import SweepRow
from longhaul.page.sampling import NOW_FIGURES
from longhaul.plan import Plan
from longhaul.results import annotations, experiments, trash
from longhaul.results import directory as directories
from longhaul.results.annotations import Annotations
from longhaul.results.changes import read_changes
from longhaul.results.experiments import Listed, ListedSweep
from longhaul.results.growing_files import last_bytes
from longhaul.results.outcomes import read_outcome
from longhaul.results.run_files import probe_name, read_json
from longhaul.scenario.lower.main_tables import host_ends

Json = dict[str, Any]

_ID = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,80})~(?P<stamp>[0-9]{8}T[A-Za-z0-9-]{1,80})")
_LOG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,120}")
MOST_LOG_BYTES = 1 << 18
_NO_NETWORK: Json = {"nodes": [], "links": [], "programs": [], "measure": {"every_ns": None}}


def id_of(directory: Path) -> str:
    """What the page calls the run in ``directory``."""
    return f"{directory.parent.name}~{directory.name}"


def find(runs: Path, run: str, *, kind: str = "run.json") -> Path:
    """The directory of ``run``, which has a file ``kind``; raises :class:`RefusedError`."""
    match = _ID.fullmatch(run)
    directory = runs / match["name"] / match["stamp"] if match else None
    if directory is None or not (directory / kind).is_file():
        raise RefusedError(
            Code.PAGE_NOT_FOUND, 404, "there is no such run", remedy="look at the list of runs again"
        )
    return directory


def find_any(runs: Path, run: str) -> Path:
    """The directory of a run or a sweep; raises :class:`RefusedError`."""
    try:
        return find(runs, run, kind="sweep.json")
    except RefusedError:
        return find(runs, run)


def rows(runs: Path) -> list[RunRow]:
    """The latest runs, newest first."""
    return [_row(each) for each in experiments.listed(runs)]


def sweeps(runs: Path) -> list[SweepRow]:
    """The latest sweeps, newest first."""
    return [_sweep_row(each) for each in experiments.listed_sweeps(runs)]


def deleted(runs: Path) -> list[Deleted]:
    """The runs and sweeps in the trash, newest first."""
    return [
        {"id": id_of(each), "label": annotations.read(each).title or each.parent.name}
        for each in trash.deleted(runs)
        if _ID.fullmatch(id_of(each))
    ]


def sweep(directory: Path) -> SweepRow:
    """One line of the list of sweeps."""
    return _sweep_row(experiments.read_sweep(directory))


def _sweep_row(sweep: ListedSweep) -> SweepRow:
    return {
        "id": id_of(sweep.directory),
        "name": sweep.name,
        "label": sweep.label,
        "annotations": annotated(sweep.annotations),
        "status": sweep.status,
        "started_unix_s": sweep.started_unix_s,
        "axes": cast("list[Axis]", sweep.axes),
        "variants": sweep.variants,
        "repeats": sweep.repeats,
        "directory": str(sweep.directory),
        "has_report": (sweep.directory / "report.html").is_file(),
        "can_stop": False,
    }


def row(directory: Path) -> RunRow:
    """One line of the list of runs, as the whole list has it."""
    return _row(experiments.one(directory))


def _row(listed: Listed) -> RunRow:
    run, said = listed.experiment, listed.annotations
    return {
        "id": id_of(listed.directory),
        "name": run.name,
        "label": listed.label,
        "differs": listed.differs,
        "parameters": dict(listed.parameters),
        "metrics": run.metrics,
        "annotations": annotated(said),
        "mode": run.mode,
        "status": run.status,
        "started_unix_s": run.started_unix_s,
        "seed": run.seed,
        "argv": run.argv,
        "directory": str(listed.directory),
        "has_report": (listed.directory / "report.html").is_file(),
        "outcome": {"state": run.state, "detail": run.detail},
        "verdict": run.verdict,
        "verdict_text": run.verdict_text,
        "hosts": run.hosts,
        "duration_s": run.duration_s,
        "expectations_met": run.expectations_met,
        "made_by_page": False,
    }


def annotated(said: Annotations) -> Annotated:
    """What people say of a run."""
    return {"title": said.title, "tags": list(said.tags), "note": said.note, "etag": said.etag}


def details(directory: Path) -> RunDetails:
    """The same with summary, and what there is to look at."""
    plan = read_plan(directory)
    summary = _without_curves(read_json(directory / "summary.json"))
    about, run = row(directory), directories.read_run(directory)
    transfers = read_json(directory / "transfers.json")
    return {
        **about,
        "run": run,
        "clock": clock_text(summary) if summary else None,
        "divided": divided(run, plan, summary),
        "failures": failures_of(read_outcome(directory)),
        "ended_programs": programs_of(summary.get("programs", ()) if summary else ()),
        "changes": changes(directory, summary),
        "summary": summary,
        "averages": _averages(summary, plan) if summary else None,
        "fidelity": summary.get("fidelity") if summary else None,
        "transfers": transfers,
        "transfer_charts": _transfer_charts(transfers, summary),
        **of_plan(plan),
        "probes": probes(directory),
        "logs": sorted(
            {path.stem for path in (directory / "logs").glob("*.out") if _LOG.fullmatch(path.stem)}
        ),
        "files": sorted(
            str(path.relative_to(directory))
            for path in directory.rglob("*")
            if path.is_file() and path.parent.name != "raw"
        )[:1000],
        "tables": sorted(path.stem for path in directory.glob("*.parquet")),
        "scenario": _scenario(directory),
    }


def _transfer_charts(transfers: Json | None, summary: Json | None) -> list[Json]:
    if transfers is None:
        return []
    from longhaul.report.chart_json import chart_json
    from longhaul.report.transfer_results import gantt

    chart = gantt(transfers, summary["changes"] if summary else ())
    return [chart_json(chart)] if chart else []


def _averages(summary: Json, plan: Plan) -> list[list[float | None]]:
    """Of each link of the plan, the figures of ``now`` over the whole run, forward and in reverse."""
    found = {
        (row["name"], row["way"]): [
            row["achieved"]["rate_bits_per_s"],
            row["achieved"]["utilisation"],
            row["queueing_delay"]["mean_ns"] if row["queueing_delay"]["count"] else None,
            undelivered(row["packets"]),
            row["lateness"]["p99_ns"] if row["lateness"] else None,
        ]
        for row in (summary.get("links") or () if plan["links"] else ())
    }
    unknown = [None] * len(NOW_FIGURES)
    return [
        [*found.get((link["name"], "forward"), unknown), *found.get((link["name"], "reverse"), unknown)]
        for link in plan["links"]
    ]


def network(directory: Path) -> RunNetwork:
    """What the map of a run is drawn of: what the run itself kept, whatever has become of its file."""
    raw = directory / "raw"
    nodes, links = drawn_plan(
        read_plan(directory),
        positions=read_json(raw / "positions.json") or {},
        spots=read_json(raw / "spots.json") or {},
        functions=read_json(raw / "functions.json") or {},
    )
    return {"scenario": _scenario(directory), "nodes": nodes, "links": links}


def _scenario(directory: Path) -> str:
    return (directory / "scenario.yaml").read_text(encoding="utf-8", errors="replace")


def read_plan(directory: Path) -> Plan:
    """The plan of a run. A relay has clusters instead of a network, of which the page draws nothing."""
    plan = directories.read_plan(directory)
    return plan if "nodes" in plan else cast("Plan", {**plan, **_NO_NETWORK})


def of_plan(plan: Plan) -> Planned:
    """What listeners need of a plan: names in the order of samples."""
    nodes = plan["nodes"]
    return {
        "duration_ns": plan["duration_ns"],
        "every_ns": plan["measure"]["every_ns"],
        "links": [link["name"] for link in plan["links"]],
        "ends": [[nodes[end]["name"] for end in host_ends(nodes, link)] for link in plan["links"]],
        "programs": [
            {"name": each["name"], "host": nodes[each["host"]]["name"], "service": each["service"]}
            for each in plan["programs"]
        ],
    }


def probes(directory: Path) -> list[Probe]:
    """The pings of a run: which program each is, from where to where."""
    traffic = read_json(directory / "raw" / "traffic.json") or []
    return [
        {
            "name": probe_name(each),
            "program": each["program"],
            "from": each["from"],
            "to": each["to"],
            "every_ns": each["every_ns"],
        }
        for each in traffic
        if each["kind"] == "ping"
    ]


def log(directory: Path, program: str, *, stream: str, tail: int) -> Log:
    """The last ``tail`` bytes of what a program wrote, from a whole line on."""
    if not _LOG.fullmatch(program) or stream not in ("out", "err"):
        raise RefusedError(Code.PAGE_NOT_FOUND, 404, "there is no such log")
    try:
        content, size = last_bytes(directory / "logs" / f"{program}.{stream}", tail)
    except OSError:
        raise RefusedError(Code.PAGE_NOT_FOUND, 404, f"{program} has written nothing yet") from None
    if size > tail:
        content = content[content.find(b"\n") + 1 :]
    return {"program": program, "text": content.decode(errors="replace"), "bytes": size}


def changes(directory: Path, summary: Json | None) -> list[NetworkChange]:
    """Those of the summary; of a run that goes on or was cut short, those that it has recorded."""
    if summary is not None and "changes" in summary:
        return cast("list[NetworkChange]", summary["changes"])
    plan = directories.read_plan(directory)
    found = [each.as_dict() for each in describe_changes(plan, read_changes(directory, plan))]
    return cast("list[NetworkChange]", found)


def _without_curves(content: Any) -> Any:
    """``content`` without distributions point by point, which nobody reads as numbers."""
    if isinstance(content, dict):
        return {key: _without_curves(each) for key, each in content.items() if key != "cdf"}
    return [_without_curves(each) for each in content] if isinstance(content, list) else content
