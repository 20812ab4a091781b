"""The agents of a live run on several machines, seen from the process that coordinates them.

An agent on each machine runs its part; see docs/explanation/several-machines.md.
"""

import itertools
import queue
import secrets
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from longhaul import log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines import archive, messages
from longhaul.machines.hostfile import Machine
from longhaul.machines.messages import Message, Writer
from longhaul.machines.paths import MeasuredPath
from longhaul.machines.placement import Placement
from longhaul.results import ending, machine_records
from longhaul.run.learnt_networks import Known
from longhaul.run.session import RunFailedError
from longhaul.units.text import few_text

_START_S = 60.0
"""For an agent to start and to answer."""
END_S = 30.0
"""For a machine to end its part and to write its records."""
_PORTS_S = 60.0
"""For a machine to look for namespaces, containers and interfaces."""
_ANSWER_S = 10.0
"""For a machine to answer a request."""


@dataclass(eq=False)
class Agent:
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
        """Of its machine."""
        return self.machine.name

    def last_error(self) -> str:
        """The last line that it wrote to standard error; empty if there is none."""
        return last_line(self.errors)


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
        self._numbers = itertools.count()
        self._asked: dict[int, queue.Queue[tuple[int, Message]]] = {}
        """Where answers to requests go, by the number of the request."""
        self._messages: queue.Queue[tuple[Agent, Message | None]] = queue.Queue()
        self._addresses: list[str] = []
        self.agents: list[Agent] = []
        try:
            for number, machine in enumerate(placement.machines):
                self.agents.append(self._started(number, machine, scratch))
            for agent, hello in zip(self.agents, self._answers("hello", self.agents, _START_S), strict=True):
                self._accept(agent, hello)
        except BaseException:
            self.close()
            raise

    def _started(self, number: int, machine: Machine, scratch: Path) -> Agent:
        errors = (scratch / f"agent-{machine.name}.err").open("w+b")
        try:
            process = subprocess.Popen(
                machine.python_command_line("-I", "-m", "longhaul.machines.agent"),
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
        agent = Agent(number, machine, process, Writer(process.stdin), errors)  # type: ignore[arg-type]
        threading.Thread(target=self._read, args=(agent,), daemon=True).start()
        threading.Thread(target=self._stay_alive, args=(agent,), daemon=True).start()
        return agent

    def _read(self, agent: Agent) -> None:
        assert agent.process.stdout is not None
        with suppress(ValueError, OSError):
            while (message := messages.read(agent.process.stdout)) is not None:  # type: ignore[arg-type]
                agent.heard = time.monotonic()
                if message["is"] == "answer":
                    if (answers := self._asked.get(message["number"])) is not None:
                        answers.put((agent.number, message["answer"]))
                elif message["is"] == "relay":
                    relayed = {"do": "relay", "from": agent.number, "content": message["content"]}
                    self.agents[message["to"]].writer.send(relayed)
                elif message["is"] != "alive":
                    self._messages.put((agent, message))
        self._messages.put((agent, None))

    @staticmethod
    def _stay_alive(agent: Agent) -> None:
        while agent.process.poll() is None and not agent.writer.is_broken:
            agent.writer.send({"do": "alive"})
            time.sleep(messages.ALIVE_S)

    def next(self, within_s: float) -> tuple[Agent, Message] | None:
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

    def _gone(self, agent: Agent) -> LonghaulError:
        with suppress(subprocess.TimeoutExpired):
            agent.process.wait(timeout=2)
        said = agent.last_error()
        what = f": {said}" if said else ""
        if agent.hello:
            return MachineLostError(f"the agent on machine {agent.name} has ended{what}")
        return not_started(agent.machine, what)

    @staticmethod
    def _accept(agent: Agent, hello: Message) -> None:
        require_same_version(agent.machine, hello)
        agent.hello = hello

    def _answers(self, kind: str, agents: Sequence[Agent], within_s: float) -> list[Message]:
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

    def learn(self, interfaces: Mapping[str, Message]) -> dict[str, Known]:
        """What machines know of networks behind interfaces, by the key of each; nothing of absent ones.

        ``interfaces`` has them by machine and key.
        """
        for agent in self.agents:
            agent.writer.send({"do": "learn", "interfaces": interfaces[agent.name]})
        return {
            key: Known(tuple(found["gateway"]), tuple(found["subnets"]))
            for answer in self._answers("learnt", self.agents, _PORTS_S)
            for key, found in answer["known"].items()
        }

    def require_ports(self) -> None:
        """Let each machine look for the ports of its hosts. Raises LonghaulError if one cannot be used."""
        partition = self.placement.partition
        ports = {
            agent: [port for port in self.placement.ports if partition[port.node] == agent.number]
            for agent in self.agents
        }
        looking = [agent for agent in self.agents if ports[agent]]
        for agent in looking:
            peers = [
                address.rpartition(":")[0].strip("[]")
                for number, address in enumerate(self._addresses)
                if number != agent.number
            ]
            agent.writer.send(
                {"do": "ports", "ports": [asdict(port) for port in ports[agent]], "peers": peers}
            )
        for agent, answer in zip(looking, self._answers("ports", looking, _PORTS_S), strict=True):
            if (refused := answer["refused"]) is not None:
                raise LonghaulError(
                    Code(refused["code"]),
                    f"nodes.{refused['host']}.port: machine {agent.name}: {refused['message']}",
                    remedy=refused["remedy"],
                    exit_code=3,
                )

    def start(
        self, directory: Path, *, run: str, encrypts: bool, memory_bytes: int | None, stays_up: bool = False
    ) -> None:
        """Send each machine its part of the run in ``directory``, and let it build it.

        ``run`` is a short name for processes. A network that ``stays_up`` ends when it is told to, and not
        with its duration or its programs.
        """
        names = [each.name for each in directory.iterdir() if each.name != machine_records.MACHINES]
        parts = list(archive.packed(directory, names))
        for agent in self.agents:
            for part in parts:
                agent.writer.send({"do": "part", "part": part})
            agent.writer.send(
                {
                    "do": "run",
                    "run": run,
                    "work": str(Path.cwd()),
                    "memory_bytes": memory_bytes,
                    "stays_up": stays_up,
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

    def _engine_number(self, agent: Agent) -> int:
        """How many agents before this one are on the same machine, whatever they are called."""
        earlier = self.agents[: agent.number]
        return sum(other.hello["boot_id"] == agent.hello["boot_id"] for other in earlier)

    def request(self, **request: Any) -> None:
        """Send every machine whose part goes on a request to its run."""
        for agent in self.agents:
            if agent.ended is None:
                agent.writer.send({"do": "tell", "request": request})

    def ask(self, agents: Sequence[Agent], request: Message, *, within_s: float = _ANSWER_S) -> list[Message]:
        """What the runs of these agents answer to one request, in their order; any thread may ask.

        Raises LonghaulError if one does not answer.
        """
        number = next(self._numbers)
        answers = self._asked[number] = queue.Queue()
        found: dict[int, Message] = {}
        deadline = time.monotonic() + within_s
        try:
            for agent in agents:
                agent.writer.send({"do": "ask", "number": number, "request": request})
            while len(found) < len(agents):
                sender, answer = answers.get(timeout=max(deadline - time.monotonic(), 0.0))
                found[sender] = answer
        except queue.Empty:
            late = few_text([agent.name for agent in agents if agent.number not in found])
            raise LonghaulError(
                Code.RUN_UNRESPONSIVE, f"machine {late} does not answer", remedy="try again", exit_code=1
            ) from None
        finally:
            del self._asked[number]
        return [found[agent.number] for agent in agents]

    def collect(self, directory: Path) -> list[str]:
        """Fetch the records of all machines that still answer into ``directory``; returns whose there are."""
        parts: dict[int, list[str]] = {}
        asked = [agent for agent in self.agents if agent.process.poll() is None and not agent.collected]
        for agent in asked:
            agent.writer.send({"do": "collect"})
        deadline = time.monotonic() + END_S
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
                # What it sent while it ran is there, and is replaced.
                place.mkdir(exist_ok=True)
                archive.unpack(parts[agent.number], place)
        return [agent.name for agent in self.agents if agent.collected and agent.number in parts]

    @staticmethod
    def _still_answers(agent: Agent) -> bool:
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
                # One of another user, such as sudo here, ends with its agent, which hears nothing any more.
                with suppress(PermissionError):
                    agent.process.kill()
                agent.process.wait()
            agent.errors.close()


def last_line(errors: IO[bytes]) -> str:
    """The last line of what an agent wrote to standard error; empty if there is none."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def not_started(machine: Machine, what: str) -> LonghaulError:
    """The error of a machine on which no agent starts, with ``what`` was heard of it."""
    trial = machine.python_command_line("-c", "import longhaul")
    allow = "let your account there use sudo without a password (sudoers: NOPASSWD), and "
    return LonghaulError(
        Code.CLUSTER_UNREACHABLE,
        f"machine {machine.name}: no agent could be started there{what}",
        remedy=f"{allow if machine.is_by_sudo else ''}try: {' '.join(trial)}",
        exit_code=3,
    )


def require_same_version(machine: Machine, hello: Message) -> None:
    """Raise LonghaulError if a machine's agent is of another version of Longhaul."""
    own = {"protocol": messages.PROTOCOL, "longhaul": version("longhaul")}
    for what, here in own.items():
        if hello.get(what) != here:
            raise LonghaulError(
                Code.VERSION_MISMATCH,
                f"machine {machine.name} has {what} {hello.get(what)}, this one {here}",
                remedy="install the same wheel on all machines",
                exit_code=3,
            )


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
