"""Shells in the hosts of live runs, each on a pseudo-terminal that browser tabs attach to.

A shell outlives the tabs that show it: the end of its output is kept, and a tab that attaches again shows it.
"""

import asyncio
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from longhaul.run.session import search_path
from longhaul.subprocesses import python_command

KEPT_BYTES = 256 << 10
"""Of a shell's output, for tabs that attach later."""
MOST_UNREAD_BYTES = 128 << 10
"""That a tab is sent before it reports that it has drawn them."""
_MOST_AT_ONCE = 64 << 10
_READ_EVERY_S = 0.005
"""Output is read in pieces, so that a program that floods its terminal cannot occupy a processor."""
_MOST_PENDING = 1 << 20
"""Bytes of input that the shell has not read yet."""


@dataclass(eq=False)
class Tab:
    """A browser tab that shows a terminal. Positions count bytes of output since the shell began."""

    sent: int = 0
    drawn: int = 0
    wake: asyncio.Event = field(default_factory=asyncio.Event)


class Terminal:
    """A shell in a host, and the end of its output.

    All methods but :meth:`hang_up` and :meth:`is_over` belong to the loop's thread.
    """

    def __init__(self, socket: Path, host: str, *, cwd: Path) -> None:
        """Start a shell in ``host`` of the run whose socket is ``socket``. May be called in any thread."""
        self.id = token_hex(8)
        self.host = host
        self.started_unix_s = time.time()
        self.columns, self.rows = 80, 24
        self.tabs: set[Tab] = set()
        self.exit_code: int | None = None
        self.has_ended = False
        self._output = bytearray()
        self._written = 0
        """Bytes of output since the shell began, of which the last are kept."""
        self._pending = bytearray()
        self._is_reading = False
        self._watched = -1
        """A pidfd of the shell."""
        self._lock = threading.Lock()
        self._master, slave = pty.openpty()
        try:
            self._set_size()
            self._process = subprocess.Popen(
                python_command("longhaul.run.host_shell", str(socket), host),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=cwd,
                env={**os.environ, "PATH": search_path(), "TERM": "xterm-256color", "COLORTERM": "truecolor"},
                start_new_session=True,
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)

    def attach(self) -> Tab:
        """A tab that is sent what is kept of the output, and then what comes."""
        tab = Tab()
        tab.sent = tab.drawn = self._first_line()
        self.tabs.add(tab)
        self._begin()
        return tab

    def _begin(self) -> None:
        """Read the output from now on, unless that has begun or the shell has ended."""
        if self.is_over() or self._is_reading:
            return
        with self._lock:
            self._is_reading = True
            loop = asyncio.get_running_loop()
            self._watched = os.pidfd_open(self._process.pid)
            loop.add_reader(self._master, self._read)
            loop.add_reader(self._watched, self._exited)

    def detach(self, tab: Tab) -> None:
        """Forget a tab; the shell stays."""
        self.tabs.discard(tab)

    @property
    def end(self) -> int:
        """The position behind the latest output."""
        return self._written

    def unsent(self, tab: Tab) -> tuple[bytes, bool]:
        """What ``tab`` may be sent now, and whether it must clear its screen before: it has missed output."""
        start = self._written - len(self._output)
        has_missed = tab.sent < start
        if has_missed:
            tab.sent = tab.drawn = self._first_line()
        room = max(0, MOST_UNREAD_BYTES - (tab.sent - tab.drawn))
        place = tab.sent - start
        found = bytes(self._output[place : place + room])
        tab.sent += len(found)
        return found, has_missed

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal a size; programs in it are sent SIGWINCH."""
        if (columns, rows) == (self.columns, self.rows) or self.has_ended:
            return
        self.columns, self.rows = columns, rows
        self._set_size()
        self._wake()

    def type(self, text: bytes) -> None:
        """Pass on what was typed. More than the shell will ever read is dropped."""
        if self.has_ended or len(self._pending) + len(text) > _MOST_PENDING:
            return
        self._pending += text
        self._write()

    def is_over(self) -> bool:
        """Whether the shell has ended. One that no tab has ever shown is released."""
        with self._lock:
            if not self._is_reading and not self.has_ended and self._process.poll() is not None:
                self.has_ended = True
                self.exit_code = self._process.returncode
                os.close(self._master)
            return self.has_ended

    def hang_up(self) -> None:
        """End the shell and its jobs, as closing a terminal does."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGHUP)

    def _set_size(self) -> None:
        size = struct.pack("HHHH", self.rows, self.columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)

    def _first_line(self) -> int:
        """The position of the first line that is kept whole."""
        start = self._written - len(self._output)
        return start if start == 0 else start + self._output.find(b"\n") + 1

    def _read(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._master)
        if self._take_output() != b"":
            loop.call_later(_READ_EVERY_S, self._read_on)

    def _read_on(self) -> None:
        if not self.has_ended:
            asyncio.get_running_loop().add_reader(self._master, self._read)

    def _take_output(self) -> bytes | None:
        """Output that has come; ``None`` if there is none now, ``b""`` if there will be none."""
        try:
            found = os.read(self._master, _MOST_AT_ONCE)
        except BlockingIOError:
            return None
        except OSError:
            # EIO: nobody has the terminal open any more.
            return b""
        self._output += found
        self._written += len(found)
        if len(self._output) > 2 * KEPT_BYTES:
            del self._output[:-KEPT_BYTES]
        self._wake()
        return found

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                del self._pending[: os.write(self._master, self._pending)]
        except BlockingIOError:
            loop.add_writer(self._master, self._write)
            return
        except OSError:
            self._pending.clear()
        loop.remove_writer(self._master)

    def _exited(self) -> None:
        """Take what the shell wrote last. Jobs that it left may keep the terminal open; none is awaited."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._watched)
        loop.remove_reader(self._master)
        loop.remove_writer(self._master)
        os.close(self._watched)
        while self._take_output():
            pass
        os.close(self._master)
        self.has_ended = True
        self.exit_code = self._process.wait()
        self._wake()

    def _wake(self) -> None:
        for tab in self.tabs:
            tab.wake.set()
