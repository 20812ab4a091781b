"""A live run seen from outside: started, asked, told to stop."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from longhaul.errors import LonghaulError
from longhaul.run import groups, state
from longhaul.subprocesses import program, python_command

Message = dict[str, Any]


_MOST_BYTES = 1 << 16


def search_path() -> str:
    """PATH for programs in hosts: as it is, after the directory of the Python that runs Longhaul."""
    path = os.environ.get("PATH", os.defpath)
    own = str(Path(sys.executable).parent)
    return path if own in path.split(os.pathsep) else f"{own}{os.pathsep}{path}"


class Line:
    """A conversation with a supervisor: JSON objects, one a line."""

    def __init__(self, stream: socket.socket, *, token: str | None = None) -> None:
        """Take over ``stream``; a ``token`` is part of all that is told."""
        self._stream = stream
        self._secret = {} if token is None else {"token": token}
        self._heard = b""

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send one object; an end that is gone shows when listening."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._stream.sendall(json.dumps({**message, **self._secret}).encode() + b"\n")

    def hear(self, timeout_s: float | None = None) -> Message | None:
        """The next object, or None when the other end is gone. Raises TimeoutError.

        Several may come at once: who waits for the socket with others listens while there :attr:`is_more`.
        """
        self._stream.settimeout(timeout_s)
        while not self.is_more:
            try:
                heard = self._stream.recv(_MOST_BYTES)
            except ConnectionResetError:
                return None
            if not heard:
                return None
            self._heard += heard
        line, _, self._heard = self._heard.partition(b"\n")
        message: Message = json.loads(line)
        return message

    @property
    def is_more(self) -> bool:
        """Whether the next object is here already."""
        return b"\n" in self._heard

    def peer(self) -> int:
        """The process at the other end, in this PID namespace."""
        credentials = self._stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid: int = struct.unpack("3i", credentials)[0]
        return pid

    def close(self) -> None:
        """End the conversation."""
        self._stream.close()


class Session:
    """A run that this process started and whose end it waits for."""

    def __init__(
        self,
        plan: Path,
        directory: Path,
        *,
        run: str,
        keep: bool = False,
        socket_path: Path | None = None,
        sudo: bool = False,
    ) -> None:
        """Start the worker for the plan in file ``plan``, to write into ``directory``."""
        ours, theirs = socket.socketpair()
        self._run = run
        orders = {
            "plan": str(plan.absolute()),
            "directory": str(directory.absolute()),
            "run": run,
            "line": theirs.fileno(),
            "socket": str(socket_path) if socket_path else None,
            "keep": keep,
            "cwd": str(Path.cwd()),
        }
        before: list[str] = []
        if sudo:
            orders["line"] = 3
            before = [program("sudo"), "--close-from=4"]
        errors = directory / "logs" / "worker.err"
        errors.parent.mkdir(parents=True, exist_ok=True)
        with errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*before, *python_command("longhaul.run.worker", json.dumps(orders))],
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "PATH": search_path()},
            )
        theirs.close()
        self._errors = errors
        self.line = Line(ours)

    @property
    def pid(self) -> int:
        """The process that was started: the worker, or sudo above it."""
        return self._process.pid

    def events(self) -> Iterator[Message]:
        """What the run says, until it has ended. Raises LonghaulError when it failed."""
        while (message := self.line.hear()) is not None:
            if message.get("event") == "failed":
                self.wait()
                raise LonghaulError(str(message["message"]), exit_code=3)
            yield message
            if message.get("event") == "ended":
                self.wait()
                return
        code = self.wait()
        detail = self._errors.read_text(errors="replace").strip().splitlines()
        raise LonghaulError(
            f"the run's process ended without a word (exit code {code})",
            remedy=detail[-1] if detail else f"see {self._errors.parent}",
            exit_code=70,
        )

    def wait_for(self, event: str) -> Message:
        """The next event of this kind."""
        for message in self.events():
            if message.get("event") == event:
                return message
        raise LonghaulError(f"the run ended before it was {event}", exit_code=70)

    def stop(self, *, interrupted: bool = False) -> None:
        """Ask the run to end; its events then come to an end."""
        self.line.tell({"do": "stop", "interrupted": interrupted})

    def kill(self) -> None:
        """End the run at once; the kernel ends everything in it."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Wait for the worker's end."""
        code = self._process.wait()
        groups.remove_of(self._run)
        return code


def connect(path: Path) -> Line:
    """Open a conversation with the run whose socket is ``path``."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.connect(str(path))
    except OSError as error:
        stream.close()
        raise LonghaulError(
            f"cannot talk to the run at {path}: {error.strerror}", remedy="longhaul clean", exit_code=2
        ) from error
    return Line(stream, token=state.token_of(path))


def ask(path: Path, request: Mapping[str, Any], *, timeout_s: float = 15.0) -> Message:
    """Ask the run at socket ``path`` one thing and return its answer."""
    line = connect(path)
    try:
        line.tell(request)
        answer = line.hear(timeout_s)
    except TimeoutError as error:
        raise LonghaulError(
            "the run does not answer", remedy="longhaul clean ends it", exit_code=70
        ) from error
    finally:
        line.close()
    if answer is None:
        raise LonghaulError("the run ended instead of answering", exit_code=1)
    if not answer.get("ok"):
        raise LonghaulError(str(answer.get("message")), exit_code=2)
    return answer
