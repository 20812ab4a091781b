"""A live run from the client's side: start, events, requests, stop."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from longhaul import _longhaul, processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending, run_record
from longhaul.run import groups, signals, sockets
from longhaul.subprocesses import program, python_command

Message = dict[str, Any]

EXIT_CANNOT = 3
EXIT_CRASHED = 70
"""Both as long as there are no results to judge."""
PATIENCE_S = 15.0
"""How long a run may take to answer."""
_SILENT_S = 1.0
"""A worker that says nothing for so long may have been stopped."""

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

    def fileno(self) -> int:
        """The socket, to wait for with others."""
        return self._stream.fileno()

    def peer(self) -> int:
        """The process at the other end, in this PID namespace."""
        credentials = self._stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid: int = struct.unpack("3i", credentials)[0]
        return pid

    def close(self) -> None:
        """End the conversation."""
        self._stream.close()


class RunFailedError(LonghaulError):
    """A run that failed or crashed."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        status: str,
        remedy: str | None = None,
        exit_code: int = EXIT_CANNOT,
    ) -> None:
        """As its ``status`` will be."""
        super().__init__(code, message, remedy=remedy, exit_code=exit_code)
        self.status = status


def sudo_command() -> list[str]:
    """What starts a program as root. Asks for a password first, where there is a terminal to do so.

    The program itself is started without asking: nobody could answer while it runs in the background.
    """
    sudo = program("sudo")
    with suppress(OSError), open("/dev/tty", "rb"):
        # If it fails, it says why, and the program does not start.
        subprocess.run([sudo, "-v"], check=False)
    return [sudo, "-n"]


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
        scratch: Sequence[Path] = (),
        memory_bytes: int | None = None,
        kernel: Mapping[str, Any] | None = None,
        work: Path | None = None,
        foreign: Sequence[Mapping[str, Any]] = (),
        machines: Mapping[str, Any] | None = None,
        shards: Sequence[int] | None = None,
    ) -> None:
        """Start the worker for the plan in file ``plan``, to write into ``directory``.

        The run ends with this process, unless it detaches. With ``keep`` it ends when it is told to, whatever
        its programs do. ``scratch`` is removed after the run if this process is gone or has detached.
        Programs begin in the directory ``work``, by default that of this process. ``foreign`` has the network
        namespaces of hosts that are not the run's own. ``machines`` tells how the run is divided among
        several, and ``shards`` which engine thread each node has.
        The run ends as failed, with its results so far,
        when its supervisor, engine and observer use more than ``memory_bytes`` together.
        """
        ours, theirs = socket.socketpair()
        self._run = run
        self._directory = directory
        self._socket_path = socket_path
        self._killed: str | None = None
        """Why this process ended the run at once, if it did."""
        self._oom = _longhaul.oom_kills()
        orders = {
            "plan": str(plan.absolute()),
            "directory": str(directory.absolute()),
            "run": run,
            "line": theirs.fileno(),
            "client": os.getpid(),
            "socket": str(socket_path) if socket_path else None,
            "keep": keep,
            "scratch": [str(path.absolute()) for path in scratch],
            "memory_bytes": memory_bytes,
            "kernel": kernel,
            "foreign": [dict(each) for each in foreign],
            "machines": None,
            "shards": None if shards is None else list(shards),
            "keys": None,
            "cwd": str(work or Path.cwd()),
        }
        before: list[str] = []
        key: BinaryIO | None = None
        passed = [theirs.fileno()]
        if machines is not None:
            # Other users of the machine can read command lines.
            key = _readable(machines["key"].encode())
            orders["machines"] = {**machines, "key": key.fileno()}
            passed += [machines["socket"], key.fileno()]
        if kernel is not None and kernel["machines"]:
            passed += [machine["stream"] for machine in kernel["machines"]]
            key = _readable(json.dumps([each["key"] for each in kernel["machines"]]).encode())
            passed.append(key.fileno())
            without_keys = [{**machine, "key": None} for machine in kernel["machines"]]
            orders["kernel"] = {**kernel, "machines": without_keys}
            orders["keys"] = key.fileno()
        stdin = subprocess.DEVNULL
        if sudo:
            # Of all that is open, sudo leaves the standard streams alone.
            orders["line"], stdin = 0, theirs.fileno()
            before = [*sudo_command(), "--"]
            # A directory of root's, with what it has, could not be removed by whoever has the run.
            (directory / "raw" / "hosts.d").mkdir(parents=True, exist_ok=True)
        errors = directory / "logs" / "worker.err"
        errors.parent.mkdir(parents=True, exist_ok=True)
        try:
            with errors.open("wb") as stderr:
                self._process = subprocess.Popen(
                    [*before, *python_command(processes.WORKER, json.dumps(orders))],
                    stdin=stdin,
                    stdout=stderr,
                    stderr=stderr,
                    pass_fds=passed,
                    # What sudo remembers of a password is of this session, and of its terminal.
                    start_new_session=not sudo,
                    process_group=0 if sudo else None,
                    env={**os.environ, "PATH": search_path()},
                )
        except OSError as error:
            ours.close()
            raise RunFailedError(
                Code.RUN_FAILED, f"cannot start the worker: {error.strerror}", status=ending.FAILED
            ) from error
        finally:
            theirs.close()
            if key is not None:
                key.close()
        self._errors = errors
        self.line = Line(ours)
        try:
            self._note_process()
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        """The process that was started: the worker, or sudo above it."""
        return self._process.pid

    def events(self) -> Iterator[Message]:
        """What the run says, until it has ended. Raises RunFailedError when it failed or crashed."""
        while (message := self._hear()) is not None:
            if message.get("event") == "failed":
                code = self.wait()
                reason = str(message["message"])
                if code < 0 and message["status"] == ending.CRASHED:
                    reason = f"the worker {self._exit_text(code)}"
                raise self._failed(reason, message["status"], remedy=message.get("remedy"))
            yield message
            if message.get("event") == "ended":
                self.wait()
                return
        code = self.wait()
        if self._killed is not None:
            raise KeyboardInterrupt(self._killed)
        if (found := self._written()) is None:
            if (said := self._last_error_line()).startswith("sudo: "):
                remedy = (
                    "run it in a terminal, which sudo can ask, or let your account use it without a password"
                )
                raise self._failed(said, ending.FAILED, remedy=remedy)
            raise self._failed(f"the worker {self._exit_text(code)}", ending.CRASHED)
        if found.status in (ending.FAILED, ending.CRASHED):
            raise self._failed(str(found.reason), found.status)
        yield {"event": "ended", "reason": found.status, "why": found.reason}

    def wait_for(self, event: str) -> Message:
        """The next event of this kind."""
        for message in self.events():
            if message.get("event") == event:
                return message
        found = self._written()
        why = found.reason if found is not None else None
        raise LonghaulError(
            Code.RUN_FAILED,
            f"the run ended before it was {event}" + (f": {why}" if why else ""),
            exit_code=EXIT_CANNOT,
        )

    def detach(self) -> None:
        """Let the run go on when this process has ended. Raises LonghaulError if it is gone."""
        self.line.tell({"do": "detach"})
        while (message := self._hear()) is not None:
            if message.get("ok"):
                return
            if message.get("event") == "failed":
                self.wait()
                raise self._failed(str(message["message"]), message["status"])
            if message.get("event") == "ended":
                self.wait()
                raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(message["why"]), exit_code=1)
        self.wait()
        raise self._failed("the run ended before it was detached", ending.CRASHED)

    def stop(self, *, status: str = "stopped", why: str | None = None) -> None:
        """Ask the run to end with this status; its events then come to an end."""
        self.line.tell({"do": "stop", "status": status, "why": why})

    def end_at_once(self, why: str) -> None:
        """End the run without results; its events then come to an end. May be called by a signal handler."""
        self._killed = why
        self._kill_group()

    def kill(self) -> None:
        """End the run at once, if it has not ended; the kernel ends everything in it."""
        self._kill_group()
        self.line.close()
        self.wait()

    def _kill_group(self) -> None:
        # A worker that was waited for has given its number back, by now perhaps to another process.
        if self._process.returncode is None:
            # Behind sudo it is another's; then it ends because nobody listens any more.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for the worker's end."""
        while True:
            try:
                code = self._process.wait(timeout=_SILENT_S)
                break
            except subprocess.TimeoutExpired:
                self._continue_if_stopped()
        groups.remove_of(self._run)
        if self._socket_path is not None and not sockets.is_alive(self._socket_path):
            sockets.remove(self._socket_path)
        return code

    def _hear(self) -> Message | None:
        """The next event, however long that takes."""
        while True:
            try:
                return self.line.hear(_SILENT_S)
            except TimeoutError:
                self._continue_if_stopped()

    def _continue_if_stopped(self) -> None:
        """Send SIGCONT to a worker that was stopped by SIGSTOP: nobody else would end what it watches."""
        if processes.state(self._process.pid) == "T":
            with suppress(ProcessLookupError, PermissionError):
                self._process.send_signal(signal.SIGCONT)

    def _failed(self, reason: str, status: str, *, remedy: str | None = None) -> RunFailedError:
        exit_code = EXIT_CRASHED if status == ending.CRASHED else EXIT_CANNOT
        return RunFailedError(Code.RUN_FAILED, reason, status=status, remedy=remedy, exit_code=exit_code)

    def _exit_text(self, code: int) -> str:
        """How the worker ended, in words."""
        if code < 0:
            killed = _longhaul.oom_kills_since(*self._oom) if code == -signal.SIGKILL and self._oom else None
            return f"was killed by {signals.name(-code)}" + (f"; {killed}" if killed else "")
        said = self._last_error_line()
        return f"ended with exit code {code}: {said}" if said else f"ended with exit code {code}"

    def _last_error_line(self) -> str:
        """What the worker, or sudo, said last on its standard error; empty if nothing."""
        with suppress(OSError):
            said = self._errors.read_text(errors="replace").strip().splitlines()
            return said[-1] if said else ""
        return ""

    def _written(self) -> ending.Ending | None:
        """What the worker or the supervisor wrote last of the run's end."""
        with suppress(OSError, ValueError, KeyError):
            found = json.loads((self._directory / "raw" / "ended.json").read_text(encoding="utf-8"))
            return ending.Ending(str(found["ended"]), found.get("reason"))
        return None

    def _note_process(self) -> None:
        """Name the worker in the record: it may outlive this process."""
        if (self._directory / "run.json").is_file():
            known = run_record.read(self._directory / "run.json").get("processes") or {}
            worker = processes.identify(self._process.pid)
            run_record.update(self._directory / "run.json", processes={**known, "worker": worker})


