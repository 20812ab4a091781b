"""Requests about relays: start one as the command line does, how each is doing, and path maps."""

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, cast

from longhaul.analysis.configuration import Configuration, Configured
from longhaul.analysis.relay_delays import judge_relay
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.export.pathmap import mpi_text, path_map, port_range, redirection_text, shell_text, ssh_text
from longhaul.page import folder, library, run_list
from longhaul.page.bodies import PathMapWish, RelayLink, RelayStart, RelayWish
from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.quantities import parse_quantity
from longhaul.page.refusals import RefusedError, as_problem
from longhaul.page.responses.jobs import Job
from longhaul.page.responses.relays import (
    Listener,
    PathMap,
    RelayCharts,
    RelayCheck,
    RelayLinkNow,
    RelayList,
    RelayRow,
    RelaySource,
    RelayState,
)
from longhaul.page.responses.runs import RunRow
from longhaul.page.run_requests import Experiments
from longhaul.page.text_requests import Texts
from longhaul.plan import WAYS, Plan
from longhaul.relay.quick import Flags, resolved_of
from longhaul.relay.report import cluster_names
from longhaul.relay.series import RelayMonitor, ended_series
from longhaul.relay.server import Opened, Order, checked_plan, describe_listener, name_of
from longhaul.results import directory as directories
from longhaul.results.changes import read_changes
from longhaul.results.run_files import read_json
from longhaul.run import session, sockets
from longhaul.scenario.lower.relay import reachable_listeners, section_of
from longhaul.units.quantities import Span

Json = dict[str, Any]

KIND = "relay"
_SECTION = re.compile(r"^relay[ \t]*:", re.MULTILINE)
_PASSWORD_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}")
_MOST_AT_ONCE = 8
"""Relays that the page starts before others have ended."""
_MOST_ROWS = 50


