"""Starts a command in a host of another machine, for programs in hosts of this one, as ssh would.

``python -I launch_agent.py SOCKET HOST DIRECTORY COMMAND``: the launch agent of MPI becomes this script. It
imports nothing of Longhaul, so that it starts fast. The agent of this machine listens at ``SOCKET``.
"""

import base64
import json
import os
import socket
import sys
import threading
from typing import Any

_MOST_BYTES = 1 << 16


def main() -> int:
    """Pass standard input on, and write what the command writes; its exit code."""
    path, host, directory, command = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as connection:
        place = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
        # The kernel takes 107 bytes of a path.
        connection.connect(f"/proc/self/fd/{place}/{os.path.basename(path)}")
        os.close(place)
        wanted = {"host": host, "directory": directory, "command": command, "environment": dict(os.environ)}
        _send(connection, wanted)
        threading.Thread(target=_pass_input, args=(connection,), daemon=True).start()
        with connection.makefile("rb") as answers:
            for line in answers:
                message = json.loads(line)
                if "exit" in message:
                    return int(message["exit"])
                _write(1 if message["stream"] == "out" else 2, base64.b64decode(message["data"]))
    print("longhaul-agent: the machine of the host is gone", file=sys.stderr)  # noqa: T201 -- a program of its own
    return 255


def _pass_input(connection: socket.socket) -> None:
    while content := os.read(0, _MOST_BYTES):
        _send(connection, {"data": base64.b64encode(content).decode()})
    _send(connection, {"data": ""})


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


if __name__ == "__main__":
    # Not sys.exit: the thread that reads standard input may be waiting.
    sys.stdout.flush()
    os._exit(main())
