"""Programs that build a kernel: whether they are installed, and how they are run."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.subprocesses import find_program, trusted_path

PACKAGES = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""Programs that a build needs, and the Debian packages that they are in."""
HEADER = Path("/usr/include/stdio.h")
"""Of libc6-dev: the kernel is a program of the machine, too."""


def require_tools() -> None:
    """Raise LonghaulError, which names the packages to install, if a program that builds is missing."""
    missing = {name: package for name, package in PACKAGES.items() if find_program(name) is None}
    if not HEADER.exists():
        missing[str(HEADER)] = "libc6-dev"
    if missing:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"a kernel is built with programs that are not installed: {', '.join(missing)}",
            remedy=f"sudo apt-get install {' '.join(missing.values())}",
            exit_code=3,
        )


def environment() -> dict[str, str]:
    """The environment of a build: equal sources give equal kernels."""
    return {
        "PATH": trusted_path(),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "TMPDIR": tempfile.gettempdir(),
        "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
        "KBUILD_BUILD_VERSION": "1",
        "KBUILD_BUILD_USER": "longhaul",
        "KBUILD_BUILD_HOST": "longhaul",
    }


def checked(command: Sequence[str], purpose: str) -> None:
    """Run a command; LonghaulError with its last words if it fails."""
    ended = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if ended.returncode:
        why = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
        raise LonghaulError(
            Code.KERNEL_BUILD, f"cannot {purpose}: {why}", remedy="free disk space, or see its log"
        )


def logged(
    command: Sequence[str], log: BinaryIO, *, cwd: Path, on_line: Callable[[str], None] = lambda _: None
) -> int:
    """Run a command, with its output in ``log`` and line by line to ``on_line``; returns its exit code.

    It ends with this process: SIGPIPE kills what writes without a reader. After an exception in this process,
    its process group is killed.
    """
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        try:
            for line in child.stdout:
                log.write(line)
                on_line(line.decode(errors="replace").rstrip())
            log.flush()
            return child.wait()
        except BaseException:
            os.killpg(child.pid, 9)
            raise
