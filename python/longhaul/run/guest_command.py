"""A command in a host on the virtual clock, with this process's terminal or its streams.

Such a host is a Linux kernel of its own, which nothing of this machine can enter. The run's supervisor
carries what is typed and what the command writes. While the terminal, or whoever reads standard output, takes
nothing, the clock stands still.
"""

import os
import select
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run import session

_WINDOW_BYTES = 1 << 16
"""So much input may be under way to a command that does not read."""
_READ_BYTES = 1 << 14
_SIZE_CHECK_S = 0.2
"""Interval between two looks at the size of the terminal."""
_SIGPIPE_EXIT_CODE = 128 + signal.SIGPIPE
_RUNS_OWN = ("HOSTNAME", "LONGHAUL_HOST", "LONGHAUL_RUN", "TMPDIR")
"""Variables that the run sets for programs in its hosts."""


def run_in_guest(path: Path, host: str, argv: Sequence[str]) -> int:
    """Run a command in a host of the run whose socket is ``path``; its exit code, as a shell has it.

    Raises LonghaulError if the run refuses it, or ends before the command does.
    """
    stdin, stdout = 0, 1
    has_terminal = os.isatty(stdin) and os.isatty(stdout)
    line = session.connect(path)
    try:
        execution = {
            "argv": list(argv),
            "cwd": str(Path.cwd()),
            "env": _variables(),
            "terminal": _size() if has_terminal else None,
        }
        line.tell({"do": "execute", "host": host, "execution": execution})
        answer = line.hear(session.PATIENCE_S)
        if answer is None or not answer.get("ok"):
            reason = "the run ended instead of answering" if answer is None else str(answer["message"])
            raise LonghaulError(Code.RUN_REQUEST_REFUSED, reason, exit_code=2)
        with _raw(stdin) if has_terminal else nullcontext():
            return _Conversation(line, stdin, has_terminal=has_terminal).until_end()
    except BrokenPipeError:
        # Nobody reads what the command writes: as a command of this machine, it is ended by that.
        _forget_standard_output()
        return _SIGPIPE_EXIT_CODE
    finally:
        # What still runs is killed.
        line.close()


class _Conversation:
    """What passes between a command and this process's streams."""

    def __init__(self, line: session.Line, stdin: int, *, has_terminal: bool) -> None:
        self._line = line
        self._stdin: int | None = stdin
        self._size = _size() if has_terminal else None
        self._under_way_bytes = 0

    def until_end(self) -> int:
        """Carry all of it, and return the command's exit code."""
        while True:
            while self._line.is_more:
                code = self._heard(self._line.hear())
                if code is not None:
                    return code
            watched: list[Any] = [self._line]
            if self._stdin is not None and self._under_way_bytes < _WINDOW_BYTES:
                watched.append(self._stdin)
            ready, _, _ = select.select(watched, [], [], None if self._size is None else _SIZE_CHECK_S)
            if self._stdin is not None and self._stdin in ready:
                self._type(_read(self._stdin))
            if self._line in ready:
                code = self._heard(self._line.hear())
                if code is not None:
                    return code
            self._tell_size()

    def _heard(self, message: session.Message | None) -> int | None:
        if message is None:
            raise LonghaulError(Code.RUN_UNRESPONSIVE, "the run ended before the command did", exit_code=1)
        match message.get("event"):
            case "output":
                _write(int(message["stream"]), message["bytes"].encode("latin-1"))
            case "taken":
                self._under_way_bytes -= int(message["bytes"])
            case "command-ended":
                return int(message["code"])
            case _:
                raise LonghaulError(Code.RUN_REQUEST_REFUSED, str(message.get("message")), exit_code=2)
        return None

    def _type(self, typed: bytes) -> None:
        if typed:
            self._under_way_bytes += len(typed)
            self._order({"input": typed.decode("latin-1")})
        else:
            self._stdin = None
            self._order("end-input")

    def _tell_size(self) -> None:
        if self._size is not None and (size := _size()) != self._size:
            self._size = size
            self._order({"resize": size})

    def _order(self, order: str | Mapping[str, Any]) -> None:
        self._line.tell({"do": "for_execution", "order": order})


def _variables() -> Mapping[str, str]:
    """The environment of this process, for the command: without what is the run's."""
    own = {name: value for name, value in os.environ.items() if name not in _RUNS_OWN}
    return {**own, "PATH": session.search_path()}


def _size() -> dict[str, int]:
    """The size of the terminal in characters."""
    size = shutil.get_terminal_size()
    return {"rows": size.lines, "columns": size.columns}


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Within the block, what is typed goes to the command as it is, Ctrl-C, too."""
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read(stream: int) -> bytes:
    """What is there; nothing at the end, and of a terminal that is gone."""
    with suppress(OSError):
        return os.read(stream, _READ_BYTES)
    return b""


def _write(stream: int, written: bytes) -> None:
    while written:
        written = written[os.write(stream, written) :]


def _forget_standard_output() -> None:
    """What Python would write there at its end fails in silence."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
