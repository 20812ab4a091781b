"""The command line as a user starts it, in a directory where somebody else has been before."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Started = Callable[..., subprocess.CompletedProcess[str]]

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return {
        **os.environ,
        "XDG_RUNTIME_DIR": str(runtime),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }


@pytest.fixture
def work(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


@pytest.fixture
def started(work: Path, environment: dict[str, str]) -> Started:
    """Runs ``longhaul ARGUMENTS`` as installed, by an interpreter that starts for it."""

    def call(*arguments: str, timeout: float = 60, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [LONGHAUL, *arguments],
            cwd=work,
            env={**environment, **more},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return call
