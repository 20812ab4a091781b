"""A second user of this machine, who may do what any user may."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534
# Its interpreter may not stand in a home directory that is closed to others.
PYTHON = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable


def require() -> None:
    """Skip a test where there can be no second user."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")


def command(code: str, *arguments: str) -> list[str]:
    """The command line that runs a program of the second user."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    return [*drop, PYTHON, "-I", "-c", code, *arguments]


def run(code: str, *arguments: str, timeout: float = 60) -> str:
    """Run it, and return what it says."""
    done = subprocess.run(
        command(code, *arguments), capture_output=True, text=True, timeout=timeout, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def give(path: Path) -> None:
    """Make ``path`` the second user's."""
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
