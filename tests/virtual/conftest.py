"""Runs on the virtual clock need a kernel; where none is built, they say so and are skipped."""

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from virtual_runs import Longhaul, Ran, Run

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find
from longhaul.subprocesses import python_command


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
def longhaul(environment: dict[str, str], work: Path) -> Longhaul:
    """Runs a command of Longhaul in a directory, ``work`` if none is given."""

    def call(
        *arguments: str, before: tuple[str, ...] = (), cwd: Path = work, timeout: int = 120
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*before, *python_command("longhaul.cli.main"), *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return call


@pytest.fixture
def run(longhaul: Longhaul, work: Path) -> Run:
    """Runs a scenario on the virtual clock, in the directory ``work``."""

    def call(scenario: str, *arguments: str, duration: str = "2s", before: tuple[str, ...] = ()) -> Ran:
        code = [line[2:] for line in scenario.splitlines() if line.startswith("# ")]
        (work / "program.py").write_text("\n".join(code) + "\n")
        (work / "two.yaml").write_text(scenario.replace("duration: 2s", f"duration: {duration}"))
        done = longhaul("run", "two.yaml", "--clock", "virtual", *arguments, before=before)
        # What the link leads to now; a later run moves it.
        return Ran(done, (work / "runs" / "two" / "latest").resolve())

    return call
