"""The agent of a machine for the virtual clock: it runs kernels of hosts as the clock's controller says.

Its standard input and output are the connection to the controller. Until the kernels start, it is the
conversation of :mod:`longhaul.machines.messages`, with the process that started it; then the controller's own
messages follow, and in the end the files of the hosts, packed.
"""

import os
import platform
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from longhaul import _longhaul, processes
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import BINARY, kernels
from longhaul.machines import archive, messages
from longhaul.machines.messages import Message, Writer
from longhaul.results import host_files
from longhaul.run.cleanup import remove_temporary, temporary_prefix
from longhaul.run.session import search_path
from longhaul.run.virtual_clock import kernel_orders

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
        self._binary = self._directory / BINARY

    def serve(self) -> int:
        """Answer until the run is over, or nobody listens."""
        try:
            self._writer.send(
                {
                    "is": "hello",
                    "protocol": messages.PROTOCOL,
                    "longhaul": version("longhaul"),
                    "host": socket.gethostname(),
                    "kernel": platform.release(),
                    "boot_id": (processes.identify() or {}).get("boot_id"),
                    "cores": len(os.sched_getaffinity(0)),
                }
            )
            while (message := messages.read(sys.stdin.buffer)) is not None:
                if message["do"] == "kernel":
                    self._look_for_kernel(message["sha256"])
                elif message["do"] == "part":
                    self._parts.append(message["part"])
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
        os.environ["PATH"] = search_path()
        sockets = self._directory / "kernels"
        sockets.mkdir(mode=0o700)
        orders: dict[str, Any] = {**message["orders"], **kernel_orders(self._binary, sockets)}
        plan = (self._directory / "plan.json").read_text(encoding="utf-8")
        self._writer.send({"is": "ready"})
        is_awaited = _longhaul.serve_hosts(
            plan,
            directory=str(self._directory),
            kernel=orders,
            hosts=message["hosts"],
            incoming=sys.stdin.fileno(),
            outgoing=self._out.fileno(),
        )
        if is_awaited:
            with suppress(BrokenPipeError):
                host_files.pack(self._directory, self._out)
        return 0


def main() -> int:
    """Serve the controller at the other end of standard input and output."""
    # What anything prints must not stand between messages.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return KernelAgent(out).serve()


if __name__ == "__main__":
    sys.exit(main())
