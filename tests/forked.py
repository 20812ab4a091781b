"""``longhaul`` as a process of its own that need not import anything first.

Most of a short command's time goes into its imports. A server does them once and forks for each command: what
a test meets is a process with its own directory, environment, output and exit code all the same.
Where the start itself matters (the tour, signals, what a command imports) tests start an interpreter instead.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from select import select
from typing import Any

_idle: list["_Server"] = []


def longhaul(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> "subprocess.CompletedProcess[str]":
    """Run ``longhaul ARGUMENTS`` and wait for it; raises subprocess.TimeoutExpired after ``timeout`` s."""
    server = _idle.pop() if _idle else _Server()
    try:
        return server.run(arguments, cwd=cwd or Path.cwd(), env=env or os.environ, timeout=timeout)
    finally:
        if server.is_up():
            _idle.append(server)


class _Server:
    """One interpreter that forks, one command at a time; it ends when its standard input does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # or the second answer waits in a buffer, where select does not see it
            start_new_session=True,
        )

    def run(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            me = f"/proc/{os.getpid()}/fd"
            request = {
                "arguments": arguments,
                "cwd": str(cwd),
                "env": dict(env),
                "out": f"{me}/{out.fileno()}",
                "err": f"{me}/{err.fileno()}",
            }
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            child = self._answer()
            if not select([self._process.stdout], [], [], timeout)[0]:
                os.kill(child, signal.SIGKILL)
                self._answer()
                raise subprocess.TimeoutExpired(list(arguments), timeout)
            code = self._answer()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(list(arguments), code, out.read(), err.read())

    def is_up(self) -> bool:
        return self._process.poll() is None

    def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


def _serve() -> None:
    for line in sys.stdin:
        child = get_context("fork").Process(target=_command, args=(json.loads(line),))
        child.start()
        print(child.pid, flush=True)
        child.join()
        print(child.exitcode, flush=True)


def _command(request: Mapping[str, Any]) -> None:
    from longhaul.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    appended = os.O_WRONLY | os.O_APPEND
    for number, place, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["out"], appended),
        (2, request["err"], appended),
    ):
        opened = os.open(place, mode)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["longhaul", *request["arguments"]]
    main()


def _import_everything() -> None:
    import longhaul

    for module in pkgutil.walk_packages(longhaul.__path__, "longhaul."):
        if not module.name.startswith("longhaul.workloads"):
            importlib.import_module(module.name)
    for name in ("matplotlib.backends.backend_svg", "scipy.stats"):
        importlib.import_module(name)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_everything()
    gc.freeze()
    _serve()
