"""Commands that programs of one machine start in hosts of another, such as the ranks of a parallel program.

The launch agent of a run connects here (:mod:`longhaul.machines.launch_agent`). What it says goes by the
coordinator to the agent of the host's machine, which starts the command and sends back what it writes, and
its exit code. Packets of the command take the network of the run.
"""

import base64
import json
import os
import queue
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.machines import launch_agent
from longhaul.machines.messages import Message
from longhaul.run import sockets
from longhaul.subprocesses import own_interpreter, python_command

_MOST_BYTES = 1 << 16
_SHELL = ("/bin/sh", "-c", 'cd "$0" 2>/dev/null; eval "$1"')
_UNKNOWN = 255
"""Exit code of a launch agent that could not start the command, as that of ssh."""


class Launches:
    """Those of one agent: asked for by programs here, and started here for others.

    ``send`` passes a message on to the agent of a machine.
    """

    def __init__(
        self, directory: Path, machines: Mapping[str, int], send: Callable[[int, Message], None]
    ) -> None:
        """Listen in ``directory``; ``machines`` are those of the hosts."""
        self._path = directory / "launch.sock"
        self._machines = machines
        self._send = send
        self._asked: dict[int, _Sink] = {}
        """What goes to launch agents, by the numbers of their commands."""
        self._started: dict[tuple[int, int], _Started] = {}
        """By the machine that asked and its number."""
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX)
        with sockets.short(self._path) as name:
            self._listener.bind(name)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def command(self) -> list[str]:
        """What starts a command in a host of another machine, with host, directory and command behind it."""
        return [own_interpreter(), "-I", str(Path(launch_agent.__file__)), str(self._path)]

    def close(self) -> None:
        """End all of them."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            started = list(self._started.values())
        for each in started:
            each.process.kill()

    def take(self, sender: int, message: Message, control: Path) -> None:
        """Take a message of another machine's agent; ``control`` is the socket of the run here."""
        number = message["number"]
        match message["what"]:
            case "start":
                self._start(sender, message, control)
            case "input":
                if (started := self._started.get((sender, number))) is not None:
                    started.input.put(base64.b64decode(message["data"]))
            case "hang up":
                if (started := self._started.get((sender, number))) is not None:
                    started.process.send_signal(signal.SIGTERM)
            case "output" | "exit":
                if (asked := self._asked.get(number)) is not None:
                    asked.put(json.dumps(message["content"]).encode() + b"\n")

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            number += 1
            threading.Thread(target=self._follow_asked, args=(number, connection), daemon=True).start()

    def _follow_asked(self, number: int, connection: socket.socket) -> None:
        """Pass on what the launch agent of a program here says, until it is gone."""
        machine: int | None = None
        self._asked[number] = _Sink(connection.sendall, lambda: None)
        # A launch agent that dies may leave half a message.
        with suppress(OSError, ValueError, KeyError), connection.makefile("rb") as messages:
            for line in messages:
                message = json.loads(line)
                if machine is None:
                    machine = self._machines[message["host"]]
                    self._send(machine, {"what": "start", "number": number, **message})
                else:
                    self._send(machine, {"what": "input", "number": number, "data": message["data"]})
        if machine is not None:
            self._send(machine, {"what": "hang up", "number": number})
        self._asked.pop(number).put(b"")
        connection.close()

    def _start(self, sender: int, message: Message, control: Path) -> None:
        command = ("longhaul.run.host_command", str(control), message["host"], *_SHELL)
        try:
            process = subprocess.Popen(
                python_command(*command, message["directory"], message["command"]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # As on one machine, where the command inherits them; what this machine has set is right here.
                env={**message["environment"], **os.environ},
                bufsize=0,
                start_new_session=True,
            )
        except OSError:
            self._answer(sender, message["number"], "exit", {"exit": _UNKNOWN})
            return
        assert process.stdin is not None
        with self._lock:
            self._started[sender, message["number"]] = _Started(
                process, _Sink(process.stdin.write, process.stdin.close)
            )
        threading.Thread(
            target=self._follow_started, args=(sender, message["number"], process), daemon=True
        ).start()

    def _follow_started(self, sender: int, number: int, process: "subprocess.Popen[bytes]") -> None:
        """Pass on what a command here writes, and then its exit code."""
        readers = [
            threading.Thread(target=self._pass_output, args=(sender, number, stream, pipe), daemon=True)
            for stream, pipe in (("out", process.stdout), ("err", process.stderr))
        ]
        for reader in readers:
            reader.start()
        code = process.wait()
        for reader in readers:
            # Processes that it left may hold its pipes.
            reader.join(timeout=1)
        with self._lock:
            self._started.pop((sender, number)).input.put(b"")
        self._answer(sender, number, "exit", {"exit": 128 - code if code < 0 else code})

    def _pass_output(self, sender: int, number: int, stream: str, pipe: Any) -> None:
        while content := os.read(pipe.fileno(), _MOST_BYTES):
            data = base64.b64encode(content).decode()
            self._answer(sender, number, "output", {"stream": stream, "data": data})

    def _answer(self, sender: int, number: int, what: str, content: Message) -> None:
        self._send(sender, {"what": what, "number": number, "content": content})


class _Sink:
    """Writes without letting its caller wait; ``b""`` is the end."""

    def __init__(self, write: Callable[[bytes], Any], close: Callable[[], None]) -> None:
        self._queue: queue.Queue[bytes] = queue.Queue()
        self._write, self._close = write, close
        threading.Thread(target=self._follow, daemon=True).start()

    def put(self, content: bytes) -> None:
        self._queue.put(content)

    def _follow(self) -> None:
        # Whoever reads nothing any more misses the rest.
        with suppress(OSError, ValueError):
            while content := self._queue.get():
                self._write(content)
        with suppress(OSError, ValueError):
            self._close()


@dataclass(frozen=True)
class _Started:
    """A command that runs here."""

    process: "subprocess.Popen[bytes]"
    input: _Sink
