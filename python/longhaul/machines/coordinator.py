"""A live run on several machines, from its preparation to its merged records.

An agent on each machine runs its part; see docs/explanation/several-machines.md.
"""

import json
import queue
import secrets
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import IO, Any

from longhaul import log, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines import archive, messages, requirements
from longhaul.machines.hostfile import Machine
from longhaul.machines.messages import Message, Writer
from longhaul.machines.paths import MeasuredPath
from longhaul.machines.placement import Placement
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results import ending, machine_records
from longhaul.run import signals
from longhaul.run.live import Finished, Prepared
from longhaul.run.session import RunFailedError
from longhaul.units.text import few_text

_START_S = 60.0
"""For an agent to start and to answer."""
_BUILD_S = 300.0
"""For all hosts to be up and all services to be ready."""
_END_S = 30.0
"""For a machine to end its part and to write its records."""
_FINISH_MARGIN_NS = 300_000_000
"""How far ahead the common end of a run is, if it is not that of its duration."""
Progress = Callable[[Message], None]


@dataclass
class _Agent:
    """An agent, seen from here."""

    number: int
    machine: Machine
    process: "subprocess.Popen[bytes]"
    writer: Writer
    errors: IO[bytes]
    heard: float = field(default_factory=time.monotonic)
    """When its last message arrived."""
    hello: Message = field(default_factory=dict)
    ended: Message | None = None
    """The event with which its part ended."""
    collected: bool = False

    @property
    def name(self) -> str:
        return self.machine.name

    def last_error(self) -> str:
        """The last line that it wrote to standard error; empty if there is none."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


class MachineLostError(RunFailedError):
    """A machine that is gone, silent or late: the run ends with what there is."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        """With the machine's name in ``message``."""
        super().__init__(Code.RUN_FAILED, message, status=ending.CRASHED, remedy=remedy)


