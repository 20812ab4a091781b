"""Runs on the virtual clock need a kernel; where none is built, they say so and are skipped."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.subprocesses import python_command

Run = Callable[..., "Ran"]

BETWEEN_TWO = """\
version: 1
name: two
seed: 7
duration: {duration}
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  a-b: {{endpoints: [a, b], delay: 10ms, rate: 100Mbit, queue: {{kind: fifo, limit: 1bdp}}}}
"""


class Ran:
    """A run that has ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]", directory: Path) -> None:
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.directory = directory

    @property
    def summary(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.directory / "summary.json").read_text())
        return content

    @property
    def digest(self) -> str:
        return str(self.summary["virtual_clock"]["digest"])

    def log(self, name: str) -> str:
        return (self.directory / "logs" / name).read_text()


@pytest.fixture(autouse=True, scope="session")
def _kernel() -> None:
    """Skip everything here where no kernel is built."""
    try:
        find()
    except LonghaulError as error:
        pytest.skip(f"{error.message}: longhaul kernel build")


@pytest.fixture
def run(environment: dict[str, str], work: Path) -> Run:
    """Runs a scenario on the virtual clock, in the directory ``work``."""

    def call(scenario: str, *arguments: str, duration: str = "2s", before: tuple[str, ...] = ()) -> Ran:
        (work / "two.yaml").write_text(scenario.format(duration=duration))
        command = [*before, *python_command("longhaul.cli.main"), "run", "two.yaml", "--clock", "virtual"]
        done = subprocess.run(
            [*command, *arguments],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done, work / "runs" / "two" / "latest")

    return call


def python_in_host(code: str) -> str:
    """A program of a scenario: this Python with ``code``, as a YAML value."""
    return json.dumps(f"{sys.executable} -c {json.dumps(code)}")
