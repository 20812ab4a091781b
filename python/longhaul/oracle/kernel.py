"""The oracle's guest: one process of User-Mode Linux, whose clock skips the time in which nothing happens."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.kernels.booting import memory_directory
from longhaul.kernels.cache import Kernel
from longhaul.oracle.guest import RESULT
from longhaul.subprocesses import program

CONSOLE = "console"
"""The file with the output of the guest's kernel and of its first process."""
MEMORY_BYTES = 1 << 30
"""Of the guest; only what it uses is taken from the machine."""
_EPOCH_NS = 10**18
"""The guest's date, 2001-09-09, so that equal runs are equal."""
_FREE_CALLS = 50
"""Calls that do not sleep and that a program may repeat without any time. iperf3 spins while it waits for its
server to begin, and has as many again after each event; any of the guest is one."""
_SHOWN_LINES = 3


def run_guest(kernel: Kernel, init: Sequence[str], directory: Path, *, seed: int) -> dict[str, Any]:
    """Boot the guest with the first process ``init``; returns what it wrote into ``directory``.

    Whatever ends this process ends the guest. Raises LonghaulError if the guest fails.
    """
    result = directory / RESULT
    result.unlink(missing_ok=True)
    # The kernel puts its socket there; it is gone with the guest.
    place = directory / "uml"
    place.mkdir(exist_ok=True)
    first, *arguments = init
    with (directory / CONSOLE).open("wb") as console:
        process = subprocess.Popen(
            [
                *_tied_to_this_process(),
                str(kernel.binary),
                f"mem={MEMORY_BYTES >> 20}M",
                *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
                f"init={first}",
                "time-travel=inf-cpu",
                f"time-travel-start={_EPOCH_NS}",
                f"tt-seed={seed}",
                f"tt-free={_FREE_CALLS}",
                f"uml_dir={place.name}/",
                *("con=null", "con0=null,fd:1", "con1=null,fd:1", "quiet", "loglevel=4", "panic=-1", "--"),
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            cwd=directory,
            env={"TMPDIR": memory_directory(), "HOME": "/"},
            start_new_session=True,
        )
        try:
            code = process.wait()
        finally:
            # Its processes are of one group.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            shutil.rmtree(place, ignore_errors=True)
    try:
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise _failed(f"it ended with {_ending(code)}: {_last_words(directory)}", directory) from None
    if found["error"]:
        raise _failed(found["error"], directory)
    return found


def _tied_to_this_process() -> list[str]:
    """What starts the kernel: it is killed with this process, and stays on one processor.

    Its processes take turns, and would otherwise move from one processor to the other.
    """
    cpu = str(max(os.sched_getaffinity(0)))
    setpriv, taskset = (program(name, package="util-linux") for name in ("setpriv", "taskset"))
    return [setpriv, "--pdeathsig", "KILL", taskset, "-c", cpu]


def _failed(why: str, directory: Path) -> LonghaulError:
    return LonghaulError(
        Code.RUN_FAILED, f"the oracle's guest failed: {why}", remedy=f"see {directory / CONSOLE}", exit_code=3
    )


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _last_words(directory: Path) -> str:
    lines = (directory / CONSOLE).read_text(encoding="utf-8", errors="replace").split("\n")
    last = [line.strip() for line in lines if line.strip()][-_SHOWN_LINES:]
    return " / ".join(last) or "its console is empty"