class Coordinator:
    """The agents of one run."""

    def __init__(self, placement: Placement, *, scratch: Path) -> None:
        """Start an agent on each machine of ``placement``; their errors go into ``scratch``."""
        self.placement = placement
        self._key = secrets.token_hex(32)
        self._messages: queue.Queue[tuple[_Agent, Message | None]] = queue.Queue()
        self._addresses: list[str] = []
        self.agents: list[_Agent] = []
        try:
            for number, machine in enumerate(placement.machines):
                self.agents.append(self._started(number, machine, scratch))
            for agent, hello in zip(self.agents, self._answers("hello", self.agents, _START_S), strict=True):
                self._accept(agent, hello)
        except BaseException:
            self.close()
            raise

    def _started(self, number: int, machine: Machine, scratch: Path) -> _Agent:
        errors = (scratch / f"agent-{machine.name}.err").open("w+b")
        try:
            process = subprocess.Popen(
                machine.command_line(machine.python, "-I", "-m", "longhaul.machines.agent"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            errors.close()
            raise LonghaulError(
                Code.CLUSTER_UNREACHABLE,
                f"machine {machine.name}: cannot start {error.filename}: {error.strerror}",
                exit_code=3,
            ) from error
        assert process.stdin is not None
        agent = _Agent(number, machine, process, Writer(process.stdin), errors)  # type: ignore[arg-type]
        threading.Thread(target=self._read, args=(agent,), daemon=True).start()
        threading.Thread(target=self._stay_alive, args=(agent,), daemon=True).start()
        return agent

    def _read(self, agent: _Agent) -> None:
        assert agent.process.stdout is not None
        with suppress(ValueError, OSError):
            while (message := messages.read(agent.process.stdout)) is not None:  # type: ignore[arg-type]
                agent.heard = time.monotonic()
                if message["is"] != "alive":
                    self._messages.put((agent, message))
        self._messages.put((agent, None))

    @staticmethod
    def _stay_alive(agent: _Agent) -> None:
        while agent.process.poll() is None and not agent.writer.is_broken:
            agent.writer.send({"do": "alive"})
            time.sleep(messages.ALIVE_S)

    def next(self, within_s: float) -> tuple[_Agent, Message] | None:
        """The next message of an agent; ``None`` if none comes. Raises LonghaulError for one that is gone."""
        deadline = time.monotonic() + within_s
        while True:
            self._check_silence()
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            try:
                agent, message = self._messages.get(timeout=min(left, 0.5))
            except queue.Empty:
                continue
            if message is not None:
                if message["is"] == "failed":
                    failure = f"machine {agent.name}: {message['message']}"
                    raise MachineLostError(failure, remedy=message["remedy"])
                return agent, message
            if not agent.collected:
                raise self._gone(agent)

    def _check_silence(self) -> None:
        for agent in self.agents:
            silent_s = time.monotonic() - agent.heard
            if agent.hello and not agent.collected and silent_s > messages.SILENT_S:
                raise MachineLostError(
                    f"machine {agent.name} has sent no message for {silent_s:.0f} s",
                    remedy="check the machine and the network to it",
                )

    def _gone(self, agent: _Agent) -> LonghaulError:
        with suppress(subprocess.TimeoutExpired):
            agent.process.wait(timeout=2)
        said = agent.last_error()
        what = f": {said}" if said else ""
        if agent.hello:
            return MachineLostError(f"the agent on machine {agent.name} has ended{what}")
        trial = agent.machine.command_line(agent.machine.python, "-c", "import longhaul")
        return LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            f"machine {agent.name}: no agent could be started there{what}",
            remedy=f"try: {' '.join(trial)}",
            exit_code=3,
        )

    @staticmethod
    def _accept(agent: _Agent, hello: Message) -> None:
        own = {"protocol": messages.PROTOCOL, "longhaul": version("longhaul")}
        for what, here in own.items():
            if hello.get(what) != here:
                raise LonghaulError(
                    Code.VERSION_MISMATCH,
                    f"machine {agent.name} has {what} {hello.get(what)}, this one {here}",
                    remedy="install the same wheel on all machines",
                    exit_code=3,
                )
        agent.hello = hello

    def _answers(self, kind: str, agents: Sequence[_Agent], within_s: float) -> list[Message]:
        """A message of this kind of each of ``agents``, in their order."""
        found: dict[int, Message] = {}
        deadline = time.monotonic() + within_s
        while len(found) < len(agents):
            received = self.next(max(deadline - time.monotonic(), 0.0))
            if received is None:
                late = few_text([agent.name for agent in agents if agent.number not in found])
                raise MachineLostError(
                    f"{late}: no answer ({kind}) within {within_s:.0f} s",
                    remedy="check the machine and the network to it",
                )
            agent, message = received
            if message["is"] == kind:
                found[agent.number] = message
        return [found[agent.number] for agent in agents]

    def connect(self) -> list[MeasuredPath]:
        """Open the sockets of all machines, and measure the network between those that a link joins."""
        for agent in self.agents:
            agent.writer.send(
                {"do": "open", "key": self._key, "own": agent.number, "address": agent.machine.address}
            )
        ports = self._answers("open", self.agents, _START_S)
        self._addresses = [
            agent.machine.address_at(answer["port"]) for agent, answer in zip(self.agents, ports, strict=True)
        ]
        paths = []
        for pairs in rounds({(min(cut.ends), max(cut.ends)) for cut in self.placement.cuts}):
            for number, peer in pairs:
                self.agents[number].writer.send({"do": "measure", "peers": {peer: self._addresses[peer]}})
            measuring = [self.agents[number] for number, _ in pairs]
            measured = self._answers("measured", measuring, _START_S)
            paths += [
                MeasuredPath.of(agent.number, each)
                for agent, found in zip(measuring, measured, strict=True)
                for each in found["paths"]
            ]
        return paths

    def start(self, prepared: Prepared, *, encrypts: bool, memory_bytes: int | None) -> None:
        """Send each machine its part, and let it build it."""
        names = [each.name for each in prepared.directory.iterdir() if each.name != machine_records.MACHINES]
        parts = list(archive.packed(prepared.directory, names))
        for agent in self.agents:
            for part in parts:
                agent.writer.send({"do": "part", "part": part})
            agent.writer.send(
                {
                    "do": "run",
                    "run": prepared.run,
                    "work": str(Path.cwd()),
                    "memory_bytes": memory_bytes,
                    "machines": {
                        "own": agent.number,
                        "partition": self.placement.partition,
                        "machines": [
                            {"name": each.name, "address": address}
                            for each, address in zip(self.agents, self._addresses, strict=True)
                        ],
                        "key": self._key,
                        "encrypts": encrypts,
                        "engine_number": self._engine_number(agent),
                    },
                }
            )

    def _engine_number(self, agent: _Agent) -> int:
        """How many agents before this one are on the same machine, whatever they are called."""
        earlier = self.agents[: agent.number]
        return sum(other.hello["boot_id"] == agent.hello["boot_id"] for other in earlier)

    def request(self, **request: Any) -> None:
        """Send every machine whose part goes on a request to its run."""
        for agent in self.agents:
            if agent.ended is None:
                agent.writer.send({"do": "tell", "request": request})

    def collect(self, directory: Path) -> list[str]:
        """Fetch the records of all machines that still answer into ``directory``; returns whose there are."""
        parts: dict[int, list[str]] = {}
        asked = [agent for agent in self.agents if agent.process.poll() is None and not agent.collected]
        for agent in asked:
            agent.writer.send({"do": "collect"})
        deadline = time.monotonic() + _END_S
        while any(not agent.collected for agent in asked) and time.monotonic() < deadline:
            try:
                received = self.next(0.5)
            except LonghaulError as error:
                # The others' records are kept.
                log.note(error.message)
                asked = [agent for agent in asked if self._still_answers(agent)]
                continue
            if received is None:
                continue
            agent, message = received
            if message["is"] == "part":
                parts.setdefault(agent.number, []).append(message["part"])
            elif message["is"] == "collected":
                agent.collected = True
        for agent in self.agents:
            if agent.collected and agent.number in parts:
                place = directory / agent.name
                storage.make_directory(place)
                archive.unpack(parts[agent.number], place)
        return [agent.name for agent in self.agents if agent.collected and agent.number in parts]

    @staticmethod
    def _still_answers(agent: _Agent) -> bool:
        silent = time.monotonic() - agent.heard > messages.SILENT_S
        if agent.process.poll() is not None or silent:
            # Nothing more is expected of it.
            agent.hello = {}
            return False
        return True

    def close(self) -> None:
        """End all agents, and what they run."""
        for agent in self.agents:
            agent.writer.send({"do": "bye"})
            with suppress(OSError, ValueError):
                agent.process.stdin.close()  # type: ignore[union-attr]
        deadline = time.monotonic() + messages.SILENT_S
        for agent in self.agents:
            try:
                agent.process.wait(timeout=max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                agent.process.kill()
                agent.process.wait()
            agent.errors.close()


def rounds(pairs: Iterable[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The pairs in as few rounds as greedy choice finds, none of which has a machine twice."""
    found: list[list[tuple[int, int]]] = []
    for pair in sorted(pairs):
        free = (each for each in found if not any(set(pair) & set(other) for other in each))
        chosen = next(free, None)
        if chosen is None:
            found.append([pair])
        else:
            chosen.append(pair)
    return found


def run(
    prepared: Prepared,
    placement: Placement,
    *,
    progress: Progress,
    encrypts: bool = False,
    memory_bytes: int | None = None,
) -> Finished:
    """Run to the end on all machines of ``placement``, and merge their records into the run directory.

    Ctrl-C, SIGTERM and SIGHUP end it early. A machine that is gone, silent or late ends it within seconds;
    the records of the others are kept. Raises RunFailedError and LonghaulError.
    """
    directory = prepared.directory
    plan: Plan = json.loads(prepared.plan.read_text(encoding="utf-8"))
    with ending.recorded(directory):
        kept = directory / machine_records.MACHINES
        storage.make_directory(kept)
        coordinator = Coordinator(placement, scratch=kept)
        try:
            found = _run_parts(coordinator, prepared, plan, progress, encrypts, memory_bytes)
            failure: LonghaulError | None = None
        except LonghaulError as error:
            status = error.status if isinstance(error, RunFailedError) else ending.FAILED
            found, failure = ending.Ending(status, error.message), error
            coordinator.request(do="stop", status="crashed", why=error.message)
        finally:
            try:
                names = coordinator.collect(kept)
            finally:
                coordinator.close()
        missing = [name for name in _names(placement) if name not in names]
        if failure is None and missing:
            failure = MachineLostError(f"no records of {few_text(missing)} within {_END_S:.0f} s of the end")
            found = ending.Ending(failure.status, failure.message)
        if any((kept / name / "raw" / "started.json").is_file() for name in names):
            machine_records.merge(directory, plan, placement.partition, _names(placement), found)
            if failure is None:
                # The merged records have everything.
                shutil.rmtree(kept)
        if failure is not None:
            raise failure
        ending.end(directory, found.status, found.reason)
    return Finished(directory, found.status)


def _names(placement: Placement) -> list[str]:
    return [machine.name for machine in placement.machines]


def _run_parts(
    coordinator: Coordinator,
    prepared: Prepared,
    plan: Plan,
    progress: Progress,
    encrypts: bool,
    memory_bytes: int | None,
) -> ending.Ending:
    placement = coordinator.placement
    paths = coordinator.connect()
    requirements.check(placement, paths)
    requirements.announce(placement, paths)
    machines = [
        {"name": agent.name, "nodes": placement.partition.count(agent.number), **_description(agent.hello)}
        for agent in coordinator.agents
    ]
    directories.update_run(
        prepared.directory,
        machines=machines,
        cuts=[{"link": cut.name, "delay_ns": cut.delay_ns} for cut in placement.cuts],
        paths=[each.as_dict(_names(placement)) for each in paths],
    )
    with _interruptions() as asked:
        coordinator.start(prepared, encrypts=encrypts, memory_bytes=memory_bytes)
        return _follow(coordinator, plan, progress, asked)


def _description(hello: Message) -> Message:
    return {name: hello[name] for name in ("host", "kernel", "cores")}


@dataclass
class _Progress:
    """How far the parts of a run are."""

    coordinator: Coordinator
    plan: Plan
    report: Progress
    up: dict[int, Message] = field(default_factory=dict)
    ready: set[int] = field(default_factory=set)
    idle: dict[int, int] = field(default_factory=dict)
    started_s: float | None = None
    """When the run's clock started, by this process's."""
    is_ending: bool = False
    was_stopped: bool = False

    @property
    def _agents(self) -> Sequence[_Agent]:
        return self.coordinator.agents

    def take(self, agent: _Agent, event: Message) -> None:
        """Take an event of one machine's part into account, and ask for what follows when all are so far."""
        match event.get("event"):
            case "up":
                self.up[agent.number] = event
                if len(self.up) == len(self._agents):
                    hosts = sum(each["hosts"] for each in self.up.values())
                    took_ns = max(each["build_ns"] for each in self.up.values())
                    self.report({"event": "up", "hosts": hosts, "build_ns": took_ns})
            case "ready":
                self.ready.add(agent.number)
                if len(self.ready) == len(self._agents):
                    self.coordinator.request(do="begin")
            case "started":
                if self.started_s is None:
                    self.started_s = time.monotonic()
                    self.report(event)
            case "idle":
                self.idle[agent.number] = event["t_ns"]
                if len(self.idle) == len(self._agents):
                    # The last one has said so just now.
                    self.coordinator.request(do="finish", at_ns=event["t_ns"] + _FINISH_MARGIN_NS)
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
                if not self.is_ending:
                    self.is_ending = True
                    self.report(event)
            case _:
                self.report(event)

    def stop(self, why: str) -> None:
        """End the run early: at one time on all machines, if their clocks have started."""
        self.was_stopped = True
        if self.started_s is None:
            self.coordinator.request(do="stop", status="interrupted", why=why)
        else:
            at_ns = round((time.monotonic() - self.started_s) * 1e9) + _FINISH_MARGIN_NS
            self.coordinator.request(do="finish", at_ns=at_ns, status="interrupted", why=why)

    def _check_end(self, agent: _Agent, event: Message) -> None:
        expected = "duration" if self.plan["duration_ns"] is not None else "programs"
        if event.get("reason") != expected and not self.was_stopped:
            why = event.get("why") or event.get("reason")
            raise RunFailedError(Code.RUN_FAILED, f"machine {agent.name}: {why}", status=ending.FAILED)


def _follow(coordinator: Coordinator, plan: Plan, progress: Progress, asked: Sequence[str]) -> ending.Ending:
    """Follow the parts until all have ended."""
    agents = coordinator.agents
    state = _Progress(coordinator, plan, progress)
    deadline = time.monotonic() + _BUILD_S
    while any(agent.ended is None for agent in agents):
        if asked and not state.was_stopped:
            state.stop(asked[0])
        received = coordinator.next(0.2)
        if received is not None and received[1]["is"] == "event":
            state.take(received[0], received[1]["event"])
        elif len(state.ready) < len(agents) and time.monotonic() > deadline:
            late = few_text([agent.name for agent in agents if agent.number not in state.ready])
            raise MachineLostError(f"{late}: not ready within {_BUILD_S:.0f} s")
    first = agents[0].ended or {}
    return ending.Ending(str(first["reason"]), first.get("why"))


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