@dataclass(frozen=True)
class Relays:
    """Answers about the relays of one directory."""

    texts: Texts
    experiments: Experiments
    jobs: Jobs
    _monitors: dict[Path, RelayMonitor] = field(default_factory=dict)
    """Of the relays that run and were looked at last."""
    _reading: Lock = field(default_factory=Lock)

    def all(self, _asked: Asked) -> RelayList:
        """Relays of the directory, and scenarios to start one from."""
        rows = [each for each in run_list.rows(self.experiments.runs) if each["mode"] == "relay"]
        return {"relays": [self._row(each) for each in rows[:_MOST_ROWS]], "scenarios": self._sources()}

    def check(self, _asked: Asked, body: RelayWish) -> RelayCheck:
        """What a relay would be, and what is to be known before it starts."""
        return self._examine(body)[0]

    def start(self, _asked: Asked, body: RelayStart) -> Job:
        """Start ``longhaul relay serve`` as a job.

        Raises RefusedError if other machines could reach it and the request does not accept that.
        """
        found, words = self._examine(body)
        if found["reachable"] and not body.reachable:
            proxy = next((each for each in found["warnings"] if each["code"] == Code.OPEN_PROXY), None)
            raise RefusedError(
                Code.OPEN_PROXY if proxy else Code.PAGE_CONFLICT,
                409,
                proxy["message"] if proxy else f"other machines can reach {', '.join(found['reachable'])}",
                remedy='listen at 127.0.0.1, or accept it: "reachable": true',
            )
        running = sum(each["kind"] == KIND and each["ended_unix_s"] is None for each in self.jobs.all())
        if running >= _MOST_AT_ONCE:
            raise RefusedError(
                Code.PAGE_CONFLICT, 409, f"{_MOST_AT_ONCE} relays are running", remedy="stop one"
            )
        # Raises for a name that is in use; the command claims it again, and for good.
        with sockets.claimed(found["name"]):
            pass
        return self.jobs.start(
            words,
            kind=KIND,
            title=f"relay {found['name']}",
            alone=("calibrate",),
            read=lambda _line: None,
        )

    def look(self, asked: Asked) -> RelayState:
        """How a relay is doing, by what ``longhaul status`` says of it, or what its results are."""
        directory = self.experiments.directory_of(asked)
        row = run_list.row(directory)
        if row["mode"] != "relay":
            raise _not_a_relay(row)
        relay = self._row(row)
        summary = read_json(directory / "summary.json")
        counted: Json | None = self._counted(directory) if relay["running"] else summary
        about, plan = directories.read_run(directory), directories.read_plan(directory)
        return {
            **relay,
            "duration_ns": None if counted is None else counted.get("duration_ns"),
            "listeners": [_listener(each) for each in about.get("listening", ())],
            "connections": (counted or {}).get("connections") or None,
            "bytes": (counted or {}).get("bytes"),
            "pieces": (counted or {}).get("pieces"),
            "datagrams": (counted or {}).get("datagrams"),
            "links": _links(directory, plan, counted or {}),
            "fidelity": _fidelity(counted, summary, running=relay["running"]),
            "changes": run_list.changes(directory, summary),
            "has_report": row["has_report"],
            "directory": str(directory),
        }

    def charts(self, asked: Asked) -> RelayCharts:
        """What a relay carried over time, and how late, by its log of messages so far."""
        from longhaul.report.chart_json import chart_json
        from longhaul.report.relay_figures import over_time

        directory = self.experiments.directory_of(asked)
        row = run_list.row(directory)
        if row["mode"] != "relay":
            raise _not_a_relay(row)
        names = cluster_names(directory)
        plan: Mapping[str, Any] = directories.read_plan(directory)
        summary = read_json(directory / "summary.json")
        changes = run_list.changes(directory, summary)
        with self._reading:
            if row["status"] == "running":
                monitor = self._monitors.pop(directory, None) or RelayMonitor(directory)
                self._monitors[directory] = monitor
                monitor.read()
                series = monitor.series
            else:
                self._monitors.pop(directory, None)
                series = ended_series(directory, names, duration_ns=(summary or {}).get("duration_ns") or 0)
            while len(self._monitors) > _MOST_AT_ONCE:
                self._monitors.pop(next(iter(self._monitors)))
            chart = over_time(series, names, changes)
        return {
            "recorded": bool(plan["log"]["messages"]),
            "charts": [chart_json(chart)] if chart else [],
        }

    def paths(self, _asked: Asked, body: PathMapWish) -> PathMap:
        """The path map of a scenario, as ``longhaul relay paths`` prints it."""
        ports = port_range(body.ports)
        if ports is None:
            raise RefusedError(
                Code.PAGE_REQUEST, 400, f'"{body.ports}" is not a range of ports', remedy="send 20000-20999"
            )
        resolved = self.texts.resolved(body)
        relay, every = section_of(resolved), path_map(resolved)
        clusters = [
            {
                **each,
                "shell": shell_text(each),
                "ssh": ssh_text(each, every),
                "redirect": redirection_text(each, every, relay, ports=ports),
            }
            for each in every
        ]
        return cast(
            "PathMap",
            {"gateways": relay.gateways, "clusters": clusters, "mpi": mpi_text(every, ports=ports)},
        )

    def _examine(self, body: RelayWish) -> tuple[RelayCheck, list[str]]:
        """What a relay would be, and the command that starts it. Raises LonghaulError if it cannot run."""
        given = [each for each in (body.file, body.scenario, body.link) if each is not None]
        if len(given) != 1:
            raise RefusedError(
                Code.PAGE_REQUEST,
                400,
                "one source of the relay is wanted",
                remedy="send file, scenario or link",
            )
        if body.link is not None and body.settings:
            raise RefusedError(
                Code.PAGE_REQUEST,
                400,
                "a link without a scenario has no parameters",
                remedy='leave out "settings"',
            )
        path, flags = self._scenario(body), self._flags(body.link or RelayLink(), body.seed)
        resolved = resolved_of(path, settings=body.settings, flags=flags)
        span = None if body.duration is None else parse_quantity(Span, body.duration)
        order = Order(
            self.experiments.runs,
            (),
            gateway=body.gateway,
            name=body.name,
            duration_ns=None if span is None else span.ns,
            messages=body.messages,
        )
        planned, _complete = checked_plan(resolved, order)
        name = name_of(resolved, order)
        words = self._words(body, path, name)
        warnings = (*resolved.warnings, *planned.warnings)
        return {
            "name": name,
            "command": shlex.join(("longhaul", *words)),
            "listeners": [str(describe_listener(planned, each)) for each in planned.plan["listeners"]],
            "reachable": [
                str(describe_listener(planned, each)) for each in reachable_listeners(planned.plan)
            ],
            "warnings": [as_problem(each) for each in warnings],
        }, words

    def _scenario(self, body: RelayWish) -> Path | None:
        """The file of the scenario; ``None`` for a link without one."""
        if body.file is not None:
            # What errors say of a name, and of a link that leads elsewhere.
            folder.read(self.texts.directory, body.file)
            return self.texts.directory / body.file
        if body.scenario is None:
            return None
        library.read_scenario(body.scenario)
        return library.SCENARIOS / f"{body.scenario}.yaml"

    def _flags(self, link: RelayLink, seed: int | None) -> Flags:
        return Flags(
            delay=link.delay,
            rate=link.rate,
            loss=link.loss,
            jitter=link.jitter,
            forwards=link.forwards,
            socks=link.socks,
            seed=seed,
            password_file=None if link.password_file is None else str(self._password(link.password_file)),
            allow=link.allow,
        )

    def _password(self, name: str) -> Path:
        """A file of the directory; nothing but a plain name leads anywhere."""
        path = self.texts.directory / name
        if not _PASSWORD_FILE.fullmatch(name) or not path.is_file():
            raise RefusedError(
                Code.PASSWORD_INVALID,
                400,
                f"{name} is not a file of this directory",
                remedy=f"put it into {self.texts.directory}, and give its name",
            )
        if not path.resolve().is_relative_to(self.texts.directory.resolve()):
            raise folder.outside(name)
        return path

    def _words(self, body: RelayWish, path: Path | None, name: str) -> list[str]:
        """The command, with each option and its value in one word, so that none can be another option."""
        words = ["relay", "serve"]
        link = body.link
        if link is not None:
            given = {key: getattr(link, key) for key in ("delay", "rate", "loss", "jitter", "socks")}
            words += [f"--{key}={value}" for key, value in given.items() if value]
            words += [f"--forward={each}" for each in link.forwards]
            words += [f"--allow={each}" for each in link.allow]
            words += [f"--password-file={link.password_file}"] if link.password_file else []
        else:
            words.append(body.file or str(path))
        words += [f"--set={key}={value}" for key, value in body.settings.items()]
        words += [f"--gateway={body.gateway}"] if body.gateway is not None else []
        words += [f"--for={body.duration}"] if body.duration is not None else []
        words += [f"--seed={body.seed}"] if body.seed is not None else []
        return [*words, *([] if body.messages else ["--no-log"]), f"--name={name}"]

    def _sources(self) -> list[RelaySource]:
        """Scenarios that have a section ``relay``."""
        directory = self.texts.directory
        mine: list[RelaySource] = [
            {"name": each["name"], "own": False}
            for each in folder.listing(directory)
            if _SECTION.search(folder.read(directory, each["name"])["text"])
        ]
        ours: list[RelaySource] = [
            {"name": each["name"], "own": True}
            for each in library.scenarios()
            if _SECTION.search(library.read_scenario(each["name"]))
        ]
        return mine + ours

    def _row(self, row: RunRow) -> RelayRow:
        about = directories.read_run(Path(row["directory"]))
        is_running = row["status"] == "running"
        pid = ((about.get("processes") or {}).get("client") or {}).get("pid")
        return {
            "run": row["id"],
            "name": Path(about.get("socket") or row["name"]).stem,
            "label": row["label"],
            "started_unix_s": row["started_unix_s"],
            "running": is_running,
            "job": self.jobs.of_process(pid) if is_running and pid is not None else None,
            "outcome": row["outcome"],
            "verdict": row["verdict"],
            "verdict_text": row["verdict_text"],
        }

    def _counted(self, directory: Path) -> Json | None:
        """What a relay that is under way has counted; ``None`` while it starts or ends."""
        with suppress(LonghaulError):
            answer = session.ask(self.experiments.socket_of(directory), {"do": "status"})
            return cast("Json", answer["relay"])
        return None


