"""Requests about a run on several machines, answered at one socket as the supervisor of one machine does.

So ``status``, ``set``, ``exec`` and ``down``, the page and Prometheus are the same for one machine and for
several.
"""

import json
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from longhaul import _longhaul
from longhaul.errors import LonghaulError
from longhaul.machines.coordinator import Agent
from longhaul.machines.messages import Message
from longhaul.machines.parts import Parts
from longhaul.results.segments import capture_path
from longhaul.run import sockets
from longhaul.units.text import time_text

_MOST_BYTES = 1 << 20
"""Of a request."""
_NOT_STARTED = "the run has not started yet"


class Control:
    """The conversations at the socket of one run."""

    def __init__(self, listener: socket.socket) -> None:
        """Accept at ``listener``."""
        self._listener = listener
        self._parts: Parts | None = None
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_over = False
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def begin(self, parts: Parts) -> None:
        """From now on requests reach ``parts``."""
        self._parts = parts

    def end(self) -> None:
        """From now on they do not."""
        self._parts = None

    def close(self) -> None:
        """End all conversations: whoever waits for the end of the run knows it by that."""
        with self._lock:
            self._is_over = True
            open_connections = list(self._connections)
        # A closed descriptor would not end what other threads wait for.
        for each in (self._listener, *open_connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._is_over:
                    connection.close()
                    return
                self._connections.add(connection)
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _converse(self, connection: socket.socket) -> None:
        """Answer the requests of one connection, one a line, until it is closed."""
        try:
            with connection.makefile("rwb") as stream:
                while line := stream.readline(_MOST_BYTES):
                    stream.write(json.dumps(self._answered(line)).encode() + b"\n")
                    stream.flush()
        except (OSError, ValueError):
            # Whoever asked is gone.
            return
        finally:
            with self._lock:
                self._connections.discard(connection)
            connection.close()

    def _answered(self, line: bytes) -> Message:
        try:
            request = json.loads(line)
            kind = request["do"]
        except (ValueError, TypeError, KeyError) as error:
            return _refused(f"not a request: {error}")
        parts = self._parts
        if parts is None:
            return _refused(_NOT_STARTED)
        try:
            return answer(parts, kind, request)
        except LonghaulError as error:
            return _refused(error.message)


@contextmanager
def serving_requests(path: Path) -> Iterator[Control]:
    """Within the block, requests about a run are answered at the socket ``path``."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with sockets.short(path) as name:
        listener.bind(name)
    os.chmod(path, 0o600)
    listener.listen()
    control = Control(listener)
    try:
        yield control
    finally:
        sockets.remove(path)
        control.close()


def answer(parts: Parts, kind: str, request: Message) -> Message:
    """The answer to one request, from those of all machines. Raises LonghaulError."""
    agents = [agent for agent in parts.agents if agent.ended is None]
    match kind:
        case "stop":
            parts.stop(str(request.get("status") or "stopped"), request.get("why") or "its user stopped it")
            return {"ok": True}
        case "hosts" | "status" | "programs" | "change" | "capture" | "end_capture" if (
            not parts.has_started.is_set()
        ):
            return _refused(_NOT_STARTED)
        case "hosts":
            return _hosts(parts, agents)
        case "status":
            answers = parts.coordinator.ask(agents, {"do": "status"})
            if (failed := _failed(agents, answers)) is not None:
                return failed
            engine = json.loads(_longhaul.engine_status([json.dumps(each["engine"]) for each in answers]))
            return {
                "ok": True,
                "name": parts.plan["name"],
                "engine": engine,
                "programs": _in_order(parts, answers),
            }
        case "programs":
            answers = parts.coordinator.ask(agents, {"do": "programs"})
            if (failed := _failed(agents, answers)) is not None:
                return failed
            return {
                "ok": True,
                "t_ns": max(each["t_ns"] for each in answers),
                "programs": _in_order(parts, answers),
                "cgroups": None,
                "cpu": {host: used for each in answers for host, used in each["cpu"].items()},
            }
        case "host_state":
            return _host_state(parts, agents, request)
        case "change":
            return _changed(parts, agents, request)
        case "capture":
            return _captured(parts, agents, request)
        case "end_capture":
            answers = parts.coordinator.ask(agents, request)
            return _failed(agents, answers) or answers[0]
        case _:
            return _refused(f"not a request on several machines: {kind}")


def _hosts(parts: Parts, agents: Sequence[Agent]) -> Message:
    answers = parts.coordinator.ask(agents, {"do": "hosts"})
    if (failed := _failed(agents, answers)) is not None:
        return failed
    found: dict[str, Any] = {"hosts": {}, "hostnames": {}, "elsewhere": {}}
    for agent, each in zip(agents, answers, strict=True):
        machine = agent.machine
        place = {
            "command": list(machine.command),
            "terminal_command": list(machine.terminal_command),
            "has_shell": machine.has_shell,
            "interpreter": machine.interpreter,
            "socket": each["socket"],
            "machine": machine.name,
        }
        found["hosts"] |= dict.fromkeys(each["hosts"])
        found["hostnames"] |= each["hostnames"]
        found["elsewhere"] |= dict.fromkeys(each["hosts"], place)
    return {"ok": True, **found, "env": {"LONGHAUL_RUN": str(parts.directory.resolve())}}


def _host_state(parts: Parts, agents: Sequence[Agent], request: Message) -> Message:
    """What the machine of a host says of it."""
    names = [node["name"] for node in parts.plan["nodes"]]
    if request.get("host") not in names:
        return _refused(f'there is no host "{request.get("host")}"')
    machine = parts.coordinator.placement.partition[names.index(request["host"])]
    agent = next((each for each in agents if each.number == machine), None)
    if agent is None:
        return _refused("its machine has ended its part")
    (answer,) = parts.coordinator.ask([agent], request)
    return answer


def _changed(parts: Parts, agents: Sequence[Agent], request: Message) -> Message:
    """Let all machines make a change at one time, which is soon."""
    at_ns = parts.soon_ns()
    answers = parts.coordinator.ask(agents, {**request, "at_ns": at_ns})
    if (failed := _failed(agents, answers)) is not None:
        return failed
    made_ns = [each["engine"]["at_ns"] for each in answers]
    late = [agent.name for agent, made in zip(agents, made_ns, strict=True) if made > at_ns]
    if late:
        parts.warn(
            f"both sides of a link that is cut may have differed for {time_text(max(made_ns) - at_ns)}: the "
            f"change at {time_text(at_ns)} came late to {', '.join(late)}"
        )
    # As the records of all machines have it from then on.
    return {"ok": True, "engine": {"is": "changed", "at_ns": max(made_ns)}}


def _captured(parts: Parts, agents: Sequence[Agent], request: Message) -> Message:
    """Let all machines capture a link, of which each sees the directions that begin there."""
    links = parts.plan["links"]
    if request.get("link") not in range(len(links)):
        return _refused(f"there is no link {request.get('link')}")
    link = links[request["link"]]
    ends = [parts.plan["nodes"][end]["name"] for end in link["endpoints"]]
    files = [capture_path(parts.directory, link["name"], node).name for node in ends]
    answers = parts.coordinator.ask(agents, {**request, "files": files})
    if (failed := _failed(agents, answers)) is not None:
        return failed
    engines = [each["engine"] for each in answers]
    parts.begin_captures(
        {agent.number: each["unix_start_ns"] for agent, each in zip(agents, engines, strict=True)}
    )
    first_ns = engines[0]["unix_start_ns"]
    since_ns = max(first_ns + each["since_ns"] - each["unix_start_ns"] for each in engines)
    return {"ok": True, "engine": {**engines[0], "since_ns": since_ns}}


def _in_order(parts: Parts, answers: Sequence[Message]) -> list[Message]:
    """The programs of all machines, in the order of the plan."""
    found = {program["name"]: program for each in answers for program in each["programs"]}
    return [found[each["name"]] for each in parts.plan["programs"] if each["name"] in found]


def _failed(agents: Sequence[Agent], answers: Sequence[Message]) -> Message | None:
    """The first answer that is a refusal, if there is one."""
    for agent, each in zip(agents, answers, strict=True):
        if not each.get("ok"):
            return _refused(f"machine {agent.name}: {each.get('message')}")
    return None


def _refused(message: str) -> Message:
    return {"ok": False, "message": message}
