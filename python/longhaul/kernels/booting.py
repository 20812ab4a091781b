"""Whether a kernel runs programs on this machine."""

import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.subprocesses import program

_TIMEOUT_S = 60.0
"""A boot takes less than 0.1 s."""
_SUCCESS = b"Attempted to kill init! exitcode=0x00000000"
"""A kernel says so when its first program has ended, by itself and well."""
_SHOWN_BYTES = 300


def require_boot(binary: Path, log: BinaryIO) -> None:
    """Boot a kernel with ``true`` as its first program; its console goes to ``log``.

    Raises LonghaulError if that program does not end well, as on a processor with registers that the kernel
    cannot save.
    """
    with tempfile.TemporaryDirectory(prefix="longhaul-boot-") as place:
        command = [
            str(binary),
            *("mem=64M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
            f"init={program('true')}",
            *("uml_dir=uml/", "con=null", "con0=null,fd:1", "con1=null", "quiet", "loglevel=4", "panic=-1"),
        ]
        said = _output(command, place)
    log.write(said)
    log.flush()
    if _SUCCESS not in said:
        last = said.decode(errors="replace").strip()[-_SHOWN_BYTES:].replace("\n", " / ")
        raise LonghaulError(
            Code.KERNEL_BUILD,
            f"the new kernel runs no programs on this machine: {last or 'it said nothing'}",
            exit_code=3,
        )


def memory_directory() -> str:
    """Where a guest's memory is kept: in memory, if files there may be executed, as the kernel demands."""
    with suppress(OSError):
        if not os.statvfs("/dev/shm").f_flag & os.ST_NOEXEC:  # its file there is open alone
            return "/dev/shm"
    return tempfile.gettempdir()


def _output(command: list[str], directory: str) -> bytes:
    with subprocess.Popen(
        command,
        cwd=directory,
        env={"TMPDIR": memory_directory(), "HOME": "/"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as kernel:
        try:
            said, _ = kernel.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            said = (error.output or b"") + b"\nit did not end within 60 s\n"
        finally:
            # Its processes are of one group.
            with suppress(ProcessLookupError):
                os.killpg(kernel.pid, signal.SIGKILL)
    return said