def _readable(content: bytes) -> BinaryIO:
    """A pipe that holds a few bytes, for a child process to read."""
    out, into = os.pipe()
    os.write(into, content)
    os.close(into)
    return open(out, "rb", buffering=0)


def connect(path: Path) -> Line:
    """Open a conversation with the run whose socket is ``path``."""
    try:
        stream = sockets.connected(path)
    except OSError as error:
        raise LonghaulError(
            Code.RUN_UNRESPONSIVE,
            f"cannot talk to the run at {path}: {error.strerror}",
            remedy="longhaul clean",
            exit_code=2,
        ) from error
    return Line(stream, token=sockets.token_of(path))


def hosts_of(path: Path) -> tuple[int, Message]:
    """The process ID of the supervisor of the run whose socket is ``path``, and what it says of its hosts."""
    line = connect(path)
    supervisor = line.peer()
    return supervisor, _answer(line, {"do": "hosts"}, PATIENCE_S)


def ask(path: Path, request: Mapping[str, Any], *, timeout_s: float = PATIENCE_S) -> Message:
    """Ask the run at socket ``path`` one thing and return its answer."""
    answer = _answer(connect(path), request, timeout_s)
    if not answer.get("ok"):
        raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(answer.get("message")), exit_code=2)
    return answer


def _answer(line: Line, request: Mapping[str, Any], timeout_s: float) -> Message:
    """What the run at the other end answers to one request; ends the conversation."""
    try:
        line.tell(request)
        answer = line.hear(timeout_s)
    except TimeoutError as error:
        raise LonghaulError(
            Code.RUN_UNRESPONSIVE, "the run does not answer", remedy="longhaul clean ends it", exit_code=70
        ) from error
    finally:
        line.close()
    if answer is None:
        raise LonghaulError(Code.RUN_UNRESPONSIVE, "the run ended instead of answering", exit_code=1)
    return answer
