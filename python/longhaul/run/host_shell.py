"""An interactive shell in a host of a live run: ``python -m longhaul.run.host_shell SOCKET HOST``.

Standard input is a pseudo-terminal, which becomes the controlling terminal of the session that this process
leads. The shell ends when the terminal is closed, and when the run ends.
"""

import fcntl
import sys
import termios
from pathlib import Path

from longhaul.errors import LonghaulError
from longhaul.run.persistent_networks import run_in_host_at

COMMAND = (
    "/bin/sh",
    "-c",
    'for each in "$SHELL" bash; do command -v "$each" >/dev/null && exec "$each" -i; done; exec sh -i',
)
"""The user's shell; one that a host with a root directory of its own lacks is replaced by bash or sh."""


def main() -> int:
    """Run the shell; its exit code."""
    socket, host = sys.argv[1:]
    fcntl.ioctl(sys.stdin.fileno(), termios.TIOCSCTTY, 0)
    try:
        return run_in_host_at(Path(socket), host, COMMAND)
    except LonghaulError as error:
        # Standard error is the terminal.
        sys.exit(f"longhaul: {error}")


if __name__ == "__main__":
    sys.exit(main())
