"""The parts of a live run on several machines while it goes on: one on each."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.machines import requirements
from longhaul.machines.capture_stream import CaptureReceiver
from longhaul.machines.coordinator import Agent, Coordinator, MachineLostError
from longhaul.machines.messages import Message
from longhaul.machines.placement import machines_that_wait
from longhaul.machines.record_stream import INTERVAL_NS, RecordReceiver
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results import ending, machine_records
from longhaul.results.live_captures import PartClock
from longhaul.results.live_records import LiveRecords
from longhaul.run import signals
from longhaul.run.session import RunFailedError
from longhaul.units.text import few_text

_BUILD_S = 300.0
"""For all hosts to be up and all services to be ready."""
_MARGIN_NS = 300_000_000
"""How far ahead an instant is that all machines are told, such as that of their common end."""
_JOIN_EVERY_S = 0.2
"""Between two times at which what machines have sent is joined."""
_NEVER_S = float("inf")
Progress = Callable[[Message], None]


@dataclass(frozen=True)
class Options:
    """How a network runs on several machines."""

    encrypts: bool = False
    """Whether packets between the machines are encrypted as well as authenticated."""
    memory_bytes: int | None = None
    """Memory that the run's own processes may use on each machine; ``None``: half of what is free there."""
    stays_up: bool = False
    """Whether the network ends when it is told to, and not with its duration or its programs."""


