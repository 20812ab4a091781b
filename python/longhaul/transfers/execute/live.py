"""Transfer plans run live: an agent in each host, and a controller."""

import selectors
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan, Program
from longhaul.results import ending
from longhaul.run import live
from longhaul.run.cleanup import temporary_prefix
from longhaul.run.conclusion import results_so_far
from longhaul.run.session import Line, Message, RunFailedError, Session
from longhaul.run.sockets import socket_path
from longhaul.run.traffic import program
from longhaul.subprocesses import python_command
from longhaul.transfers.execute import results
from longhaul.transfers.execute.orders import Drive
from longhaul.transfers.execute.preparation import LEAD_S, Began, Job
from longhaul.transfers.execute.transfer_programs import TransferProgram
from longhaul.transfers.plan.controller import Controller

SOONEST_S = 1.0
"""From when all agents are there to the plan's time 0, at least: connections are made meanwhile."""
AGENTS_WITHIN_S = 30.0


def run(
    job: Job,
    *,
    runs: Path,
    argv: list[str],
    name: str | None,
    transfer_program: TransferProgram,
    pacing: str,
    watched: Callable[[Path], AbstractContextManager[Any]],
    sudo: bool = False,
    report: bool = True,
    memory_bytes: int | None = None,
    began: Began | None = None,
) -> live.Finished:
    """Run live until all requests are served or refused. Ctrl-C ends it early and keeps what there is.

    ``watched`` makes of the plan's path what is told of the run's events. With ``report``, a run that fails
    leaves one of its results so far. ``began`` hears once that it begins. Raises RunFailedError.
    """
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("transfers")) as folder:
        path = Path(folder) / "agents"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen()
        hosts = sorted({end for pair in job.ends for end in pair})
        programs = [*job.resolved.plan["programs"], *_agents(job, hosts, path)]
        plan: Plan = {**job.resolved.plan, "programs": programs}
        prepared = live.prepare(replace(job.resolved, plan=plan), runs=runs, argv=argv, name=name)
        controller = job.controller()
        beside = Beside(job, controller, listener, len(hosts), transfer_program, pacing, prepared.directory)

        def hear(message: Message) -> None:
            if message.get("event") == "started":
                beside.start(int(message["t0_unix_ns"]))
            told.tell(message)

        how = {
            "mode": "live",
            "program": transfer_program.name,
            "pacing": pacing if transfer_program.name == "paced" else None,
        }
        if began is not None:
            began(prepared.directory, controller, socket_path(prepared.run))
        with results_so_far(prepared.directory, report=report):
            try:
                with watched(prepared.plan) as told:
                    finished = live.run(
                        prepared,
                        progress=hear,
                        sudo=sudo,
                        scratch=[Path(folder)],
                        began=beside.attach,
                        memory_bytes=memory_bytes,
                    )
            finally:
                begins_s = beside.end()
                listener.close()
                results.write(controller, prepared.directory, how={**how, "begins_s": begins_s})
            if beside.failure is not None:
                raise _failed(beside.failure) from beside.failure
        return finished


def _failed(error: Exception) -> RunFailedError:
    found = ending.of_error(error)
    remedy = error.remedy if isinstance(error, LonghaulError) else None
    code = error.code if isinstance(error, LonghaulError) else Code.RUN_FAILED
    return RunFailedError(code, str(found.reason), status=found.status, remedy=remedy)


def _agents(job: Job, hosts: Sequence[int], path: Path) -> list[Program]:
    nodes = job.resolved.plan["nodes"]
    command = python_command("longhaul.transfers.execute.agent", str(path))
    return [
        program(f"transfer-agent.{nodes[host]['name']}", host, [*command, nodes[host]["name"]], expect_exit=0)
        for host in hosts
    ]


class Beside:
    """The controller, in a thread beside the one that hears what the run says."""

    def __init__(
        self,
        job: Job,
        controller: Controller,
        listener: socket.socket,
        hosts: int,
        transfer_program: TransferProgram,
        pacing: str,
        directory: Path,
    ) -> None:
        """Waits for so many agents at ``listener``."""
        self._job, self._controller, self._listener, self._hosts = job, controller, listener, hosts
        self._transfer_program, self._pacing, self._directory = transfer_program, pacing, directory
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._begins_s = LEAD_S
        self._session: Session | None = None
        self.failure: Exception | None = None
        """Why the controller ended early, and with it the run."""

    def attach(self, session: Session) -> None:
        """``session`` is the run's, which ends with the controller if that fails."""
        self._session = session

    def start(self, t0_unix_ns: int) -> None:
        """The run's clock has started, or will at this time."""
        began_s = time.monotonic() + (t0_unix_ns - time.time_ns()) / 1e9
        self._thread = threading.Thread(target=self._run, args=(began_s,), daemon=True)
        self._thread.start()

    def end(self) -> float:
        """The run has ended. Returns when the plan's time began on its clock, in seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10)
        return self._begins_s

    def _run(self, began_s: float) -> None:
        agents: dict[str, Line] = {}
        selector = selectors.DefaultSelector()
        try:
            self._listener.settimeout(0.2)
            until_s = time.monotonic() + AGENTS_WITHIN_S
            while len(agents) < self._hosts and not self._stop.is_set():
                if time.monotonic() > until_s:
                    missing = self._hosts - len(agents)
                    raise LonghaulError(
                        Code.RUN_FAILED,
                        f"{missing} of {self._hosts} transfer agents did not start",
                        remedy="see logs/transfer-agent.*.err",
                        exit_code=3,
                    )
                with suppress(TimeoutError):
                    stream, _ = self._listener.accept()
                    line = Line(stream)
                    hello = line.hear(10) or {}
                    agents[str(hello.get("host"))] = line
                    selector.register(stream, selectors.EVENT_READ, line)
            zero_s = max(began_s + LEAD_S, time.monotonic() + SOONEST_S)
            self._begins_s = zero_s - began_s
            drive = Drive(
                self._job,
                self._controller,
                agents,
                self._transfer_program,
                self._pacing,
                self._directory,
                zero_s,
            )
            drive.until_over(selector, self._stop)
        except Exception as error:  # noqa: BLE001 -- the thread that waits for the run raises it
            self.failure = error
            if self._session is not None:
                found = ending.of_error(error)
                self._session.stop(status=found.status, why=found.reason)
        finally:
            for line in agents.values():
                line.tell({"do": "bye"})
                line.close()
