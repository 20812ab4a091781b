"""The agent of a machine: builds and runs its part of a network, as the coordinator says over standard input.

It ends, with everything that it started, when the coordinator is gone or silent.
"""

import json
import os
import platform
import queue
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul import processes
from longhaul.errors import LonghaulError
from longhaul.machines import archive, messages
from longhaul.machines.messages import Message, Writer
from longhaul.machines.paths import Meter
from longhaul.run.session import Session

COLLECTED = ("raw", "logs", "captures")
"""What goes back to the coordinator."""


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
        self._session: Session | None = None
        self._directory: Path | None = None
        self._thread: threading.Thread | None = None
        self._over = threading.Event()

    def serve(self) -> int:
        """Answer until the coordinator is done, gone or silent."""
        threading.Thread(target=self._watch, daemon=True).start()
        cores = len(os.sched_getaffinity(0))
        self._out.send(
            {
                "is": "hello",
                "protocol": messages.PROTOCOL,
                "longhaul": version("longhaul"),
                "host": socket.gethostname(),
                "kernel": platform.release(),
                "boot_id": (processes.identify() or {}).get("boot_id"),
                "cores": cores,
            }
        )
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
            case "part":
                self._parts.append(message["part"])
            case "run":
                self._run(message)
            case "tell":
                if self._session is not None:
                    self._session.line.tell(message["request"])
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

    def _run(self, message: Message) -> None:
        if self._socket is None:
            raise ValueError("the socket to other machines is not open")
        if self._meter is not None:
            self._meter.close()
            self._meter = None
        directory = self._directory = Path(tempfile.mkdtemp(prefix="longhaul-"))
        archive.unpack(self._parts, directory)
        self._parts.clear()
        plan = part_of(directory / "plan.json", message["machines"])
        (directory / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        for name in ("raw", "logs"):
            (directory / name).mkdir(exist_ok=True)
        work = Path(message["work"])
        self._session = Session(
            directory / "plan.json",
            directory,
            run=f"{message['run']}-{secrets.token_hex(2)}",
            scratch=[directory],
            memory_bytes=message["memory_bytes"],
            work=work if work.is_dir() else directory,
            machines={**message["machines"], "socket": self._socket.fileno()},
        )
        self._thread = threading.Thread(target=self._follow, args=(self._session,), daemon=True)
        self._thread.start()

    def _follow(self, session: Session) -> None:
        try:
            for event in session.events():
                self._out.send({"is": "event", "event": event})
        except LonghaulError as error:
            status = getattr(error, "status", "failed")
            event = {"event": "failed", "status": status, "message": error.message, "remedy": error.remedy}
            self._out.send({"is": "event", "event": event})
        except KeyboardInterrupt:
            self._out.send(
                {"is": "event", "event": {"event": "failed", "status": "crashed", "message": "was killed"}}
            )

    def _collect(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._directory is not None:
            for part in archive.packed(self._directory, COLLECTED):
                self._out.send({"is": "part", "part": part})
        self._out.send({"is": "collected"})

    def _end(self) -> None:
        self._over.set()
        if self._session is not None:
            self._session.kill()
        if self._directory is not None:
            with suppress(OSError):
                shutil.rmtree(self._directory)


def part_of(plan: Path, machines: Mapping[str, Any]) -> dict[str, Any]:
    """The plan of one machine: the whole network, and the programs of its own hosts."""
    whole: dict[str, Any] = json.loads(plan.read_text(encoding="utf-8"))
    own, partition = machines["own"], machines["partition"]
    return {**whole, "programs": [each for each in whole["programs"] if partition[each["host"]] == own]}


def main() -> int:
    """Serve the coordinator at the other end of standard input and output."""
    # What anything prints must not stand between messages.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return Agent(Writer(out)).serve()


if __name__ == "__main__":
    sys.exit(main())