class Parts:
    """The parts of one run, while it goes on."""

    def __init__(
        self,
        coordinator: Coordinator,
        directory: Path,
        plan: Plan,
        *,
        name: str,
        report: Progress,
        options: Options,
    ) -> None:
        """Of the run in ``directory``, on the machines of ``coordinator``."""
        self.coordinator = coordinator
        self.directory = directory
        self.plan = plan
        self._name = name
        self._report = report
        self._options = options
        placement = coordinator.placement
        names = placement.names
        logs = self.directory / "logs"
        self._receivers = [
            RecordReceiver(self.directory / machine_records.MACHINES / name / "raw", logs) for name in names
        ]
        self._capture_receivers = [
            CaptureReceiver(self.directory / machine_records.MACHINES / name / "captures") for name in names
        ]
        self._clocks: list[PartClock | None] = [None] * len(names)
        """Of the machines whose captures are sent."""
        interval_ns = max(plan["measure"]["every_ns"], INTERVAL_NS)
        self._records = LiveRecords(
            self.directory, plan, placement.partition, names, interval_ns=interval_ns, are_machines=True
        )
        self._waiting = machines_that_wait(plan, placement.partition)
        self._has_new_records = False
        self._next_join_s = 0.0
        self._up: dict[int, Message] = {}
        self._ready: set[int] = set()
        self._idle: set[int] = set()
        self._started_s: float | None = None
        """When the run's clock started, by this process's."""
        self._is_ending = False
        self._to_stop: tuple[str, str] | None = None
        """The status and the reason, once somebody has asked for the end."""
        self._was_stopped = False
        self.has_started = threading.Event()

    @property
    def agents(self) -> Sequence[Agent]:
        """Of all machines, the first one's first."""
        return self.coordinator.agents

    def run(self) -> ending.Ending:
        """Build and start the parts, and follow them until all have ended."""
        placement = self.coordinator.placement
        paths = self.coordinator.connect()
        requirements.check(placement, paths)
        requirements.announce(placement, paths)
        self.coordinator.require_ports()
        machines = [
            {
                "name": agent.name,
                "nodes": placement.partition.count(agent.number),
                **_description(agent.hello),
            }
            for agent in self.agents
        ]
        directories.update_run(
            self.directory,
            machines=machines,
            partition=list(placement.partition),
            cuts=[{"link": cut.name, "delay_ns": cut.delay_ns} for cut in placement.cuts],
            paths=[each.as_dict(placement.names) for each in paths],
        )
        with _interruptions() as asked:
            self.coordinator.start(
                self.directory,
                run=self._name,
                encrypts=self._options.encrypts,
                memory_bytes=self._options.memory_bytes,
                stays_up=self._options.stays_up,
            )
            return self._follow(asked)

    def stop(self, status: str, why: str) -> None:
        """Let the run end soon; any thread may ask."""
        self._to_stop = self._to_stop or (status, why)

    def soon_ns(self) -> int:
        """An instant of the run's clock that all machines hear of before it comes."""
        assert self._started_s is not None
        return round((time.monotonic() - self._started_s) * 1e9) + _MARGIN_NS

    def warn(self, message: str) -> None:
        """Report a problem that does not end the run."""
        self._report({"event": "warning", "message": message})

    def _follow(self, asked: Sequence[str]) -> ending.Ending:
        deadline = time.monotonic() + _BUILD_S
        while any(agent.ended is None for agent in self.agents):
            if asked:
                self.stop("interrupted", asked[0])
            if self._to_stop is not None and not self._was_stopped:
                self._end_all(*self._to_stop)
            received = self.coordinator.next(_JOIN_EVERY_S)
            self._join_records()
            if received is not None:
                self._take(*received)
            elif len(self._ready) < len(self.agents) and time.monotonic() > deadline:
                late = few_text([agent.name for agent in self.agents if agent.number not in self._ready])
                raise MachineLostError(f"{late}: not ready within {_BUILD_S:.0f} s")
        first = self.agents[0].ended or {}
        return ending.Ending(str(first["reason"]), first.get("why"))

    def _end_all(self, status: str, why: str) -> None:
        """End the run early: at one time on all machines, if their clocks have started."""
        self._was_stopped = True
        if self._started_s is None:
            self.coordinator.request(do="stop", status=status, why=why)
        else:
            self.coordinator.request(do="finish", at_ns=self.soon_ns(), status=status, why=why)

    def _take(self, agent: Agent, message: Message) -> None:
        match message["is"]:
            case "event":
                self._take_event(agent, message["event"])
            case "records":
                with self._joining():
                    self._receivers[agent.number].take(message["packed"])
            case "captures":
                with self._joining():
                    settled_ns = self._capture_receivers[agent.number].take(message)
                    clock = self._clocks[agent.number]
                    if settled_ns is not None and clock is not None:
                        self._clocks[agent.number] = replace(clock, settled_ns=settled_ns)

    def begin_captures(self, starts_ns: Mapping[int, int]) -> None:
        """Join packets of machines whose engines started at these Unix times; any thread may ask."""
        for number, start_ns in starts_ns.items():
            self._clocks[number] = self._clocks[number] or PartClock(start_ns, 0)

    @contextmanager
    def _joining(self) -> Iterator[None]:
        """The block takes what a machine has sent, which is to be joined."""
        try:
            yield
            self._has_new_records = True
        except OSError as error:
            self._stop_joining(error)

    def _join_records(self) -> None:
        """Join what machines have sent, not for each of many machines anew."""
        if not self._has_new_records or time.monotonic() < self._next_join_s:
            return
        self._has_new_records, self._next_join_s = False, time.monotonic() + _JOIN_EVERY_S
        try:
            self._records.update(self._clocks)
        except OSError as error:
            self._stop_joining(error)

    def _stop_joining(self, error: OSError) -> None:
        """Results do not need live figures."""
        if self._next_join_s < _NEVER_S:
            self._next_join_s = _NEVER_S
            self.warn(f"live figures have stopped: {error.filename}: {error.strerror}")

    def _take_event(self, agent: Agent, event: Message) -> None:
        """Take an event of one machine's part into account, and ask for what follows when all are so far."""
        match event.get("event"):
            case "up":
                self._up[agent.number] = event
                if len(self._up) == len(self.agents):
                    hosts = sum(each["hosts"] for each in self._up.values())
                    took_ns = max(each["build_ns"] for each in self._up.values())
                    self._report({"event": "up", "hosts": hosts, "build_ns": took_ns})
            case "ready":
                self._ready.add(agent.number)
                if len(self._ready) == len(self.agents):
                    self.coordinator.request(do="begin")
            case "started":
                if self._started_s is None:
                    self._started_s = time.monotonic()
                    started = {"t0_unix_ns": event["t0_unix_ns"]}
                    storage.replace_json(self.directory / "raw" / "started.json", started)
                    self.has_started.set()
                    self._report(event)
            case "idle":
                self._idle.add(agent.number)
                if len(self._idle) == len(self.agents):
                    # The last one has said so just now.
                    self.coordinator.request(do="finish", at_ns=event["t_ns"] + _MARGIN_NS)
            case "program" if event["state"] in ("ended", "failed"):
                self._report(event)
                if not self._is_ending:
                    self._notify_of_end(event["name"])
            case "failed":
                agent.ended = event
                raise RunFailedError(
                    Code.RUN_FAILED,
                    f"machine {agent.name}: {event['message']}",
                    status=event.get("status", ending.FAILED),
                    remedy=event.get("remedy"),
                )
            case "ended":
                agent.ended = event
                self._check_end(agent, event)
            case "ending":
                if not self._is_ending:
                    self._is_ending = True
                    self._report(event)
            case _:
                self._report(event)

    def _notify_of_end(self, program: str) -> None:
        """Tell the machines with programs that start after this one that it has ended."""
        for number in self._waiting.get(program, ()):
            agent = self.agents[number]
            if agent.ended is None:
                agent.writer.send({"do": "tell", "request": {"do": "program_ended", "name": program}})

    def _check_end(self, agent: Agent, event: Message) -> None:
        expected = "duration" if self.plan["duration_ns"] is not None else "programs"
        if event.get("reason") != expected and not self._was_stopped:
            why = event.get("why") or event.get("reason")
            raise RunFailedError(Code.RUN_FAILED, f"machine {agent.name}: {why}", status=ending.FAILED)


def _description(hello: Message) -> Message:
    return {name: hello[name] for name in ("host", "kernel", "cores")}


@contextmanager
def _interruptions() -> Iterator[list[str]]:
    """Signals in the block are noted, as the reason why the run is to end."""
    asked: list[str] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt(f"{signals.reason(number)} twice, which leaves no results")
        asked.append(signals.reason(number))

    with signals.handled(on_signal):
        yield asked
