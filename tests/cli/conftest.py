"""The command line as a user meets it: a process of its own, in an empty directory."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import forked
import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def longhaul(work: Path, runtime: Path, environment: dict[str, str]) -> Iterator[Command]:
    """Runs `longhaul ARGUMENTS` in an empty directory; takes what is still up down afterwards."""

    def call(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return forked.longhaul(*arguments, cwd=work, env=environment, timeout=timeout)

    yield call
    while any(runtime.glob("longhaul/*.sock")) and call("down").returncode == 0:
        pass


@pytest.fixture
def started(work: Path, environment: dict[str, str]) -> Command:
    """The same by an interpreter that starts for it, as a user's does."""

    def call(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "longhaul.cli.main", *arguments],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return call
