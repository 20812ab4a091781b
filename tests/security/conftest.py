"""The command line as a user starts it, in a directory where somebody else has been before."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .planted import SCENARIO, plant_modules

Started = Callable[..., subprocess.CompletedProcess[str]]

LONGHAUL = str(Path(sys.executable).with_name("longhaul"))


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


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


@pytest.fixture
def planted(work: Path, trace: Path) -> Path:
    """The working directory, with a module of every name there is, and a scenario."""
    plant_modules(work, trace)
    (work / "pair.yaml").write_text(SCENARIO)
    return work
