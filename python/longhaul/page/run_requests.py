"""Requests about runs: start, events, change, stop, results."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, TypeVar, cast

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from longhaul.analysis.headline import HEADLINES
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page import processes, run_list, series
from longhaul.page.bodies import LinkChange, RunStart
from longhaul.page.feeds import Feed, Figure, compressed
from longhaul.page.json_requests import Asked
from longhaul.page.process_events import Progress, Transferred
from longhaul.page.processes import Started
from longhaul.page.refusals import RefusedError, as_json, status_of
from longhaul.page.responses.events import End, Hello, Sample
from longhaul.page.responses.runs import (
    Begun,
    Changed,
    Log,
    NetworkChange,
    OverTime,
    Packets,
    RunDetails,
    RunNetwork,
    RunRow,
    Ticket,
)
from longhaul.page.responses.studies import Runs
from longhaul.page.responses.texts import Done
from longhaul.page.sampling import FIGURES, NOW_FIGURES, Connections, Sampler
from longhaul.page.text_requests import Texts
from longhaul.results import directory as directories
from longhaul.results.changes import ChangeTail
from longhaul.results.run_files import read_json, reading
from longhaul.run import interventions, rerun, session, sockets
from longhaul.scenario.model import Changes

Row = TypeVar("Row", bound=RunRow)

_MOST_AT_ONCE = 8
"""Runs that the page starts before others have ended."""
_REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"
)
_MODELS = tuple(Changes.model_fields)


@dataclass
class Experiments:
    """Answers about the runs of one directory."""

    texts: Texts
    _started: dict[str, Started] = field(default_factory=dict)
    _feeds: dict[str, Feed] = field(default_factory=dict)
    _samplers: dict[str, Sampler] = field(default_factory=dict)
    _connections: dict[str, Connections] = field(default_factory=dict)
    _changes: dict[str, ChangeTail] = field(default_factory=dict)
    _tickets: dict[str, tuple[Path, bool]] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        """Where run directories are."""
        return self.texts.directory / "runs"

    def start(self, _asked: Asked, body: RunStart) -> Begun:
        """Start a text or a file, live or simulated."""
        name, text = self.texts.source(body)
        _refuse_combinations(body)
        orders = {
            "mode": body.mode,
            "clock": body.clock,
            "kernel": body.kernel,
            "shards": body.shards or ("auto" if body.mode == "sim" else 1),
            "text": text,
            "name": name,
            "settings": body.settings,
            "seed": body.seed,
            "folder": str(self.texts.base(body.base)),
            "runs": str(self.runs),
            "argv": [
                "longhaul",
                "run" if body.mode == "live" else "sim",
                name,
                *(part for key, value in body.settings.items() for part in ("--set", f"{key}={value}")),
                *(("--clock", "virtual") if body.clock == "virtual" else ()),
                *(("--kernel", body.kernel) if body.kernel is not None else ()),
                *(("--shards", str(body.shards)) if body.shards is not None else ()),
            ],
        }
        return self.begin(orders)

    def start_again(self, directory: Path) -> Begun:
        """Start the run of a directory again: the same scenario, files, parameters and seed."""
        again = rerun.recorded(directory, comparable=False)
        orders = {"again": str(directory), "runs": str(self.runs), "argv": again.command.split(" ")}
        return self.begin(orders)

    def begin(self, orders: Mapping[str, Any]) -> Begun:
        """Start the run of these orders: see :mod:`longhaul.page.running`."""
        if sum(each.is_running for each in list(self._started.values())) >= _MOST_AT_ONCE:
            raise RefusedError(
                Code.PAGE_CONFLICT, 409, f"{_MOST_AT_ONCE} runs are under way", remedy="wait, or stop one"
            )
        started = processes.start(orders, cwd=self.texts.directory)
        run = run_list.id_of(started.directory)
        self._started[run] = started
        return {"id": run, "directory": str(started.directory)}

    def transferred(self, run: str) -> Transferred | None:
        """How far the transfers of a run are that this server started and that is under way."""
        started = self._started.get(run)
        return None if started is None or started.has_ended else started.transferred

    def forget(self, run: str) -> None:
        """Keep nothing of a run that is about to go. Raises RefusedError if its results are being written."""
        started = self._started.get(run)
        if started is not None and not started.has_ended:
            raise RefusedError(
                Code.PAGE_CONFLICT, 409, "the run is running", remedy="stop it, or wait for its end"
            )
        for by_run in (self._started, self._feeds, self._samplers, self._connections, self._changes):
            by_run.pop(run, None)

    def all(self, _asked: Asked) -> Runs:
        """All runs, newest first."""
        return {
            "runs": [self._marked(row) for row in run_list.rows(self.runs)],
            "sweeps": run_list.sweeps(self.runs),
            "metrics": [each._asdict() for each in HEADLINES],  # type: ignore[misc]
            "deleted": run_list.deleted(self.runs),
        }

    def details(self, asked: Asked) -> RunDetails:
        """One run."""
        directory = self.directory_of(asked)
        with reading(directory):
            return self._marked(run_list.details(directory))

    def network(self, asked: Asked) -> RunNetwork:
        """What the map of a run is drawn of."""
        directory = self.directory_of(asked)
        with reading(directory):
            return run_list.network(directory)

    def log(self, asked: Asked) -> Log:
        """What a program has written."""
        tail = asked.number("tail", least=1, most=run_list.MOST_LOG_BYTES, default=1 << 16)
        stream = asked.query.get("stream", "out")
        return run_list.log(self.directory_of(asked), asked.path["program"], stream=stream, tail=tail)

    def series(self, asked: Asked) -> OverTime:
        """What a run recorded over time."""
        directory = self.directory_of(asked)
        with reading(directory):
            return series.series(directory, asked)

    def packets(self, asked: Asked) -> Packets:
        """The packets of a link, one by one."""
        directory = self.directory_of(asked)
        with reading(directory):
            return series.packets(directory, asked)

    def stop(self, asked: Asked) -> Done:
        """Ask a run to end; its results come with the event ``end``."""
        directory = self.directory_of(asked)
        started = self._started.get(asked.path["run"])
        if started is not None and not started.has_ended:
            started.stop()
        else:
            line = session.connect(self.socket_of(directory))
            line.tell({"do": "stop"})
            # Who hangs up at once is not heard.
            with suppress(TimeoutError):
                line.hear(5.0)
            line.close()
        return {"ok": True}

    def set(self, asked: Asked, body: LinkChange) -> Changed:
        """Change a link of a live run now: its settings, or whether it is up."""
        directory = self.directory_of(asked)
        words = [_change(setting, value) for setting, value in body.changes.items()]
        network = self.socket_of(directory).stem
        return {"at_s": interventions.change_link(network, body.link, words, by="page", way=body.way)}

    def ticket(self, asked: Asked) -> Ticket:
        """An address at which the report of a run can be opened, once."""
        kind = "sweep.json" if "-sweep-" in asked.path["run"] else "run.json"
        report = run_list.find(self.runs, asked.path["run"], kind=kind) / "report.html"
        if not report.is_file():
            raise RefusedError(
                Code.PAGE_NOT_FOUND, 404, "the run has no report yet", remedy="wait for its end"
            )
        return self.admit(report)

    def admit(self, file: Path, *, is_ours: bool = False) -> Ticket:
        """An address for a file that cannot be guessed.

        One that ``is_ours`` is the only one in its directory; both are removed once it was sent.
        """
        while len(self._tickets) >= 100:
            oldest, is_old_ours = self._tickets.pop(next(iter(self._tickets)))
            if is_old_ours:
                _remove(oldest)
        name = token_urlsafe(24)
        self._tickets[name] = (file, is_ours)
        return {"url": f"/reports/{name}"}

    async def report(self, request: Request) -> Response:
        """A report for its ticket, in a world of its own: it sees nothing of the page."""
        path, is_ours = self._tickets.pop(request.path_params["ticket"], (None, False))
        if path is None:
            used = RefusedError(
                Code.PAGE_NOT_FOUND, 404, "this address was already used", remedy="open it again"
            )
            return JSONResponse(as_json(used), used.status)
        if path.suffix != ".html":
            return FileResponse(path, filename=path.name, background=BackgroundTask(_remove, path))
        content = await run_in_threadpool(path.read_bytes)
        if is_ours:
            await run_in_threadpool(_remove, path)
        headers = {
            "content-security-policy": _REPORT_POLICY,
            "x-frame-options": "SAMEORIGIN",
            "cache-control": "no-store",
        }
        return Response(content, media_type="text/html; charset=utf-8", headers=headers)

    async def events(self, request: Request) -> Response:
        """The stream of a run."""
        run = request.query_params.get("run", "")
        after = request.headers.get("last-event-id", "0")
        try:
            directory = await run_in_threadpool(run_list.find, self.runs, run)
            hello = await run_in_threadpool(self._hello, directory)
        except (LonghaulError, OSError, ValueError) as error:
            refused = (
                error
                if isinstance(error, LonghaulError)
                else RefusedError(Code.PAGE_NOT_FOUND, 404, "there is no such run")
            )
            return JSONResponse(as_json(refused), status_of(refused))
        feed = self._feed(run, directory, hello)
        named = request.query_params.get("links")
        known = {name: place for place, name in enumerate(hello["links"])}
        links = None if named is None else [known[each] for each in named.split(",") if each in known]
        number = int(after) if after.isdecimal() and len(after) < 10 else 0
        stream = feed.listen(hello, after=number, links=links)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return StreamingResponse(compressed(stream), media_type="text/event-stream", headers=headers)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    def close(self) -> None:
        """End all streams, from any thread, and remove files that were not fetched."""
        for path, is_ours in self._tickets.values():
            if is_ours:
                _remove(path)
        self._tickets.clear()
        for feed in list(self._feeds.values()):
            feed.close_from_thread()

    def _hello(self, directory: Path) -> Hello:
        plan = run_list.read_plan(directory)
        return {
            "event": "hello",
            "version": 1,
            "figures": FIGURES,
            "now_figures": NOW_FIGURES,
            **self._marked(run_list.row(directory)),
            **run_list.of_plan(plan),
            "probes": run_list.probes(directory),
        }

    def _feed(self, run: str, directory: Path, row: RunRow) -> Feed:
        feed = self._feeds.get(run)
        if feed is None:
            started = self._started.get(run)
            feed = Feed(lambda: self._sample(run, directory))
            self._feeds[run] = feed
            if started is not None:
                started.attach(feed)
            elif row["status"] != "running":
                feed.tell(_over(row))
        return feed

    def _sample(self, run: str, directory: Path) -> list[Figure]:
        self._tell_changes(run, directory)
        started = self._started.get(run)
        sampler = self._sampler(run, directory)
        found, now = sampler.sample(), sampler.now()
        if started is None:
            # Nobody tells of a run of the command line but its directory.
            with suppress(OSError, ValueError):
                status = directories.read_run(directory)["status"]
                if status != "running" and (directory / "summary.json").is_file():
                    self._feeds[run].tell_from_thread(_over(run_list.row(directory)))
        elif (progress := started.take_progress()) is not None:
            found = with_progress(found, progress)
        if run not in self._connections:
            traffic = read_json(directory / "raw" / "traffic.json") or []
            self._connections[run] = Connections(directory, run_list.read_plan(directory), traffic)
        return [each for each in (found, now, self._connections[run].news()) if each is not None]

    def _sampler(self, run: str, directory: Path) -> Sampler:
        if run not in self._samplers:
            pings = [each["program"] for each in run_list.probes(directory)]
            self._samplers[run] = Sampler(directory, run_list.read_plan(directory), pings)
        return self._samplers[run]

    def _tell_changes(self, run: str, directory: Path) -> None:
        """Tell of what was changed, from the run's own record: by events, here or elsewhere."""
        if run not in self._changes:
            self._changes[run] = ChangeTail(directory, run_list.read_plan(directory))
        for each in self._changes[run].read():
            told = cast("NetworkChange", each.as_dict())
            self._feeds[run].tell_from_thread({"event": "change", **told})

    def directory_of(self, asked: Asked) -> Path:
        """The directory of the run that is asked about."""
        return run_list.find(self.runs, asked.path["run"])

    def socket_of(self, directory: Path, *, to_be: str = "changed") -> Path:
        """Where the supervisor of a run listens. Raises RefusedError if nothing does."""
        run = directories.read_run(directory)
        if run["mode"] == "sim":
            raise RefusedError(
                Code.PAGE_CONFLICT,
                409,
                f"a simulated run cannot be {to_be}",
                remedy="add events to the scenario" if to_be == "changed" else "run the scenario live",
            )
        for name in sockets.names():
            path = sockets.socket_path(name)
            with suppress(LonghaulError, KeyError):
                answer = session.ask(path, {"do": "hosts"}, timeout_s=2.0)
                if Path(answer["env"]["LONGHAUL_RUN"]) == directory:
                    return path
        raise RefusedError(Code.PAGE_CONFLICT, 409, "the run is not under way")

    def _marked(self, row: Row) -> Row:
        """``row`` with what only this server knows of the run."""
        started = self._started.get(row["id"])
        if started is not None and not started.has_ended and row["status"] != "running":
            row["status"] = "concluding"
            row["outcome"] = {"state": "running", "detail": "writing results"}
        row["made_by_page"] = started is not None
        return row


