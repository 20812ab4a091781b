"""Commands as a user sees them on a terminal of 80 columns."""

import fcntl
import os
import pty
import struct
import sys
import termios
from pathlib import Path


def on_a_terminal(folder: Path, *arguments: str) -> tuple[str, int]:
    """Run ``longhaul ARGUMENTS`` in ``folder``: all that it writes to its terminal, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
        os.execv(sys.executable, [sys.executable, "-m", "longhaul.cli.main", *arguments])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    said = b""
    try:
        while part := os.read(terminal, 65536):
            said += part
    except OSError:  # the terminal's other end is gone
        pass
    finally:
        os.close(terminal)
    return said.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
