"""The agent of a machine: builds and runs its part of a network, as the coordinator says over standard input.

It ends, with everything that it started, when the coordinator is gone or silent.
"""

import json
import os
import queue
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longhaul.errors import LonghaulError
from longhaul.machines import archive, messages
from longhaul.machines.capture_stream import BEHIND_EVERY_S, CaptureSender
from longhaul.machines.messages import Message, Writer
from longhaul.machines.paths import Meter
from longhaul.machines.record_stream import EVERY_S, RecordSender
from longhaul.machines.remote_launches import Launches
from longhaul.results.growing_captures import StartedClock
from longhaul.run.groups import cpu_seconds
from longhaul.run.host_state import host_state
from longhaul.run.learnt_networks import Interface, known_of
from longhaul.run.ports import WantedPort, places_of
from longhaul.run.session import Session, ask

COLLECTED = ("raw", "logs", "captures")
"""What goes back to the coordinator."""
_DIRECT_LAUNCH = {"OMPI_MCA_plm_rsh_no_tree_spawn": "1", "PRTE_MCA_plm_ssh_no_tree_spawn": "1"}
"""Open MPI starts the ranks of every host from the first: the launch agent is elsewhere on each machine."""


class Agent:
    """One run's part on this machine."""

    def __init__(self, out: Writer) -> None:
        """Answer over ``out``."""
        self._out = out
        self._heard = time.monotonic()
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._socket: socket.socket | None = None
        self._meter: Meter | None = None
        self._parts: list[str] = []
        self._foreign: list[Mapping[str, Any]] = []
        """Network namespaces of hosts that are not the run's own."""
        self._session: Session | None = None
        self._directory: Path | None = None
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._socket_path: Path | None = None
        """Where the part's supervisor listens."""
        self._launches: Launches | None = None
        self._news = threading.Event()
        """Whether what was recorded is to be sent at once."""
        self._captures: CaptureSender | None = None
        self._watches = threading.Event()
        """Whether somebody watches a link."""

    def serve(self) -> int:
        """Answer until the coordinator is done, gone or silent."""
        self._out.send(messages.hello())
        threading.Thread(target=self._watch, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()
        while (message := self._messages.get()) is not None:
            try:
                self._handle(message)
            except LonghaulError as error:
                self._out.send({"is": "failed", "message": error.message, "remedy": error.remedy})
            except (OSError, ValueError) as error:
                self._out.send({"is": "failed", "message": str(error), "remedy": None})
        self._end()
        return 0

    def _read(self) -> None:
        """Receive messages to the last one, also while one of them is being handled."""
        with suppress(ValueError, OSError):
            while (message := messages.read(sys.stdin.buffer)) is not None and message["do"] != "bye":
                self._heard = time.monotonic()
                self._messages.put(message)
        self._messages.put(None)

    def _watch(self) -> None:
        """Say that this machine is alive, and end everything when the coordinator says nothing any more."""
        while not self._over.wait(messages.ALIVE_S):
            self._out.send({"is": "alive"})
            if self._out.is_broken or time.monotonic() - self._heard > messages.SILENT_S:
                self._end()
                os._exit(1)

    def _handle(self, message: Message) -> None:
        match message["do"]:
            case "open":
                self._open(message)
            case "measure":
                threading.Thread(target=self._measure, args=(message["peers"],), daemon=True).start()
            case "ports":
                self._look_for_ports([WantedPort(**each) for each in message["ports"]], message["peers"])
            case "learn":
                self._learn({key: Interface(**each) for key, each in message["interfaces"].items()})
            case "part":
                self._parts.append(message["part"])
            case "run":
                self._run(message)
            case "tell":
                if self._session is not None:
                    self._session.line.tell(message["request"])
            case "ask":
                threading.Thread(target=self._ask, args=(message,), daemon=True).start()
            case "relay":
                if self._launches is not None and self._socket_path is not None:
                    self._launches.take(message["from"], message["content"], self._socket_path)
            case "collect":
                self._collect()

    def _open(self, message: Message) -> None:
        family = socket.AF_INET6 if ":" in message["address"] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", 0))
        self._meter = Meter(self._socket, key=bytes.fromhex(message["key"]), own=message["own"])
        self._out.send({"is": "open", "port": self._socket.getsockname()[1]})

    def _measure(self, addresses: Mapping[str, str]) -> None:
        if self._meter is not None:
            peers = {int(number): address for number, address in addresses.items()}
            self._out.send({"is": "measured", "paths": self._meter.measure(peers)})

    def _look_for_ports(self, ports: Sequence[WantedPort], peers: Sequence[str]) -> None:
        refused = None
        for port in ports:
            try:
                self._foreign += places_of([port], peers=peers)
            except LonghaulError as error:
                what = {"code": error.code, "message": error.message, "remedy": error.remedy}
                refused = refused or {"host": port.host, **what}
        self._out.send({"is": "ports", "refused": refused})

    def _learn(self, interfaces: Mapping[str, Interface]) -> None:
        known = {key: asdict(known_of(each)) for key, each in interfaces.items() if each.is_here()}
        self._out.send({"is": "learnt", "known": known})

    def _run(self, message: Message) -> None:
        if self._socket is None:
            raise ValueError("the socket to other machines is not open")
        if self._meter is not None:
            self._meter.close()
            self._meter = None
        directory = self._directory = Path(tempfile.mkdtemp(prefix="longhaul-"))
        archive.unpack(self._parts, directory)
        self._parts.clear()
        plan = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
        partition = message["machines"]["partition"]
        hosts = {node["name"]: machine for node, machine in zip(plan["nodes"], partition, strict=True)}
        self._launches = Launches(directory, hosts, self._relay)
        for program in plan["programs"]:
            if program.get("span"):
                program["env"] = {**_DIRECT_LAUNCH, **program["env"]}
        (directory / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        for name in ("raw", "logs"):
            (directory / name).mkdir(exist_ok=True)
        work = Path(message["work"])
        self._socket_path = directory / "control.sock"
        self._session = Session(
            directory / "plan.json",
            directory,
            run=f"{message['run']}-{secrets.token_hex(2)}",
            keep=message["stays_up"],
            socket_path=self._socket_path,
            scratch=[directory],
            memory_bytes=message["memory_bytes"],
            work=work if work.is_dir() else directory,
            foreign=self._foreign,
            machines={
                **message["machines"],
                "socket": self._socket.fileno(),
                "stays_up": message["stays_up"],
                "launcher": self._launches.command,
            },
        )
        self._thread = threading.Thread(target=self._follow, args=(self._session,), daemon=True)
        self._thread.start()

    def _ask(self, message: Message) -> None:
        """Ask the part's supervisor one thing, and pass its answer on."""
        try:
            answer = self._answer(message["request"])
        except LonghaulError as error:
            answer = {"ok": False, "message": error.message}
        self._out.send({"is": "answer", "number": message["number"], "answer": answer})

    def _answer(self, request: Message) -> Message:
        if self._socket_path is None:
            return {"ok": False, "message": "the run has not started yet"}
        match request["do"]:
            case "host_state":
                return {"ok": True, "state": asdict(host_state(self._socket_path, request["host"]))}
            case "hosts":
                found = ask(self._socket_path, request)
                wanted = {name: found[name] for name in ("ok", "hosts", "hostnames")}
                return {**wanted, "socket": str(self._socket_path)}
            case "programs":
                found = ask(self._socket_path, request)
                groups = found["cgroups"]
                cpu = (
                    {each.name: used for each in Path(groups).iterdir() if (used := cpu_seconds(each))}
                    if groups
                    else {}
                )
                return {**found, "cpu": cpu}
            case "capture":
                names = request.pop("files")
                found = ask(self._socket_path, request)
                if self._captures is not None:
                    self._captures.add(names)
                    self._watches.set()
                return found
            case _:
                return ask(self._socket_path, request)

    def _send_records(self, directory: Path) -> None:
        """Send what the part records, until it has ended."""
        sender = RecordSender(directory)
        while not self._over.is_set() and self._thread is not None and self._thread.is_alive():
            self._news.wait(EVERY_S)
            self._news.clear()
            if (packed := sender.packed()) is not None:
                self._out.send({"is": "records", "packed": packed})

    def _send_captures(self, sender: CaptureSender) -> None:
        """Send packets of links that are watched, until the part has ended."""
        self._watches.wait()
        while not self._over.is_set() and self._thread is not None and self._thread.is_alive():
            message, is_behind = sender.message()
            self._out.send(message)
            self._over.wait(BEHIND_EVERY_S if is_behind else EVERY_S)

    def _follow(self, session: Session) -> None:
        try:
            for event in session.events():
                if event.get("event") == "started" and self._directory is not None:
                    clock = StartedClock(event["t0_unix_ns"])
                    self._captures = CaptureSender(self._directory, clock)
                    for send, what in (
                        (self._send_records, self._directory),
                        (self._send_captures, self._captures),
                    ):
                        threading.Thread(target=send, args=(what,), daemon=True).start()
                if "event" in event:
                    self._out.send({"is": "event", "event": event})
        except LonghaulError as error:
            status = getattr(error, "status", "failed")
            event = {"event": "failed", "status": status, "message": error.message, "remedy": error.remedy}
            self._out.send({"is": "event", "event": event})
        except KeyboardInterrupt:
            self._out.send(
                {"is": "event", "event": {"event": "failed", "status": "crashed", "message": "was killed"}}
            )

    def _relay(self, machine: int, content: Message) -> None:
        """Send a message to the agent of another machine, by the coordinator."""
        self._out.send({"is": "relay", "to": machine, "content": content})

    def _collect(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._directory is not None:
            for part in archive.packed(self._directory, COLLECTED):
                self._out.send({"is": "part", "part": part})
        self._out.send({"is": "collected"})

    def _end(self) -> None:
        self._over.set()
        if self._launches is not None:
            self._launches.close()
        if self._session is not None:
            self._session.kill()
        if self._directory is not None:
            with suppress(OSError):
                shutil.rmtree(self._directory)


def main() -> int:
    """Serve the coordinator at the other end of standard input and output."""
    return Agent(Writer(messages.standard_output())).serve()


if __name__ == "__main__":
    sys.exit(main())