def _refuse_combinations(body: RunStart) -> None:
    """Raises RefusedError for a clock, a kernel or shards that do not belong to the run."""
    is_virtual = body.clock == "virtual"
    for applies, message, remedy in (
        (
            is_virtual and body.mode == "sim",
            "a simulation has its own clock, not the virtual one",
            'send "mode": "live", or leave out "clock"',
        ),
        (
            body.kernel is not None and not is_virtual,
            '"kernel" is that of hosts on the virtual clock',
            'send "clock": "virtual", or leave out "kernel"',
        ),
        (
            is_virtual and body.shards not in (None, 1),
            "shards do not support the virtual clock yet",
            'leave out "shards"',
        ),
    ):
        if applies:
            raise RefusedError(Code.PAGE_REQUEST, 400, message, remedy=remedy)


def _remove(ours: Path) -> None:
    """Remove a file that was made for one answer, with its directory."""
    with suppress(OSError):
        ours.unlink(missing_ok=True)
        ours.parent.rmdir()


def with_progress(sample: Sample | None, progress: Progress) -> Sample:
    """How far a simulation is, beside its latest sample, or alone where nothing new was sampled."""
    if sample is not None:
        return {**sample, "real_s": progress["real_s"]}
    return {
        "event": "sample",
        "t_ns": progress["t_ns"],
        "links": None,
        "probes": None,
        "lateness_p99_ns": None,
        "real_s": progress["real_s"],
    }


def _over(row: RunRow) -> End:
    """The end of a run that nobody tells of but its directory."""
    return {
        "event": "end",
        "reason": row["status"],
        "exit_code": None,
        "verdict": row["verdict"],
        "outcome": row["outcome"],
    }


def _change(setting: str, value: str | bool) -> str:
    if setting == "up" and isinstance(value, bool):
        return "up" if value else "down"
    if setting not in _MODELS or not isinstance(value, str) or "\n" in value:
        raise RefusedError(
            Code.PAGE_REQUEST, 400, f"a change is one of {', '.join(_MODELS)} as text, or up as true or false"
        )
    return f"{setting}={value}"
