"""Runs on the virtual clock need a kernel; where none is built, they say so and are skipped."""

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
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
duration: 2s
nodes:
  a: {kind: host}
  b: {kind: host}
links:
  a-b: {endpoints: [a, b], delay: 10ms, rate: 100Mbit, queue: {kind: fifo, limit: 1bdp}}
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
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """With a place of their own for temporary files."""
    place = tmp_path / "temporary"
    place.mkdir()
    return {**environment, "TMPDIR": str(place)}


@pytest.fixture
def kernels(environment: dict[str, str]) -> Callable[[], list[int]]:
    """The processes of this test's kernels, the kernel of the first host first."""
    place = Path(environment["TMPDIR"])

    def found() -> list[int]:
        pids = []
        for process in Path("/proc").glob("[0-9]*"):
            # Others end meanwhile.
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(place):
                    pids.append(int(process.name))
        return sorted(pids)

    return found


@pytest.fixture
def run(environment: dict[str, str], work: Path) -> Run:
    """Runs a scenario on the virtual clock, in the directory ``work``."""

    def call(scenario: str, *arguments: str, duration: str = "2s", before: tuple[str, ...] = ()) -> Ran:
        code = [line[2:] for line in scenario.splitlines() if line.startswith("# ")]
        (work / "program.py").write_text("\n".join(code) + "\n")
        (work / "two.yaml").write_text(scenario.replace("duration: 2s", f"duration: {duration}"))
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
        # What the link leads to now; a later run moves it.
        return Ran(done, (work / "runs" / "two" / "latest").resolve())

    return call


def program(code: str, **more: object) -> str:
    """The network of two with a Python program in host a; the fixture ``run`` writes its ``code``."""
    extra = "".join(f", {key}: {json.dumps(value)}" for key, value in more.items())
    lines = "".join(f"# {line}\n" for line in code.splitlines())
    return f"{BETWEEN_TWO}programs:\n  p: {{run: python3 program.py, hosts: [a]{extra}}}\n{lines}"