def _not_a_relay(row: RunRow) -> RefusedError:
    remedy = "see it in the view Runs"
    return RefusedError(Code.PAGE_NOT_FOUND, 404, f"{row['label']} is not a relay", remedy=remedy)


def _listener(text: str) -> Listener:
    opened = Opened.parse(text)
    return {"kind": opened.kind, "address": opened.address, "from": opened.source, "to": opened.target}


def _fidelity(counted: Json | None, summary: Json | None, *, running: bool) -> Json | None:
    if not running:
        return (summary or {}).get("fidelity")
    return None if counted is None else judge_relay(counted).as_dict()


def _links(directory: Path, plan: Plan, counted: Mapping[str, Any]) -> list[RelayLinkNow]:
    """Each direction of each link, with its models now."""
    configuration = Configuration(plan, read_changes(directory, plan))
    counters = {(each["name"], each["way"]): each for each in counted.get("links") or ()}
    found: list[RelayLinkNow] = []
    for index, link in enumerate(plan["links"]):
        for way in WAYS:
            count = counters.get((link["name"], way), {})
            model = Configured.of(configuration.model(index, way))
            found.append(
                {
                    "name": link["name"],
                    "way": way,
                    "offered_bytes": count.get("offered_bytes", 0),
                    "delivered_bytes": count.get("delivered_bytes", 0),
                    "lost_pieces": count.get("lost_pieces", 0),
                    "delay_ns": model.delay_ns,
                    "bits_per_s": model.bits_per_s,
                    "loss": model.loss,
                    "up": model.up,
                }
            )
    return found
