"""Runs on the virtual clock whose hosts are on several machines: the network and its clock are here.

An agent on each machine runs the kernels of its hosts; see docs/explanation/several-machines.md.
"""

import base64
import os
import secrets
import socket
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from longhaul import log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines import archive, messages
from longhaul.machines.coordinator import MachineLostError, last_line, not_started, require_same_version
from longhaul.machines.hostfile import Machine
from longhaul.machines.messages import Message, Writer
from longhaul.machines.placement import by_name, places
from longhaul.plan import Plan
from longhaul.results import directory as directories
from longhaul.results import machine_records
from longhaul.run.live_shards import load_of
from longhaul.run.session import search_path
from longhaul.run.virtual_clock import VirtualClock
from longhaul.units.text import count_text

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

_ANSWER_S = 60.0
"""For an agent to start, and for each of its answers."""
_CONNECTION_S = 3.0
"""For a connection to an agent."""
_END_S = 1.0
"""For an agent to end when the run is over."""
_OWN = ("logs", "raw", machine_records.MACHINES)
"""What of a run directory machines do not need."""


@dataclass(frozen=True)
class HostMachines:
    """Which machine runs the kernels of which hosts. The network is not divided."""

    machines: Sequence[Machine]
    """Those that have hosts."""
    hosts: Sequence[Sequence[int]]
    """Of each machine, by number: their place among the hosts of the plan."""

    @contextmanager
    def __call__(
        self, clock: VirtualClock, plan: Plan, directory: Path, *, stays_up: bool
    ) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Start an agent on each machine; yields the worker's arguments for each.

        The agents end after the block; if they are to stay up, with the worker. Raises LonghaulError.
        """
        logs = directory / "logs"
        logs.mkdir(exist_ok=True)
        agents: list[_Agent] = []
        is_over = True
        try:
            # All start at the same time.
            for machine, hosts in zip(self.machines, self.hosts, strict=True):
                agents.append(_started(machine, hosts, logs))
            hellos = [agent.hello() for agent in agents]
            _announce(agents)
            orders = clock.host_orders(plan)
            names = [each.name for each in directory.iterdir() if each.name not in _OWN]
            parts = list(archive.packed(directory, names))
            kernel = clock.kernel
            for agent in agents:
                agent.send({"do": "kernel", "sha256": kernel.sha256})
            for agent in agents:
                if not agent.hear("kernel")["here"]:
                    agent.send_files(archive.packed(kernel.directory, [kernel.binary.name]))
                agent.send_files(parts)
                agent.begin(orders)
            for agent in agents:
                agent.await_ready()
            directories.update_run(directory, host_machines=_described(agents, hellos, plan))
            yield [agent.for_worker() for agent in agents]
            is_over = not stays_up
        finally:
            for agent in agents:
                agent.close()
            if is_over:
                for agent in agents:
                    agent.end()
            for agent in agents:
                agent.errors.close()


def place_hosts(resolved: "Resolved", plan: Plan, machines: Sequence[Machine]) -> HostMachines:
    """Distribute the hosts of ``plan``: as ``place`` says, or in the plan's order, by the machines' cores.

    Links of any delay may be between machines. Raises LonghaulError for a place that is none of them.
    """
    nodes = [number for number, node in enumerate(plan["nodes"]) if node["kind"] == "host"]
    named = places(resolved, plan, [machine.name for machine in machines])
    if named:
        partition = by_name(plan, load_of(plan), named, least_cut_ns=0.0)
        of_host = [partition[node] for node in nodes]
    else:
        of_host = list(_in_order(len(nodes), [machine.cores or 1 for machine in machines]))
    own = [[host for host, of in enumerate(of_host) if of == number] for number in range(len(machines))]
    used = [(machine, hosts) for machine, hosts in zip(machines, own, strict=True) if hosts]
    return HostMachines([machine for machine, _hosts in used], [hosts for _machine, hosts in used])


def _in_order(count: int, capacities: Sequence[int]) -> Iterator[int]:
    """Which of several has each of ``count`` things, by their capacities."""
    total, so_far, begun = sum(capacities), 0, 0
    for number, capacity in enumerate(capacities):
        so_far += capacity
        until = round(count * so_far / total)
        yield from [number] * (until - begun)
        begun = until


@dataclass(eq=False)
class _Agent:
    """An agent, seen from here, until the run's worker talks to it."""

    machine: Machine
    hosts: Sequence[int]
    process: "subprocess.Popen[bytes]"
    stream: socket.socket
    errors: IO[bytes]
    connection: socket.socket | None = None
    """Of its own, with the run's worker; else that is :attr:`stream`."""
    writer: Writer = field(init=False)

    def __post_init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._is_ready = False
        self.stream.settimeout(_ANSWER_S)
        # Unbuffered: what comes behind the last answer is the worker's.
        self._in = self.stream.makefile("rb", buffering=0)
        self._out = self.stream.makefile("wb")
        self.writer = Writer(self._out)

    def hello(self) -> Message:
        hello = self.hear("hello")
        require_same_version(self.machine, hello)
        return hello

    def send(self, message: Mapping[str, Any]) -> None:
        self.writer.send(message)

    def send_files(self, parts: Iterable[str]) -> None:
        for part in parts:
            self.send({"do": "part", "part": part})
        self.send({"do": "unpack"})

    def begin(self, orders: Mapping[str, Any]) -> None:
        """Connect, and let it start the hosts when it is ready."""
        token = secrets.token_bytes(32)
        self.send({"do": "listen"})
        port = self.hear("listen")["port"]
        try:
            self.connection = socket.create_connection((self.machine.address, port), timeout=_CONNECTION_S)
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.sendall(token)
        except OSError as error:
            place = f"{self.machine.address}, port {port}"
            log.note(
                f"machine {self.machine.name}: no connection to {place} ({error.strerror or error}); "
                "messages take its agent's, which is slower"
            )
            self.connection = None
        key = None if self.connection is None else self._key.hex()
        # Programs have the environment of the command that runs them, as on one machine.
        env = {**os.environ, "PATH": search_path()}
        message = {"hosts": self.hosts, "orders": orders, "work": str(Path.cwd()), "env": env, "key": key}
        self.send({"do": "hosts", "token": token.hex(), **message})

    def await_ready(self) -> None:
        """Wait until it starts the hosts."""
        self.hear("ready")
        self._is_ready = True

    def for_worker(self) -> dict[str, Any]:
        """The arguments of the run's worker for this machine."""
        stream, key = (self.stream, None) if self.connection is None else (self.connection, self._key)
        return {
            "name": self.machine.name,
            "stream": stream.fileno(),
            "key": None if key is None else base64.b64encode(key).decode(),
            "hosts": self.hosts,
        }

    def close(self) -> None:
        """Talk to it no more."""
        with suppress(OSError):
            self._out.close()
        # The socket is open as long as one of these is.
        self._in.close()
        self.stream.close()
        if self.connection is not None:
            self.connection.close()

    def hear(self, kind: str) -> Message:
        """The next answer, which is of this kind. Raises LonghaulError."""
        name = self.machine.name
        try:
            message = messages.read(self._in)  # type: ignore[arg-type]
        except TimeoutError:
            raise MachineLostError(
                f"{name}: no answer ({kind}) within {_ANSWER_S:.0f} s",
                remedy="check the machine and the network to it",
            ) from None
        except (OSError, ValueError) as error:
            raise not_started(self.machine, f": {error}") from None
        if message is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=2)
            said = last_line(self.errors)
            raise not_started(self.machine, f": {said}" if said else "")
        if message["is"] != kind:
            reason = str(message.get("message") or f"an unexpected message: {message['is']}")
            raise LonghaulError(
                Code.RUN_FAILED, f"machine {name}: {reason}", remedy=message.get("remedy"), exit_code=3
            )
        return message

    def end(self) -> None:
        """Wait for its end, which comes when nobody talks to it any more, unless it hangs."""
        try:
            # One that has just been started hears that only when it has.
            self.process.wait(timeout=_END_S if self._is_ready else _ANSWER_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _started(machine: Machine, hosts: Sequence[int], logs: Path) -> _Agent:
    errors = (logs / f"machine-{machine.name}.err").open("w+b")
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            machine.python_command_line("-I", "-m", "longhaul.machines.kernel_agent"),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        errors.close()
        raise not_started(machine, f": cannot start {error.filename}: {error.strerror}") from error
    finally:
        theirs.close()
    return _Agent(machine, hosts, process, ours, errors)


def _announce(agents: Sequence[_Agent]) -> None:
    parts = (f"{agent.machine.name} ({count_text(len(agent.hosts), 'host')})" for agent in agents)
    log.note(f"machines: {', '.join(parts)}; the network is on this one")


def _described(agents: Sequence[_Agent], hellos: Sequence[Message], plan: Plan) -> list[Message]:
    """What the run's record has of the machines."""
    names = [node["name"] for node in plan["nodes"] if node["kind"] == "host"]
    return [
        {
            "name": agent.machine.name,
            "hosts": [names[host] for host in agent.hosts],
            **{key: hello[key] for key in ("host", "kernel", "cores")},
        }
        for agent, hello in zip(agents, hellos, strict=True)
    ]
