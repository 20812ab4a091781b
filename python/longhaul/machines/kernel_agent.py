"""The agent of a machine for the virtual clock: it runs kernels of hosts as the clock's controller says.

Over standard input and output it converses, as :mod:`longhaul.machines.messages` says, with the process that
started it, until the kernels start. Then the controller's own messages follow: on a connection of their own
(TCP), or, where none can be made, over standard input and output.
"""

import hmac
import os
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from longhaul import _longhaul
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import BINARY, kernels
from longhaul.machines import archive, messages
from longhaul.machines.messages import Message, Writer
from longhaul.results import host_files
from longhaul.run.cleanup import remove_temporary, temporary_prefix
from longhaul.run.session import search_path
from longhaul.run.virtual_clock import kernel_orders

_CONNECTION_S = 10.0
"""For the controller to connect, and to say who it is."""
_OWN_VARIABLES = ("HOME", "LOGNAME", "SHELL", "TMPDIR", "USER")
"""Of an account on its machine; programs have all others from the command that runs them."""
_KIND = "machine"
"""Of the agent's temporary directory."""


class KernelAgent:
    """One run's hosts on this machine."""

    def __init__(self, out: BinaryIO) -> None:
        """Answer over ``out``."""
        self._out = out
        self._writer = Writer(out)
        # Of agents that were killed.
        remove_temporary(_KIND)
        self._directory = Path(tempfile.mkdtemp(prefix=temporary_prefix(_KIND)))
        self._parts: list[str] = []
        self._listener: socket.socket | None = None
        self._binary = self._directory / BINARY

    def serve(self) -> int:
        """Answer until the run is over, or nobody listens."""
        try:
            self._writer.send(messages.hello())
            while (message := messages.read(sys.stdin.buffer)) is not None:
                if message["do"] == "kernel":
                    self._look_for_kernel(message["sha256"])
                elif message["do"] == "part":
                    self._parts.append(message["part"])
                elif message["do"] == "listen":
                    self._listen()
                elif message["do"] == "unpack":
                    self._unpack()
                elif message["do"] == "hosts":
                    return self._run(message)
        except (LonghaulError, _longhaul.LiveError) as error:
            self._writer.send({"is": "failed", "message": error.message, "remedy": error.remedy})
        except (OSError, ValueError) as error:
            self._writer.send({"is": "failed", "message": str(error), "remedy": None})
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)
        return 1

    def _look_for_kernel(self, sha256: str) -> None:
        """Tell whether there is the same kernel here: otherwise it comes with the run."""
        found = next((kernel.binary for kernel in kernels() if kernel.sha256 == sha256), None)
        if found is not None:
            self._binary = found
        self._writer.send({"is": "kernel", "here": found is not None})

    def _unpack(self) -> None:
        archive.unpack(self._parts, self._directory)
        self._parts.clear()

    def _run(self, message: Message) -> int:
        work = Path(message["work"])
        os.chdir(work if work.is_dir() else self._directory)
        own = {name: os.environ[name] for name in _OWN_VARIABLES if name in os.environ}
        os.environ.clear()
        os.environ.update({**message["env"], **own})
        os.environ["PATH"] = search_path()
        sockets = self._directory / "kernels"
        sockets.mkdir(mode=0o700)
        orders: dict[str, Any] = {**message["orders"], **kernel_orders(self._binary, sockets)}
        plan = (self._directory / "plan.json").read_text(encoding="utf-8")
        key = message["key"] and bytes.fromhex(message["key"])
        connection = self._accepted(bytes.fromhex(message["token"])) if key else None
        if self._listener is not None:
            self._listener.close()
        incoming, outgoing = sys.stdin.fileno(), self._out.fileno()
        if connection is not None:
            incoming = outgoing = connection.fileno()
        self._writer.send({"is": "ready"})
        _longhaul.serve_hosts(
            plan,
            directory=str(self._directory),
            kernel=orders,
            hosts=message["hosts"],
            incoming=incoming,
            outgoing=outgoing,
            key=key,
            pack=self._packed,
        )
        return 0

    def _listen(self) -> None:
        """Wait for the controller on a port that the system chooses."""
        try:
            self._listener = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        except (OSError, ValueError):
            # A machine without IPv6, or without sockets for both.
            self._listener = socket.create_server(("", 0))
        self._listener.settimeout(_CONNECTION_S)
        self._writer.send({"is": "listen", "port": self._listener.getsockname()[1]})

    def _accepted(self, token: bytes) -> socket.socket:
        """The connection of whoever knows the token; others are closed."""
        assert self._listener is not None
        while True:
            connection, _address = self._listener.accept()
            connection.settimeout(_CONNECTION_S)
            with suppress(OSError):
                if hmac.compare_digest(connection.recv(len(token), socket.MSG_WAITALL), token):
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    return connection
            connection.close()

    def _packed(self) -> str:
        archive = self._directory / "files.tar.gz"
        host_files.pack(self._directory, archive)
        return str(archive)


def main() -> int:
    """Serve the controller at the other end of standard input and output."""
    return KernelAgent(messages.standard_output()).serve()


if __name__ == "__main__":
    sys.exit(main())
