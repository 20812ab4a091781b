"""A command in a host of a live run: ``python -m longhaul.run.host_command SOCKET HOST COMMAND...``."""

import sys
from pathlib import Path

from longhaul.errors import LonghaulError
from longhaul.run.persistent_networks import run_in_host_at


def main() -> int:
    """Run the command; its exit code."""
    socket, host, *command = sys.argv[1:]
    try:
        return run_in_host_at(Path(socket), host, command)
    except LonghaulError as error:
        print(f"longhaul: {error}", file=sys.stderr)  # noqa: T201 -- a program of its own
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
